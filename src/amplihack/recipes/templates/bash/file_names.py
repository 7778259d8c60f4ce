"""Compare the names of files that a script writes with those that it runs.

A script may change its directory, and variables may stand for one: `a/s.sh` and `$d/s.sh` may be the same,
and `s.sh` may be either. In doubt two names are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fnmatch import fnmatchcase

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.places import Word
from amplihack.records import Record

ANY_FILE = "*"  # what a patch changes
_NAMED = pattern(r"\$\{(\w+)\}")
_VARIABLE = pattern(r"\$(\w+)")
_PATTERN = pattern(r"[*?\[]")
_EACH = {"{}": "*.sh"}  # in `find -exec bash {}`


class ProgramFile(Record, eq=False):
    """A file that a script runs, or may run."""

    name: str
    language: str  # empty if the file itself tells it
    arguments: Sequence[Word] = ()
    is_sure: bool = True  # else the name is a word of code, or of a command whose output is code


def file_name(plain: str) -> str:
    """Return a name in the form in which names are compared."""
    return _NAMED.sub(r"$\1", plain).removeprefix("./")


class ProgramFiles:
    """All files that a script runs, found by the names of what it writes.

    `held` are the names that its variables hold.
    """

    def __init__(self, files: Iterable[ProgramFile], held: Mapping[str, AbstractSet[str]]) -> None:
        self._held = held
        self._by_last: dict[str, list[tuple[str, ProgramFile]]] = {}
        self._patterns: list[tuple[str, ProgramFile]] = []
        self._sure: list[ProgramFile] = []
        for file in files:
            self._sure += [file] * file.is_sure
            for name in self._meant(_EACH.get(file.name, file.name)):
                last = name.rpartition("/")[2]
                found = self._patterns if _PATTERN.search(last) else self._by_last.setdefault(last, [])
                found.append((name, file))

    def written_as(self, output: str) -> Iterator[ProgramFile]:
        """Yield the files that may be the one of this name."""
        if output == ANY_FILE:
            yield from self._sure
            return
        for name in self._meant(output):
            last = name.rpartition("/")[2]
            for other, file in self._by_last.get(last, ()):
                if _may_be_same(name, other):
                    yield file
            yield from (file for other, file in self._patterns if fnmatchcase(last, other.rpartition("/")[2]))

    def _meant(self, name: str) -> Iterable[str]:
        """Return a name, and what it is if it is a variable with names in it."""
        variable = _VARIABLE.fullmatch(name)
        return (name, *self._held.get(variable[1], ())) if variable else (name,)


def _may_be_same(one: str, other: str) -> bool:
    """Tell whether two names with the same last part may lead to one file."""
    for part, counterpart in zip(reversed(one.split("/")), reversed(other.split("/")), strict=False):
        if part[:1] in ("$", "~", "") or counterpart[:1] in ("$", "~", ""):
            return True
        if part != counterpart:
            return False
    return True
