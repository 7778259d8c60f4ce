"""The `amplihack` command: finds the command that is meant and loads nothing else."""

from __future__ import annotations

import sys

from amplihack.cli.guard import guarded
from amplihack.version import __version__

TYPE_CHECKING = False  # `typing` itself costs more than all the rest of `--version`
if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS: dict[str, tuple[str, str]] = {
    "recipe": ("amplihack.cli.recipe", "run, check, explain and list recipes"),
    "bundle": ("amplihack.cli.bundle", "load, compose, explain and lock bundles"),
    "agents": ("amplihack.cli.agents", "list the agents of a bundle"),
    "version": ("", "print the version"),
}

_HEAD = """\
usage: amplihack <command> …

Package, compose and run AI-agent work.

commands:
"""
_TAIL = """
`amplihack <command> --help` tells more. Exit codes: 0 done, 1 it ran and failed, 2 the input is wrong,
3 not found, 4 nothing to do it with, 130 interrupted, 70 our own bug.
"""


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    return guarded(lambda: dispatch(words))


def dispatch(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        sys.stdout.write(help_page())
        return 0 if words else 2
    if words[0] in ("-V", "--version", "version"):
        sys.stdout.write(f"amplihack {__version__}\n")
        return 0
    if words[0] not in COMMANDS:
        _unknown(words[0])
    from importlib import import_module

    code: int = import_module(COMMANDS[words[0]][0]).run(words[1:])
    return code


def help_page() -> str:
    width = max(map(len, COMMANDS))
    rows = (f"  {name:<{width}}  {summary}\n" for name, (_, summary) in COMMANDS.items())
    return _HEAD + "".join(rows) + _TAIL


def _unknown(word: str) -> None:
    from amplihack.documents.suggest import closest  # deferred: only a mistyped command needs them
    from amplihack.errors import UsageError

    meant = closest(word, COMMANDS)
    raise UsageError(
        f"there is no command '{word}'",
        fix=f"did you mean '{meant}'?" if meant else "`amplihack --help` lists the commands",
    )


if __name__ == "__main__":
    sys.exit(main())
