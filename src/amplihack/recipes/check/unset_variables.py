"""Report variables that are not there, or perhaps not there, when something asks for them."""

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
from amplihack.recipes.model import Foreach, every_step
from amplihack.recipes.placeholders import show
from amplihack.recipes.rounds import LOOP_FACTS, loop_facts
from amplihack.recipes.semantics import BUILT_IN, HOOK_NAMES, ITEM, LOOP, STEPS, result_step, rules_of
from amplihack.recipes.templates.asked_names import by_shell_name, meant_path
from amplihack.recipes.templates.names import PREFIX, variable_name

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
    name, incoming = use.mention.name, subject.incoming
    if name in incoming.given:
        return None
    if name == STEPS:
        return _not_ended(use, step, subject)
    own = use.step is not None and use.step.id == step
    renewed = own and name != step and not subject.strict  # `output: plan` of a step that reads {{plan}}
    mild = use.mention.soft or use.open or renewed
    mild = mild or incoming.open or name in incoming.made  # a caller may have set it before
    if mild and not subject.notes:
        return _UNTOLD
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


def _not_ended(use: Use, step: str, subject: CheckedRecipe) -> Problem:
    """Tell that `steps.ID` is asked for before that step ends."""
    if use.mention.soft and not subject.notes:
        return _UNTOLD
    own = use.step is not None and use.step.id == step
    what = "the step has not ended" if own else f"step '{step}' runs later"
    return finding(
        "used-before-set",
        "note" if use.mention.soft else "warning",
        f"{show(use.mention.path)} is not there yet: {what}",
        use.mention.where,
        "ask for it in a later step" if own else f"move step '{step}' up, or ask for it after that step",
    )


def _unknown(use: Use, subject: CheckedRecipe) -> Problem:
    name = use.mention.name
    if use.mention.manner == "environment":
        return _not_in_environment(use, subject)
    if caller := subject.incoming.setter(name):
        return _by_caller(use, name, caller, subject)
    if name == LOOP:
        return _no_loop(use, subject)
    if use.mention.is_text(rules_of(subject.recipe)):
        return _UNTOLD
    if _is_own_item(use):
        what = f"{name} is not there yet: the condition of a loop is asked once, before its first round"
        fix = "put the step inside `steps:` of the loop, with the condition on it"
        return finding("used-before-set", "warning", what, use.mention.where, fix)
    meant = _item_name(use, subject) or _hook_name(use, subject) or subject.spelling.meant(name)
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
        _inner_name(use, subject) or _unknown_fix(use, meant),
    )


def _by_caller(use: Use, name: str, caller: str, subject: CheckedRecipe) -> Problem:
    what = f"nothing here sets {name}; {caller}, which calls this recipe, does"
    return finding("set-by-caller", "note", what, use.mention.where) if subject.notes else _UNTOLD


def _not_in_environment(use: Use, subject: CheckedRecipe) -> Problem:
    """Tell that a script asks for a variable of ours that is not there."""
    name = use.mention.name
    variable = f"${PREFIX}{name}"
    if variable[1:] in subject.inherited:
        return _UNTOLD
    if path := meant_path(name, by_shell_name(subject.incoming.by), {}):
        return _by_caller(use, variable, subject.incoming.by[path[0]], subject)
    told = _only_as_placeholder(use, subject)
    meant = None if told else subject.spelling.meant(name)
    if use.mention.soft and not meant:
        return _UNTOLD  # the script says what to do without it
    forgotten = _forgotten(use, subject, meant)
    if not forgotten and not subject.notes:
        return _UNTOLD
    declare = f"add `{name}:` to `context:`, or write what to take instead: ${{{variable[1:]}:-…}}"
    return finding(
        "undefined-variable",
        "warning" if forgotten else "note",
        f"nothing sets {variable}"
        if subject.strict or told
        else f"nothing here sets {variable}; a caller would have to",
        use.mention.where,
        told or (f"did you mean ${variable_name((meant,))}?" if meant else declare),
    )


