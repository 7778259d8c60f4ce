"""Shorten the error of a step to the one line that a person needs while a run goes on."""

from __future__ import annotations

import re

from amplihack.patterns import pattern
from amplihack.recipes.results import StepResult
from amplihack.recipes.values import one_line

_WIDTH = 200
_WRAPPED = pattern(r"(?:bash|agent|recipe|group) step failed: ")
_COMMAND = pattern(r"Command failed \(((?:exit|signal) [^)]*)\)(?:: (?:\(stdout\) )?(.*))?", re.DOTALL)
_DETAILS = pattern(r"(.*?)\n--- \w+ \(tail\) ---\n(.*)", re.DOTALL)
_HEADING = pattern(r"(.+?\.) [^.]*:")
_ROUND = pattern(r".*\[([0-9]+)\]", re.DOTALL)


def brief(error: str) -> str:
    """Return how an error ended and the last line of what was printed, such as `exit 2: no such file`.

    Programs print what they are doing first and what went wrong last.
    """
    wrapped = _WRAPPED.match(error)
    own = (error[wrapped.end() :] if wrapped else error).partition("\n  fix: ")[0]
    if command := _COMMAND.fullmatch(own):
        return _joined(command[1], _last_line(command[2] or ""))
    if details := _DETAILS.fullmatch(own):
        return _joined(_first_line(details[1]), _last_line(details[2]))
    first = _first_line(own)
    heading = _HEADING.fullmatch(first)  # a sentence that only leads to a list below it
    return one_line(heading[1] if heading else first, _WIDTH)


def cause(result: StepResult) -> str:
    """Return the brief error of a failed step, or the way to the step inside it that made it fail."""
    culprit = next((each for each in result.children if _made_it_fail(each, result)), None)
    if culprit is None:
        return brief(result.error.removeprefix(f"Step '{result.step_id}' failed: "))
    is_round = _ROUND.fullmatch(culprit.step_id) if culprit.identity.endswith("]") else None
    name = f"round {int(is_round[1]) + 1}" if is_round else culprit.step_id
    return f"{name}: {cause(culprit)}"


def _made_it_fail(child: StepResult, result: StepResult) -> bool:
    """Tell whether the error of a step tells of this child; it may have failed for another reason."""
    # A round has the policy of its loop: one that ends the recipe quietly is allowed, and ends the loop.
    counts = not child.allowed or child.identity.endswith("]")
    return child.status == "failed" and counts and child.error != "" and child.error in result.error


def _joined(how: str, said: str) -> str:
    is_new = said and not how.endswith(said)
    return one_line(f"{how}: {said}" if is_new else how, _WIDTH)


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")
