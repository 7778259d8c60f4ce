"""Decode what a recipe says of its inputs, in `parameters` and `inputs` or, by mistake, in `context`."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.documents import Mapping, Node, Scalar, Sequence, to_value
from amplihack.documents.suggest import closest
from amplihack.patterns import pattern
from amplihack.recipes.decode_steps import StepReader
from amplihack.recipes.fields import INPUT
from amplihack.recipes.inputs import TYPES, conform, is_blank
from amplihack.recipes.model import Input
from amplihack.recipes.reading import Fields, Report, read_table
from amplihack.recipes.rewritten_numbers import tell_rewritten
from amplihack.recipes.values import Value, one_line, to_json, to_text
from amplihack.records import Record, replace

_PLAIN = {"type", "default", "required", "description", "enum"}  # what runners of the other dialect know
_BOUNDS = frozenset({"minimum", "maximum", "min_length", "max_length", "pattern"})
_VARIABLE = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_DECLARED = "maps of `type`, `default`, `required` … in `context:` describe inputs"


class ReadInputs(Record):
    """What a recipe says of its inputs, and the variables that it sets itself."""

    declared: dict[str, Input]
    defaults: dict[str, Value]  # of inputs that have one, or need none
    values: dict[str, Value]  # of `context`


def read_inputs(fields: Fields, reader: StepReader, report: Report) -> ReadInputs:
    """Read `inputs`, `parameters` and `context`; in the other dialect `context` may describe inputs too."""
    found = ReadInputs({}, {}, fields.map("context"))
    for field in ("inputs", "parameters"):
        for name, node in _declarations(field, fields.nodes.get(field), report):
            _tell_lost(name, node, report)
            _declare(found, name, node, report)
    for name, node in fields.mapping("context") or ():
        if not isinstance(node, Mapping) or not node.entries:
            continue
        if reader.dialect == "amplifier" and node.entries.keys() <= _PLAIN:
            reader.differences[_DECLARED] = None
            del found.values[name]
            _declare(found, name, node, report)
        elif reader.dialect != "amplifier" and _describes_an_input(node):
            report.add(
                "input-as-value",
                f"context: the value of '{name}' is a map that reads like the description of an input",
                node.where,
                f"move `{name}:` to `parameters:`, where it is checked and has a default",
                "warning",
            )
    return found


def _declare(found: ReadInputs, name: str, node: Node, report: Report) -> None:
    owner = f"Input '{name}': "
    rule = read_table(node, INPUT, owner, report) if isinstance(node, Mapping) else None
    found.declared[name] = _input(rule, owner, report) if rule else Input(where=node.where)
    if rule and ("default" in rule.node.entries or rule.flag("required") is False):
        found.defaults[name] = _default(rule, found.declared[name], owner, report)


def _describes_an_input(node: Mapping) -> bool:
    entries = node.entries
    if not entries.keys() <= INPUT.known.keys():
        return False
    kind = entries.get("type")
    known_type = isinstance(kind, Scalar) and kind.text in TYPES
    return "required" in entries or known_type or {"default", "description"} <= entries.keys()


def _declarations(field: str, node: Node | None, report: Report) -> Iterator[tuple[str, Node]]:
    """Yield the inputs that `inputs` or `parameters` names, and report what names none."""
    if isinstance(node, Mapping):
        yield from node
    elif isinstance(node, Sequence):
        for item in node.items:
            named = item.entries.get("name") if isinstance(item, Mapping) else item
            if isinstance(named, Scalar) and named.text:
                yield named.text, item
            else:
                what = f"each of {field} should be a name, or a map with its `name`"
                report.add("no-effect", what, item.where, _named_so(item), "warning")
    elif node is not None:
        fix = f"write a list, as in `{field}: [branch]`, or a map of names to what is said of them"
        what = f"'{field}' should be a list or a map of inputs, and says nothing in this form"
        report.add("no-effect", what, node.where, fix, "warning")


def _named_so(item: Node) -> str:
    """Say how to name an input that was written as `- branch: main`."""
    (key, value), *others = item if isinstance(item, Mapping) and item.entries else (("", None),)
    if others or key in INPUT.known or not key:
        return "begin it with `name:`"
    return f"write `- name: {key}`" + (f", and `{_meant(value)}` below it" if _holds(value) else "")


def _tell_lost(name: str, node: Node, report: Report) -> None:
    """Warn of a value behind the name of an input, which says nothing there."""
    if _holds(node) and not (isinstance(node, Scalar) and node.text == name):
        what = f"Input '{name}': what stands behind its name does nothing"
        fix = f"write `{name}: {{{_meant(node)}}}`; a default that is no text may also stand in `context:`"
        report.add("no-effect", what, node.where, fix, "warning")


def _holds(node: Node | None) -> bool:
    return isinstance(node, Sequence) or (isinstance(node, Scalar) and not node.absent)


def _meant(node: Node | None) -> str:
    """Return what a value behind the name of an input was probably meant to be."""
    if not isinstance(node, Scalar):
        return "default: …"
    if node.text in TYPES:
        return f"type: {node.text}"
    field = "description" if " " in node.text.strip() else "default"
    return f"{field}: {one_line(node.text, 40)}"


def _input(rule: Fields, owner: str, report: Report) -> Input:
    kind, choices = rule.word("type") or "", rule.nodes.get("enum")
    _check_env(rule, owner, report)
    bounds: dict[str, Value] = {}
    if _BOUNDS & rule.nodes.keys():
        from amplihack.recipes.decode_input_bounds import read_bounds  # deferred: most inputs have none

        kind, bounds = read_bounds(rule, kind, owner, report)
    if kind and kind not in TYPES:
        meant = closest(kind, TYPES)
        fix = f"did you mean '{meant}'?" if meant else f"write one of {', '.join(TYPES)}"
        what = f"{owner}the type '{kind}' is not known, so it is not checked"
        report.add("unknown-type", what, rule.where("type"), fix, "warning")
    if choices is not None and not isinstance(choices, Sequence):
        report.add(
            "wrong-type",
            f"{owner}'enum' should be a list",
            choices.where,
            "write `enum: [a, b]`",
        )
    declared = Input(
        rule.word("description") or "",
        kind,
        tuple(map(_as_written, choices.items)) if isinstance(choices, Sequence) else (),
        rule.word("env") or "",
        rule.flag("required") or False,
        rule.node.where,
        bounds,
    )
    _check_choices(declared, rule, owner, report)
    return declared


def _check_choices(declared: Input, rule: Fields, owner: str, report: Report) -> None:
    """Report values of `enum` that the type does not allow, so that nobody can give them."""
    for choice in declared.choices:
        if wrong := conform(choice, replace(declared, choices=()))[1]:
            what = f"{owner}'enum' has {to_json(choice)}, and the input {wrong}"
            report.add("wrong-type", what, rule.where("enum"), "correct `enum` or `type`")


def _as_written(node: Node) -> Value:
    """Return a value; a number that would be printed in another way, such as 3.10, as the text that it is."""
    value = to_value(node)
    rewritten = isinstance(value, int | float) and isinstance(node, Scalar) and to_text(value) != node.text
    return node.text if rewritten and isinstance(node, Scalar) else value


def _check_env(rule: Fields, owner: str, report: Report) -> None:
    """Report what no variable of the environment can be called, such as `$NAME`."""
    name = rule.word("env")
    if name is None or _VARIABLE.fullmatch(name):
        return
    plain = _VARIABLE.search(name)
    fix = f"write `env: {plain[0]}`" if plain else "write the name of a variable of the environment"
    what = f"{owner}'env' should be the name of a variable, not '{name}'"
    report.add("wrong-type", what, rule.where("env"), fix)


def _given_by_default(node: Node | None, declared: Input, report: Report) -> Value:
    """Return a default as its author meant it: where a text is wanted, no number is made of it."""
    if node is None:
        return None
    if declared.choices or declared.type in ("string", "str", "text"):
        return _as_written(node)
    if not declared.type:
        tell_rewritten(node, report)
    return to_value(node)


def _default(rule: Fields, declared: Input, owner: str, report: Report) -> Value:
    node = rule.nodes.get("default")
    value, wrong = conform(_given_by_default(node, declared, report), declared)
    if wrong and not is_blank(value):
        fix = "correct the default, or what else is said of the input"
        report.add("wrong-type", f"{owner}'default' {wrong}", rule.where("default"), fix)
    return value
