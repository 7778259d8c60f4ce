"""Find words that are source code of some language: for `eval`, `bash -c`, `ssh`, `python -c` and more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.builtins import without_prefix
from amplihack.recipes.templates.bash.places import Output, Place, SimpleCommand, Word
from amplihack.recipes.templates.bash.value_flow import ValueFlow, references
from amplihack.recipes.templates.bash.variable_attributes import PROGRAM_VARIABLES

_EVALUATES = frozenset({"alias", "bind", "compgen", "complete", "eval", "fc", "trap", "watch", "parallel"})
_SOURCES = ("source", ".")
# Commands that run the command in their arguments: an interpreter may stand anywhere behind them.
_WRAPPERS = frozenset(
    """
    builtin bwrap chroot chrt command coproc doas docker env exec find firejail flock ionice kubectl lxc
    nerdctl nice nohup nsenter numactl parallel podman runuser script setarch setpriv setsid ssh stdbuf
    strace su sudo systemd-run taskset time timeout tini unbuffer unshare watch xargs
    """.split()  # noqa: SIM905 - a table of names, not code
)
# Options whose argument a shell reads. Patterns are compiled when a script needs them.
_CODE_OPTION = {
    "env": r"-[a-zA-Z0]*S|--split-string",
    "flock": r"-c|--command",
    "runuser": r"-[a-z]*c|--(?:session-)?command",
    "script": r"-[a-z]*c|--command",
    "su": r"-[a-z]*c|--(?:session-)?command",
}
_SSH_WITH_ARGUMENT = "BbcDEeFIiJLlmOopQRSWw"
_INTERPRETER = pattern(
    r"(?:^|[^A-Za-z0-9_.])(?P<name>(?:ba|da|k|z|a)?sh|python|node|perl|ruby|[gm]?awk|jq|sed)[0-9.]*\}?$"
)
_SHELLS = frozenset({"ash", "bash", "dash", "ksh", "sh", "zsh"})
_MAY_EXECUTE = _WRAPPERS | _EVALUATES | _SHELLS
_RUNS_INPUT = frozenset({"at", "batch", "parallel"})
_STANDARD_INPUT = frozenset({"-", "-s", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
_PROGRAM_OPTION = {
    "bash": r"-[a-zA-Z]*c",
    "python": r"-[A-Za-z]*c",
    "node": r"-[pe]|--eval|--print",
    "perl": r"-[a-zA-Z0-9]*[eE]",
    "ruby": r"-[a-z]*e",
    "sed": r"-[nErsiz]*e|--expression",
}
_PROGRAM_FIRST = {
    "awk": {"-v": 1, "-F": 1, "-f": 1},
    "jq": {"--arg": 2, "--argjson": 2, "--slurpfile": 2, "--rawfile": 2, "--indent": 1, "-f": 1, "-L": 1},
    "sed": {"-f": 1, "-l": 1},
}


def settle_programs(command: SimpleCommand, flow: ValueFlow) -> None:
    """Note the language of placeholders that become source code, and the variables that do."""
    if not command.marked and command.words[0].plain.rpartition("/")[2] not in _MAY_EXECUTE:
        return
    words = without_prefix(command.words)
    for word in _code_words(words) if words else ():
        name_language(word.marks, "bash")
        flow.executed.update(references(word.text))
    if words and (found := _interpreter(words)):
        language, arguments = found
        for word in _program_words(language, arguments):
            name_language(word.marks, language)
            if language == "bash":
                flow.executed.update(references(word.text))
        for word in _scripts(arguments)[:1]:
            name_language((mark for mark in word.marks if _is_process(mark)), language)
    if language := input_language(command):
        for word in command.inputs:
            direct = word.text.startswith(("<", "\1")) or not any(_is_process(mark) for mark in word.marks)
            name_language(word.marks if direct else (), language)


def name_language(
    marks: Iterable[Place | Output], language: str, *, without: SimpleCommand | None = None
) -> None:
    own = {id(mark) for word in without.words for mark in word.marks} if without else set()
    for mark in marks:
        for place in mark.places if id(mark) not in own else ():
            place.language = place.language or language


def _is_process(mark: Place | Output) -> bool:
    """Tell whether the mark is `<(...)`, whose output is read as a file."""
    return isinstance(mark, Output) and mark.feeds


def _code_words(words: Sequence[Word]) -> Iterator[Word]:
    """Yield the words that a shell reads as a script."""
    name, arguments = words[0].plain.rpartition("/")[2], words[1:]
    if name in _EVALUATES:
        yield from arguments
    elif name in _SOURCES:
        yield from (word for word in arguments[:1] if word.plain == "\0" or any(map(_is_process, word.marks)))
    elif name == "ssh":
        yield from _ssh_command(arguments)
    named = {word.plain.rpartition("/")[2] for word in words}
    for wrapper, option in _CODE_OPTION.items():
        if wrapper in named:
            yield from _option_arguments(arguments, option)
    if name in _WRAPPERS:
        yield from (word for word in arguments if word.plain.partition("=")[0] in PROGRAM_VARIABLES)


def _option_arguments(arguments: Sequence[Word], option: str) -> Iterator[Word]:
    """Yield the argument of an option, in the next word or in the same one."""
    for before, after in pairwise((*arguments, Word("", []))):
        if re.fullmatch(option, before.plain):
            yield after
        elif before.marks and (found := re.match(option, before.plain)) and before.plain[found.end() :]:
            yield before


def _ssh_command(arguments: Sequence[Word]) -> Sequence[Word]:
    """Return the words after the host."""
    skips = False
    for index, word in enumerate(arguments):
        if skips:
            skips = False
        elif word.plain.startswith("-"):
            skips = word.plain[-1:] in _SSH_WITH_ARGUMENT and len(word.plain) == 2
        else:
            return arguments[index + 1 :]
    return ()


def _interpreter(words: Sequence[Word]) -> tuple[str, Sequence[Word]] | None:
    wrapped = words[0].plain.rpartition("/")[2] in _WRAPPERS
    for index in range(len(words)) if wrapped else range(1):
        if found := _INTERPRETER.search(words[index].plain):
            name = found["name"]
            language = "bash" if name in _SHELLS else "awk" if name.endswith("awk") else name
            return language, words[index + 1 :]
    return None


def _program_words(language: str, arguments: Sequence[Word]) -> list[Word]:
    option = _PROGRAM_OPTION.get(language)
    by_option = [
        after for before, after in pairwise(arguments) if option and re.fullmatch(option, before.plain)
    ]
    if by_option or language not in _PROGRAM_FIRST:
        return by_option
    skips = 0
    for word in arguments:
        if skips:
            skips -= 1
        elif not word.plain.startswith("-"):
            return [word]
        else:
            skips = _PROGRAM_FIRST[language].get(word.plain, 0)
    return []


def _scripts(arguments: Sequence[Word]) -> list[Word]:
    return [word for word in arguments if not word.plain.startswith("-")]


def input_language(command: SimpleCommand) -> str:
    """Return the language of the program that a command reads from its input; empty if it is data."""
    words = without_prefix(command.words)
    if not words:
        return ""
    reads_input = any(word.plain in _STANDARD_INPUT for word in words[1:])
    if words[0].plain in _SOURCES:
        return "bash" if reads_input else ""
    name, found = words[0].plain.rpartition("/")[2], _interpreter(words)
    if name in _RUNS_INPUT or (name == "ssh" and not _ssh_command(words[1:])):
        return "bash"
    if name == "xargs" and found and found[0] == "bash":
        return "bash"
    if not found or found[0] in _PROGRAM_FIRST or _program_words(*found):
        return ""
    language, arguments = found
    return language if reads_input or not _scripts(arguments) else ""
