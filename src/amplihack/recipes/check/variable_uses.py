"""List where a recipe uses variables: in templates, conditions and the values that it hands on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from amplihack.errors import Location
from amplihack.patterns import pattern
from amplihack.recipes.conditions.rules import Rules
from amplihack.recipes.conditions.unset import ASKING, asked_about, bare_words, beside_constants, text_words
from amplihack.recipes.model import (
    Agent,
    Bash,
    Body,
    Foreach,
    Recipe,
    Step,
    SubRecipe,
    Test,
    Text,
    While,
    every_step,
)
from amplihack.recipes.placeholders import find_variables
from amplihack.recipes.rounds import list_path
from amplihack.recipes.semantics import LOOP, loop_names
from amplihack.recipes.templates.asked_names import asked_of_ours
from amplihack.recipes.templates.names import PREFIX, variable_names
from amplihack.recipes.values import KeyPath, Value
from amplihack.records import Record, field, replace

# `{{name}}`, a name in a condition, or `$RECIPE_VAR_name` in a script
Manner: TypeAlias = Literal["placeholder", "bare", "environment"]

_BARE_PATH = pattern(r"[A-Za-z_][\w-]*(?:\.[\w-]+)*")
_ENVIRONMENT = pattern(r"\bRECIPE_VAR_(\w+)|\b([A-Z_][A-Z0-9_]+)\b")
EVERYTHING = "amplihack_context_file"  # a script that reads this file may use any variable


class VariableMention(Record):
    """One mention; `soft` where a missing variable does no harm or was perhaps not meant as one."""

    path: KeyPath
    manner: Manner
    source: Text = field(repr=False)
    offset: int
    soft: bool = False
    place: Location | None = None  # where the source has no place of its own
    test: Test | None = field(default=None, repr=False)  # the condition that it stands in

    @property
    def name(self) -> str:
        return self.path[0]

    @property
    def where(self) -> Location:
        return self.place or self.source.at(self.offset)

    @property
    def is_word(self) -> bool:
        """Tell whether it is a bare name in a comparison, which was perhaps meant as a text."""
        words = bare_words(self.test.condition.tree) if self.test else ()
        return any(column == self.offset for _, column in words)

    @property
    def beside_constant(self) -> bool:
        """Tell whether it is compared with a number or a text in quotes, so that itself it is hardly one."""
        return self.test is not None and self.offset in beside_constants(self.test.condition.tree)

    def is_text(self, rules: Rules) -> bool:
        """Tell whether it is a bare name that is a text, as long as nothing sets it."""
        return self.test is not None and self.offset in text_words(self.test.condition.tree, rules)


def in_text(text: Text, *, soft: bool = False, place: Location | None = None) -> list[VariableMention]:
    """Return the placeholders of a template."""
    return [
        VariableMention(found.path, "placeholder", text, found.start, soft, place)
        for found in find_variables(text.text)
    ]


def in_command(command: Text, env: Collection[str] = ()) -> list[VariableMention]:
    """Return the placeholders of a script, and what it asks the shell for; `env` is there anyway.

    A comment may mention what it likes.
    """
    found = in_text(command)
    if "#" in command.text:
        found = [
            replace(mention, soft=True) if _in_comment(command.text, mention.offset) else mention
            for mention in found
        ]
    return [*found, *_in_environment(command, env, found)] if PREFIX in command.text else found


def _in_environment(
    command: Text, env: Collection[str], placeholders: Sequence[VariableMention]
) -> Iterator[VariableMention]:
    """Yield each `$RECIPE_VAR_name`, but for those that a placeholder of the script brings along."""
    there = {*env, *variable_names(command.text, [each.path for each in placeholders]).values()}
    for asked in asked_of_ours(command.text):
        if f"{PREFIX}{asked.name}" not in there:
            yield VariableMention((asked.name,), "environment", command, asked.start, asked.soft)


def _in_comment(script: str, offset: int) -> bool:
    return script[script.rfind("\n", 0, offset) + 1 : offset].lstrip().startswith("#")


def in_test(test: Test) -> list[VariableMention]:
    """Return the variables of a condition."""
    text, asked = test.text, asked_in(test)
    return [
        VariableMention(
            found.path,
            "placeholder" if found.quoted or text.startswith("{{", found.column) else "bare",
            test.source,
            found.column,
            soft=found.path[0] in asked,
            test=test,
        )
        for found in test.references
    ]


def asked_in(test: Test) -> frozenset[str]:
    """Return the variables of which a condition asks whether they are there."""
    asks = any(word in test.text for word in ASKING)
    return asked_about(test.condition.tree) if asks else frozenset()


def in_value(value: Value, place: Location, *, soft: bool = False) -> Iterator[VariableMention]:
    """Yield the placeholders of a value, at any depth."""
    match value:
        case str():
            yield from in_text(Text(value), place=place, soft=soft)
        case Mapping():
            for item in value.values():
                yield from in_value(item, place, soft=soft)
        case Sequence():
            for item in value:
                yield from in_value(item, place, soft=soft)
        case _:
            return


def in_items(loop: Foreach, place: Location) -> Iterator[VariableMention]:
    """Yield what a `foreach` names, with or without braces; without it the step fails."""
    if not isinstance(loop.items, Text):
        yield from in_value(loop.items, place)
    elif "{{" not in loop.items.text and _BARE_PATH.fullmatch(loop.items.text):
        yield VariableMention(list_path(loop.items.text) or (), "placeholder", loop.items, 0)
    else:
        yield from in_text(loop.items)


def before_loop(step: Step) -> Iterator[VariableMention]:
    """Yield what a step looks at once, before the first round."""
    if step.title and "{{" in step.title:
        own = (
            (*loop_names(step.loop), LOOP) if step.loop else ()
        )  # of each round: not in the name of them all
        yield from (each for each in in_value(step.title, step.where) if each.path[0] not in own)
    if step.condition:
        yield from in_test(step.condition)
    if step.loop and isinstance(step.loop.over, Foreach):
        yield from in_items(step.loop.over, step.where)
        if isinstance(step.loop.over.parallel, str):
            yield from in_value(step.loop.over.parallel, step.where)


def in_round(step: Step) -> Iterator[VariableMention]:
    """Yield what each round looks at while it works; the steps of a body speak for themselves."""
    if step.working_dir:
        yield from in_text(step.working_dir)
    if isinstance(step.timeout, str):
        yield from in_value(step.timeout, step.where)
    if step.retry and isinstance(step.retry.max_attempts, str):
        yield from in_value(step.retry.max_attempts, step.where)
    match step.action:
        case Bash(command, env):
            yield from in_command(command, env)
            if env:
                yield from in_value(env, step.where)
        case Agent() as agent:
            yield from in_text(agent.prompt, place=None if agent.prompt.node else step.where)
            if agent.config:
                yield from in_value(agent.config, step.where, soft=True)
        case SubRecipe() as call:
            yield from in_text(call.recipe)
            if call.context:
                yield from in_value(call.context, step.where)
        case Body():
            return


def between_rounds(step: Step) -> Iterator[VariableMention]:
    """Yield what a loop looks at after a round; the round's own results are there by then."""
    if step.loop is None:
        return
    if isinstance(step.loop.over, While):
        yield from in_test(step.loop.over.condition)
    if step.loop.break_when:
        yield from in_test(step.loop.break_when)
    yield from in_value(step.loop.update, step.where)


def reached_into(recipe: Recipe) -> frozenset[str]:
    """Return the variables of which a recipe uses a part, as in `{{name.part}}`."""
    stages = [stage.condition for stage in recipe.stages if stage.condition]
    texts = [stage.approval.prompt for stage in recipe.stages if stage.approval]
    texts += [recipe.summary] if recipe.summary else []
    mentions = [
        *(each for test in stages for each in in_test(test)),
        *(each for text in texts for each in in_text(text)),
        *(each for step in every_step(recipe.steps) for part in _PARTS for each in part(step)),
    ]
    return frozenset(mention.name for mention in mentions if len(mention.path) > 1)


_PARTS = (before_loop, in_round, between_rounds)


def environment_names(step: Step) -> Iterator[str]:
    """Yield the words of a script that may be variables of its environment, in lower case."""
    if not isinstance(step.action, Bash):
        return
    for found in _ENVIRONMENT.finditer(step.action.command.text):
        yield (found.group(2) or found.group(1).split("__")[0]).lower()
