"""Keep the cache on the disk: one directory for each version of each source, complete and immutable.

<cache>/<name>@<version>/   what was fetched, with its metadata; <version> is a commit or a sha256
<cache>/.pointers/          one file for each source that may move: which version it means now
<cache>/.incoming/          what is being fetched; belongs to whoever holds the lock of its source
<cache>/.locks/             one lock for each source: who fetches or updates it

Whoever uses a version holds a shared lock on its directory, so that `clean` cannot remove it. Nobody else has
to be kept out: an update adds a version and replaces a pointer, and a crash leaves each done or not done.
"""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from amplihack.bundles.errors import BundleError
from amplihack.bundles.uris import is_commit
from amplihack.errors import AmplihackError
from amplihack.records import replace
from amplihack.system.files import real, remove_tree
from amplihack.system.locks import HeldLock, lock_directory, locked, locked_async, try_lock_directory
from amplihack.system.random_tokens import token
from amplihack.system.sources.address import Address
from amplihack.system.sources.errors import SourceUnavailable
from amplihack.system.sources.metadata import METADATA, Metadata, read_metadata, write_metadata
from amplihack.system.undisturbed import undisturbed

_MOMENT = 60.0  # seconds; an exclusive lock on an entry is held only for a rename
_TAKEN = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)


class Cache:
    """The cache on the disk. What a user takes from it stays until `release`."""

    def __init__(self, root: Path) -> None:
        self.root = real(root)
        self.pointers, self.incoming = self.root / ".pointers", self.root / ".incoming"
        self._mutex = threading.RLock()
        self._held: dict[str, HeldLock] = {}

    def lock_file(self, name: str) -> Path:
        return self.root / ".locks" / name

    def path(self, metadata: Metadata) -> Path:
        return self.root / metadata.entry

    @asynccontextmanager
    async def held(self, address: Address, patience: float) -> AsyncIterator[None]:
        """Hold the lock of the source during the block: nobody else fetches or updates it."""
        with explained(f"cannot use the cache {self.root}"):
            async with locked_async(self.lock_file(address.pointer), patience=patience):
                yield

    def known(self, address: Address) -> Metadata | None:
        """Return the version that a source means now. A pinned source names it without a pointer."""
        if address.version is None:
            return read_metadata(self.pointers / address.pointer)
        return read_metadata(self.root / address.entry(address.version) / METADATA)

    def take(self, address: Address) -> Metadata | None:
        """Take the version that a source means now into use; None if it is missing or damaged."""
        with explained(f"cannot use {self.root}"):
            known = self.known(address)
            if known is None:
                return None
            known = replace(known, entry=address.entry(known.version))
            return known if self._use(known) else None

    def publish(self, address: Address, new: Path, metadata: Metadata) -> Metadata:
        """Make a finished directory an entry, take it into use, and point the source to it.

        If somebody else was faster, their entry serves as well: it has the same content.
        """
        metadata = replace(metadata, entry=address.entry(metadata.version))
        with explained(f"cannot keep {address.uri} in {self.root}"):
            write_metadata(new / METADATA, metadata)
            self._place(new, metadata)
            if address.version is None:
                self.pointers.mkdir(parents=True, exist_ok=True)
                write_metadata(self.pointers / address.pointer, metadata)
        return metadata

    def release(self) -> None:
        """Release everything that was taken."""
        with self._mutex:
            while self._held:
                self._held.popitem()[1].release()

    @asynccontextmanager
    async def fresh(self, address: Address) -> AsyncIterator[Path]:
        """Give a path to fetch into, for the holder of the source's lock; removed unless published."""
        new = await asyncio.to_thread(self._fresh, address.pointer)
        try:
            yield new
        finally:
            await undisturbed(asyncio.to_thread(discard, new))

    def aside(self, name: str) -> Path:
        """Return a new path for something that is no entry, yet or any more; `name` is its owner."""
        self.incoming.mkdir(parents=True, exist_ok=True)
        return self.incoming / f"{name}.{token(8)}"

    def _fresh(self, name: str) -> Path:
        """Return a new path, and remove what a dead process left there for this source."""
        with explained(f"cannot prepare {self.root}"):
            new = self.aside(name)
            for left in self.incoming.iterdir():
                if owner(left) == name:
                    remove_tree(left)
        return new

    def _place(self, new: Path, metadata: Metadata) -> None:
        # Locked before anybody can see it, so that at no moment it is free to be removed.
        lock = lock_directory(new, shared=True)
        while True:
            try:
                new.rename(self.path(metadata))
            except OSError as error:
                if error.errno not in _TAKEN:
                    raise
            else:
                with self._mutex:
                    self._held[metadata.entry] = lock
                return
            if self._use(metadata):
                lock.release()
                return
            self._remove_damaged(metadata)

    def _remove_damaged(self, metadata: Metadata) -> None:
        """Remove a damaged entry. Under a lock, because two that found it damaged could remove a new one."""
        with locked(self.lock_file(metadata.entry), patience=_MOMENT):
            if not self._use(metadata):
                away = self.aside(metadata.entry)
                with suppress(FileNotFoundError):  # `clean` was faster
                    self.path(metadata).rename(away)
                discard(away)

    def _use(self, metadata: Metadata) -> bool:
        """Hold the entry, if it is there and complete."""
        name, path = metadata.entry, self.path(metadata)
        with self._mutex:
            if name not in self._held or not self._held[name].is_current():
                try:
                    self._held[name] = lock_directory(path, shared=True, patience=_MOMENT)
                except (FileNotFoundError, NotADirectoryError):
                    self._held.pop(name, None)
                    return False
            if is_whole(path, metadata):
                return True
            self._held.pop(name).release()
            return False


def is_whole(entry: Path, metadata: Metadata) -> bool:
    """Tell whether an entry is complete and of this version."""
    seal = read_metadata(entry / METADATA)
    if seal is None or seal.version != metadata.version:
        return False
    if metadata.kind == "git":
        return head_commit(entry) == metadata.commit
    return (entry / metadata.inside).exists()


def is_used(entry: Path) -> bool:
    """Tell whether anybody, this process included, holds the entry."""
    try:
        lock = try_lock_directory(entry)
    except OSError:  # gone, or not ours to remove
        return False
    if lock is not None:
        lock.release()
    return lock is None


def head_commit(checkout: Path) -> str | None:
    """Return the commit of a checkout with a detached head, read without git; None otherwise."""
    try:
        head = (checkout / ".git" / "HEAD").read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return head if is_commit(head) else None


def owner(incoming: Path) -> str:
    """Return whose lock guards something incoming."""
    return incoming.name.rpartition(".")[0]


def discard(path: Path) -> None:
    """Remove something that is no entry."""
    with explained(f"cannot remove {path}"):
        remove_tree(path)


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn errors of the machine into errors of a source: a full disk, a lock that is kept too long."""
    try:
        yield
    except BundleError:
        raise
    except AmplihackError as error:
        raise SourceUnavailable(f"{what}: {error.what}", fix=error.fix) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise SourceUnavailable(f"{what}: {reason}", fix="check the directory and the free space") from error
