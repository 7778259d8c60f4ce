"""Merge a recipe with those it extends: the parent's steps come first, and the child's values win."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from amplihack.errors import RecipeError
from amplihack.recipes.model import Bash, Body, Hooks, Limits, Recipe, Stage, Step, Text, every_step
from amplihack.records import Record, replace

_T = TypeVar("_T")
Parent: TypeAlias = "Callable[[Text, str | None], Located | None]"


class Located(Record):
    """A recipe and the file that it came from."""

    recipe: Recipe
    path: str | None
    remarks: tuple[str, ...] = ()  # what a run tells of the file


def resolve_extends(child: Located, find_parent: Parent) -> Recipe:
    """Return the recipe merged with all its ancestors. Raises RecipeError on a missing parent or a cycle."""
    # By path: two files may contain recipes of the same name.
    seen = {child.path or child.recipe.name}
    chain = [child.recipe]
    current = child
    while (wanted := current.recipe.extends) is not None:
        parent = find_parent(wanted, current.path)
        if parent is None:
            raise _error(wanted, f"Parent recipe '{wanted.text}' not found in search directories")
        place = parent.path or wanted.text
        if place in seen:
            raise _error(
                wanted, f"Circular extends detected: '{wanted.text}' was already visited in the extends chain"
            )
        seen.add(place)
        chain.append(parent.recipe)
        current = parent
    merged = chain.pop()
    while chain:
        merged = merge(merged, chain.pop())
    return merged


def _error(wanted: Text, what: str) -> RecipeError:
    return RecipeError(f"Extends error: {what}", where=wanted.where, fix="check the name after `extends:`")


def merge(parent: Recipe, child: Recipe) -> Recipe:
    """Return parent and child as one recipe that extends nothing. Raises RecipeError if step ids clash."""
    _one_dialect(parent, child)
    context = {**parent.context, **child.context}
    strict = _first(child.strict_shell, parent.strict_shell)
    return replace(
        child,
        extends=None,
        stages=_strict(_stages(parent, child), strict=strict or False),
        strict_shell=strict,
        dialect_matters=parent.dialect_matters or child.dialect_matters,
        tags=tuple(sorted({*parent.tags, *child.tags})),
        context=context,
        context_places={**parent.context_places, **child.context_places},
        declared={**parent.declared, **child.declared},
        inputs=(parent.inputs | child.inputs) - context.keys(),
        context_validation={**parent.context_validation, **child.context_validation},
        rule_places={**parent.rule_places, **child.rule_places},
        secrets=parent.secrets | child.secrets,
        secret_places={**parent.secret_places, **child.secret_places},
        limits=Limits(
            _first(child.limits.max_depth, parent.limits.max_depth),
            _first(child.limits.max_total_steps, parent.limits.max_total_steps),
        ),
        hooks=Hooks(
            child.hooks.pre_step or parent.hooks.pre_step,
            child.hooks.post_step or parent.hooks.post_step,
            child.hooks.on_error or parent.hooks.on_error,
        ),
        default_step_timeout=_first(child.default_step_timeout, parent.default_step_timeout),
        rate_limit=_first(child.rate_limit, parent.rate_limit),
        dependencies=tuple(dict.fromkeys((*parent.dependencies, *child.dependencies))),
        session_config={**parent.session_config, **child.session_config},
        summary=child.summary or parent.summary,
    )


def _one_dialect(parent: Recipe, child: Recipe) -> None:
    """Raise RecipeError where steps of the parent would mean another thing in the dialect of the child."""
    if parent.dialect == child.dialect or not parent.dialect_matters or child.extends is None:
        return
    raise RecipeError(
        f'Extends error: "{parent.name}" is read as `dialect: {parent.dialect}`, and this file as'
        f" `dialect: {child.dialect}`, in which steps of it would mean another thing",
        where=child.extends.where,
        fix=f"state `dialect: {parent.dialect}` here, or `dialect: {child.dialect}` there",
    )


def _strict(stages: tuple[Stage, ...], *, strict: bool) -> tuple[Stage, ...]:
    """Return the stages with what the merged recipe says of commands whose steps say nothing."""
    return tuple(
        replace(stage, steps=tuple(_strict_step(each, strict) for each in stage.steps)) for stage in stages
    )


def _strict_step(step: Step, strict: bool) -> Step:
    match step.action:
        case Body(steps):
            return replace(step, action=Body(tuple(_strict_step(each, strict) for each in steps)))
        case Bash() as bash if not bash.strict_stated:
            return replace(step, action=replace(bash, strict=strict))
        case _:
            return step


def _stages(parent: Recipe, child: Recipe) -> tuple[Stage, ...]:
    inherited = {step.id: step for step in every_step(parent.steps)}
    replaceable = {step.id for step in child.steps if step.override}
    replacements: dict[str, Step] = {}
    for step in every_step(child.steps):
        if step.id in inherited and step.id not in replaceable:
            raise RecipeError(
                f'two steps are called "{step.id}": one here, one in "{parent.name}", which this extends'
                f" (Duplicate step id: '{step.id}')",
                where=step.where,
                fix="rename it, or add `override: true` to replace the inherited step",
            )
        if step.id in inherited:
            replacements[step.id] = replace(step, override=False)  # done: the mark left over means nothing
    kept = [_replaced(stage, replacements) for stage in parent.stages]
    own = [
        replace(stage, steps=tuple(step for step in stage.steps if step.id not in replacements))
        for stage in child.stages
    ]
    # Two flat recipes become one flat recipe: parallel groups may span the seam.
    if kept and own and not kept[-1].name and not own[0].name:
        kept[-1:] = [replace(kept[-1], steps=kept[-1].steps + own.pop(0).steps)]
    return tuple(stage for stage in (*kept, *own) if stage.steps)


def _replaced(stage: Stage, replacements: dict[str, Step]) -> Stage:
    return replace(stage, steps=_with(stage.steps, replacements))


def _with(steps: tuple[Step, ...], replacements: dict[str, Step]) -> tuple[Step, ...]:
    return tuple(_or_inside(replacements.get(step.id, step), replacements) for step in steps)


def _or_inside(step: Step, replacements: dict[str, Step]) -> Step:
    if not isinstance(step.action, Body) or step.id in replacements:
        return step
    return replace(step, action=Body(_with(step.action.steps, replacements)))


def _first(value: _T | None, other: _T | None) -> _T | None:
    return other if value is None else value
