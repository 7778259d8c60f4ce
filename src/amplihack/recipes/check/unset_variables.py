"""Variables that are not there, or perhaps not there, when something asks for them."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.errors import Problem
from amplihack.recipes.check.availability import Later, Maybe, Sibling, Unknown, Use
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.spelling import USUAL_INPUTS, plain
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.check.variable_uses import EVERYTHING


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
    mild = use.mention.soft or use.open or subject.incoming.called or (own and not subject.strict)
    what = "the step itself sets it" if own else f"step '{step}' sets it, and runs later"
    return finding(
        "used-before-set",
        "note" if mild else "warning",
        f"{name} is not set yet: {what}",
        use.mention.where,
        f"move step '{step}' up, or give {name} a default in `context:`"
        if not own
        else f"give {name} a default in `context:`",
    )


def _unknown(use: Use, subject: CheckedRecipe) -> Problem | None:
    name = use.mention.name
    if name in subject.incoming.given or name in subject.incoming.made:
        return None
    meant = subject.spelling.meant(name)
    declare = f"add `{name}:` to `context:`, or set it with `output: {name}` in an earlier step"
    return finding(
        "undefined-variable",
        "warning" if _forgotten(use, subject, meant) else "note",
        f"nothing sets {name}" if subject.strict else f"nothing here sets {name}; a caller would have to",
        use.mention.where,
        f"did you mean {meant}?" if meant else declare,
    )


def _forgotten(use: Use, subject: CheckedRecipe, meant: str | None) -> bool:
    """Whether it is almost certainly a mistake that nothing sets the variable."""
    mention = use.mention
    if mention.soft or use.open or subject.incoming.open or mention.name.isdigit():
        return False
    if meant is not None:
        return True
    if mention.manner == "bare":
        return False  # a condition may ask for what is not there: it is null
    if subject.strict:
        return True
    return subject.root and mention.name not in USUAL_INPUTS and not mention.name.isupper()


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
