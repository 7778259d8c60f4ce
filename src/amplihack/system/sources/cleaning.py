"""List the entries of the cache, and remove those that nobody needs."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from pathlib import Path

from amplihack.records import Record
from amplihack.system.files import remove_tree
from amplihack.system.locks import try_lock, try_lock_directory
from amplihack.system.sources.address import Address
from amplihack.system.sources.cache import Cache, discard, explained, is_used, owner
from amplihack.system.sources.metadata import METADATA, Metadata, read_metadata
from amplihack.system.sources.model import CacheEntry

_FORMER = (".gate", ".leases")  # of earlier versions, which exchanged entries in place


class CleanReport(Record, kw_only=True):
    """What was removed (or would be), and what stayed because it is used or being fetched."""

    removed: tuple[CacheEntry, ...]
    kept: tuple[CacheEntry, ...]

    @property
    def freed(self) -> int:
        return sum(entry.size for entry in self.removed)


def entries_of(cache: Cache) -> tuple[CacheEntry, ...]:
    """Return our entries in the cache by name, also unfinished ones. Other files there are not ours."""
    with explained(f"cannot read {cache.root}"):
        known = [(path, read_metadata(path / METADATA)) for path in _children(cache.root)]
        whole = [_described(path, metadata) for path, metadata in known if metadata]
        return (*whole, *(_half(cache, path) for path in _children(cache.incoming)))


def clean(cache: Cache, *, keep: Collection[Address] = (), dry_run: bool = False) -> CleanReport:
    """Remove every entry that nobody uses or fetches, except the current versions of `keep`.

    Entries of earlier versions of the cache belong to no source, so they are removed too.
    """
    meant = {address.entry(known.version) for address in keep if (known := cache.known(address))}
    removed: list[CacheEntry] = []
    kept: list[CacheEntry] = []
    for entry in entries_of(cache):
        free = entry.name not in meant and not entry.in_use
        gone = free and (dry_run or _locked(cache, entry.name, partial(_remove, cache, entry)))
        (removed if gone else kept).append(entry)
    if not dry_run:
        _remove_lost_pointers(cache)
        for name in _FORMER:
            discard(cache.root / name)
    return CleanReport(removed=tuple(removed), kept=tuple(kept))


def _remove(cache: Cache, entry: CacheEntry) -> bool:
    """Remove an entry. It is renamed first: others find it complete or not at all."""
    if not entry.complete:
        remove_tree(entry.path)
        return True
    try:
        lock = try_lock_directory(entry.path)
    except FileNotFoundError:
        return True
    if lock is None:
        return False
    away = cache.aside(entry.name)
    try:
        entry.path.rename(away)
    finally:
        lock.release()
    remove_tree(away)
    return True


def _remove_lost_pointers(cache: Cache) -> None:
    for pointer in _children(cache.pointers):
        if pointer.name.startswith("."):  # another process is writing one
            continue
        _locked(cache, pointer.name, partial(_remove_if_lost, cache, pointer))


def _remove_if_lost(cache: Cache, pointer: Path) -> bool:
    known = read_metadata(pointer)
    lost = known is None or not known.entry or not cache.path(known).is_dir()
    if lost:
        pointer.unlink(missing_ok=True)
    return lost


def _locked(cache: Cache, name: str, work: Callable[[], bool]) -> bool:
    """Do the work under the lock and tell whether it was done; not while another process holds the lock."""
    with explained(f"cannot remove {name} from {cache.root}"):
        lock = try_lock(cache.lock_file(name))
        if lock is None:
            return False
        try:
            done = work()
            if done:
                lock.remove()
            return done
        finally:
            lock.release()


def _children(directory: Path) -> list[Path]:
    return sorted(directory.iterdir()) if directory.is_dir() else []


def _described(path: Path, metadata: Metadata) -> CacheEntry:
    return CacheEntry(
        name=path.name,
        path=path,
        size=size_of(path),
        kind=metadata.kind,
        source=metadata.git_url or metadata.source or "",
        ref=metadata.ref,
        version=metadata.version,
        cached_at=metadata.cached_at,
        in_use=is_used(path),
    )


def _half(cache: Cache, path: Path) -> CacheEntry:
    lock = try_lock(cache.lock_file(owner(path)))
    if lock is not None:
        lock.release()
    return CacheEntry(name=owner(path), path=path, size=size_of(path), in_use=lock is None, complete=False)


def size_of(path: Path) -> int:
    """Return the bytes of all files and links below. What vanishes meanwhile counts nothing."""
    total = 0
    for directory, below, files in os.walk(path) if path.is_dir() else [(str(path.parent), [], [path.name])]:
        for name in (*below, *files):
            with suppress(OSError):
                status = os.lstat(os.path.join(directory, name))  # noqa: PTH118 - there may be many
                total += 0 if stat.S_ISDIR(status.st_mode) else status.st_size
    return total
