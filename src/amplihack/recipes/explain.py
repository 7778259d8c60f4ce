"""Show the plan of a recipe: as text for people and as data for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from amplihack.credentials import MASK, hide_credentials
from amplihack.recipes.inputs import is_blank
from amplihack.recipes.model import Bash, Body, Foreach, Recipe, Stage, Step, SubRecipe, Text, While
from amplihack.recipes.semantics import batches, depth_limit, step_limit
from amplihack.recipes.values import Value, one_line, to_json

_WIDTH = 100  # of a condition, a prompt or a hook in the text


def explain(recipe: Recipe) -> str:
    """Return the plan of a recipe as text for people; the values of its secrets are masked."""
    return "\n".join([*_head(recipe), "", *_context(recipe), *_plan(recipe)])


def _head(recipe: Recipe) -> Iterator[str]:
    yield f"Recipe: {recipe.name} (v{recipe.version})"
    if recipe.description:
        yield f"Description: {recipe.description.strip()}"
    if recipe.author:
        yield f"Author: {recipe.author}"
    if recipe.tags:
        yield f"Tags: {', '.join(recipe.tags)}"
    yield f"Recursion: max_depth={depth_limit(recipe)}, max_total_steps={step_limit(recipe)}"
    for name in ("pre_step", "post_step", "on_error"):
        if hook := getattr(recipe.hooks, name):
            yield f"Hook {name}: {one_line(hook.text, _WIDTH)}"


def _context(recipe: Recipe) -> Iterator[str]:
    if recipe.context:
        yield "Context defaults:"
        for name, value in _shown_context(recipe).items():
            yield f"  {name}: {value if value is MASK else to_json(value)}"
        yield ""
    if recipe.inputs:
        yield f"Expects from the caller: {', '.join(sorted(recipe.inputs))}"
        yield ""


def _shown_context(recipe: Recipe) -> dict[str, Value]:
    return {
        name: MASK if name in recipe.secrets and not is_blank(value) else _without_credentials(value)
        for name, value in recipe.context.items()
    }


def _without_credentials(value: Value) -> Value:
    """Return a default without the passwords of the addresses in it."""
    if isinstance(value, str):
        return hide_credentials(value)
    if isinstance(value, Mapping):
        return {key: _without_credentials(item) for key, item in value.items()}
    return [_without_credentials(item) for item in value] if isinstance(value, Sequence) else value


def _plan(recipe: Recipe) -> Iterator[str]:
    yield f"Steps ({len(recipe.steps)}):"
    number = 0
    for stage in recipe.stages:
        if stage.name:
            yield f"  stage {stage.name}{_if(stage)}"
        if stage.approval and stage.approval.before:
            yield f"       ⏸ a person decides: {one_line(stage.approval.prompt.text, _WIDTH)}"
        for step, at_once in _with_groups(stage.steps):
            number += 1
            yield f"  {number:>3}. {_line(step, at_once)}"
            yield from _body(step, "       ")
        if stage.approval and not stage.approval.before:
            yield f"       ⏸ a person decides: {one_line(stage.approval.prompt.text, _WIDTH)}"


def _body(step: Step, indent: str) -> Iterator[str]:
    for inner, at_once in _with_groups(step.action.steps if isinstance(step.action, Body) else ()):
        yield f"{indent}- {_line(inner, at_once)}"
        yield from _body(inner, indent + "  ")


def _with_groups(steps: Sequence[Step]) -> Iterator[tuple[Step, str]]:
    """Yield each step with its parallel group. If a group is split into batches, they are numbered."""
    split: dict[str | None, list[tuple[Step, ...]]] = {}
    for batch in batches(steps):
        split.setdefault(batch[0].parallel_group, []).append(batch)
    for batch in batches(steps):
        group, parts = batch[0].parallel_group, split[batch[0].parallel_group]
        number = f" (batch {parts.index(batch) + 1} of {len(parts)})" if len(parts) > 1 else ""
        for step in batch:
            yield step, "" if group is None else f"∥ {group}{number}"


def step_line(step: Step) -> str:
    """Return what a step is, in a line, without what stands around it."""
    return _line(step, "")


def _line(step: Step, at_once: str) -> str:
    parts = [f"[{step.kind:<6}] {step.id}{_if(step)}", *_notes(step, at_once)]
    return " ".join(part for part in parts if part)


def _if(thing: Step | Stage) -> str:
    return f" [if {one_line(thing.condition.text, _WIDTH)}]" if thing.condition else ""


def _notes(step: Step, at_once: str) -> Iterator[str]:
    if isinstance(step.action, SubRecipe):
        yield f"runs {step.action.recipe.text}"
    yield _loop(step)
    yield at_once
    if step.output:
        yield f"→ {step.output}"
    if step.json:
        what = "parse_json" if step.json.schema is None else "json_schema"
        yield f"({what}, required)" if step.json.required else f"({what})"
    if step.always:
        yield "(finally)"
    if step.recheck:
        yield "(recheck)"
    if step.on_error == "continue":
        yield "(continue_on_error)"
    elif step.on_error == "skip_remaining":
        yield "(on_error: skip_remaining)"
    if step.when_tags:
        yield f"(tags: {', '.join(step.when_tags)})"
    if isinstance(step.action, Bash) and step.action.strict:
        yield "(strict shell)"
    if step.timeout:
        yield (
            f"(timeout {step.timeout:g} s)"
            if isinstance(step.timeout, float)
            else f"(timeout {step.timeout})"
        )
    if step.retry:
        yield f"(up to {step.retry.max_attempts} attempts)"


def _loop(step: Step) -> str:
    if step.loop is None:
        return ""
    match step.loop.over:
        case Foreach(items=items, name=name, parallel=parallel):
            over = items.text if isinstance(items, Text) else to_json(items)
            how = "" if parallel is None else " at once" if parallel == 0 else f", {parallel} at once"
            return f"for each {name} of {over}{how}"
        case While(condition=condition):
            return f"while {one_line(condition.text, _WIDTH)}"


def describe(recipe: Recipe) -> dict[str, Any]:
    """Return the plan of a recipe as data; the values of its secrets are masked."""
    return {
        "name": recipe.name,
        "version": recipe.version,
        "description": recipe.description,
        "author": recipe.author,
        "tags": list(recipe.tags),
        "dialect": recipe.dialect,
        "context": _shown_context(recipe),
        "inputs": sorted(recipe.inputs),
        "stages": [
            {
                "name": stage.name or None,
                "condition": stage.condition.text if stage.condition else None,
                "approval": stage.approval.prompt.text if stage.approval else None,
                "steps": _describe_steps(stage.steps),
            }
            for stage in recipe.stages
        ],
    }


def _describe_steps(steps: Sequence[Step]) -> list[dict[str, Any]]:
    return [_describe_step(step, batch) for batch in batches(steps) for step in batch]


def _describe_step(step: Step, batch: Sequence[Step]) -> dict[str, Any]:
    return {
        "id": step.id,
        "type": step.kind,
        "line": step.where.line,
        "condition": step.condition.text if step.condition else None,
        "output": step.result_name,
        "loop": _loop(step) or None,
        "parallel_group": step.parallel_group,
        "runs_with": [other.id for other in batch if other is not step],
        "on_error": step.on_error,
        "finally": step.always,
        "timeout": step.timeout,
        "recipe": step.action.recipe.text if isinstance(step.action, SubRecipe) else None,
        "steps": _describe_steps(step.action.steps) if isinstance(step.action, Body) else [],
    }
