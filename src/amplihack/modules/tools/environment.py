"""Say what environment the commands of a model get: ours, without the keys of models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any

from amplihack.sessions.model_choice import SERVICES
from amplihack.system.agent_tools.environment import WITHHELD
from amplihack.system.home import this_process


def command_environment(
    coordinator: Any, hidden: Iterable[str] = (), shown: Iterable[str] = ()
) -> dict[str, str]:
    """Return the variables for a command: none that holds a key of a model, whichever model answers.

    `hidden` are patterns of names to leave out besides, `shown` those to pass on all the same. A host whose
    commands need others offers them as `session.environment`.
    """
    offered = coordinator.get_capability("session.environment")
    environment = offered if isinstance(offered, Mapping) else this_process()[0]
    keys = {*credential_names(coordinator), *(service.key for service in SERVICES.values())}
    left_out = {*hidden, *keys, *environment.get(WITHHELD, "").split(",")}
    return {
        name: value for name, value in environment.items() if _fits(name, shown) or not _fits(name, left_out)
    }


def _fits(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def credential_names(coordinator: Any) -> set[str]:
    """Return the names of variables that hold keys of the mounted providers."""
    names: set[str] = set()
    for provider in (coordinator.get("providers") or {}).values():
        with suppress(Exception):  # a foreign provider that cannot describe itself has no say here
            names.update(provider.get_info().credential_env_vars or ())
    return names
