"""Report what a recipe says that means nothing where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amplihack.errors import Location, Problem, Severity
from amplihack.patterns import pattern
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.inputs import CONTEXT_RULES, declared_names, is_blank, rule_meant
from amplihack.recipes.model import Agent, Bash, Foreach, Step, SubRecipe, Text
from amplihack.recipes.placeholders import find_placeholders
from amplihack.recipes.rounds import as_list, list_path
from amplihack.recipes.semantics import BUILT_IN
from amplihack.recipes.templates.names import name_part
from amplihack.recipes.values import Missing, Value, lookup
from amplihack.records import replace


def unknown_rules(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find rules of `context_validation` that nobody knows, so that they check nothing."""
    for name, rule in subject.recipe.context_validation.items():
        if rule.strip() and rule.strip() not in CONTEXT_RULES:
            what = f"context_validation: '{name}' has the unknown rule '{rule}', which checks nothing"
            where = subject.recipe.rule_places.get(name, subject.recipe.where)
            yield finding("unknown-rule", "warning", what, where, rule_meant(rule.strip()))


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
            subject.recipe.secret_places.get(name, subject.recipe.where),
            f"did you mean {meant}?" if meant else f"add `{name}:` to `context:`, or remove it",
        )


def pointless_overrides(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find steps that replace nothing; those that do have lost the mark when the parent was merged in."""
    for step in subject.steps:
        if step.override:
            what = f"step '{step.id}' overrides nothing: no step of that id is inherited"
            yield finding(
                "override-nothing", "warning", what, step.where, "check its id, or remove `override`"
            )


def settings_for_nobody(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find settings of agents in a recipe that asks none and calls no other."""
    recipe = subject.recipe
    settings = (("rate_limiting", recipe.rate_limit), ("orchestrator", recipe.session_config))
    said = [name for name, value in settings if value]
    if said and not any(isinstance(step.action, Agent | SubRecipe) for step in subject.steps):
        for name in said:
            what = f"'{name}' has no effect: the recipe has no agent steps and calls no recipe"
            yield finding("unused-setting", "warning", what, recipe.where, "remove it")


def pointless_retries(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find steps that are never tried again: after one attempt, or since no exit code counts as a failure."""
    for step in subject.steps:
        if step.retry and step.retry.max_attempts == 1:
            what = f"step '{step.id}' is never tried again: `max_attempts` counts the first attempt too"
            fix = "write 2 or more, or remove `retry`"
            yield finding("pointless-retry", "warning", what, step.where, fix)
        elif (
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


_FLAGS = frozenset(("true", "false", "yes", "no", "on", "off", "null", "none"))
_EXAMPLES = {  # of names, by field
    "output": "result",
    "output_exit_code": "code",
    "output_stderr": "errors",
    "as": "host",
    "collect": "results",
}
_REFERABLE = pattern(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


def unreachable_results(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find results and variables under a name that no placeholder can have."""
    from amplihack.recipes.check.variable_uses import EVERYTHING  # deferred: a run asks for other findings

    recipe, used = subject.recipe, subject.flow.used
    for name in recipe.context:
        if not _REFERABLE.fullmatch(name) and EVERYTHING not in used and name_part(name).lower() not in used:
            what = f"the variable '{name}' cannot be used: {{{{{name}}}}} is no placeholder"
            place = recipe.context_places.get(name, recipe.where)
            yield finding(
                "unreachable-result", "warning", what, place, "use letters, digits, _ and - in its name"
            )
    for step in subject.steps:
        name = step.result_name
        if not _REFERABLE.fullmatch(name):
            field = "output" if step.output else "id"
            what = f"the result of step '{step.id}' cannot be used: {{{{{name}}}}} is no placeholder"
            fix = f"use letters, digits, _ and - in its {field}" + (
                "" if step.output else ", or add `output:`"
            )
            yield finding("unreachable-result", "warning", what, step.where, fix)
        for field, name in _other_names(step):
            if not _REFERABLE.fullmatch(name):
                what = f"the {field} of step '{step.id}' cannot be used: {{{{{name}}}}} is no placeholder"
                fix = f"use letters, digits, _ and - in its {field}"
                yield finding("unreachable-result", "warning", what, step.where, fix)
        yield from _flags_as_names(step)


def _flags_as_names(step: Step) -> Iterator[Problem]:
    """Find fields that take the name of a variable, and were given a flag."""
    for field, name in (("output", step.output or ""), *_other_names(step)):
        if name.lower() in _FLAGS:
            what = f"the {field} of step '{step.id}' is the name of a variable, and {name} reads like a flag"
            fix = f"write the name under which it is to be found, such as `{field}: {_EXAMPLES[field]}`"
            yield finding("unreachable-result", "warning", what, step.where, fix)


def _other_names(step: Step) -> Iterator[tuple[str, str]]:
    """Yield the names that a step gives to something beside its result, each with its field."""
    if step.loop and isinstance(step.loop.over, Foreach):
        yield "as", step.loop.over.name
    if step.loop and step.loop.collect:
        yield "collect", step.loop.collect
    if isinstance(step.action, Bash):
        if step.action.exit_code_to is not None:
            yield "output_exit_code", step.action.exit_code_to
        if step.action.stderr_to is not None:
            yield "output_stderr", step.action.stderr_to


_NAME = pattern(r"[A-Za-z_][\w-]*(?:\.[\w-]+)*")


def constant_loops(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find loops over what is no list, or a list that is too long: written there, or the default."""
    for step in subject.steps:
        loop = step.loop
        if loop is None or not isinstance(loop.over, Foreach):
            continue
        blame = subject.blame(replace(step, loop=None))  # it fails before the first round
        if isinstance(loop.over.items, Text):
            yield from _named_loop(step, loop.over.items, loop.max_iterations, blame, subject)
        elif len(loop.over.items) > loop.max_iterations:
            yield _too_long(step, len(loop.over.items), loop.max_iterations, step.where, blame)


def _named_loop(
    step: Step, items: Text, most: int, blame: Severity, subject: CheckedRecipe
) -> Iterator[Problem]:
    path = list_path(items.text)
    if path is None:
        return
    name, where = path[0], items.where
    if not find_placeholders(items.text) and not _NAME.fullmatch(items.text) and name not in subject.names:
        what = f"step '{step.id}' goes over the text '{items.text}', which is no list"
        yield finding("foreach-no-list", blame, what, where, "write a list, such as [a, b]")
    elif name in subject.recipe.context and name not in subject.changed:
        yield from _default_loop(step, items, most, blame if subject.final else "warning", subject)
    elif subject.final and name not in subject.names and name not in BUILT_IN and not subject.flow.open:
        what = f"step '{step.id}' goes over {items.text}, and nothing sets {name}"
        fix = f"write a list, such as [a, b], or set {name}"
        yield finding("foreach-no-list", blame, what, where, fix)


def _default_loop(
    step: Step, items: Text, most: int, blame: Severity, subject: CheckedRecipe
) -> Iterator[Problem]:
    """Judge a loop over a value that no step changes; a blank one still has to come from somebody."""
    path = list_path(items.text) or ()
    value = lookup(subject.recipe.context, path)
    found = as_list(value)
    missing = isinstance(value, Missing) or is_blank(value)
    if found is None and (subject.final or not missing or _lacks(subject, path)):
        said = "whose value is" if subject.final else "whose default is"
        what = f"step '{step.id}' goes over {'.'.join(path)}, {said} no list"
        fix = f"make {path[0]} a list, such as [a, b]"
        yield finding("foreach-no-list", blame, what, items.where, fix)
    elif found is not None and len(found) > most:
        yield _too_long(step, len(found), most, items.where, blame)


def _lacks(subject: CheckedRecipe, path: tuple[str, ...]) -> bool:
    """Tell whether a default has parts, and not the one that is asked for."""
    outer = lookup(subject.recipe.context, path[:-1]) if len(path) > 1 else None
    return isinstance(outer, Mapping) and bool(outer) and path[-1] not in outer


def _too_long(step: Step, items: int, most: int, where: Location, blame: Severity) -> Problem:
    what = f"step '{step.id}' goes over {items} items, and `max_iterations` allows {most}"
    return finding("foreach-no-list", blame, what, where, f"add `max_iterations: {items}`")


_OPERAND = r"(?:\{\{[^{}]++\}\}|[0-9.]++)"
_SUM = pattern(rf"\s*(?=.*\{{\{{){_OPERAND}(?: +(?:\+ +{_OPERAND}|[-*/%] +[0-9.]++))+\s*")


def sums_as_text(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find values that look like a sum, such as `{{n}} + 1`: nothing is calculated there."""
    for step in subject.steps:
        for field, values in _assigned(step):
            for name, value in values.items():
                if isinstance(value, str) and _SUM.fullmatch(value):
                    what = f"{field}: {name} becomes the text '{value.strip()}': nothing is calculated there"
                    fix = "let the command calculate it, such as `echo $(( {{n}} + 1 ))`, and use its result"
                    yield finding("sum-as-text", "warning", what, step.where, fix)


def names_as_text(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find an `output:` of the recipe that is the name of a value: it gives the name, not the value."""
    summary = subject.recipe.summary
    name = summary.text.strip() if summary else ""
    if summary and name in subject.flow.made | declared_names(subject.recipe):
        what = f"the recipe gives the text '{name}', not the value of {name}"
        yield finding("name-as-text", "warning", what, summary.where, f'write output: "{{{{{name}}}}}"')


def _assigned(step: Step) -> Iterator[tuple[str, Mapping[str, Value]]]:
    if step.loop:
        yield "update_context", step.loop.update
    if isinstance(step.action, SubRecipe):
        yield "context", step.action.context
