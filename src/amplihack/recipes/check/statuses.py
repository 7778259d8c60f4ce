"""Report conditions that compare the status of a step with a word that no status has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from amplihack.documents.suggest import closest
from amplihack.errors import Problem
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.conditions import inside, path_of
from amplihack.recipes.check.sites import sites
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.conditions import Compare, Constant, Expression, Interpolated, ListLiteral
from amplihack.recipes.conditions.tree import PlaceholderNode
from amplihack.recipes.model import Test

_STATUSES: Final = ("completed", "failed", "skipped", "degraded")  # of a step that has ended
_ELSEWHERE: Final = {
    **dict.fromkeys(("success", "succeeded", "successful", "ok", "okay", "pass", "passed"), "completed"),
    **dict.fromkeys(("done", "complete", "finished", "true", "0"), "completed"),
    **dict.fromkeys(("failure", "fail", "error", "errored", "timeout", "cancelled", "false"), "failed"),
}


def unknown_statuses(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find comparisons of `steps.ID.status` with a word that it never is, such as 'success'."""
    if "steps" in subject.names:
        return  # a variable that hides what the runner knows
    for about, test in _tests(subject):
        for node in inside(test.condition.tree) if "status" in test.text else ():
            for word in _words(node):
                if isinstance(word.value, str) and word.value not in _STATUSES:
                    what = f"{about} asks for the status '{word.value}', which no step ever has"
                    where = test.source.at(word.column)
                    yield finding("never-equal", "warning", what, where, _fix(word.value))


def _tests(subject: CheckedRecipe) -> Iterator[tuple[str, Test]]:
    yield from ((site.about, site.test) for site in sites(subject))
    for step in subject.steps:
        if step.loop and step.loop.break_when:
            yield f"the loop of step '{step.id}'", step.loop.break_when


def _words(node: Expression) -> Iterator[Constant]:
    """Yield the constants that a comparison holds against the status of a step."""
    match node:
        case Compare("==" | "!=", left, Constant() as word) if _is_status(left):
            yield word
        case Compare("==" | "!=", Constant() as word, right) if _is_status(right):
            yield word
        case Compare("in" | "not in", left, ListLiteral(items)) if _is_status(left):
            yield from (item for item in items if isinstance(item, Constant))
        case _:
            return


def _is_status(node: Expression) -> bool:
    if isinstance(node, Interpolated):
        (only, *others) = node.parts
        return not others and isinstance(only, PlaceholderNode) and _is_status(only)
    match path_of(node):
        case ("steps", _, "status"):
            return True
        case _:
            return False


def _fix(word: str) -> str:
    meant = _ELSEWHERE.get(word.lower()) or closest(word.lower(), _STATUSES)
    return f"write '{meant}'" if meant else f"it is one of {', '.join(_STATUSES)}"
