"""Find the files that a command takes for programs, and those that it writes.

sudo bash f     ./f     . f     make -f f     python3 f     chmod +x f        tee f     curl -o f     patch f
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.file_names import ANY_FILE, ProgramFile, file_name
from amplihack.recipes.templates.bash.launchers import started
from amplihack.recipes.templates.bash.places import SimpleCommand, Word
from amplihack.recipes.templates.bash.program_tables import (
    COPIES,
    ENDINGS,
    FILE_BEHIND_OPTION,
    INTERPRETER,
    NO_OUTPUT,
    OWN_FILES,
    PROGRAM_FIRST,
    SOURCES,
)
from amplihack.recipes.templates.bash.programs import (
    input_language,
    interpreter,
    operands,
    option_arguments,
    program_words,
)
from amplihack.recipes.templates.bash.unpacked_files import keeps_remote_name

_EDITORS = frozenset({"ed", "ex", "nvim", "patch", "sponge", "tee", "vi", "vim"})  # of their operands
_STREAM_EDITORS = frozenset({"gsed", "perl", "ruby", "sed"})
_IN_PLACE = pattern(r"-[a-zA-Z]*i|--in-place")
_OUTPUT = pattern(r"-(?:[a-zA-Z]*[oO]|out)|--out(?:-?file|put(?:-file|-document)?)?")
_WITH_OUTPUT = pattern(r"(?:--out[a-z-]*=|-[oO])(.+)")
_EXECUTABLE = pattern(r"[ugoa,]*[+=][rwst]*x.*|[0-7]*[1357][0-7]{0,2}")
_SHOWS_ERRORS = pattern(r"-[a-z]*n[a-z]*")
_STANDARD_INPUT = ("-", "/dev/stdin")


def files_run(command: SimpleCommand) -> Iterator[ProgramFile]:
    """Yield the files that a command runs as programs, or makes executable."""
    words = started(command.words)
    if not words or words[0].marks:
        return
    first, language = words[0].plain, ""
    name = first.rpartition("/")[2]
    if first in SOURCES:
        run, language = [word.plain for word in words[1:2]], "bash"
    elif name in OWN_FILES:
        run, language = _own_files(name, words[1:]), "bash"
    elif name in ("chmod", "install"):
        run = _made_executable(name, words[1:])
    elif INTERPRETER.search(first) and (found := interpreter(words)):
        language = found[0]
        run = _scripts(language, found[1])
    else:
        is_file = "/" in first or first.startswith("$") or first.rpartition(".")[2] in ENDINGS
        run = [first] if is_file else []
    if command.inputs and (read := input_language(command)):
        yield from (ProgramFile(file_name(word.plain), read) for word in command.inputs)
    yield from (ProgramFile(file_name(each), language, command.words[1:]) for each in run)


def _own_files(name: str, arguments: Sequence[Word]) -> list[str]:
    """Return the files that `make` and the like run, which an option or an operand may name."""
    option, files = OWN_FILES[name]
    named = [word.plain for word in option_arguments(arguments, option)] if option else []
    if files:
        return named or files.split()
    return named or [word.plain for word in operands(arguments)[:1] if not option]


def _made_executable(name: str, arguments: Sequence[Word]) -> list[str]:
    names = [word.plain for word in operands(arguments)]
    if name == "chmod":
        return names[1:] if names and _EXECUTABLE.fullmatch(names[0]) else []
    modes = [word.plain for word in option_arguments(arguments, "-m|--mode")]
    return names[-1:] if all(map(_EXECUTABLE.fullmatch, modes)) else []


def _scripts(language: str, arguments: Sequence[Word]) -> list[str]:
    """Return the file that an interpreter runs. `bash -n` only looks at it."""
    if program_words(language, arguments) and language not in PROGRAM_FIRST:
        return []
    if language in FILE_BEHIND_OPTION:
        return [word.plain for word in option_arguments(arguments, FILE_BEHIND_OPTION[language])]
    run = operands(arguments)[:1]
    before = arguments[: arguments.index(run[0])] if run else ()
    if language == "bash" and any(_SHOWS_ERRORS.fullmatch(word.plain) for word in before):
        return []
    return [word.plain for word in run]


def files_written(command: SimpleCommand) -> list[str]:
    """Return the files that a command writes to by itself, apart from redirections."""
    words = started(command.words)
    name = words[0].plain.rpartition("/")[2] if words else ""
    names = [word.plain for word in operands(words[1:])]
    found: list[str] = []
    if name == "wget" or keeps_remote_name(name, words):
        found = [each.rpartition("/")[2] for each in names]
    elif name in _EDITORS:
        found = names or [ANY_FILE] * (name == "patch")
    elif name == "git" and names[:1] in (["apply"], ["am"]):
        found = [ANY_FILE]
    elif name == "dd":
        found = [each[3:] for each in names if each.startswith("of=")]
    elif name in _STREAM_EDITORS and any(_IN_PLACE.match(word.plain) for word in words[1:]):
        found = names
    elif name in COPIES and any(word.plain in _STANDARD_INPUT for word in words[1:]):
        found = names[-1:]
    return [file_name(each) for each in (*found, *_outputs(words))]


def _outputs(words: Sequence[Word]) -> Iterator[str]:
    """Yield what stands behind the options by which most programs are told where to write."""
    if words and words[0].plain in NO_OUTPUT:
        return
    for before, after in pairwise((*words[1:], Word("", []))):
        if not before.plain.startswith("-") or after.marks:
            continue
        if _OUTPUT.fullmatch(before.plain) and not after.plain.startswith("-"):
            yield after.plain
        elif found := _WITH_OUTPUT.fullmatch(before.plain):
            yield found[1]


def fills_in(command: SimpleCommand) -> bool:
    """Tell whether a command prints a text with the values of variables that it does not name."""
    return any(word.plain.endswith("envsubst") for word in started(command.words)[:1])
