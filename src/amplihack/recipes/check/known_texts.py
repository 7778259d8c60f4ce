"""Templates whose text is known before the run, and those of them that cannot be what their place needs."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.documents.durations import EXPECTED, seconds_in
from amplihack.errors import Problem
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.model import Foreach, Number, Step
from amplihack.recipes.placeholders import find_variables
from amplihack.recipes.semantics import BUILT_IN, LOOP, every_loop_name
from amplihack.recipes.templates import render_text
from amplihack.recipes.values import COUNT, whole_number


def known_text(template: str, subject: CheckedRecipe) -> str | None:
    """Return what a template becomes if no step changes its variables; None if only the run can tell."""
    names = {found.path[0] for found in find_variables(template)}
    if all(_is_known(name, subject) for name in names):
        return render_text(template, subject.recipe.context).text.strip()
    return None


def _is_known(name: str, subject: CheckedRecipe) -> bool:
    if name in subject.changed or name in every_loop_name(subject.recipe) | subject.recipe.secrets:
        return False  # a message would show a secret
    unset = subject.final and name not in BUILT_IN and name != LOOP and not subject.flow.open
    return name in subject.recipe.context or unset


def templated_numbers(step: Step) -> Iterator[tuple[str, str]]:
    """Yield the numbers of a step that are templates, each with its field."""
    numbers: list[tuple[str, Number | None]] = [("timeout", step.timeout)]
    if step.retry:
        numbers.append(("retry.max_attempts", step.retry.max_attempts))
    if step.loop and isinstance(step.loop.over, Foreach):
        numbers.append(("parallel", step.loop.over.parallel))
    yield from ((field, number) for field, number in numbers if isinstance(number, str))


def wrong_numbers(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find times and counts that come from a variable whose value is no such number."""
    for step in subject.steps:
        for field, template in templated_numbers(step):
            text = known_text(template, subject)
            if text is None or _fits(field, text) or not (text or subject.final):
                continue
            expected = EXPECTED if field == "timeout" else f"a whole number, {COUNT.format(least=1)}"
            what = f"step '{step.id}': {field} should be {expected}, and {template} is '{text}'"
            severity = subject.blame(step) if subject.final else "warning"
            fix = "give the variable such a value"
            yield finding("wrong-number", severity, what, step.where, fix)


def _fits(field: str, text: str) -> bool:
    return (seconds_in(text) if field == "timeout" else whole_number(text, least=1)) is not None
