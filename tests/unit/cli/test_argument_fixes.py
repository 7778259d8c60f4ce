"""What was typed for another tool, or nearly right, is answered with our own words."""

from __future__ import annotations

import argparse

import pytest

from amplihack.cli.argument_fixes import explained


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="amplihack recipe run")
    made.add_argument("recipe", metavar="RECIPE")
    made.add_argument("--agent", "--agent-binary", metavar="AGENT")
    made.add_argument("-c", "--context", "--set", metavar="KEY=VALUE")
    made.add_argument("-C", "--working-dir", metavar="DIR")
    made.add_argument("--color", choices=("auto", "never"))
    made.add_argument("--dry-run", action="store_true")
    made.add_argument("--step-timeout", metavar="S")
    return made


INPUT = "an input of the recipe is given with"


@pytest.mark.parametrize(
    ("message", "fix"),
    [
        ("unrecognized arguments: --var a=1", "did you mean --set?"),
        ("unrecognized arguments: -e a=1", "did you mean --set?"),
        ("unrecognized arguments: -n", "did you mean --dry-run?"),
        ("unrecognized arguments: --timeout=5", "did you mean --step-timeout?"),
        ("unrecognized arguments: --no-color", "did you mean --color never?"),
        ("unrecognized arguments: --dryrun", "did you mean --dry-run?"),
        ("unrecognized arguments: -x", "`amplihack recipe run --help` shows what it understands"),
        ("unrecognized arguments: --jobs 3", f"{INPUT} --set jobs=3; --help lists the flags"),
        ("unrecognized arguments: --target=dev --force", f"{INPUT} --set target=dev; --help lists the flags"),
        ("unrecognized arguments: --target my own", f"{INPUT} --set target=VALUE; --help lists the flags"),
        ("unrecognized arguments: --target --other x", f"{INPUT} --set target=VALUE; --help lists the flags"),
        ("argument -c/--context/--set: expected one argument", "write --set KEY=VALUE"),
        ("argument --color: expected one argument", "write --color auto or --color never"),
        ("argument --color: invalid choice: 'red' (choose …)", "write --color auto or --color never"),
        ("argument --color: invalid choice: 'nevr' (choose …)", "write --color never"),
        ("argument --dry-run: ignored explicit argument '1'", "write --dry-run alone"),
        ("unrecognized arguments: --resume", "that is a command of its own: `amplihack runs resume`"),
    ],
)
def test_an_unknown_flag_is_answered_with_one_that_the_command_has(message: str, fix: str) -> None:
    made = parser()
    assert explained(made, message, made._actions).fix == fix


def test_flags_stand_in_front_of_the_two_dashes_that_end_them() -> None:
    made, message = parser(), "unrecognized arguments: -q"
    fix = explained(made, message, made._actions, ["--", "x.yaml", "-q"]).fix
    assert fix == "flags stand in front of `--`"


def test_a_flag_is_spelt_as_it_was_typed() -> None:
    made, message = parser(), "argument --agent/--agent-binary: expected one argument"
    for flag in ("--agent", "--agent-binary"):
        assert explained(made, message, made._actions, ["x.yaml", flag]).fix == f"write {flag} AGENT"
