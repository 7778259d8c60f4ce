"""The table of commands is the one way to every answer."""

from __future__ import annotations

import argparse
import ast
from pathlib import Path

import pytest

from amplihack.cli import commands, help_pages, main, recipe_run
from amplihack.errors import UsageError
from amplihack.system.agent_tools import table

CLI = Path(main.__file__).parent


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_every_row_leads_to_flags_and_to_an_answer(name: str) -> None:
    command = commands.COMMANDS[name]
    assert callable(commands.load(command.answer))
    usage, *_ = help_pages.parser(name).format_help().splitlines()
    assert usage == f"usage: amplihack {name} {f'{command.arguments} [options]'.strip()}"


def test_every_answer_is_in_the_table() -> None:
    defined = {
        f"{file.stem}:{node.name}"
        for file in CLI.glob("*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("answer_")
    }
    assert defined == {command.answer for command in commands.COMMANDS.values()}


def test_a_new_row_is_a_command_with_help_and_suggestions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answered: list[argparse.Namespace] = []

    def ponder(options: argparse.Namespace) -> int:
        answered.append(options)
        return 0

    monkeypatch.setitem(
        commands.COMMANDS,
        "recipe ponder",
        commands.CommandRow(
            "think about a recipe", "RECIPE", "recipe_reading:explain_flags", "recipe_run:ponder"
        ),
    )
    monkeypatch.setattr(recipe_run, "ponder", ponder, raising=False)
    assert main.dispatch(["recipe", "ponder", "a.yaml"]) == 0
    assert [options.recipe for options in answered] == ["a.yaml"]
    assert "ponder    think about a recipe" in help_pages.group_parser("recipe").format_help()
    with pytest.raises(UsageError) as caught:
        main.dispatch(["recipe", "pondr"])
    assert caught.value.fix == "did you mean 'ponder'?"


@pytest.mark.parametrize("word", ["recipe run", "", "show"])
def test_only_the_first_word_of_a_command_is_a_command(word: str) -> None:
    with pytest.raises(UsageError, match="there is no command"):
        main.dispatch([word, "a.yaml"])


def test_the_help_of_a_run_names_every_agent() -> None:
    page = " ".join(help_pages.parser("recipe run").format_help().split())
    assert f"--agent, --agent-binary AGENT {table.choices()}" in page


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["a.yaml", "--stirct"], "did you mean --strict?"),
        (["a.yaml", "--step-timout=5"], "did you mean --step-timeout?"),
        (["a.yaml", "--xyz"], "an input of the recipe is given with --set xyz=VALUE; --help lists the flags"),
        (["a.yaml", "b.yaml"], "it takes one RECIPE: run it once for each"),
        (["a.yaml", "--step-timeout", "5 minutes"], "write 5m"),
        (["a.yaml", "--step-timeout", "nan"], "write seconds, or a duration"),
    ],
)
def test_a_flag_that_is_not_known_suggests_the_nearest_one(words: list[str], fix: str) -> None:
    with pytest.raises(UsageError) as caught:
        help_pages.parser("recipe run").parse_args(words)
    assert caught.value.fix.startswith(fix)


@pytest.mark.parametrize(("text", "seconds"), [("90", 90.0), ("1h30m", 5400.0), ("500ms", 0.5), ("0", 0.0)])
def test_a_time_limit_takes_seconds_and_durations(text: str, seconds: float) -> None:
    assert (
        help_pages.parser("recipe run").parse_args(["a.yaml", "--step-timeout", text]).step_timeout == seconds
    )
