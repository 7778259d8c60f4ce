"""Offer the small model of this machine to whoever has nothing to ask, and is there to answer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from amplihack.cli.show import err
from amplihack.errors import NothingToUse

if TYPE_CHECKING:
    from amplihack.app.sessions.asking import AskRequest
    from amplihack.app.workspace import Workspace

_ANSWERS = {"y": True, "yes": True, "n": False, "no": False, "": False}


def asked_or_offered(
    workspace: Workspace, request: AskRequest, ask: Callable[[AskRequest], int], *, as_json: bool = False
) -> int:
    """Ask. Where there is no model to ask, offer to fetch one and ask that.

    Raises NothingToUse where nobody can answer, or where the fetched model could not run.
    """
    from amplihack.records import replace  # deferred, as below: most commands offer nothing

    try:
        return ask(request)
    except NothingToUse as error:
        if as_json or request.model or not _can_offer(workspace):
            raise
        err(f"{error.what}\n  fix: {error.fix}")
        if not _wants_it():
            return error.exit_code
    return ask(replace(request, model="local"))


def is_interactive() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _can_offer(workspace: Workspace) -> bool:
    """Tell whether somebody can answer, nothing else was set up, and the model could run."""
    from amplihack.app.sessions.models_here import facts_here
    from amplihack.sessions.model_choice import is_configured

    facts = facts_here(workspace)
    return is_interactive() and "xllamacpp" in facts.packages and not is_configured(facts)


def _wants_it() -> bool:
    """Ask until the answer is one, and fetch the model if it is yes. Raises AmplihackError."""
    from amplihack.cli.model import fetched
    from amplihack.sessions.model_choice import SMALL_MODEL
    from amplihack.system.local_models.catalogue import model_called
    from amplihack.system.stdin import typed_line

    size = f"{model_called(SMALL_MODEL).size / 1e6:.0f} MB"
    while True:
        sys.stderr.write(f"Fetch the model {SMALL_MODEL} ({size}) now and use it? [y/N] ")
        sys.stderr.flush()
        line = typed_line()
        if not line:
            err("")  # the end of the input is in the line of the question
        answer = _ANSWERS.get(line.strip().lower())
        if answer is not None:
            break
        err("answer y or n")
    if answer:
        fetched(SMALL_MODEL)
        err(f"{SMALL_MODEL} is fetched and checked")
    return answer
