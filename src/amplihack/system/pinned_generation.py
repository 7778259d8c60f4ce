"""Keep the generation of the staged bundle that this process works with: no install removes one in use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from amplihack.system.home import GENERATION, Home
from amplihack.system.locks import HeldLock, LockError, try_lock_directory


@contextmanager
def pinned(home: Home) -> Iterator[None]:
    """Hold the generation of a home for as long as the block runs. The system ends it with the process."""
    lock: HeldLock | None = None
    if home.generation is not None:
        # Without one, or on a file system without locks, there is nothing to hold.
        with suppress(OSError, LockError):
            lock = try_lock_directory(home.staged_bundle.parent, shared=True)
    try:
        yield
    finally:
        if lock is not None:
            lock.release()


def pinned_environment(environment: Mapping[str, str], home: Home) -> Mapping[str, str]:
    """Return the environment of children, which then use the same generation as we do."""
    return environment if home.generation is None else {**environment, GENERATION: home.generation}
