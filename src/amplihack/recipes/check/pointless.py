"""What a recipe says and what means nothing where it stands."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.documents.suggest import closest
from amplihack.errors import Problem
from amplihack.patterns import pattern
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.model import Bash, Foreach, Step, Text, every_step
from amplihack.recipes.placeholders import find_placeholders
from amplihack.recipes.semantics import CONTEXT_RULES, as_list, is_blank, list_path
from amplihack.records import replace


def unknown_rules(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find rules of `context_validation` that nobody knows, so that they check nothing."""
    for name, rule in subject.recipe.context_validation.items():
        if rule.strip() and rule.strip() not in CONTEXT_RULES:
            meant = closest(rule.strip(), CONTEXT_RULES)
            what = f"context_validation: '{name}' has the unknown rule '{rule}', which checks nothing"
            fix = f"did you mean '{meant}'?" if meant else f"use one of {', '.join(CONTEXT_RULES)}"
            where = subject.recipe.context_places.get(name, subject.recipe.where)
            yield finding("unknown-rule", "warning", what, where, fix)


def unknown_secrets(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find secrets that nothing sets; one that is used may still come from the user."""
    used = subject.flow.used
    for name in sorted(subject.recipe.secrets - subject.names):
        meant = subject.spelling.meant(name)
        expected = name in used or name.lower() in used or subject.incoming.open or subject.flow.open
        yield finding(
            "unknown-secret",
            "note" if expected and not meant else "warning",
            f"secrets: nothing sets {name}, so nothing is hidden",
            subject.recipe.where,
            f"did you mean {meant}?" if meant else f"add `{name}:` to `context:`, or remove it",
        )


def pointless_overrides(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find steps that replace nothing; those that do have lost the mark when the parent was merged in."""
    for step in every_step(subject.recipe.steps):
        if step.override:
            what = f"step '{step.id}' overrides nothing: no step of that id is inherited"
            yield finding(
                "override-nothing", "warning", what, step.where, "check its id, or remove `override`"
            )


def pointless_retries(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find commands that are tried again on failure although no exit code counts as one."""
    for step in every_step(subject.recipe.steps):
        if (
            step.retry
            and isinstance(step.action, Bash)
            and step.action.any_exit
            and not _has_time_limit(step)
        ):
            what = f"step '{step.id}' is never tried again: with `output_exit_code` no exit code is a failure"
            yield finding(
                "pointless-retry", "warning", what, step.where, "add `on_error: fail`, or remove `retry`"
            )


def _has_time_limit(step: Step) -> bool:
    return bool(step.timeout or step.idle_timeout)


_NAME = pattern(r"[A-Za-z_][\w-]*(?:\.[\w-]+)*")


def constant_loops(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find loops over a text that is no list: written there, or the default of the variable."""
    for step in every_step(subject.recipe.steps):
        over = step.loop.over if step.loop else None
        if isinstance(over, Foreach) and isinstance(over.items, Text):
            yield from _constant_loop(step, over.items, subject)


def _constant_loop(step: Step, items: Text, subject: CheckedRecipe) -> Iterator[Problem]:
    path = list_path(items.text)
    if path is None:
        return
    name = path[0]
    default = subject.recipe.context.get(name)
    if not find_placeholders(items.text) and not _NAME.fullmatch(items.text) and name not in subject.names:
        what = f"step '{step.id}' goes over the text '{items.text}', which is no list"
        blame = subject.blame(replace(step, loop=None))  # it fails before the first round
        yield finding("foreach-no-list", blame, what, items.where, "write a list, such as [a, b]")
    elif (
        len(path) == 1 and name not in subject.changed and not is_blank(default) and as_list(default) is None
    ):
        what = f"step '{step.id}' goes over {name}, whose default is no list"
        yield finding("foreach-no-list", "warning", what, items.where, f"make {name} a list, such as [a, b]")