def _only_as_placeholder(use: Use, subject: CheckedRecipe) -> str:
    """Return how to ask for what the runner knows itself, and gives to scripts in placeholders alone."""
    name = use.mention.name
    hooks = subject.recipe.hooks
    in_hook = any(use.mention.source is text for text in (hooks.pre_step, hooks.post_step, hooks.on_error))
    if in_hook and name in HOOK_NAMES:
        return f"write {{{{{name}}}}}, or ${name.upper()}"
    own = name.split("__")[0]
    path = show(tuple(name.split("__")))
    return f"write {{{{{path}}}}}" if own in BUILT_IN or own == LOOP else ""


def _item_name(use: Use, subject: CheckedRecipe) -> str | None:
    """Return what `as` calls the item of the loop around a use of `item`, its name without `as`."""
    if use.mention.name != ITEM or use.step is None:
        return None
    around = [step for step in subject.steps if use.step in every_step((step,)) and step.loop]
    names = [step.loop.over.name for step in around if step.loop and isinstance(step.loop.over, Foreach)]
    return names[-1] if names else None


def _is_own_item(use: Use) -> bool:
    """Tell whether a step asks for the item of its own loop in its condition."""
    step = use.step
    if step is None or step.loop is None or step.condition is None or use.mention.test is not step.condition:
        return False
    return isinstance(step.loop.over, Foreach) and use.mention.name == step.loop.over.name


def _hook_name(use: Use, subject: CheckedRecipe) -> str | None:
    """Return the name that a hook knows, where something like it stands in one."""
    hooks, name = subject.recipe.hooks, use.mention.name
    if all(use.mention.source is not text for text in (hooks.pre_step, hooks.post_step, hooks.on_error)):
        return None
    return closest(name, HOOK_NAMES) or (f"step_{near}" if (near := closest(name, _OF_STEP)) else None)


_OF_STEP = [name.removeprefix("step_") for name in HOOK_NAMES if name.startswith("step_")]


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


_CONSTANTS = {
    **dict.fromkeys(("yes", "on", "true"), "true"),
    **dict.fromkeys(("no", "off", "false"), "false"),
    **dict.fromkeys(("nil", "undefined", "null", "none"), "null"),
}
_ENVIRONMENTS = frozenset(("env", "environ", "ENV"))  # maps of variables, in other tools


def _inner_name(use: Use, subject: CheckedRecipe) -> str:
    """Return the fix for `context.x`, `vars.x` or `outputs.x` of other tools, where there is an `x`."""
    path = use.mention.path
    if len(path) == 1 or path[1] not in subject.names:
        return ""
    return f"write {show(path[1:])} alone: a variable has no word in front of it"


def _unknown_fix(use: Use, meant: str | None) -> str:
    name = use.mention.name
    if name.lower() in _CONSTANTS:
        return f"write {_CONSTANTS[name.lower()]}: in conditions, {name} is the name of a variable"
    if name in _ENVIRONMENTS and len(use.mention.path) > 1:
        return f"declare an input that takes it: `parameters: {{name: {{env: {use.mention.path[1]}}}}}`"
    declare = f"add `{name}:` to `context:`, or set it with `output: {name}` in an earlier step"
    if use.mention.is_word:
        text = f"if the text is meant, write '{show(use.mention.path)}' in quotes"
        if meant:
            return f"did you mean {meant}? Or {text}"
        return declare if use.mention.beside_constant else text
    return f"did you mean {meant}?" if meant else declare


def _forgotten(use: Use, subject: CheckedRecipe, meant: str | None) -> bool:
    """Tell whether it is almost certainly a mistake that nothing sets the variable."""
    if use.mention.soft or use.open or subject.incoming.open:
        return False
    return subject.final or meant is not None or use.mention.name not in USUAL_INPUTS


def unused_outputs(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find results that the recipe names and nothing reads; the last step's is the result of the recipe."""
    used, steps = subject.flow.used, subject.recipe.steps
    last = result_step(steps)
    if subject.incoming.called or EVERYTHING in used:
        return
    for step in steps:
        if step.output and step is not last and step.output not in used and plain(step.output) not in used:
            yield finding(
                "unused-output",
                "note",
                f"nothing uses {step.output}, the output of step '{step.id}'",
                step.where,
                f"use {{{{{step.output}}}}}, or leave `output:` out",
            )
