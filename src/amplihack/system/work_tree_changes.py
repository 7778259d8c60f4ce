"""Tell which changes of a git work tree were made since an earlier look, and which of them to stage."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping

from amplihack.recipes.ports import Disturbed, LeftAlone
from amplihack.records import Record, field, replace

_READ = 1_048_576  # a larger file counts as changed if its time or size is different
_SHORTEST_COPY = 32  # bytes: shorter files are often alike by chance
_READ_IN_ALL = 67_108_864  # in one look

BEFORE = "it had changes before the step"
IGNORED = "git ignored it before the step"
CONFLICT = "it is in conflict"
REPOSITORY = "it is a repository of its own"
INSIDE = "the changes are inside a submodule"
UNREADABLE = "it cannot be read"
UNTRACKED = "it was taken out of git's index"

GONE = "its changes are gone: undone, stashed or committed"
REMOVED = "it is gone: deleted, stashed or committed"
STAGED = "it was staged"


class FileContent(Record):
    """What is known about a file without keeping it."""

    kind: int  # the type and the permissions
    size: int
    touched: tuple[int, int, int]  # inode, and the times of the last change of content and of anything
    digest: str  # empty for what is too large to be read

    def same_as(self, other: FileContent) -> bool:
        if self.digest and other.digest:
            return (self.kind, self.digest) == (other.kind, other.digest)
        return (self.kind, self.size, self.touched) == (other.kind, other.size, other.touched)


class TreeEntry(Record):
    """One path that git reports: `1` changed, `u` in conflict, `?` unknown to git."""

    kind: str
    index: str = "."  # how the index differs from the last commit
    tree: str = "."  # how the work tree differs from the index
    submodule: str = "N..."
    staged: str = ""  # what the index holds: its mode and its name
    content: FileContent | None = None  # of the file in the work tree, if there is one

    @property
    def mark(self) -> str:
        """Return what changes whenever anybody writes to the file or stages it, and says nothing of it."""
        about = self.content
        touched = (about.kind, about.size, *about.touched) if about else ()
        return " ".join((self.kind, self.index, self.tree, self.staged, *map(str, touched)))


class Snapshot(Record):
    """What differs from the last commit in a work tree, by path, and what git ignores there."""

    entries: Mapping[str, TreeEntry] = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()

    @property
    def staged(self) -> dict[str, str]:
        return {path: entry.staged for path, entry in self.entries.items() if entry.staged}

    def without(self, marks: Mapping[str, str]) -> Snapshot:
        """Return it as if these files had not been changed, so far as they still have these marks."""
        kept = {path: entry for path, entry in self.entries.items() if marks.get(path) != entry.mark}
        return replace(self, entries=kept)

    def ignores(self, path: str) -> bool:
        """Tell whether git ignored this path or a directory above it."""
        if path in self.ignored:
            return True
        parts = path.split("/")
        return any("/".join(parts[:end]) + "/" in self.ignored for end in range(1, len(parts)))


class SiftedChanges(Record):
    """What to stage, what to leave alone and why, and what was staged during the step by anybody."""

    stage: tuple[str, ...]
    left: tuple[LeftAlone, ...]
    ours: tuple[str, ...]
    disturbed: tuple[Disturbed, ...] = ()
    marks: Mapping[str, str] = field(default_factory=dict)  # of what is to be staged


# look -----------------------------------------------------------------------------------------------------


def read_status(root: str, text: bytes) -> Snapshot:
    """Read `git status --porcelain=v2 -z`, and look at each file that it names."""
    entries: dict[str, TreeEntry] = {}
    ignored = set()
    budget = _READ_IN_ALL
    for line in text.decode("utf-8", "surrogateescape").split("\0"):
        mark, _, rest = line.partition(" ")
        if mark == "!":
            ignored.add(rest)
        elif mark in ("1", "u", "?"):
            path, entry = _entry(mark, rest)
            if mark == "?" and path in entries:  # deleted in the index, and still there
                entry = replace(entry, index=entries[path].index)
            content = content_of(os.path.join(root, path), budget)  # noqa: PTH118 - a name may not be UTF-8
            budget -= content.size if content and content.digest else 0
            entries[path] = replace(entry, content=content)
    return Snapshot(entries, frozenset(ignored))


def _entry(mark: str, rest: str) -> tuple[str, TreeEntry]:
    """Return the path, and what git tells about it in the columns before it."""
    if mark == "?":
        return rest, TreeEntry(mark, tree="A")
    if mark == "u":
        return rest.split(" ", 9)[9], TreeEntry(mark, "U", "U")
    states, submodule, _, mode, _, _, name, path = rest.split(" ", 7)
    return path, TreeEntry(mark, states[0], states[1], submodule, f"{mode} {name}")


def content_of(path: str, budget: int = _READ_IN_ALL) -> FileContent | None:
    """Return what is there; None for nothing."""
    try:
        about = os.lstat(path)
    except (OSError, ValueError):
        return None
    digest = _digest(path, about) if about.st_size <= min(_READ, budget) else ""
    return FileContent(
        about.st_mode, about.st_size, (about.st_ino, about.st_mtime_ns, about.st_ctime_ns), digest
    )


def _digest(path: str, about: os.stat_result) -> str:
    try:
        if stat.S_ISLNK(about.st_mode):
            return hashlib.sha256(os.fsencode(os.readlink(path))).hexdigest()  # noqa: PTH115 - as above
        if not stat.S_ISREG(about.st_mode):
            return ""
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            return hashlib.sha256(file.read(_READ)).hexdigest()
    except OSError:
        return ""  # its times decide


# decide ---------------------------------------------------------------------------------------------------


def decide(before: Snapshot, after: Snapshot, ours: Mapping[str, str]) -> SiftedChanges:
    """Sort what changed between two looks; `ours` are the index entries that this run made earlier."""
    stage: list[str] = []
    left: list[LeftAlone] = []
    new = [
        (path, entry) for path, entry in after.entries.items() if _changed(before.entries.get(path), entry)
    ]
    copies = _Copies(before)
    for path, entry in new:
        why = _reason(before, ours, path, entry) or copies.reason(path, entry)
        if why:
            left.append(LeftAlone(path.rstrip("/"), why))
        elif entry.tree != ".":
            stage.append(path)
    whole = [path for path, entry in new if entry.tree == "."]
    told = {each.path for each in left} | copies.found
    disturbed = [each for each in _disturbed(before, after, ours) if each.path not in told]
    marks = {path: after.entries[path].mark for path in stage}
    return SiftedChanges(tuple(stage), tuple(left), (*stage, *whole), tuple(disturbed), marks)


def _disturbed(before: Snapshot, after: Snapshot, ours: Mapping[str, str]) -> Iterator[Disturbed]:
    """Yield what somebody had changed, staged or not yet added before, and what became of it."""
    for path, earlier in before.entries.items():
        now = after.entries.get(path)
        if earlier.tree == "." and ours.get(path) == earlier.staged:
            continue  # an earlier step of this run has made it
        if now is None:
            if earlier.kind != "?":
                yield Disturbed(path, GONE)
            elif not after.ignores(path):
                yield Disturbed(path.rstrip("/"), REMOVED)
        elif now.tree == "." and now.staged not in (earlier.staged, ours.get(path)):
            yield Disturbed(path, STAGED)


def has_lost_untracked(before: Snapshot, after: Snapshot) -> bool:
    """Tell whether git no longer names a file that it did not know: it may be ignored now."""
    return any(entry.kind == "?" and path not in after.entries for path, entry in before.entries.items())


def _changed(before: TreeEntry | None, after: TreeEntry) -> bool:
    if before is None or replace(before, content=after.content) != after:
        return True
    if before.content is None or after.content is None:
        return before.content is not after.content
    return not before.content.same_as(after.content)


def _reason(before: Snapshot, ours: Mapping[str, str], path: str, entry: TreeEntry) -> str:
    """Return why a changed path is not for us to stage; nothing if it is."""
    if entry.tree == ".":
        return ""  # the agent has staged it
    if entry.kind == "u":
        return CONFLICT
    if path.endswith("/"):
        return REPOSITORY
    if entry.kind == "?" and entry.index == "D" and path not in before.entries:
        return UNTRACKED
    if entry.submodule.startswith("S") and entry.submodule[1] != "C":
        return INSIDE
    if before.ignores(path):
        return IGNORED
    earlier = before.entries.get(path)
    if earlier is not None and not (earlier.tree == "." and ours.get(path) == earlier.staged):
        return BEFORE
    return "" if _can_be_staged(entry) else UNREADABLE


def _can_be_staged(entry: TreeEntry) -> bool:
    if entry.content is None or entry.submodule.startswith("S"):
        return True
    kind = entry.content.kind
    return stat.S_ISLNK(kind) or stat.S_ISDIR(kind) or (stat.S_ISREG(kind) and _readable(entry.content))


def _readable(content: FileContent) -> bool:
    return bool(content.digest) or content.size > _READ or bool(content.kind & 0o444)


class _Copies:
    """Knows what was somebody's own before: a file that only has another name now is still theirs."""

    def __init__(self, before: Snapshot) -> None:
        self._moved: dict[tuple[int, ...], str] = {}
        self._copied: dict[str, str] = {}
        self.found: set[str] = set()  # what has another name now
        for path, content in _own(before):
            self._moved[_moved(content)] = path
            if content.digest and content.size >= _SHORTEST_COPY:
                self._copied[content.digest] = path

    def reason(self, path: str, entry: TreeEntry) -> str:
        content = entry.content
        # `git mv` has put the new name into the index, and the changes are still only in the work tree.
        if entry.tree not in ("A", "M") or content is None or not content.size:
            return ""
        source = self._copied.get(content.digest) or self._moved.get(_moved(content))
        if not source or source == path:
            return ""
        self.found.add(source)
        return f"it is what {source} was before the step"


def _moved(content: FileContent) -> tuple[int, ...]:
    """Return what stays when a file gets another name. An inode alone may be used again."""
    return (*content.touched[:2], content.size)


def _own(before: Snapshot) -> Iterator[tuple[str, FileContent]]:
    """Yield the files that hold something that the index did not."""
    for path, entry in before.entries.items():
        if entry.tree != "." and entry.content is not None and entry.content.size:
            yield path, entry.content
