"""Find out what may follow the words of an unfinished command line.

Commands, flags and their choices come from the table of commands and from its parsers, so that whatever is
added there is completed too. What a value may be is known by its name on the help page, `RECIPE` or `DIR`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Final, Literal, TypeAlias

from amplihack.cli import commands, help_pages, runner
from amplihack.cli.completion_scripts import SCRIPTS
from amplihack.records import Record, field

Kind: TypeAlias = Literal["words", "files", "directories"]  # files: those of the shell as well


class CompletionWord(Record):
    """Something to type, and what it means."""

    text: str
    meaning: str = ""


class Completion(Record):
    """What can be typed. The shell adds paths of its own where `kind` says so."""

    words: tuple[CompletionWord, ...] = ()
    kind: Kind = "words"


class LineSoFar(Record):
    """What the words before the current one have said: values of flags and arguments by their names."""

    given: Mapping[str, list[str]] = field(default_factory=dict)

    def first(self, name: str) -> str | None:
        return next(iter(self.given.get(name, ())), None)


# Answers with what a value may be: it gets the line and what is typed of the value so far.
Values: TypeAlias = Callable[[LineSoFar, str], Completion]


def complete(words: Sequence[str]) -> Completion:
    """Return what the last word may become; the first one is the program."""
    program, *rest = words
    found = _completed(PurePath(program).name, rest)
    fitting = (each for each in found.words if each.text.startswith(rest[-1]))
    return Completion(tuple(sorted(fitting, key=lambda each: each.text)), found.kind)


def _completed(program: str, words: list[str]) -> Completion:
    if program == "recipe-runner":
        return _arguments(runner.parser(), words)
    if len(words) == 1:
        flags = ("--help", "--version") if words[0].startswith("-") else ()
        return _listed({**commands.first_words(), **dict.fromkeys(flags, "")})
    name = words[0]
    if name in commands.GROUPS and len(words) == 2:
        return _listed({verb: row.summary for verb, row in commands.verbs(name).items()})
    count = 2 if name in commands.GROUPS else 1
    name = " ".join(words[:count])
    if name not in commands.COMMANDS:
        return Completion()
    if commands.COMMANDS[name].hands_on:
        return Completion(kind="files")  # its flags are those of another program
    return _arguments(help_pages.parser(name), words[count:])


def _listed(words: Mapping[str, str]) -> Completion:
    return Completion(tuple(CompletionWord(text, meaning) for text, meaning in words.items()))


# Arguments ------------------------------------------------------------------------------------------------


def _arguments(parser: argparse.ArgumentParser, words: list[str]) -> Completion:
    reading = _Reading(parser)
    for word in words[:-1]:
        reading.take(word)
    current, line = words[-1], LineSoFar(reading.given)
    if reading.waiting is not None:
        return _values(reading.waiting, line, current)
    if reading.flags and current.startswith("-"):
        name, equals, value = current.partition("=")
        action = reading.action(name) if equals else None
        return _prefixed(f"{name}=", _values(action, line, value)) if action else _flags(parser)
    action = reading.next_argument()
    return _values(action, line, current) if action else Completion()


class _Reading:
    """Reads words as the parser will, but nothing is wrong with a line that is not finished."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._known = parser._option_string_actions
        self._arguments = [each for each in parser._actions if not each.option_strings]
        self._count = 0
        self.given: dict[str, list[str]] = {}
        self.waiting: argparse.Action | None = None  # a flag whose value comes next
        self.flags = True  # False behind `--`

    def take(self, word: str) -> None:
        if self.waiting is not None:
            self._give(self.waiting, word)
            self.waiting = None
        elif self.flags and word == "--":
            self.flags = False
        elif self.flags and word.startswith("-") and word != "-":
            self._take_flag(word)
        else:
            if (argument := self.next_argument()) is not None:
                self._give(argument, word)
            self._count += 1

    def _take_flag(self, word: str) -> None:
        name, equals, value = word.partition("=")
        action = self.action(name)
        if action is None and not word.startswith("--"):
            action, equals, value = self.action(word[:2]), "=", word[2:]
        if action is None or action.nargs == 0:
            return
        if equals:
            self._give(action, value)
        elif action.nargs is None:
            self.waiting = action

    def action(self, name: str) -> argparse.Action | None:
        """Return the flag of that name, or the one that it is the beginning of."""
        found = {id(each): each for known, each in self._known.items() if known.startswith(name)}
        exact = self._known.get(name)
        only = next(iter(found.values())) if len(found) == 1 and len(name) > 2 else None
        return exact or only

    def next_argument(self) -> argparse.Action | None:
        """Return the argument that the next word is; the last one may take any number."""
        if self._count < len(self._arguments):
            return self._arguments[self._count]
        last = self._arguments[-1] if self._arguments else None
        return last if last is not None and last.nargs in ("+", "*") else None

    def _give(self, action: argparse.Action, value: str) -> None:
        self.given.setdefault(action.dest, []).append(value)


