"""Find the sessions that agents of a session had, and what it knows of them."""

from __future__ import annotations

from pathlib import Path

from amplihack.sessions.messages import was_cut_off
from amplihack.sessions.usage import CHILD_COMPLETED, TokenUsage, usage_from
from amplihack.system.session_store.reading import StoredSession, events_of, read_metadata, read_stored
from amplihack.system.session_store.store import SessionStore, changed


def cut_off_child(store: SessionStore, parent_id: str, agent: str, instruction: str) -> StoredSession | None:
    """Return the newest agent of a session that was told this and never answered. Blocking."""
    wanted = (parent_id, agent, instruction)
    for directory in sorted(store.children(), key=changed, reverse=True):
        known, _ = read_metadata(directory)
        found = tuple(known.get(name) for name in ("parent_id", "agent_name", "instruction"))
        if found == wanted and not store.is_open(directory.name):
            stored = read_stored(directory)
            if was_cut_off(stored.messages):
                return stored
    return None


def told_of_child(parent: Path, child_id: str) -> TokenUsage:
    """Return what the session in a directory was told that an agent used. Blocking.

    A process that is killed tells nothing; what its agent had used is told when that one goes on.
    """
    told = TokenUsage()
    for entry in events_of(parent):
        data = entry.get("data")
        if (
            entry.get("event") == CHILD_COMPLETED
            and isinstance(data, dict)
            and data.get("child_id") == child_id
        ):
            told = told.plus(usage_from(data.get("usage")))
    return told
