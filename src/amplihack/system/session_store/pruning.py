"""Remove old sessions, with those of their agents; one that a process has open is never removed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from amplihack.records import Record
from amplihack.sessions.errors import SessionError
from amplihack.system.session_store.listing import KeptSession, kept_sessions
from amplihack.system.session_store.store import SessionStore, changed


class Pruned(Record):
    """What was removed, and what had to stay."""

    removed: tuple[KeptSession, ...]
    kept: tuple[str, ...]  # why each of these stays


def prune_sessions(store: SessionStore, *, older_than: float | None, keep: int | None) -> Pruned:
    """Remove sessions that were used longer ago than that, or all but the newest, and return them. Blocking.

    A session counts together with those of the agents that it had: it is as old as the newest of them.
    """
    families = _families(kept_sessions(store))
    if keep is not None:
        families = families[keep:]
    if older_than is not None:
        limit = time.time() - older_than
        families = [each for each in families if max(_used(store, member) for member in each) < limit]
    return _removed(store, families)


def prune_named(store: SessionStore, references: Sequence[str]) -> Pruned:
    """Remove sessions by their ids, each with those of the agents that it had. Blocking.

    Raises SessionNotFound for an unknown one, before any is removed.
    """
    wanted = {store.find(each) for each in references}
    listed = kept_sessions(store)
    above = _parents(listed)
    families: dict[str, list[KeptSession]] = {}
    for each in listed:
        line = _line(each.session_id, above)
        if named := [name for name in line if name in wanted]:
            families.setdefault(named[-1], []).append(each)
    return _removed(store, families.values())


def _removed(store: SessionStore, families: Iterable[Sequence[KeptSession]]) -> Pruned:
    removed: list[KeptSession] = []
    stay: list[str] = []
    for family in families:
        try:
            store.remove([each.session_id for each in family])
            removed += family
        except SessionError as error:
            stay.append(error.what)
    return Pruned(tuple(removed), tuple(stay))


def _families(sessions: Iterable[KeptSession]) -> list[list[KeptSession]]:
    """Return each session with the agents below it, the one used last first. A fork stands for itself."""
    listed = list(sessions)
    above = _parents(listed)
    families: dict[str, list[KeptSession]] = {}
    for each in listed:
        families.setdefault(_line(each.session_id, above)[-1], []).append(each)
    return list(families.values())


def _parents(sessions: Iterable[KeptSession]) -> dict[str, str | None]:
    return {each.session_id: each.parent_id for each in sessions if each.is_inside}


def _line(session_id: str, above: Mapping[str, str | None]) -> list[str]:
    """Return a session and those that it stands below, the nearest first. A circle ends the walk."""
    line = [session_id]
    while (parent := above.get(line[-1])) and parent not in line:
        line.append(parent)
    return line


def _used(store: SessionStore, kept: KeptSession) -> float:
    return changed(store.directory(kept.session_id))[0] / 1e9
