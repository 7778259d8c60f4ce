"""Heal the staged bundle before a command runs, and tell about it on stderr alone."""

from __future__ import annotations

from amplihack.app.install.heal import SelfHealFailed, heal_this_process
from amplihack.cli.show import err, printable, tell_failure


def heal() -> None:
    """Raise SelfHealFailed where the bundle is not that of this program and cannot be staged."""
    heal_this_process(lambda line: err(printable(line)))


def try_to_heal() -> None:
    """Tell where it cannot be staged: for commands that use nothing of it."""
    try:
        heal()
    except SelfHealFailed as error:
        tell_failure(error.problems, as_json=False)
