"""The cache on the disk: one directory for each source, complete or not there at all.

<cache>/<entry>/       what was fetched, with its metadata
<cache>/.incoming/     what is being fetched; belongs to whoever holds the entry's lock
<cache>/.locks/        one lock for each entry: who fetches, updates or removes it
<cache>/.leases/       who uses which entries
<cache>/.gate          held for moments: shared to take something into use, alone to take it away
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from amplihack.bundles.errors import BundleError
from amplihack.errors import AmplihackError
from amplihack.system.files import real
from amplihack.system.locks import LockError, locked, locked_async, try_lock
from amplihack.system.sources.errors import SourceUnavailable
from amplihack.system.sources.leases import Lease, in_use, is_read_only
from amplihack.system.sources.metadata import Metadata, read_metadata, write_metadata
from amplihack.system.sources.model import CacheEntry
from amplihack.system.sources.publish import is_aside, publish, recover, remove_tree
from amplihack.system.undisturbed import undisturbed

_GATE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanReport:
    """What was removed (or would be), and what stayed because somebody uses or fetches it."""

    removed: tuple[CacheEntry, ...]
    kept: tuple[CacheEntry, ...]

    @property
    def freed(self) -> int:
        return sum(entry.size for entry in self.removed)


class Cache:
    def __init__(self, root: Path) -> None:
        self.root = real(root)
        self.lease = Lease(self.root / ".leases")

    def entry(self, name: str) -> Path:
        return self.root / name

    @asynccontextmanager
    async def held(self, name: str, patience: float) -> AsyncIterator[None]:
        """With the entry's lock: nobody else fetches, updates or removes it."""
        with explained(f"cannot use the cache {self.root}"):
            async with locked_async(self._lock_file(name), patience=patience):
                yield

    def take(self, name: str, is_good: Callable[[Path, Metadata], bool]) -> Metadata | None:
        """Put a good entry into use, and say what it is; None if it is not there or not good."""
        with explained(f"cannot use {self.root}"), ExitStack() as held:
            if not self.entry(name).is_dir() and not self._recover(name):
                return None
            self._use(name, held)
            metadata = read_metadata(self.entry(name))
            return metadata if metadata and is_good(self.entry(name), metadata) else None

    def publish(self, name: str, new: Path, metadata: Metadata, *, force: bool = True) -> bool:
        """Make a finished directory the entry; False, and nothing done, if another user has the old one."""
        with explained(f"cannot keep {metadata.source or metadata.git_url} in {self.root}"):
            write_metadata(new, metadata)
            with self._alone():
                if not force and name in in_use(self.root / ".leases", except_by=self.lease.path):
                    return False
                publish(new, self.entry(name))
                self.lease.add(name)
        return True

    @asynccontextmanager
    async def fresh(self, name: str) -> AsyncIterator[Path]:
        """A place to fetch an entry into, for the holder of its lock; gone afterwards unless published."""
        new = await asyncio.to_thread(self._fresh, name)
        try:
            yield new
        finally:
            await undisturbed(asyncio.to_thread(self._discard, new))

    def entries(self) -> tuple[CacheEntry, ...]:
        """What we keep in the cache, by name; also what is half done. Anything else there is not ours."""
        if not self.root.is_dir():
            return ()
        with explained(f"cannot read {self.root}"), self._alone():
            used = in_use(self.root / ".leases", except_by=None)
        known = [(path, read_metadata(path)) for path in sorted(self.root.iterdir()) if path.is_dir()]
        whole = [_described(path, metadata, used) for path, metadata in known if metadata]
        half = sorted(self._incoming.iterdir()) if self._incoming.is_dir() else []
        return (*whole, *(_half(path) for path in half))

    def clean(self, *, keep: Collection[str] = (), dry_run: bool = False) -> CleanReport:
        """Remove every entry that is not named in `keep`, not in use and not being fetched."""
        removed: list[CacheEntry] = []
        kept: list[CacheEntry] = []
        for entry in self.entries():
            gone = entry.name not in keep and self._remove(entry, dry_run=dry_run)
            (removed if gone else kept).append(entry)
        return CleanReport(removed=tuple(removed), kept=tuple(kept))

    def _remove(self, entry: CacheEntry, *, dry_run: bool) -> bool:
        with explained(f"cannot remove {entry.path}"):
            lock = try_lock(self._lock_file(entry.name))
        if lock is None:
            return False
        try:
            away = self._move_away(entry, dry_run=dry_run)
            if away is None:
                return False
            if not dry_run:
                self._discard(away)
                lock.remove()
            return True
        finally:
            lock.release()

    def _move_away(self, entry: CacheEntry, *, dry_run: bool) -> Path | None:
        if not entry.complete:
            return entry.path
        with explained(f"cannot remove {entry.path}"), self._alone():
            if entry.name in in_use(self.root / ".leases"):
                return None
            away = self._incoming / f"{entry.name}.{secrets.token_hex(8)}"
            if not dry_run and entry.path.exists():
                self._incoming.mkdir(parents=True, exist_ok=True)
                entry.path.rename(away)
            return away

    def _fresh(self, name: str) -> Path:
        """Also clears what died there before."""
        with explained(f"cannot prepare {self.root}"):
            self._incoming.mkdir(parents=True, exist_ok=True)
            recover(self.entry(name), self._incoming)
            for left in self._incoming.iterdir():
                if _owner(left) == name:
                    remove_tree(left)
        return self._incoming / f"{name}.{secrets.token_hex(8)}"

    def _recover(self, name: str) -> bool:
        """Put back what a dead process had moved aside, unless a living one is at work on it."""
        if not is_aside(self.entry(name), self._incoming):
            return False
        lock = try_lock(self._lock_file(name))
        if lock is None:
            return False
        try:
            recover(self.entry(name), self._incoming)
        finally:
            lock.release()
        return self.entry(name).is_dir()

    def _discard(self, new: Path) -> None:
        with explained(f"cannot remove {new}"):
            remove_tree(new)

    def _lock_file(self, name: str) -> Path:
        return self.root / ".locks" / name

    @property
    def _incoming(self) -> Path:
        return self.root / ".incoming"

    @property
    def _gate(self) -> Path:
        return self.root / ".gate"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with locked(self._gate, patience=_GATE_SECONDS):
            yield

    def _use(self, name: str, held: ExitStack) -> None:
        """Have the entry in use. A cache that we cannot write to cannot be cleaned by us either."""
        try:
            held.enter_context(locked(self._gate, shared=True, patience=_GATE_SECONDS))
            self.lease.add(name)
        except LockError as error:
            if not is_read_only(error):
                raise


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Errors of the machine become errors of a source: a full disk, a lock that another process keeps."""
    try:
        yield
    except BundleError:
        raise
    except AmplihackError as error:
        raise SourceUnavailable(f"{what}: {error.what}", fix=error.fix) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise SourceUnavailable(f"{what}: {reason}", fix="check the directory and the free space") from error


def _described(path: Path, metadata: Metadata, used: frozenset[str]) -> CacheEntry:
    return CacheEntry(
        name=path.name,
        path=path,
        size=_size(path),
        kind=metadata.kind,
        source=metadata.git_url or metadata.source or "",
        ref=metadata.ref,
        version=metadata.version,
        cached_at=metadata.cached_at,
        in_use=path.name in used,
    )


def _half(path: Path) -> CacheEntry:
    return CacheEntry(
        name=_owner(path),
        path=path,
        size=_size(path),
        kind="unfinished",
        source="",
        ref=None,
        version=None,
        cached_at=None,
        in_use=False,
        complete=False,
    )


def _owner(incoming: Path) -> str:
    """The entry that something incoming is to become."""
    return incoming.name.rpartition(".")[0]


def _size(path: Path) -> int:
    """Bytes of all files below; what vanishes meanwhile counts nothing."""
    total = 0
    for file in [path, *path.rglob("*")] if not path.is_symlink() else [path]:
        try:
            status = file.lstat()
        except FileNotFoundError:
            continue
        total += status.st_size if not file.is_dir() or file.is_symlink() else 0
    return total
