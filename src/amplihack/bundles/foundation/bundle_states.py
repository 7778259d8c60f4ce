"""Remember where each registered bundle comes from, and which bundles include it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from amplihack.records import Record


@dataclass
class BundleState:
    """A bundle that is known by name. Programs keep it and see it change, so it is not frozen."""

    uri: str
    name: str
    version: str | None = None
    loaded_at: datetime | None = None
    checked_at: datetime | None = None
    local_path: str | None = None
    includes: list[str] | None = None
    included_by: list[str] | None = None
    is_root: bool = True
    root_name: str | None = None
    explicitly_requested: bool = False
    app_bundle: bool = False

    def to_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            "uri": self.uri,
            "name": self.name,
            "version": self.version,
            "loaded_at": self.loaded_at.isoformat() if self.loaded_at else None,
            "checked_at": self.checked_at.isoformat() if self.checked_at else None,
            "local_path": self.local_path,
            "is_root": self.is_root,
            "explicitly_requested": self.explicitly_requested,
            "app_bundle": self.app_bundle,
        }
        optional = {
            "includes": self.includes,
            "included_by": self.included_by,
            "root_name": self.root_name,
        }
        return {**data, **{key: value for key, value in optional.items() if value}}

    @classmethod
    def from_dict(cls, name: str, data: Mapping[str, Any]) -> BundleState:
        """Return the state from its data. Raises KeyError or ValueError for invalid data."""
        return cls(
            uri=data["uri"],
            name=data.get("name") or name,
            version=data.get("version"),
            loaded_at=_time(data.get("loaded_at")),
            checked_at=_time(data.get("checked_at")),
            local_path=data.get("local_path"),
            includes=list(data["includes"]) if data.get("includes") else None,
            included_by=list(data["included_by"]) if data.get("included_by") else None,
            is_root=bool(data.get("is_root", True)),
            root_name=data.get("root_name"),
            explicitly_requested=bool(data.get("explicitly_requested", False)),
            app_bundle=bool(data.get("app_bundle", False)),
        )


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


class SeenBundle(Record):
    """A bundle as a load found it."""

    name: str
    uri: str
    version: str | None
    local_path: str
    is_root: bool = True
    root_name: str | None = None
    includes: tuple[str, ...] = ()


class Renamed(Record):
    """A name that now leads to another address."""

    name: str
    before: str
    after: str


def note(states: dict[str, BundleState], seen: SeenBundle, now: datetime) -> Renamed | None:
    """Store what a load found. A part of a source never replaces its root."""
    state = states.get(seen.name)
    if state is None:
        state = states[seen.name] = BundleState(seen.uri, seen.name, is_root=seen.is_root)
        state.root_name = seen.root_name
    elif state.is_root and "#subdirectory=" in seen.uri and state.uri != seen.uri:
        return None
    before = state.uri
    moved = state.local_path not in (None, seen.local_path)
    state.uri, state.version, state.local_path = seen.uri, seen.version, seen.local_path
    state.is_root, state.root_name, state.loaded_at = seen.is_root, seen.root_name, now
    return Renamed(seen.name, before, seen.uri) if moved and before != seen.uri else None


def relate(states: Mapping[str, BundleState], parent: str, children: Iterable[str]) -> set[str]:
    """Store what the parent includes now, and return the names whose relations have changed."""
    if parent not in states:
        return set()
    former = states[parent].includes or []
    wanted = list(dict.fromkeys(name for name in children if name in states and name != parent))
    for name in former:
        if name not in wanted and name in states:
            states[name].included_by = _without(states[name].included_by, parent)
    states[parent].includes = wanted
    for name in wanted:
        known = states[name].included_by or []
        states[name].included_by = known if parent in known else [*known, parent]
    return {name for name in (parent, *former, *wanted) if name in states}


def forget(states: dict[str, BundleState], name: str) -> bool:
    """Remove a bundle and every mention of it in others; False when there is none."""
    if states.pop(name, None) is None:
        return False
    for state in states.values():
        state.includes = _without(state.includes, name)
        state.included_by = _without(state.included_by, name)
    return True


def _without(names: list[str] | None, name: str) -> list[str] | None:
    return [each for each in names if each != name] if names is not None else None
