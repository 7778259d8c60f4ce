"""Read which providers and models a caller wishes for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplihack.sessions.errors import SpawnRefused
from amplihack.sessions.preferences import ProviderPreference


def wished_models(wished: Any) -> tuple[ProviderPreference, ...]:
    """Return what is preferred, best first. Raises SpawnRefused for what is no list of preferences."""
    if wished is None:
        return ()
    if not isinstance(wished, list | tuple):
        raise _no_preference(f"{wished!r} is no list")
    return tuple(map(_preference, wished))


def _preference(wish: Any) -> ProviderPreference:
    if isinstance(wish, ProviderPreference):
        return wish
    if not isinstance(wish, Mapping):
        raise _no_preference(f"{wish!r} names no provider")
    try:
        return ProviderPreference.from_dict(wish)
    except ValueError as error:
        raise _no_preference(str(error)) from error


def _no_preference(what: str) -> SpawnRefused:
    fix = "write each preference on a line of its own as `- {provider: …, model: …}`"
    return SpawnRefused(f"provider_preferences: {what}", fix=fix)
