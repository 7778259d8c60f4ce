"""Keep the generations of the staged bundle, and say which one is the active one.

A generation is written under a name that nobody looks at, checked, renamed, and only then linked to. It never
changes afterwards. What a dead process left is removed by the next one that holds the install lock.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from amplihack.errors import NotFound
from amplihack.install.contract import BUNDLE, IDENTITY, MAX_IDENTITY_BYTES
from amplihack.install.errors import BundleCompatibilityError, InstallFailed, shown_path
from amplihack.install.generations import GENERATIONS, is_generation_id, link_text
from amplihack.install.identity import BundleIdentity, read_identity
from amplihack.install.stamp import FOLDER, NEW_STAMP
from amplihack.records import Record, as_dict
from amplihack.system.bundle_tree import TreeDifference, compare
from amplihack.system.exchange import exchange
from amplihack.system.files import read_bytes, remove_tree
from amplihack.system.framework_bundle import active_generation
from amplihack.system.locks import try_lock_directory
from amplihack.system.random_tokens import token
from amplihack.system.replace import sync_path, write_atomic

_RECORD = "generation.json"
_LARGEST = 65_536  # bytes of a record
_NEW, _OLD, _LINK = ".new-", ".old-", ".link-"
_REPLACED = "replaced"


class GenerationRecord(Record, kw_only=True):
    """What is known of a generation: the version that it was staged for, and where it came from."""

    generation: str
    version: str
    bundle_version: str
    tree_digest: str
    label: str
    source: str
    staged_at: float


class Generations:
    """The generations under one home root. Whoever changes them holds the install lock."""

    def __init__(self, root: Path) -> None:
        self.root, self.directory = root, root / GENERATIONS
        self.link = root / BUNDLE

    def bundle(self, generation: str) -> Path:
        return self.directory / generation / BUNDLE

    def is_plain(self, generation: str) -> bool:
        """Tell whether a generation is a directory with a bundle, and no link on the way."""
        places = (self.directory, self.directory / generation, self.bundle(generation))
        return all(place.is_dir() and not place.is_symlink() for place in places)

    def active(self) -> str | None:
        """Return the active generation; None without one, or if what is staged is not one of ours."""
        return active_generation(self.link)

    def records(self) -> list[GenerationRecord]:
        """Return the generations that are here, newest first. One without a record is left out."""
        found = [record for name in self.names() if (record := self.record(name)) is not None]
        return sorted(found, key=lambda record: record.staged_at, reverse=True)

    def record(self, generation: str) -> GenerationRecord | None:
        """Return what is known of a generation; None if it is not here, or its record makes no sense.

        Raises InputError for a record that cannot be read: that is no reason to think that there is none.
        """
        path = self.directory / generation / _RECORD
        if not is_generation_id(generation) or not path.is_file():
            return None
        try:
            said: Any = json.loads(read_bytes(path, limit=_LARGEST, kind="Record of a generation"))
            record = GenerationRecord(**said)
        except (ValueError, TypeError, NotFound):
            return None
        fits = all(isinstance(value, str) for name, value in as_dict(record).items() if name != "staged_at")
        return record if fits and record.generation == generation else None

    def identity(self, generation: str) -> BundleIdentity | None:
        """Return the identity of a generation that is what its record says, or None."""
        record = self.record(generation)
        path = self.bundle(generation) / IDENTITY
        if record is None or not self.is_plain(generation) or not path.is_file():
            return None
        try:
            identity = read_identity(read_bytes(path, limit=MAX_IDENTITY_BYTES, kind=IDENTITY), path)
        except (BundleCompatibilityError, NotFound):
            return None
        return identity if identity.tree_digest == record.tree_digest else None

    def difference(self, generation: str) -> TreeDifference | None:
        """Compare a generation with its own list, byte for byte; None if nobody knows what it should be."""
        identity = self.identity(generation)
        return None if identity is None else compare(self.bundle(generation), identity.files)

    # changes -----------------------------------------------------------------------------------------------

    def require_own_directory(self) -> None:
        """Raise InstallFailed if the directory of generations is a link: nothing is written through it."""
        if self.directory.is_symlink():
            what = f"{shown_path(self.directory)} is a link"
            raise InstallFailed(what, fix="look at what it is and who made it, then delete it")

    def make_new(self) -> Path:
        """Make a directory for a generation that is not complete yet."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = self.directory / f"{_NEW}{token(8)}"
        made.mkdir(mode=0o700)
        return made

    def publish(self, new: Path, record: GenerationRecord) -> None:
        """Give a complete directory the name of its generation."""
        text = json.dumps(as_dict(record), indent=1)
        write_atomic(new / _RECORD, f"{text}\n".encode())
        sync_path(new)
        new.rename(self.directory / record.generation)
        sync_path(self.directory)

    def free_name(self, wanted: str) -> str:
        """Return the name of a generation that is not here yet; a damaged one keeps its own."""
        taken = set(self.names())
        names = (wanted, *(f"{wanted}.{number}" for number in range(2, len(taken) + 3)))
        return next(name for name in names if name not in taken)

    def switch(self, generation: str) -> Path | None:
        """Make a generation the active one, in one step.

        Something else in its place is kept, and where it is now is returned.
        """
        new = self.root / f"{_LINK}{token(8)}"
        new.symlink_to(link_text(generation))
        kept: Path | None = None
        try:
            if self.active() is None and os.path.lexists(self.link):
                kept = self._take_the_place(new)
            else:
                new.replace(self.link)
        except BaseException:
            if new.is_symlink():
                new.unlink()
            raise
        sync_path(self.root)
        return kept

    def _take_the_place(self, new: Path) -> Path:
        kept = self.root / _REPLACED / f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{token(4)}"
        kept.mkdir(mode=0o700, parents=True)
        if exchange(new, self.link):
            new.rename(kept / BUNDLE)
        else:  # for a moment there is no bundle; the next start would notice and stage it
            self.link.rename(kept / BUNDLE)
            new.replace(self.link)
        return kept / BUNDLE

    def unlink(self) -> None:
        """Take away the link to the active generation."""
        if self.active() is not None:
            self.link.unlink()
            sync_path(self.root)

    def remove_leftovers(self) -> list[str]:
        """Remove what processes that died have left. Returns the names."""
        found = self.leftovers()
        for path in found:
            self._remove_leftover(path)
        return [path.name for path in found]

    def leftovers(self) -> list[Path]:
        """Return what processes that died have left, or one that lives is working on."""
        ours = (
            (self.directory, (_NEW, _OLD)),
            (self.root, (_LINK,)),
            (self.root / FOLDER, (_NEW, NEW_STAMP)),
        )
        return [
            path for place, prefixes in ours for path in _entries(place) if path.name.startswith(prefixes)
        ]

    def _remove_leftover(self, path: Path) -> None:
        """Remove one. What an interrupted exchange left under the name of a link is the user's, and kept."""
        if path.name.startswith(_LINK) and not path.is_symlink():
            kept = self.root / _REPLACED / token(8)
            kept.mkdir(mode=0o700, parents=True)
            path.rename(kept / BUNDLE)
        else:
            remove_tree(path)

    def prune(self, keep: Collection[str]) -> list[str]:
        """Remove generations that are neither kept nor in use by a running process. Returns their names."""
        spared = {*keep, self.active()}
        return [name for name in self.names() if name not in spared and self.remove(name)]

    def remove(self, generation: str) -> bool:
        """Remove a generation; False if a running process uses it."""
        path = self.directory / generation
        lock = try_lock_directory(path)
        if lock is None:
            return False
        try:
            doomed = self.directory / f"{_OLD}{token(8)}"
            path.rename(doomed)
            remove_tree(doomed)
        finally:
            lock.release()
        return True

    def names(self) -> list[str]:
        return sorted(path.name for path in _entries(self.directory) if is_generation_id(path.name))


def _entries(directory: Path) -> Iterator[Path]:
    try:
        yield from list(directory.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return
