"""Tell which session was forked or spawned from which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict


class SessionLineage(TypedDict):
    session_id: str
    parent_id: str | None
    forked_from_turn: int | None
    ancestors: list[str]  # the parent first
    children: list[str]
    depth: int


def lineage_of(session_id: str, sessions: Mapping[str, Mapping[str, Any]]) -> SessionLineage:
    """Return the family of a session from the metadata of all by id. A circle of parents ends the walk."""
    own = sessions.get(session_id, {})
    ancestors: list[str] = []
    parent = _parent(own)
    while parent is not None and parent != session_id and parent not in ancestors:
        ancestors.append(parent)
        parent = _parent(sessions.get(parent, {}))
    turn = own.get("forked_from_turn")
    return {
        "session_id": session_id,
        "parent_id": _parent(own),
        "forked_from_turn": turn if isinstance(turn, int) else None,
        "ancestors": ancestors,
        "children": sorted(name for name, data in sessions.items() if _parent(data) == session_id),
        "depth": len(ancestors),
    }


def _parent(metadata: Mapping[str, Any]) -> str | None:
    found = metadata.get("parent_id")
    return found if isinstance(found, str) and found else None
