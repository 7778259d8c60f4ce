"""Compare a cached source with its origin, without changing anything."""

from __future__ import annotations

from amplihack.records import replace
from amplihack.system.sources.address import Address
from amplihack.system.sources.errors import SourceError
from amplihack.system.sources.metadata import Metadata
from amplihack.system.sources.model import SourceStatus, is_pinned
from amplihack.system.sources.store import Store, archive_changed

OFFLINE = "offline"  # the error of a source that nobody asked about, as the user wished


async def status_of(
    address: Address, stored: Metadata | None, store: Store, *, offline: bool, ask_tags: bool = False
) -> SourceStatus:
    """Return the status of one source. A failure is part of the answer.

    A tag counts as a pin, although it can be moved: `ask_tags` tells those that were.
    """
    status = _known(address, stored)
    if is_pinned(address.ref) or address.sha256:
        label = _short(address.version) if address.version else address.ref
        pinned = replace(status, has_update=False, summary=f"pinned to {label}")
        if not ask_tags or stored is None or address.version or (address.is_networked and offline):
            return pinned
        return await _moved_tag(address, pinned, store)
    if address.is_networked and offline:
        return replace(status, error=OFFLINE, summary="cannot be checked offline")
    try:
        if address.kind == "git":
            return _compared(status, await store.fetcher.remote_commit(address), address.ref)
        return _judged(status, await _unchanged(address, stored, store))
    except SourceError as error:
        return unchecked(status, error)


async def _moved_tag(address: Address, pinned: SourceStatus, store: Store) -> SourceStatus:
    """Return the status of a tag; one that nobody can be asked about is where it was."""
    try:
        remote = await store.fetcher.remote_commit(address)
    except SourceError:
        return pinned
    return pinned if remote == pinned.cached_commit else _compared(pinned, remote, address.ref)


def unchecked(status: SourceStatus, error: SourceError) -> SourceStatus:
    """Return the status of a source that cannot be compared with its origin."""
    reason = error.what.removeprefix(f"{status.source_uri}: ")
    reason = reason.removeprefix(f"Failed to check {status.source_uri}: ")
    return replace(status, error=error.what, summary=f"cannot be checked: {reason}", fix=error.fix)


async def _unchanged(address: Address, stored: Metadata | None, store: Store) -> bool | None:
    if stored is None:
        return False
    if not address.is_networked:
        changed = archive_changed(address, stored)
        return None if changed is None else not changed
    return await store.fetcher.unchanged(address, stored)


def _known(address: Address, stored: Metadata | None) -> SourceStatus:
    status = SourceStatus(source_uri=address.uri, cached_ref=address.ref or None)
    if stored is None:
        return status
    return replace(status, is_cached=True, cached_at=stored.cached_at, cached_commit=stored.version)


def _compared(status: SourceStatus, remote: str | None, ref: str) -> SourceStatus:
    status = replace(status, remote_ref=ref, remote_commit=remote)
    if remote is None:
        error = (
            f"the repository has no {ref} any more" if status.is_cached else f"the repository has no {ref}"
        )
        return replace(status, error=error, summary=error, fix="name a branch, a tag or a commit that it has")
    if not status.is_cached:
        return replace(status, has_update=True, summary=f"not cached ({_short(remote)} available)")
    if status.cached_commit == remote:
        return replace(status, has_update=False, summary=f"up to date ({_short(remote)})")
    change = f"{_short(status.cached_commit)} → {_short(remote)}"
    return replace(status, has_update=True, summary=f"update available ({change})")


def _judged(status: SourceStatus, unchanged: bool | None) -> SourceStatus:
    if unchanged is None:
        return replace(status, summary="the server does not say whether it has changed")
    summary = "up to date" if unchanged else "update available" if status.is_cached else "not cached"
    return replace(status, has_update=not unchanged, summary=summary)


def _short(version: str | None) -> str:
    return (version or "")[:8]
