"""Find providers by any of their names: the entry's id, its module, the module without `provider-`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Entry: TypeAlias = dict[str, Any]

_PREFIX = "provider-"
_DEFAULT_PRIORITY = 100


def provider_lookup(providers: Sequence[Entry]) -> dict[str, int]:
    """Return every name of an entry with its index. The lowest priority number wins a shared name."""
    lookup: dict[str, int] = {}
    best_last = sorted(range(len(providers)), key=lambda index: (-priority_of(providers[index]), -index))
    for index in best_last:
        lookup.update(dict.fromkeys(_spellings(str(providers[index].get("module") or "")), index))
    for index in best_last:  # an id is a name of its own: no module takes it
        lookup.update(dict.fromkeys(_ids(providers[index]), index))
    lookup.pop("", None)
    return lookup


def find_provider_index(providers: Sequence[Entry], name: str) -> int | None:
    """Return the index of the entry with that name, or None."""
    return provider_lookup(providers).get(name)


def find_provider_instance(mounted: Mapping[str, Any], name: str, coordinator: Any = None) -> Any | None:
    """Return the live provider with that name, or None.

    Instances are mounted under their ids. A module's name means the instance that the plan prefers.
    """
    for spelling in _spellings(name):
        if spelling in mounted:
            return mounted[spelling]
    module_names = set(_spellings(name))
    entries = [entry for entry in _planned(coordinator) if entry.get("module") in module_names]
    for entry in sorted(entries, key=priority_of):
        for key in (*_ids(entry), *_spellings(str(entry["module"]))):
            if key in mounted:
                return mounted[key]
    return None


def priority_of(entry: Mapping[str, Any]) -> float:
    config = entry.get("config")
    found = config.get("priority") if isinstance(config, Mapping) else None
    return found if isinstance(found, int | float) else _DEFAULT_PRIORITY


def _spellings(name: str) -> tuple[str, ...]:
    short = name.removeprefix(_PREFIX)
    return (name, short, f"{_PREFIX}{short}") if short else (name,)


def _ids(entry: Mapping[str, Any]) -> list[str]:
    return [found for key in ("id", "instance_id") if isinstance(found := entry.get(key), str)]


def _planned(coordinator: Any) -> list[Entry]:
    config = getattr(coordinator, "config", None)
    listed = config.get("providers") if isinstance(config, Mapping) else None
    return [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
