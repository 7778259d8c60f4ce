"""Find what a stored session was opened with: its bundle, its model, and the agent that it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amplihack.app.sessions.agent_plans import spawned_agents
from amplihack.sessions.errors import SessionError
from amplihack.sessions.ids import is_fit_id
from amplihack.system.session_store.children import spawned_line
from amplihack.system.session_store.reading import read_metadata
from amplihack.system.session_store.store import SessionStore


def stored_facts(store: SessionStore, session_id: str, *, may_move: bool) -> dict[str, Any]:
    """Return the bundle, the model and the agents of a stored session, and its id: `last` may change.

    Raises SessionError if its directory is gone, unless it may go on elsewhere.
    """
    stored = store.read(session_id)
    found = stored.metadata
    known = found.get("working_dir")
    if not may_move and isinstance(known, str) and not Path(known).is_dir():
        what = f"the directory of session {stored.session_id} is not there any more: {known}"
        raise SessionError(what, fix="say where to go on, with -C DIR")
    facts = _texts(_opener(store, found), "bundle_source", "model")
    line = spawned_agents(spawned_line(store, found))
    return {**facts, "session_id": stored.session_id, "line": line}


def _texts(found: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: found[name] for name in names if isinstance(found.get(name), str)}


def _opener(store: SessionStore, found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what is known of the session that a user opened: an agent has its bundle and its model."""
    seen: set[str] = set()
    while isinstance(parent := found.get("parent_id"), str) and "bundle_source" not in found:
        if parent in seen or not is_fit_id(parent) or not (above := store.directory(parent)).is_dir():
            break
        seen.add(parent)
        found = read_metadata(above)[0]
    return found
