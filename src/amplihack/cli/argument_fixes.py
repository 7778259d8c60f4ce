"""Say what to type instead of arguments that cannot be read. Loaded only when there are such."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable
from itertools import takewhile

from amplihack.cli.examples import EXAMPLES
from amplihack.documents.suggest import closest
from amplihack.errors import AmplihackError, NothingToUse, UsageError

# What other tools call it, by our own flag.
_ELSEWHERE = {
    "--set": "-e --extra-vars --var -D --define --param --arg --input --with --variable -p",
    "--set-json": "--argjson --json-var",
    "--dry-run": "-n --just-print --simulate --check --plan --no-act --what-if --noop",
    "--verbose": "--debug --trace -d -vv -vvv --log-level",
    "--quiet": "--silent -s",
    "--step-timeout": "--timeout -t",
    "--max-parallel": "--parallel -j --jobs --forks --concurrency --workers",
    "--working-dir": "--cwd --workdir --directory --chdir -d",
    "--env-file": "--dotenv --environment-file --envfile",
    "--context-file": "--vars-file --var-file --values",
    "--yes": "-y --force --assume-yes --auto-approve --approve --no-confirm --non-interactive",
    "--agent": "--llm --engine --backend",
    "--include-tags": "--tags --only",
    "--exclude-tags": "--skip-tags --skip --exclude",
    "--color": "--colour --colors --ansi",
    "--color never": "--no-color --no-colors --no-colour --plain --no-ansi",
    "--json": "--output-json -o --as-json",
    "--strict": "--fail-on-warning --werror",
    "--limit": "--max-count -n --lines --count",
    "--status": "--state --filter",
    "--follow": "-f",
    "--bundle": "-b --profile",
}

# How other tools name the flag of what stands alone here.
_ALONE = ("-f", "--file", "-i", "--path", "--name", "--id", "-p", "-m", "--message")

# What is a flag elsewhere and a command here.
_COMMANDS = {
    **dict.fromkeys(("--resume", "--continue", "--restart"), "amplihack runs resume"),
    **dict.fromkeys(("--watch", "--follow", "--tail"), "amplihack runs tail"),
    **dict.fromkeys(("--validate", "--validate-only", "--lint"), "amplihack recipe check"),
    **dict.fromkeys(("--list", "--list-recipes"), "amplihack recipe list"),
    "--explain": "amplihack recipe explain",
}

_FEW = 3  # as many choices as a fix repeats
_UNKNOWN, _MISSING = "unrecognized arguments: ", "the following arguments are required: "


def explained(
    parser: argparse.ArgumentParser,
    message: str,
    actions: Iterable[argparse.Action],
    typed: Iterable[str] = (),
) -> AmplihackError:
    """Return the error for a complaint of argparse about what was typed."""
    known, typed = tuple(actions), tuple(typed)
    if (wish := next((word for word in typed if word in ("--version", "-V")), "")) and "--" not in typed:
        return UsageError(f"{parser.prog}: {_UNKNOWN}{wish}", fix="`amplihack --version`")
    message = message.replace("ignored explicit argument", "it takes no value, but there is")
    if message == f"{_MISSING}RECIPE":
        fix = f"`{parser.prog} build.yaml`; `amplihack recipe list` shows the recipes that have a name"
        return NothingToUse(f"{parser.prog}: no recipe is given", fix=fix)
    if message.startswith(_UNKNOWN) and not message.removeprefix(_UNKNOWN).strip():
        message += "''"  # what is not to be seen
    return UsageError(
        f"{parser.prog}: {message}",
        fix=_fix(message, parser.prog, known, typed) or f"`{parser.prog} --help` shows what it understands",
    )


def _fix(message: str, program: str, actions: tuple[argparse.Action, ...], typed: Iterable[str]) -> str:
    if message.startswith(_MISSING):
        return _for_missing(message.removeprefix(_MISSING), program, actions)
    if message.startswith("ambiguous option"):
        return "write the flag in full"
    if message.startswith(_UNKNOWN) and "--" in typed and message.removeprefix(_UNKNOWN).startswith("-"):
        return "flags stand in front of `--`"
    if message.startswith(_UNKNOWN):
        words = message.removeprefix(_UNKNOWN).replace("''", "").split()
        return _standing_alone(words, program, actions, tuple(typed)) or _for_unknown(words, actions)
    flag = _spelling(message.removeprefix("argument ").partition(":")[0].split("/"), typed)
    action = next((each for each in actions if flag in each.option_strings), None)
    if action is None:
        return ""
    if "it takes no value" in message:
        return f"write {flag} alone"
    if "whole number" in message:
        return f"write a number, such as {flag} 4"
    if "expected one argument" in message or ": it is empty" in message or "invalid choice" in message:
        wrong = message.partition("invalid choice: '")[2].partition("'")[0]
        return f"write {_with_value(flag, wrong, action)}"
    return ""


def _with_value(flag: str, wrong: str, action: argparse.Action) -> str:
    """Return a flag with the value that was nearly typed, else with each one that it takes."""
    choices = [str(each) for each in action.choices or ()]
    if near := closest(wrong, choices):
        return f"{flag} {near}"
    if len(choices) > _FEW:
        return f"{flag} and one of these words"
    return " or ".join(f"{flag} {each}" for each in choices or [_shown(action)])


def _shown(action: argparse.Action) -> str:
    """Return the word that stands for an argument on help pages."""
    return str(action.metavar or action.dest.upper())


def _for_missing(name: str, program: str, actions: tuple[argparse.Action, ...]) -> str:
    """Say what can be written there: one of a few, or what the first example of the help page has."""
    choices = next((list(each.choices) for each in actions if each.choices and each.metavar == name), [])
    if choices:
        return f"write one of: {', '.join(choices)}"
    example = next((line for line, _ in EXAMPLES.get(program, ())), "")
    return f"write it behind the command: `{example}`" if example else f"write what stands for {name}"


def _spelling(spellings: list[str], typed: Iterable[str]) -> str:
    """Return the spelling of a flag that was typed; otherwise the last, which is the usual one."""
    used = {word.partition("=")[0] for word in typed}
    return next((each for each in spellings if each in used), spellings[-1])


def _meant_flag(flag: str, known: list[str]) -> str | None:
    """Return the flag of ours that does what one of another tool does, or that is spelt nearly so."""
    for ours, others in _ELSEWHERE.items():
        if flag in others.split() and ours.split()[0] in known:
            return ours
    # One letter is like every other: nothing can be told from it.
    return closest(flag, [each for each in known if len(each) > 2]) if len(flag) > 2 else None


def _standing_alone(
    words: list[str], program: str, actions: tuple[argparse.Action, ...], typed: tuple[str, ...]
) -> str:
    """Say that what stands behind an unknown flag needs none; empty where the flag means something else."""
    flag = words[0] if len(words) == 1 else ""  # what stood behind it was taken for what it is
    single = next((each for each in actions if not each.option_strings), None)
    if single is None or flag not in (f"--{_shown(single).lower()}", *_ALONE):
        return ""
    if any(flag in others.split() for ours, others in _ELSEWHERE.items() if _has(ours, actions)):
        return ""
    value = next(iter(typed[typed.index(flag) + 1 :]), "") if flag in typed else ""
    return f"it stands alone: `{program} {shlex.quote(value)}`" if value and not value.startswith("-") else ""


def _has(ours: str, actions: tuple[argparse.Action, ...]) -> bool:
    return any(ours.split()[0] in each.option_strings for each in actions)


def _as_input(words: list[str]) -> str:
    """Return how an input of a recipe is given that was written as a flag; empty for what cannot be one."""
    name, equals, value = words[0].removeprefix("--").partition("=")
    if not words[0].startswith("--") or not name:
        return ""
    if not equals:
        behind = list(takewhile(lambda word: not word.startswith("-"), words[1:]))
        value = behind[0] if len(behind) == 1 else "VALUE"  # of several words nobody knows which belong to it
    return (
        f"an input of the recipe is given with --set {shlex.quote(f'{name}={value}')}; --help lists the flags"
    )


def _for_unknown(words: list[str], actions: tuple[argparse.Action, ...]) -> str:
    """Say what an unknown flag, a variable without a flag, or one word too many was meant to be."""
    if not words:
        return "leave out the empty word: a variable of the shell may have no value"
    word, flags = words[0], [name for each in actions for name in each.option_strings]
    if not word.startswith("-") and "=" in word and "--set" in flags:
        return f"did you mean --set {shlex.quote(word)}?"
    if word.startswith("-"):
        name = word.partition("=")[0]
        if meant := _meant_flag(name, flags):
            return f"did you mean {meant}?"
        if name == "--agent" and "--model" in flags:
            return "agent tools answer the agent steps of recipes; here --model chooses who answers"
        if name in _COMMANDS:
            return f"that is a command of its own: `{_COMMANDS[name]}`"
        return _as_input(words) if "--set" in flags else ""
    single = [each for each in actions if not each.option_strings and each.nargs in (None, "?")]
    if not single:
        return "it takes flags only"
    if "--set" in flags and not word.endswith((".yaml", ".yml")):
        return "a value for the recipe is given with --set NAME=VALUE; RECIPE --help lists its inputs"
    return f"it takes one {_shown(single[0])}: run it once for each, or put quotes around a name with blanks"