def _flags(parser: argparse.ArgumentParser) -> Completion:
    shown = (action for action in parser._actions if action.help is not argparse.SUPPRESS)
    return _listed({name: action.help or "" for action in shown for name in action.option_strings})


def _values(action: argparse.Action, line: LineSoFar, current: str) -> Completion:
    if action.choices:
        return _listed(dict.fromkeys(map(str, action.choices), ""))
    name = action.metavar if isinstance(action.metavar, str) else action.dest
    values = VALUES.get(name.strip("[]"))
    return values(line, current) if values else Completion()


def _prefixed(prefix: str, found: Completion) -> Completion:
    words = tuple(CompletionWord(f"{prefix}{each.text}", each.meaning) for each in found.words)
    return Completion(words, found.kind)


# Values ---------------------------------------------------------------------------------------------------


def _paths(_line: LineSoFar, _current: str) -> Completion:
    return Completion(kind="files")


def _directories(_line: LineSoFar, _current: str) -> Completion:
    return Completion(kind="directories")


def _recipes(line: LineSoFar, current: str) -> Completion:
    from amplihack.app import completions  # deferred, as below: most answers come from the table alone

    names = completions.recipe_names(line.given.get("recipe_dir", ()), line.first("working_dir"))
    return _listed({**names, **dict.fromkeys(completions.recipe_paths(current), "")})


def _runs(_line: LineSoFar, _current: str) -> Completion:
    from amplihack.app import completions

    return _listed({"last": "the newest run", **completions.run_ids()})


def _inputs(line: LineSoFar, current: str) -> Completion:
    """Complete the name of an input of the recipe, and behind it what its value may be."""
    from amplihack.app import completions

    recipe = line.first("recipe")
    dirs, directory = line.given.get("recipe_dir", ()), line.first("working_dir")
    inputs = completions.recipe_inputs(recipe, dirs, directory) if recipe else {}
    name, equals, _ = current.partition("=")
    if not equals:
        return _listed({f"{each}=": found.meaning for each, found in inputs.items()})
    chosen = inputs[name].choices if name in inputs else ()
    return _prefixed(f"{name}=", _listed(dict.fromkeys(chosen, "")))


def _input_files(line: LineSoFar, current: str) -> Completion:
    return Completion(kind="files") if "=" in current else _inputs(line, current)


def _agents(_line: LineSoFar, _current: str) -> Completion:
    from amplihack.app import completions

    return _listed(completions.agent_names())


def _assets(_line: LineSoFar, _current: str) -> Completion:
    from amplihack.install.assets import NAMED_ASSETS

    return _listed({name: asset.path for name, asset in NAMED_ASSETS.items()})


def _models(_line: LineSoFar, _current: str) -> Completion:
    from amplihack.system.local_models.catalogue import CATALOGUE

    return _listed({name: model.summary for name, model in CATALOGUE.items()})


def _sessions(_line: LineSoFar, _current: str) -> Completion:
    from amplihack.app import completions

    return _listed({"last": "the newest session", **completions.session_ids()})


def _shells(_line: LineSoFar, _current: str) -> Completion:
    return _listed(dict.fromkeys(SCRIPTS, ""))


def _itself(word: str) -> Values:
    return lambda _line, _current: _listed({word: ""})


# By the name that a help page gives to a value.
VALUES: Final[Mapping[str, Values]] = {
    "A": _runs,
    "AGENT": _agents,
    "ASSET": _assets,
    "B": _runs,
    "BUNDLE": _paths,
    "DIR": _directories,
    "DIRECTORY": _directories,
    "FILE": _paths,
    "KEY=JSON": _inputs,
    "KEY=PATH": _input_files,
    "KEY=VALUE": _inputs,
    "MODEL": _models,
    "PATH": _paths,
    "RECIPE": _recipes,
    "RUN": _runs,
    "SESSION": _sessions,
    "SHELL": _shells,
    "history": _itself("history"),
}


def shell_words(line: str) -> Iterator[str]:
    """Yield the words of an unfinished line as bash reads them; the last one is what is being typed."""
    word, quote, inside, escaped = "", "", False, False
    for char in line:
        if escaped:
            word, escaped = word + char, False
        elif char == "\\" and quote != "'":
            escaped = inside = True
        elif quote:
            word, quote = (word, "") if char == quote else (word + char, quote)
        elif char in "'\"":
            quote, inside = char, True
        elif char in " \t\n":
            if inside:
                yield word
            word, inside = "", False
        else:
            word, inside = word + char, True
    yield word
