"""Variables that are not there, or perhaps not there, when something asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from amplihack.documents.suggest import closest
from amplihack.errors import Problem
from amplihack.recipes.check.availability import Later, Maybe, Sibling, Unknown, Use
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.spelling import USUAL_INPUTS, plain
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.check.variable_uses import EVERYTHING
from amplihack.recipes.placeholders import show
from amplihack.recipes.semantics import LOOP, LOOP_FACTS, loop_facts

# Stands for a note that nobody wants to be told. A recipe can have one at each mention of a variable, and
# where a mention stands takes time to find.
_UNTOLD: Final = Problem("a note", severity="note")


def doubtful_uses(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find uses of variables that are not there, once for each variable and step."""
    seen: set[tuple[str, str | None, type]] = set()
    for use in subject.flow.uses:
        once = (use.mention.name, use.step.id if use.step else None, type(use.availability))
        if once in seen:
            continue
        problem = _judge(use, subject)
        if problem:
            seen.add(once)
            if problem is not _UNTOLD:
                yield problem


def _judge(use: Use, subject: CheckedRecipe) -> Problem | None:
    match use.availability:
        case Maybe(step):
            return _maybe(use, step, subject)
        case Sibling(step, earlier):
            return _sibling(use, step, earlier)
        case Later(step):
            return _later(use, step, subject)
        case Unknown():
            return _unknown(use, subject)
        case _:
            return None


def _maybe(use: Use, step: str, subject: CheckedRecipe) -> Problem | None:
    name = use.mention.name
    if name in subject.incoming.given:
        return None
    if not subject.notes:
        return _UNTOLD
    return finding(
        "may-be-empty",
        "note",
        f"{name} may be empty here: step '{step}' sets it, and may be skipped or fail",
        use.mention.where,
        f"give {name} a default in `context:`, or put it into this step's condition",
    )


def _sibling(use: Use, step: str, earlier: bool) -> Problem:
    name = use.mention.name
    return finding(
        "parallel-conflict",
        "note" if earlier or use.mention.soft else "warning",
        f"{name} is set by step '{step}', which runs at the same time as this one",
        use.mention.where,
        "take one of the two out of the parallel group",
    )


def _later(use: Use, step: str, subject: CheckedRecipe) -> Problem | None:
    name = use.mention.name
    if name in subject.incoming.given:
        return None
    own = use.step is not None and use.step.id == step
    mild = use.mention.soft or use.open or use.mention.manner == "bare" or (own and not subject.strict)
    if mild and not subject.notes:
        return _UNTOLD
    what = "the step itself sets it" if own else f"step '{step}' sets it, and runs later"
    return finding(
        "used-before-set",
        "note" if mild or subject.incoming.called else "warning",
        f"{name} is not set yet: {what}",
        use.mention.where,
        f"move step '{step}' up, or give {name} a default in `context:`"
        if not own
        else f"give {name} a default in `context:`",
    )


def _unknown(use: Use, subject: CheckedRecipe) -> Problem:
    name = use.mention.name
    if caller := subject.incoming.setter(name):
        what = f"nothing here sets {name}; {caller}, which calls this recipe, does"
        return finding("set-by-caller", "note", what, use.mention.where) if subject.notes else _UNTOLD
    if name == LOOP:
        return _no_loop(use, subject)
    meant = subject.spelling.meant(name)
    forgotten = _forgotten(use, subject, meant)
    if not forgotten and not subject.notes:
        return _UNTOLD
    return finding(
        "undefined-variable",
        "warning" if forgotten else "note",
        f"nothing sets {name}"
        if subject.strict or use.mention.is_word
        else f"nothing here sets {name}; a caller would have to",
        use.mention.where,
        _unknown_fix(use, meant),
    )


def _no_loop(use: Use, subject: CheckedRecipe) -> Problem:
    """Tell that `loop` is not there, or has no such member in a loop of this kind."""
    path, loops = use.mention.path, [step.loop for step in subject.steps if step.loop]
    members = {name for loop in loops for name in loop_facts(loop)}
    meant = closest(path[1], members) if len(path) > 1 and path[1] not in members else None
    there = ", ".join(f"loop.{name}" for name in LOOP_FACTS)
    return finding(
        "undefined-variable",
        "note" if use.mention.soft or use.open else "warning",
        f"{show(path)} is not there",
        use.mention.where,
        f"did you mean loop.{meant}?"
        if meant
        else f"in the rounds of a `foreach` there are {there}; a `while_condition` does not know its end",
    )


def _unknown_fix(use: Use, meant: str | None) -> str:
    name = use.mention.name
    if use.mention.is_word:
        text = f"if the text is meant, write '{show(use.mention.path)}' in quotes"
        return f"did you mean {meant}? {text.capitalize()}" if meant else text
    declare = f"add `{name}:` to `context:`, or set it with `output: {name}` in an earlier step"
    return f"did you mean {meant}?" if meant else declare


def _forgotten(use: Use, subject: CheckedRecipe, meant: str | None) -> bool:
    """Whether it is almost certainly a mistake that nothing sets the variable."""
    if use.mention.soft or use.open or subject.incoming.open:
        return False
    return subject.final or meant is not None or use.mention.name not in USUAL_INPUTS


def unused_outputs(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find results that the recipe names and nothing reads; the last step's is the result of the recipe."""
    used, steps = subject.flow.used, subject.recipe.steps
    if subject.incoming.called or EVERYTHING in used:
        return
    for step in steps:
        if (
            step.output
            and step is not steps[-1]
            and step.output not in used
            and plain(step.output) not in used
        ):
            yield finding(
                "unused-output",
                "note",
                f"nothing uses {step.output}, the output of step '{step.id}'",
                step.where,
                f"use {{{{{step.output}}}}}, or leave `output:` out",
            )
