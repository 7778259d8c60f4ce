"""Remove environments for modules that nobody can use, or has used for long, of every interpreter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from amplihack.system.files import remove_tree
from amplihack.system.locks import try_lock
from amplihack.system.modules.environments import Environments
from amplihack.system.sources.cleaning import size_of
from amplihack.system.sources.model import CacheEntry


def clean_environments(cache_dir: Path, *, dry_run: bool) -> tuple[CacheEntry, ...]:
    """Remove them, unless somebody uses or makes them just now. Returns what was removed, or would be."""
    return tuple(_cleaned(Path(cache_dir) / "environment", dry_run=dry_run))


def _cleaned(place: Path, *, dry_run: bool) -> Iterator[CacheEntry]:
    for root in sorted(place.iterdir()) if place.is_dir() else ():
        if (root / "pyvenv.cfg").is_file():  # of an earlier layout: one environment for all
            yield _entry(root)
            if not dry_run:
                remove_tree(root)
        elif root.is_dir():
            yield from _of_interpreter(root, dry_run=dry_run)


def _of_interpreter(root: Path, *, dry_run: bool) -> Iterator[CacheEntry]:
    environments = Environments(root)
    lock = try_lock(environments.lock_file)
    if lock is None:
        return
    try:
        sizes = {each: _entry(each) for each in environments.clean(dry_run=True)}
        gone = sizes if dry_run else environments.clean()
        yield from (sizes[each] for each in gone if each in sizes)
    finally:
        lock.release()


def _entry(path: Path) -> CacheEntry:
    return CacheEntry(
        name=path.name,
        path=path,
        size=size_of(path),
        in_use=False,
        kind="environment",
        source=f"packages of modules ({path.name})",
    )
