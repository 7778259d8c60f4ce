"""Match patterns such as `claude-haiku-*` with the models that a live provider offers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Protocol, TypeAlias

from amplihack.patterns import pattern
from amplihack.records import Record
from amplihack.sessions.providers import find_provider_instance

_NUMBER = pattern(r"([0-9]+)")
_DATE_DIGITS = 8

_Version: TypeAlias = tuple[tuple[str | int, ...], tuple[int, ...], str]


class Coordinator(Protocol):
    """The part of a session's coordinator that knows its providers."""

    def get(self, mount_point: str, /) -> Any: ...


class ModelResolutionResult(Record):
    """The matched model. `resolved_model` is None if nothing matched; `pattern` if there was none."""

    resolved_model: str | None
    pattern: str | None = None
    available_models: list[str] | None = None
    matched_models: list[str] | None = None


def is_glob_pattern(model_hint: str) -> bool:
    return any(mark in model_hint for mark in "*?[")


async def resolve_model_pattern(
    model_hint: str,
    provider_name: str | None,
    coordinator: Coordinator,
    *,
    warn: Callable[[str], None] | None = None,
) -> ModelResolutionResult:
    """Return the newest model that matches, ignoring case. A text that is no pattern is the model itself."""
    tell = warn or (lambda _: None)
    if not is_glob_pattern(model_hint):
        return ModelResolutionResult(model_hint)
    if not provider_name:
        tell(f"the model pattern {model_hint!r} stays as it is: no provider to ask for its models")
        return ModelResolutionResult(model_hint, model_hint)
    try:
        available = await _models(provider_name, coordinator)
    except Exception as error:  # noqa: BLE001 - the provider is foreign code; that it fails is an answer
        tell(f"{provider_name} cannot list its models: {error}")
        available = []
    matched = matching_models(model_hint, available)
    if not matched:
        tell(f"no model of {provider_name} matches {model_hint!r}; it has {', '.join(available) or 'none'}")
    return ModelResolutionResult(matched[0] if matched else None, model_hint, available, matched)


def matching_models(pattern: str, models: Sequence[str]) -> list[str]:
    """Return the models that match, newest first."""
    lower = pattern.lower()
    return sorted(
        (model for model in models if fnmatchcase(model.lower(), lower)), key=_version, reverse=True
    )


def _version(model: str) -> _Version:
    """Return a sort key: numbers count as numbers, and a date only decides between equal versions."""
    parts: list[str | int] = []
    dates: list[int] = []
    for index, part in enumerate(_NUMBER.split(model.lower())):
        if index % 2 == 0:
            parts.append(part)
        elif len(part) == _DATE_DIGITS:
            parts.append(0)
            dates.append(int(part))
        else:
            parts.append(int(part))
    return tuple(parts), tuple(dates), model


async def _models(provider_name: str, coordinator: Coordinator) -> list[str]:
    mounted = coordinator.get("providers")
    if not isinstance(mounted, Mapping):
        return []
    provider = find_provider_instance(mounted, provider_name, coordinator)
    listing = getattr(provider, "list_models", None)
    if listing is None:
        return []
    listed = listing()
    if inspect.isawaitable(listed):
        listed = await listed
    names = (model if isinstance(model, str) else getattr(model, "id", None) for model in listed or ())
    return [name for name in names if isinstance(name, str)]
