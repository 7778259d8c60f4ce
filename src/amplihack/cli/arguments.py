"""Parse arguments. A mistake raises UsageError, so that it is shown like every other error."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NoReturn

from amplihack.errors import UsageError


class Help(argparse.HelpFormatter):
    """A help page that looks the same on every version of Python: `-c, --set KEY=VALUE`."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=34, width=100)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings:
            return super()._format_action_invocation(action)
        names = ", ".join(action.option_strings)
        return names if action.nargs == 0 else f"{names} {self._format_args(action, action.dest.upper())}"


class _HelpPage(argparse.Action):
    """Prints the page of a command, and what the words before the flag add to it."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *_: object) -> None:
        parser.print_help()
        if isinstance(parser, Parser):
            parser.after_help(namespace)
        parser.exit()


class Parser(argparse.ArgumentParser):
    """Raises UsageError where argparse would print its usage and end the process."""

    def __init__(self, *, prog: str, usage: str = "", description: str) -> None:
        super().__init__(
            prog=prog,
            usage=f"{prog} {usage}".strip(),
            description=description,
            formatter_class=Help,
            add_help=False,
        )
        self.after_help: Callable[[argparse.Namespace], None] = lambda _options: None
        self.add_argument("-h", "--help", action=_HelpPage, nargs=0, help="show this help message and exit")

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}", fix=f"`{self.prog} --help` shows what it understands")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")


def add_working_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-C", "--working-dir", metavar="DIR", help="the directory to work in (default: here)")


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the flags of every `amplihack recipe` command."""
    add_json(parser)
    add_places(parser)


def add_places(parser: argparse.ArgumentParser) -> None:
    """Add the flags for the recipe directories and the working directory."""
    parser.add_argument(
        "-R",
        "--recipe-dir",
        action="append",
        default=[],
        metavar="DIR",
        help="search this directory first (repeatable)",
    )
    add_working_dir(parser)
