"""Find words that are source code of some language: for `eval`, `bash -c`, `ssh`, `python -c` and more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from amplihack.recipes.templates.bash.builtins import without_prefix
from amplihack.recipes.templates.bash.places import Output, Place, SimpleCommand, Word
from amplihack.recipes.templates.bash.program_tables import (
    CODE_BEHIND,
    CODE_NAMES,
    CODE_OPTION,
    CODE_SETTING,
    CODE_TAKERS,
    EVALUATES,
    INTERPRETER,
    LANGUAGES,
    MAY_EXECUTE,
    PROGRAM_FIRST,
    PROGRAM_OPTION,
    RUNS_INPUT,
    SHOWS,
    SOURCES,
    SSH_WITH_ARGUMENT,
    STANDARD_INPUT,
    WRAPPERS,
)
from amplihack.recipes.templates.bash.value_flow import ValueFlow, references
from amplihack.recipes.templates.bash.variable_attributes import PROGRAM_VARIABLES


def settle_programs(command: SimpleCommand, flow: ValueFlow) -> Sequence[Word]:
    """Note the language of placeholders that become source code, and the variables that do.

    Return the words that a shell reads as code.
    """
    if not command.marked and command.words[0].plain.rpartition("/")[2] not in MAY_EXECUTE:
        return ()
    words = without_prefix(command.words)
    code = list(_code_words(words)) if words else []
    for word in code:
        name_language(word.marks, "bash")
        flow.executed.update(references(word.text))
    if words and (found := _interpreter(words)):
        language, arguments = found
        for word in _program_words(language, arguments):
            name_language(word.marks, language)
            if language == "bash":
                flow.executed.update(references(word.text))
                code.append(word)
        for word in _scripts(arguments)[:1]:
            name_language((mark for mark in word.marks if _is_process(mark)), language)
    if command.inputs and (language := input_language(command)):
        for word in command.inputs:
            direct = word.text.startswith(("<", "\1")) or not any(_is_process(mark) for mark in word.marks)
            name_language(word.marks if direct else (), language)
    return code


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
    if name in EVALUATES:
        yield from arguments
    elif name in SOURCES:
        yield from (word for word in arguments[:1] if word.plain == "\0" or any(map(_is_process, word.marks)))
    elif name == "ssh":
        yield from _ssh_command(arguments)
    elif taker := _wrapped_taker(words):
        yield from _code_words(taker)
    named = {word.plain.rpartition("/")[2] for word in words}
    for each in () if named.isdisjoint(CODE_NAMES) else sorted(named & CODE_NAMES):
        yield from _words_by_option(each, arguments)
    if name in WRAPPERS:
        yield from (word for word in arguments if word.plain.partition("=")[0] in PROGRAM_VARIABLES)


def _words_by_option(name: str, arguments: Sequence[Word]) -> Iterator[Word]:
    """Yield the words that a command takes for code because of an option, a sub-command or a setting."""
    if option := CODE_OPTION.get(name):
        yield from _option_arguments(arguments, option)
    if behind := CODE_BEHIND.get(name):
        at = next((i for i, word in enumerate(arguments) if re.fullmatch(behind, word.plain)), None)
        yield from () if at is None else arguments[at + 1 :]
    if setting := CODE_SETTING.get(name):
        yield from (word for word in arguments if re.match(f"(?:{setting})=", word.plain))


def _wrapped_taker(words: Sequence[Word]) -> Sequence[Word]:
    """Return the words from a program on that takes code and stands behind a wrapper, such as `sudo ssh`."""
    names = [word.plain.rpartition("/")[2] for word in words]
    if names[0] not in WRAPPERS or names[0] in CODE_TAKERS:
        return ()
    at = next((i for i, name in enumerate(names) if name in CODE_TAKERS), len(names))
    return words[at:]


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
            skips = word.plain[-1:] in SSH_WITH_ARGUMENT and len(word.plain) == 2
        else:
            return arguments[index + 1 :]
    return ()


def _interpreter(words: Sequence[Word]) -> tuple[str, Sequence[Word]] | None:
    """Return the language of the interpreter in a command, and its arguments."""
    first = words[0].plain.rpartition("/")[2]
    for index, word in enumerate(words if first not in SHOWS else ()):
        if not (found := INTERPRETER.search(word.plain)):
            continue
        name = found["name"] or found["variable"].lower()
        language, arguments = LANGUAGES.get(name, name), words[index + 1 :]
        if index == 0 or first in WRAPPERS or _is_started(language, arguments):
            return language, arguments
    return None


def _is_started(language: str, arguments: Sequence[Word]) -> bool:
    """Tell whether what looks like an interpreter gets a program, though nothing known starts it."""
    if language in PROGRAM_FIRST or not arguments or not arguments[0].plain.startswith(("-", "eval")):
        return False
    return bool(_program_words(language, arguments))


def _program_words(language: str, arguments: Sequence[Word]) -> list[Word]:
    option = PROGRAM_OPTION.get(language)
    by_option = list(_option_arguments(arguments, option)) if option else []
    if by_option or language not in PROGRAM_FIRST:
        return by_option
    skips = 0
    for word in arguments:
        if skips:
            skips -= 1
        elif not word.plain.startswith("-"):
            return [word]
        else:
            skips = PROGRAM_FIRST[language].get(word.plain, 0)
    return []


def _scripts(arguments: Sequence[Word]) -> list[Word]:
    return [word for word in arguments if not word.plain.startswith("-")]


def input_language(command: SimpleCommand) -> str:
    """Return the language of the program that a command reads from its input; empty if it is data."""
    words = without_prefix(command.words)
    if not words:
        return ""
    if words[0].plain in SOURCES:
        return "bash" if _reads_input(words) else ""
    words = _wrapped_taker(words) or words
    name, found = words[0].plain.rpartition("/")[2], _interpreter(words)
    if name in RUNS_INPUT or (name == "ssh" and not _ssh_command(words[1:])):
        return "bash"
    if name == "xargs" and found and found[0] == "bash":
        return "bash"
    if not found or found[0] in PROGRAM_FIRST or _program_words(*found):
        return ""
    language, arguments = found
    return language if _reads_input(words) or not _scripts(arguments) else ""


def _reads_input(words: Sequence[Word]) -> bool:
    return any(word.plain in STANDARD_INPUT for word in words[1:])
