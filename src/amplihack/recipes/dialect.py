"""Which community a file was written for, told by the fields and forms that only one of them uses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from amplihack.documents import Mapping, Node, Scalar, Sequence
from amplihack.patterns import pattern
from amplihack.recipes.fields import RECIPE, STEP, Dialect, FieldTable
from amplihack.records import Record

_SPELLINGS: dict[str, Dialect] = {  # where an alias says more than the field it stands for
    "working_dir": "amplihack",
    "sub_context": "amplihack",
    "nonfatal": "amplihack",
    "cwd": "amplifier",
    "while_steps": "amplifier",
}
_AMPLIHACK_TEXT = pattern(r"\$\{?(RECIPE_VAR_\w|TASK_DESCRIPTION\b|REPO_PATH\b)")
_AMPLIFIER_TEXT = pattern(r"AMPLIFIER_PYTHON|\{\{(recipe|session|step)\.\w+\}\}")
_QUOTED = pattern(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")
_NAME = pattern(r"(?<![\w.-])(?!(?:and|or|not|in|true|false|none|null)\b)[a-z_]\w*", re.IGNORECASE)
_AMPLIFIER_AGENT = pattern(r"(foundation|recipes):|self$")


class Verdict(Record):
    """The dialect and the signals that speak for each side."""

    dialect: Dialect
    amplihack: tuple[str, ...] = ()
    amplifier: tuple[str, ...] = ()
    stated: bool = False

    @property
    def mixed(self) -> bool:
        return not self.stated and bool(self.amplihack) and bool(self.amplifier)

    @property
    def reason(self) -> str:
        if self.stated:
            return "stated in the file"
        signals = self.amplifier if self.dialect == "amplifier" else self.amplihack
        return f"it uses {', '.join(signals[:4])}" if signals else "nothing in it says otherwise"


def detect(root: Mapping) -> Verdict:
    """The dialect that the file states, else the one that more kinds of signals speak for."""
    match _text(root, "dialect"):
        case "amplihack" | "amplifier" as stated:
            return Verdict(stated, stated=True)
    steps = list(_steps(root))
    signals = set(_field_signals(root, RECIPE))
    for step in steps:
        signals.update(_step_signals(step))
    sides = {side: sorted(name for name, of in signals if of == side) for side in ("amplihack", "amplifier")}
    ahead = len(sides["amplifier"]) - len(sides["amplihack"])
    foundation = ahead == 0 and any(_AMPLIFIER_AGENT.match(_text(step, "agent")) for step in steps)
    dialect: Dialect = "amplifier" if ahead > 0 or foundation else "amplihack"
    return Verdict(dialect, tuple(sides["amplihack"]), tuple(sides["amplifier"]))


def _steps(node: Mapping) -> Iterator[Mapping]:
    for key in ("steps", "stages", "while_steps"):
        children = node.entries.get(key)
        for child in children.items if isinstance(children, Sequence) else ():
            if isinstance(child, Mapping):
                if key != "stages":
                    yield child
                yield from _steps(child)


def _field_signals(node: Mapping, table: FieldTable) -> Iterator[tuple[str, Dialect]]:
    known = table.known
    for key in node.entries:
        side = _SPELLINGS.get(key) or (known[key].signal if key in known else None)
        if side:
            yield f"`{key}`", side
    if table is RECIPE and isinstance(node.entries.get("inputs"), Sequence):
        yield "a list of `inputs`", "amplihack"


def _step_signals(step: Mapping) -> Iterator[tuple[str, Dialect]]:
    yield from _field_signals(step, STEP)
    fields = step.entries
    if "command" in fields and "type" not in fields:
        yield "a `command` without `type`", "amplihack"
    if "prompt" in fields and "agent" not in fields:
        yield "a `prompt` without `agent`", "amplihack"
    yield from _condition_signals(_text(step, "condition"))
    yield from _recipe_signals(_text(step, "recipe"))
    texts = " ".join(_text(step, key) for key in ("command", "prompt"))
    if _AMPLIHACK_TEXT.search(texts):
        yield "`$RECIPE_VAR_…` or its aliases", "amplihack"
    if _AMPLIFIER_TEXT.search(texts):
        yield "`{{recipe.…}}`, `{{session.…}}` or `{{step.…}}`", "amplifier"


def _condition_signals(text: str) -> Iterator[tuple[str, Dialect]]:
    bare = _QUOTED.sub("''", text)
    if "{{" in bare:
        yield "a condition on `{{…}}`", "amplifier"
    if _NAME.search(re.sub(r"\{\{.*?\}\}", "", bare)):
        yield "a condition on a bare name", "amplihack"


def _recipe_signals(text: str) -> Iterator[tuple[str, Dialect]]:
    if text.startswith("@") or text.endswith((".yaml", ".yml")):
        yield "a sub-recipe by path", "amplifier"
    elif text:
        yield "a sub-recipe by name", "amplihack"


def _text(node: Mapping, key: str) -> str:
    value: Node | None = node.entries.get(key)
    return value.text if isinstance(value, Scalar) else ""
