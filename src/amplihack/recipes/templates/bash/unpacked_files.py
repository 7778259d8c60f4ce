"""Find values that name a source of code which the script fetches or unpacks and then runs.

curl -O {{url}}; bash x.sh
git clone {{url}} x; x/install.sh  curl {{url}} | tar xz; ./configure  unzip {{file}} -d x; bash x/run.sh

What is only unpacked, installed or built by its own tools (`make`, `pip install`) is not told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.file_names import ProgramFile, file_name
from amplihack.recipes.templates.bash.launchers import started
from amplihack.recipes.templates.bash.places import SimpleCommand, Word
from amplihack.recipes.templates.bash.program_tables import OWN_FILES
from amplihack.records import Record

_HERE, _ANYWHERE = ".", "*"  # where it is unpacked if no directory is named
_TARS = frozenset({"bsdtar", "gtar", "tar"})
_EXTRACTS = pattern(r"-?[a-zA-Z]*x[a-zA-Z]*|--extract|--get")
_ARCHIVE = pattern(r"-?[a-zA-Z]*f|--file")
_REMOTE_NAME = pattern(r"-[a-zA-Z]*O[a-zA-Z]*|--remote-name(?:-all)?")
_WRITES_ELSEWHERE = pattern(r"-[a-zA-Z]*O|--output-document")
_BUILD_FILES = frozenset(file for _, files in OWN_FILES.values() for file in files.split())
# Options whose argument, in the next word, tells neither what is unpacked nor where.
_APART = frozenset(
    """
    -A -b -c -d -H -j -o -u -X --branch --config --data --depth --header --jobs --origin --reference --request
    --template --user --user-agent --upload-pack
    """.split()  # noqa: SIM905 - a table of names, not code
)


class Unpacked(Record, eq=False):
    """Words that name what is unpacked, and the directory that it goes to."""

    sources: Sequence[Word]
    directory: str


def unpacked(command: SimpleCommand, piped: Sequence[SimpleCommand]) -> Unpacked | None:
    """Return what a command unpacks if a value names it; `piped` are the commands whose output it gets."""
    if not command.marked and not any(each.marked for each in piped):
        return None
    words = started(command.words)
    name, arguments = (words[0].plain.rpartition("/")[2], words[1:]) if words else ("", ())
    found = None
    if name == "git" and any(word.plain == "clone" for word in arguments):
        source, *directories = [*_operands(arguments, _APART)][1:] or [Word("", [])]
        found = Unpacked([source], directories[0].plain if directories else _ANYWHERE)
    elif name in _TARS and any(_EXTRACTS.fullmatch(word.plain) for word in arguments[:1]):
        archives = [*_behind(arguments, lambda option: _ARCHIVE.fullmatch(option) is not None)]
        if not archives or archives[0].plain == "-":
            archives = [word for each in piped for word in _operands(each.words, _APART)]
        directories = [*_behind(arguments, lambda option: option in ("-C", "--directory"))]
        found = Unpacked(archives, directories[0].plain if directories else _HERE)
    elif name == "unzip":
        directories = [*_behind(arguments, lambda option: option == "-d")]
        archives = [*_operands(arguments, {"-d", "-P", "-x"})][:1]
        found = Unpacked(archives, directories[0].plain if directories else _HERE)
    return found if found and any(word.marks for word in found.sources) else None


def fetched(command: SimpleCommand) -> list[Word]:
    """Return the addresses of files that a command fetches under a name that a value decides."""
    words = started(command.words) if command.marked else ()
    name = words[0].plain.rpartition("/")[2] if words else ""
    by_default = name == "wget" and not any(_WRITES_ELSEWHERE.match(word.plain) for word in words)
    if not by_default and not keeps_remote_name(name, words):
        return []
    return [word for word in addresses(words) if "\0" in word.plain.rpartition("/")[2]]


def addresses(words: Sequence[Word]) -> list[Word]:
    """Return what `curl` and `wget` fetch, without headers and what else they send."""
    return [*_operands(words[1:], _APART)]


def keeps_remote_name(name: str, words: Sequence[Word]) -> bool:
    """Tell whether `curl` names a file as its address does."""
    return name == "curl" and any(_REMOTE_NAME.fullmatch(word.plain) for word in words)


def may_be_fetched(file: ProgramFile, last: str) -> bool:
    """Tell whether a file that the script runs may be one that is fetched; `last` ends its address."""
    if not file.is_sure or file.language not in ("", "bash") or file.name in _BUILD_FILES:
        return False
    is_here = "/" not in file.name and not file.name.startswith("$")
    return is_here and fnmatchcase(file.name, last.replace("\0", "*"))


def runs_unpacked(unpacked: Unpacked, file: ProgramFile, entered: Collection[str]) -> bool:
    """Tell whether a file that the script runs lies in what was unpacked. `entered` is what `cd` names."""
    name, directory = file.name, file_name(unpacked.directory).rstrip("/") or _HERE
    if not file.is_sure or name.rpartition("/")[2] in _BUILD_FILES:
        return False
    if directory not in (_HERE, _ANYWHERE) and name.startswith(f"{directory}/"):
        return True
    if name.startswith(("/", "~", "$")):
        return False
    if directory == _HERE:
        return not file.language  # started as a program: `./configure`
    return directory in entered or (directory == _ANYWHERE and bool(entered))


def _operands(arguments: Sequence[Word], options: Collection[str]) -> Iterator[Word]:
    """Yield the words that are neither options nor, behind some of these, their arguments."""
    for before, after in pairwise((Word("", []), *arguments)):
        if not after.plain.startswith("-") and before.plain not in options:
            yield after


def _behind(arguments: Sequence[Word], is_option: Callable[[str], bool]) -> Iterator[Word]:
    yield from (after for before, after in pairwise(arguments) if is_option(before.plain))
