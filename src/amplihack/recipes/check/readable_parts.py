"""Check the parts of a recipe that could be read, so that one look at a file tells all that is wrong with it.

What may follow from a part that cannot be read is not told: it may set any name that stands in it, and what
is found in it may go away with the first correction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeVar

from amplihack.documents import Document, Mapping, Node, Sequence
from amplihack.errors import Problem
from amplihack.patterns import pattern
from amplihack.recipes.check.bash_port import AskBash
from amplihack.recipes.check.neighbours import Surroundings
from amplihack.recipes.check.recipe import check_recipe
from amplihack.recipes.decode import Decoded
from amplihack.recipes.extends import Located
from amplihack.recipes.fields import STEP
from amplihack.recipes.semantics import ITEM, LOOP
from amplihack.records import Record, replace

_WORD = pattern(r"[A-Za-z_][\w-]*")
_QUOTED = pattern(r"'([^']+)'")
_PLACEHOLDER = pattern(r"\{\{[^{}]*\}\}")
_LOOPS = pattern(r"each|loop|while|items|repeat")
_TEXTS: Final = ("command", "prompt", "condition", "while_condition", "break_when", "description", "name")
_STEPS: Final = ("steps", "stages")
# Fields that give names to something: where one of them cannot be read, any name may be meant to be there.
_GIVES: Final = frozenset(
    {"as", "collect", "context", "foreach", "id", "inputs", "output", "output_exit_code", "output_stderr"}
    | {"recipe", "update_context", "while_condition"}
)
_HARMLESS: Final = frozenset({"no-name"})  # errors that change nothing else
_WHOLE: Final = frozenset({"steps-and-stages"})  # errors that may change everything
_ELSEWHERE: Final = frozenset(
    {"duplicate-id", "duplicate-stage", "no-command"}
)  # told at a field that is fine

# Findings about a text alone: they hold in a step with an error too.
_ALONE: Final = frozenset(
    {"bash-syntax", "bash-refused", "bash-source", "unsupported-template", "undefined-variable"}
)
# Findings about how steps stand to each other, about values, and about names that a sub-recipe may set.
_TOGETHER: Final = frozenset({"split-group", "too-many-steps", "too-deep", "endless-recursion"})
_VALUES: Final = frozenset(
    {"condition-constant", "never-equal", "json-as-text", "text-as-flag", "unknown-key", "never-runs"}
)
_NAMES: Final = frozenset(
    {"undefined-variable", "used-before-set", "missing-input", "unknown-secret", "unknown-step"}
    | {"unknown-dependency", "command-word"}
)


def findings_beside(
    decoded: Decoded, document: Document, path: str | None, world: Surroundings, bash: AskBash
) -> tuple[Problem, ...]:
    """Return the errors and warnings in a recipe with errors, without those that may follow from them."""
    recipe, unread = decoded.recipe, _unread(decoded, document)
    if recipe is None or recipe.extends or not recipe.steps or unread is None:
        return ()
    known = replace(recipe, inputs=recipe.inputs | (unread.names - recipe.context.keys()))
    found = check_recipe(Located(known, path), world, bash=bash)
    return tuple(each for each in found if not unread.may_cause(each))


class _Unread(Record):
    """What cannot be read of a recipe."""

    wrong: frozenset[int]  # the lines with errors
    lines: frozenset[int]  # of the steps and fields with errors
    names: frozenset[str]  # that may be set there
    anything: bool  # names may be set there that nobody can tell

    def may_cause(self, problem: Problem) -> bool:
        """Tell whether a finding may be there only because of what cannot be read."""
        where = problem.where
        if where is None or where.line - 1 in self.wrong or problem.code in _TOGETHER:
            return True
        if where.line - 1 in self.lines and problem.code not in _ALONE:
            return True
        if problem.code in _NAMES and self.anything:
            return True
        if problem.code in _VALUES and not self.names.isdisjoint(_WORD.findall(where.text)):
            return True
        if problem.code == "unexported-variable":
            return not self.names.isdisjoint(_WORD.findall(problem.fix))
        return problem.code not in _ALONE and not self.names.isdisjoint(_QUOTED.findall(problem.what))


def _unread(decoded: Decoded, document: Document) -> _Unread | None:
    """Return what cannot be read; None if that is something about the whole recipe."""
    errors = [each for each in decoded.problems if each.severity == "error" and each.code not in _HARMLESS]
    wrong = {each.where.line - 1 for each in errors if each.where}
    lost = {each.where.line - 1 for each in errors if each.where and each.code not in _ELSEWHERE}
    if not isinstance(document.root, Mapping) or any(
        each.code in _WHOLE or not each.where for each in errors
    ):
        return None
    source, lines, words, anything = (
        document.source.lines,
        set[int](),
        set[str](),
        any(each.code == "no-id" for each in errors),
    )
    for line in sorted(wrong):
        part = _part(document.root, line, len(source))
        if part is None:
            return None
        lines.update(range(part.start, part.end))
        anything = anything or (line in lost and part.field(line) in _GIVES)
        for number in part.settings():
            words.update(_WORD.findall(_PLACEHOLDER.sub("", source[number])))
    names = words - STEP.known.keys()
    if any(map(_LOOPS.search, words)):
        names |= {ITEM, LOOP}
    return _Unread(frozenset(wrong), frozenset(lines), frozenset(names), anything or "recipe" in words)


class _Part(Record):
    """A step, a stage or a field of a recipe: its first line, and the one behind its last."""

    start: int
    end: int
    fields: tuple[tuple[int, str], ...]  # where each of its fields begins

    def field(self, line: int) -> str:
        """Return the field that a line belongs to; of several on one line, the one that matters most."""
        if not self.fields:
            return ""
        here = [name for start, name in self.fields if start == line]
        return next((name for name in here if name in _GIVES), _item([*self.fields], line, self.end)[0])

    def settings(self) -> Iterator[int]:
        """Yield the lines that may give a name to something, without those of texts."""
        return (line for line in range(self.start, self.end) if self.field(line) not in _TEXTS)


def _part(root: Mapping, line: int, end: int) -> _Part | None:
    """Return the part of a recipe that a line belongs to; None if that cannot be told."""
    starts = [(key.line, name) for name, key in root.keys.items()]
    if not starts or len({start for start, _ in starts}) < len(starts):
        return None  # several fields on one line
    field, end = _item(starts, line, end)
    if field in _STEPS:
        return _in_steps(root.entries[field], line, end)
    return _Part(root.keys[field].line, end, ((root.keys[field].line, field),))


def _in_steps(node: Node, line: int, end: int) -> _Part | None:
    """Return the innermost step or stage that a line belongs to."""
    items = [each for each in node.items if isinstance(each, Mapping)] if isinstance(node, Sequence) else []
    if not items or line < items[0].line:
        return None
    at, end = _item([(each.line, number) for number, each in enumerate(items)], line, end)
    step = items[at]
    fields = [(key.line, name) for name, key in step.keys.items()]
    if "steps" in step.entries and step.keys["steps"].line < line:
        field, inner_end = _item(fields, line, end)
        if field == "steps":
            return _in_steps(step.entries["steps"], line, inner_end)
    return _Part(step.line, end, tuple(fields))


_Key = TypeVar("_Key")


def _item(starts: list[tuple[int, _Key]], line: int, end: int) -> tuple[_Key, int]:
    """Return the last item that begins at the line or before it, and the line where the next one begins."""
    ordered = sorted(starts, key=lambda each: each[0])
    before = [at for at, (start, _) in enumerate(ordered) if start <= line] or [0]
    after = next((start for start, _ in ordered[before[-1] + 1 :] if start > line), end)
    return ordered[before[-1]][1], after
