"""Arguments whose mistakes are told like every other mistake: what, and how to fix it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import NoReturn

from amplihack.documents.suggest import closest
from amplihack.errors import UsageError


class Help(argparse.HelpFormatter):
    """A help page that reads the same on every version of Python: `-c, --set KEY=VALUE`."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=34, width=100)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings:
            return super()._format_action_invocation(action)
        names = ", ".join(action.option_strings)
        return names if action.nargs == 0 else f"{names} {self._format_args(action, action.dest.upper())}"


class Parser(argparse.ArgumentParser):
    """Raises UsageError where argparse would print its usage and end the process."""

    def __init__(self, *, prog: str, usage: str = "", description: str) -> None:
        super().__init__(
            prog=prog, usage=f"{prog} {usage}".strip(), description=description, formatter_class=Help
        )

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}", fix=f"`{self.prog} --help` shows what it understands")


def require_known(word: str, known: Iterable[str], command: str) -> None:
    """Raises UsageError with the word that was probably meant."""
    if word in known:
        return
    meant = closest(word, known)
    raise UsageError(
        f"{command}: there is no '{word}'",
        fix=f"did you mean '{meant}'?" if meant else f"`{command} --help` shows what there is",
    )
