"""Variables that are not there, or perhaps not there, when something asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from amplihack.errors import Problem
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.library import Incoming
from amplihack.recipes.check.names import USUAL_INPUTS, Spelling, plain
from amplihack.recipes.check.standing import Flow, Later, Maybe, Sibling, Unknown, Use
from amplihack.recipes.model import Recipe


@dataclass(frozen=True, slots=True)
class Around:
    """What is known about a recipe besides its own flow."""

    recipe: Recipe
    incoming: Incoming
    spelling: Spelling

    @property
    def root(self) -> bool:
        """Nothing calls it, and it lists its variables: whatever it leaves out, it forgot."""
        return not self.incoming.called and bool(self.recipe.context)

    @property
    def strict(self) -> bool:
        return self.recipe.dialect == "amplifier"


def doubtful_uses(flow: Flow, around: Around) -> Iterator[Problem]:
    """One finding for each variable and step, at the first mention."""
    seen: set[tuple[str, str | None, type]] = set()
    for use in flow.uses:
        once = (use.mention.name, use.step.id if use.step else None, type(use.standing))
        if once in seen:
            continue
        problem = _judge(use, around)
        if problem:
            seen.add(once)
            yield problem


def _judge(use: Use, around: Around) -> Problem | None:
    match use.standing:
        case Maybe(step):
            return _maybe(use, step, around)
        case Sibling(step, earlier):
            return _sibling(use, step, earlier)
        case Later(step):
            return _later(use, step, around)
        case Unknown():
            return _unknown(use, around)
        case _:
            return None


def _maybe(use: Use, step: str, around: Around) -> Problem | None:
    name = use.mention.name
    if name in around.incoming.given:
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


def _later(use: Use, step: str, around: Around) -> Problem | None:
    name = use.mention.name
    if name in around.incoming.given:
        return None
    own = use.step is not None and use.step.id == step
    mild = use.mention.soft or use.open or around.incoming.called or (own and not around.strict)
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


def _unknown(use: Use, around: Around) -> Problem | None:
    name = use.mention.name
    if name in around.incoming.given or name in around.incoming.made:
        return None
    meant = around.spelling.meant(name)
    declare = f"add `{name}:` to `context:`, or set it with `output: {name}` in an earlier step"
    return finding(
        "undefined-variable",
        "warning" if _forgotten(use, around, meant) else "note",
        f"nothing sets {name}" if around.strict else f"nothing here sets {name}; a caller would have to",
        use.mention.where,
        f"did you mean {meant}?" if meant else declare,
    )


def _forgotten(use: Use, around: Around, meant: str | None) -> bool:
    """Whether it is almost certainly a mistake that nothing sets the variable."""
    mention = use.mention
    if mention.soft or use.open or around.incoming.open or mention.name.isdigit():
        return False
    if meant is not None:
        return True
    if mention.manner == "bare":
        return False  # a condition may ask for what is not there: it is null
    if around.strict:
        return True
    return around.root and mention.name not in USUAL_INPUTS and not mention.name.isupper()


def unused_outputs(recipe: Recipe, used: frozenset[str]) -> Iterator[Problem]:
    """Results that the recipe names and nothing reads; the last step's is the result of the recipe."""
    last = recipe.steps[-1].id if recipe.steps else None
    for step in recipe.steps:
        if step.output and step.id != last and step.output not in used and plain(step.output) not in used:
            yield finding(
                "unused-output",
                "note",
                f"nothing uses {step.output}, the output of step '{step.id}'",
                step.where,
                f"use {{{{{step.output}}}}}, or leave `output:` out",
            )
