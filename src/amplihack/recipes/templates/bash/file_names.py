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
from amplihack.records import Record, replace

ANY_FILE = "*"  # what a patch changes
_NAMED = pattern(r"\$\{(\w+)\}")
_VARIABLE = pattern(r"\$(\w+)")
_PATTERN = pattern(r"[*?\[]")
_MANY = 32  # names of one variable, or patterns
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
        self._by_last: dict[str, list[ProgramFile]] = {}
        self._patterns: list[ProgramFile] = []
        files = list(files)
        self._sure = _together(replace(file, name=ANY_FILE) for file in files if file.is_sure)
        for file in _together(files):
            for name in self._meant(_EACH.get(file.name, file.name)):
                last = name.rpartition("/")[2]
                found = self._patterns if _PATTERN.search(last) else self._by_last.setdefault(last, [])
                found.append(replace(file, name=name))
        if len(self._patterns) > _MANY:
            self._patterns = _together(replace(file, name=ANY_FILE) for file in self._patterns)

    def written_as(self, output: str) -> Iterator[ProgramFile]:
        """Yield the files that may be the one of this name."""
        if output == ANY_FILE:
            yield from self._sure
            return
        for name in self._meant(output):
            last = name.rpartition("/")[2]
            yield from (file for file in self._by_last.get(last, ()) if _may_be_same(name, file.name))
            yield from (file for file in self._patterns if fnmatchcase(last, file.name.rpartition("/")[2]))

    def _meant(self, name: str) -> Iterable[str]:
        """Return a name, and what it is if it is a variable with a few names in it."""
        variable = _VARIABLE.fullmatch(name)
        held = self._held.get(variable[1], ()) if variable else ()
        return (name, *held) if len(held) < _MANY else (name,)


def _together(files: Iterable[ProgramFile]) -> list[ProgramFile]:
    """Return each name once in each language, with all arguments that it is run with."""
    arguments: dict[tuple[str, str], list[Word]] = {}
    for file in files:
        arguments.setdefault((file.name, file.language), []).extend(file.arguments)
    return [ProgramFile(name, language, words) for (name, language), words in arguments.items()]


def _may_be_same(one: str, other: str) -> bool:
    """Tell whether two names with the same last part may lead to one file."""
    for part, counterpart in zip(reversed(one.split("/")), reversed(other.split("/")), strict=False):
        if part[:1] in ("$", "~", "") or counterpart[:1] in ("$", "~", ""):
            return True
        if part != counterpart:
            return False
    return True
