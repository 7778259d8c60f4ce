"""Heal the staged bundle before a command runs, and tell about it on stderr alone."""

from __future__ import annotations

from amplihack.app.install.heal import heal_this_process
from amplihack.cli.show import err, printable


def heal() -> None:
    heal_this_process(lambda line: err(printable(line)))
