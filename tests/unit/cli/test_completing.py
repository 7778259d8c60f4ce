from __future__ import annotations

import argparse

import pytest

from amplihack.cli import commands, help_pages, runner
from amplihack.cli.completing import VALUES, complete, shell_words

# Values that nobody can list, by their names on help pages.
FREE = {
    "AGE", "N", "NAME", "PROMPT", "S", "STAGE", "STEP", "SUBJECT", "TAGS", "TEXT", "TOOL[:PATTERN]", "USD",
    "WORD", "branch", "url",
}  # fmt: skip


def texts(line: str) -> list[str]:
    return [word.text for word in complete(list(shell_words(line))).words]


def parsers() -> dict[str, argparse.ArgumentParser]:
    return {**{name: help_pages.parser(name) for name in commands.COMMANDS}, "recipe-runner": runner.parser()}


@pytest.mark.parametrize("name", [*commands.COMMANDS, "recipe-runner"])
def test_every_value_of_every_command_is_completed_or_cannot_be(name: str) -> None:
    for action in parsers()[name]._actions:
        if action.nargs != 0 and not action.choices and action.help is not argparse.SUPPRESS:
            assert (action.metavar or action.dest) in VALUES.keys() | FREE, action


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("amplihack rec", ["recipe"]),
        ("amplihack --v", ["--version"]),
        ("amplihack recipe ru", ["run"]),
        ("amplihack nonsense ", []),
        ("amplihack recipe nonsense ", []),
        ("amplihack recipe list --js", ["--json"]),
        ("amplihack recipe list --color ", ["always", "auto", "never"]),
        ("amplihack recipe list --color=al", ["--color=always"]),
        ("amplihack recipe list --colo al", ["always"]),  # a flag may be abbreviated
        ("amplihack recipe list -- --js", []),
        ("amplihack recipe list --json --al", ["--all"]),
        ("amplihack install --force", []),  # hidden flags stay hidden
        ("amplihack install ", ["history"]),
        ("amplihack install history ", []),
        ("amplihack resolve-bundle-asset h", ["helper-path", "hooks-dir"]),
        ("amplihack recipe run x --dry-run ", []),  # its value is behind = alone
        ("amplihack recipe run x --dry-run=d", ["--dry-run=deep"]),
        ("/some/where/amplihack doc", ["doctor"]),
        ("recipe-runner --validate", ["--validate-only"]),
    ],
)
def test_words_come_from_the_table_and_its_parsers(line: str, words: list[str]) -> None:
    assert texts(line) == words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", [""]),
        ("a b", ["a", "b"]),
        ("a b ", ["a", "b", ""]),
        ("a 'b c", ["a", "b c"]),
        ('a "b \'c" d', ["a", "b 'c", "d"]),
        (r"a b\ c", ["a", "b c"]),
        ("a '' x", ["a", "", "x"]),
    ],
)
def test_an_unfinished_line_is_split_as_bash_does(line: str, words: list[str]) -> None:
    assert list(shell_words(line)) == words
