"""What a command does with its words: names, arithmetic, or source code of some language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from amplihack.recipes.templates.bash.cursor import Findings
from amplihack.recipes.templates.bash.places import Command, Mark, Refusal, Word

DECLARES = frozenset({"declare", "typeset", "local", "readonly", "export"})
_WRAPPERS = frozenset(
    (
        "command",
        "builtin",
        "exec",
        "env",
        "sudo",
        "nohup",
        "nice",
        "timeout",
        "time",
        "xargs",
        "stdbuf",
        "setsid",
    )
)
_EVALUATES = frozenset({"eval", "trap", "alias", "compgen", "complete"})
_WITH_ARGUMENT = {"read": "dinNptu", "mapfile": "dnOsuCc", "readarray": "dnOsuCc", "getopts": "", "unset": ""}
_INTERPRETER = re.compile(
    r"(?:^|[^A-Za-z0-9_.])(?P<name>(?:ba|da|k|z)?sh|python|node|perl|ruby|[gm]?awk|jq|sed)[0-9.]*\}?$"
)
_LANGUAGES = {"bash": "bash", "sh": "bash", "dash": "bash", "ksh": "bash", "zsh": "bash"}
_PROGRAM_OPTION = {
    "bash": re.compile(r"-[a-z]*c"),
    "python": re.compile(r"-[A-Za-z]*c"),
    "node": re.compile(r"-[pe]|--eval|--print"),
    "perl": re.compile(r"-[a-zA-Z0-9]*[eE]"),
    "ruby": re.compile(r"-[a-z]*e"),
    "sed": re.compile(r"-[nErsiz]*e|--expression"),
}
_PROGRAM_FIRST = {
    "awk": {"-v": 1, "-F": 1, "-f": 1},
    "jq": {"--arg": 2, "--argjson": 2, "--slurpfile": 2, "--rawfile": 2, "--indent": 1, "-f": 1, "-L": 1},
    "sed": {"-f": 1, "-l": 1},
}


def settle_command(command: Command, findings: Findings) -> None:
    """Marks the words of a complete command that bash, or another language, reads in its own way."""
    words = command.words
    while words and words[0].plain in ("command", "builtin"):
        words = words[1:]
    if not words or not (words[0].plain in DECLARES or any(word.marks for word in words)):
        return
    _settle_builtin(words[0].plain, words[1:], findings)
    for mark, language in _programs(words):
        mark.language = mark.language or language


def _settle_builtin(name: str, arguments: Sequence[Word], findings: Findings) -> None:
    if name in DECLARES:
        _settle_declaration(arguments, findings)
        if name != "export" and any(word.plain.startswith("-") and "n" in word.plain for word in arguments):
            _refuse(arguments)  # what is assigned to a nameref is a name
    elif name == "let":
        for mark in _marks(arguments):
            mark.numeric = True
    elif name in _WITH_ARGUMENT:
        _refuse(_names(arguments, _WITH_ARGUMENT[name])[1 if name == "getopts" else 0 :][: _count(name)])
    elif name in ("printf", "wait", "test", "["):
        option = "-p" if name == "wait" else "-v"
        _refuse([after for before, after in pairwise(arguments) if before.plain == option])


def _count(name: str) -> int | None:
    return 1 if name == "getopts" else None


def _settle_declaration(arguments: Sequence[Word], findings: Findings) -> None:
    flags = "".join(word.plain for word in arguments if word.plain.startswith("-"))
    for word in arguments:
        name = re.match(r"[A-Za-z_]\w*", word.plain)
        if name and "A" in flags:
            findings.associative.add(name.group())
        if name and "i" in flags:
            findings.integers.add(name.group())
        variable, equals, _ = word.text.partition("=")
        if word.assigns:
            continue
        for mark in word.marks[: variable.count("\0")]:
            mark.refusal = Refusal.NAME
        for mark in word.marks[variable.count("\0") :] if name and equals else ():
            mark.variable = name.group() if name else ""


def _names(arguments: Sequence[Word], with_argument: str) -> list[Word]:
    """The words that are names of variables: not options, and not what belongs to an option."""
    names: list[Word] = []
    skips = False
    for word in arguments:
        option = word.plain.startswith("-") and not names
        if not option and not skips:
            names.append(word)
        skips = option and not skips and word.plain[-1:] in with_argument and len(word.plain) > 1
    return names


def _programs(words: Sequence[Word]) -> Iterator[tuple[Mark, str]]:
    """The placeholders that become source code, with the language."""
    if words[0].plain in _EVALUATES:
        yield from ((mark, "bash") for mark in _marks(words[1:]))
        return
    if found := _interpreter(words):
        language, arguments = found
        for word in _program_words(language, arguments):
            yield from ((mark, language) for mark in word.marks)


def _interpreter(words: Sequence[Word]) -> tuple[str, Sequence[Word]] | None:
    wrapped = words[0].plain.rpartition("/")[2] in _WRAPPERS
    candidates = range(len(words)) if wrapped else range(1)
    for index in candidates:
        if found := _INTERPRETER.search(words[index].plain):
            name = found["name"]
            return _LANGUAGES.get(name, "awk" if name.endswith("awk") else name), words[index + 1 :]
    return None


def _program_words(language: str, arguments: Sequence[Word]) -> list[Word]:
    option = _PROGRAM_OPTION.get(language)
    by_option = [after for before, after in pairwise(arguments) if option and option.fullmatch(before.plain)]
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


def heredoc_language(command: Command) -> str:
    """The language of a heredoc that an interpreter reads as its program; empty if it is only data."""
    words = command.words
    found = _interpreter(words) if words else None
    if not found or found[0] in _PROGRAM_FIRST or _program_words(*found):
        return ""
    language, arguments = found
    scripts = [word for word in arguments if not word.plain.startswith("-")]
    reads_input = any(word.plain == "-" or word.plain == "-s" for word in arguments)
    return language if reads_input or not scripts else ""


def _marks(words: Sequence[Word]) -> Iterator[Mark]:
    return (mark for word in words for mark in word.marks)


def _refuse(words: Sequence[Word]) -> None:
    for mark in _marks(words):
        mark.refusal = Refusal.NAME
