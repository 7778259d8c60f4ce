"""Decide whether to use colours."""

from __future__ import annotations

from collections.abc import Mapping

CHOICES = ("auto", "always", "never")
_NO = ("", "0", "false")


def use_colours(choice: str, environment: Mapping[str, str], *, is_terminal: bool) -> bool:
    """Tell whether to use colours: the flag decides, then the environment, then whether a person looks.

    `NO_COLOR` comes before `FORCE_COLOR` and `CLICOLOR_FORCE`, and these before `TERM=dumb` and `CLICOLOR=0`.
    `FORCE_COLOR=0` and `false` say no, as for other tools; `CLICOLOR_FORCE=0` says nothing.
    """
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if any(environment.get(name, "") not in _NO for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    if environment.get("FORCE_COLOR"):
        return False
    if environment.get("TERM") == "dumb" or environment.get("CLICOLOR") == "0":
        return False
    return is_terminal
