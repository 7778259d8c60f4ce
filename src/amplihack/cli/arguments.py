"""Parse arguments. A mistake raises UsageError, so that it is shown like every other error."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from amplihack.system.colour import CHOICES

RECIPE = "a file, the name of a recipe, or - for stdin"


class Help(argparse.HelpFormatter):
    """A help page that looks the same on every version of Python: `-c, --set KEY=VALUE`."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=34, width=100)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Keep the lines of examples as they are; they are there to be copied."""
        return text if text.startswith("examples:") else super()._fill_text(text, width, indent)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings:
            return super()._format_action_invocation(action)
        names = ", ".join(action.option_strings)
        return names if action.nargs == 0 else f"{names} {self._format_args(action, action.dest.upper())}"


class _HelpPage(argparse.Action):
    """Prints the page of a command, and what the other words of the line add to it."""

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
        self._typed: list[str] = []  # the words that it reads
        self.intermixed = False  # flags may stand between the words of an argument
        self.add_argument("-h", "--help", action=_HelpPage, nargs=0, help="show this help message and exit")

    def parse_args(  # type: ignore[override]  # as below
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        if self.intermixed:
            return self.parse_intermixed_args(args, namespace)
        return super().parse_args(args, namespace)

    def parse_known_args(  # type: ignore[override]  # the other forms are for namespaces of other types
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        words = list(sys.argv[1:] if args is None else args)
        self._typed = words
        return super().parse_known_args(self._with_values(_help_last(words)), namespace)

    def _with_values(self, words: list[str]) -> list[str]:
        """Write out the value of a flag that may go without one, so that it does not take the next word."""
        end = words.index("--") if "--" in words else len(words)
        optional = [each for each in self._actions if each.option_strings and each.nargs == "?"]
        for each in optional:
            flag, choices = each.option_strings[-1], tuple(each.choices or ())
            for number, word in enumerate(words[:end]):
                alone = len(word) >= 3 and flag.startswith(word)
                if alone and (number + 1 >= end or words[number + 1] not in choices):
                    words[number] = f"{flag}={each.const}"
        return words

    def format_help(self) -> str:
        from amplihack.cli.examples import examples  # deferred: only a help page shows them

        self.epilog = examples(self.prog)
        return super().format_help()

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> object:
        # Older versions of Python take the value of `--flag=--` for the end of the flags, and give a list.
        if action.option_strings and action.nargs is None and arg_strings == ["--"]:
            return self._get_value(action, "--")
        return super()._get_values(action, arg_strings)

    def error(self, message: str) -> NoReturn:
        from amplihack.cli.argument_fixes import explained  # deferred: a help page needs none of it

        raise explained(self, message, self._actions, self._typed)


def _help_last(words: list[str]) -> list[str]:
    """Put a leading `--help` behind the other words, since it ends the reading where it stands."""
    return [*words[1:], words[0]] if words[:1] in (["--help"], ["-h"]) and "--" not in words else words


def positive(text: str) -> int:
    """Return the count that an argument says."""
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError("expected a whole number, 1 or more")


def given(text: str) -> str:
    """Return the text of an argument, which cannot be empty: it would be passed over."""
    if text.strip():
        return text
    raise argparse.ArgumentTypeError("it is empty; a variable of your shell may be unset")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    add_color(parser)


def add_color(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--color",
        choices=CHOICES,
        default="auto",
        help="auto (default: on a terminal, unless NO_COLOR is set), always or never",
    )


def add_working_dir(parser: argparse.ArgumentParser) -> None:
    what = "the directory to work in (default: here)"
    parser.add_argument("-C", "--working-dir", type=given, metavar="DIR", help=what)


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
        type=given,
        metavar="DIR",
        help="search this directory first (repeatable)",
    )
    add_working_dir(parser)
