"""Arguments whose mistakes are told like every other mistake: what, and how to fix it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import NoReturn

from amplihack.errors import UsageError
from amplihack.recipes.suggest import closest


class Parser(argparse.ArgumentParser):
    """Raises UsageError where argparse would print its usage and end the process."""

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
