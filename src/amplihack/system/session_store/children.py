"""Find the sessions that agents of a session had, and what it knows of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from amplihack.sessions.errors import SpawnRefused
from amplihack.sessions.ids import is_fit_id
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


def stored_child(store: SessionStore, own_id: str | None, child_id: str) -> StoredSession:
    """Return an agent of a session, or of one that it was forked from. Blocking.

    Raises SpawnRefused for any other: what was said there is not for this one.
    """
    stored = store.read(child_id)
    if stored.metadata.get("parent_id") not in _own_ids(store, own_id):
        raise SpawnRefused(
            f"{stored.session_id} is no child of this session",
            fix="only agents that this session started can be resumed",
        )
    return stored


def spawned_line(store: SessionStore, metadata: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what is kept of a session that was spawned, and of those above it, topmost first.

    It is empty for a session that a user opened. A fork stands where its source did. Blocking.
    """
    line: list[Mapping[str, Any]] = []
    seen, at, is_copied = set[str](), metadata, False
    while True:
        is_agent = isinstance(at.get("agent_name"), str)
        if is_agent and not is_copied:
            line.insert(0, at)
        is_copied = is_agent and at.get("forked_from_turn") is not None  # then the next one is the same agent
        above = at.get("parent_id")
        if not isinstance(above, str) or above in seen or not is_fit_id(above):
            return line
        seen.add(above)
        directory = store.directory(above)
        at = read_metadata(directory)[0] if directory.is_dir() else {}


def depth_of(line: Sequence[Mapping[str, Any]]) -> int:
    """Return how many sessions such a one stands below: more than are kept, if it says so."""
    told = line[-1].get("depth") if line else None
    return max(len(line), told) if isinstance(told, int) else len(line)


def _own_ids(store: SessionStore, own_id: str | None) -> set[str]:
    """Return the id of a session, and of those that it was forked from."""
    found: set[str] = set()
    at = own_id
    while at and at not in found:
        found.add(at)
        directory = store.directory(at)
        known = read_metadata(directory)[0] if directory.is_dir() else {}
        at = known.get("parent_id") if known.get("forked_from_turn") is not None else None
    return found


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
