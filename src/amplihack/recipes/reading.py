"""Read a mapping of the file by its field table: known fields, aliases, and all problems noted."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.documents import Mapping, Node, Scalar, Sequence, to_value
from amplihack.documents.suggest import closest, distance
from amplihack.errors import Location, Problem, Severity, in_file_order
from amplihack.patterns import pattern
from amplihack.recipes.fields import STEP, Field, FieldTable
from amplihack.recipes.model import Test, Text
from amplihack.recipes.shapes import Read, Unreadable, read_field
from amplihack.recipes.values import Value, one_line
from amplihack.records import Record, field

_EQUALS = pattern(r"([a-z_]+) *=(?!=) *(\S+)")
_NO_BLANK = pattern(r"([a-z_]+):(?!//)(\S+)")


class Report(Record, frozen=False):
    """The problems of one file, in the order in which they were found."""

    problems: list[Problem] = field(default_factory=list)

    def add(self, code: str, what: str, where: Location, fix: str = "", severity: Severity = "error") -> None:
        self.problems.append(Problem(what, where, fix, severity, code))

    def instead_of_unknown(self, code: str, what: str, where: Location, fix: str) -> None:
        """Report that a field is missing where it is misspelt, in place of the warning about that word."""
        self.problems = [
            each for each in self.problems if (each.code, each.where) != ("unknown-field", where)
        ]
        self.add(code, what, where, fix)

    def forget(self, code: str, line: int) -> None:
        """Take back what another problem says as well."""
        self.problems = [
            each
            for each in self.problems
            if each.code != code or each.where is None or each.where.line != line
        ]

    def in_file_order(self) -> tuple[Problem, ...]:
        return in_file_order(self.problems)


class Fields(Record):
    """The fields of one mapping by their proper names."""

    node: Mapping
    values: dict[str, Read]
    nodes: dict[str, Node]

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def where(self, name: str) -> Location:
        return self.nodes[name].where if name in self.nodes else self.node.where

    def word(self, name: str) -> str | None:
        value = self.values.get(name)
        return value if isinstance(value, str) else None

    def text(self, name: str) -> Text | None:
        value, node = self.values.get(name), self.nodes.get(name)
        if isinstance(value, str) and isinstance(node, Scalar):
            return Text(value, node)
        return value if isinstance(value, Text) else None

    def test(self, name: str) -> Test | None:
        value = self.values.get(name)
        return value if type(value) is Test else None

    def flag(self, name: str) -> bool | None:
        value = self.values.get(name)
        return value if isinstance(value, bool) else None

    def count(self, name: str) -> int | None:
        value = self.values.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def number(self, name: str) -> float | None:
        value = self.values.get(name)
        return value if isinstance(value, float) else None

    def words(self, name: str) -> tuple[str, ...]:
        value = self.values.get(name)
        return value if isinstance(value, tuple) else ()

    def map(self, name: str) -> dict[str, Value]:
        value = self.values.get(name)
        return value if isinstance(value, dict) else {}

    def mapping(self, name: str) -> Mapping | None:
        node = self.nodes.get(name)
        return node if isinstance(node, Mapping) else None

    def data(self, name: str) -> Value:
        return to_value(self.nodes[name]) if name in self.nodes else None


def read_table(node: Mapping, table: FieldTable, owner: str, report: Report) -> Fields:
    """Return the known fields of a mapping; `owner` begins each message, as in "Step 'build': "."""
    known = table.known
    values: dict[str, Read] = {}
    nodes: dict[str, Node] = {}
    spelt: dict[str, str] = {}
    for key, child in node:
        if key not in known:
            _unknown(node, key, table, owner, report)
            continue
        each = known[key]
        if each.name in nodes:
            _second_spelling(node, spelt[each.name], key, owner, report)
            continue
        if not (isinstance(child, Scalar) and child.absent) or each.shape in ("words", "map", "texts"):
            nodes[each.name], spelt[each.name] = child, key
            if each.instead:
                _tell_note(node, key, each, owner, report)
            _read(child, each, owner, values, report)
        elif each.shape in ("condition", "items"):
            what = f"{owner}'{key}' has no value, so {_WITHOUT[each.shape]}"
            fix = "remove it, or write its value behind it, indented below it if it has several lines"
            report.add("empty-condition", what, node.where_key(key), fix, "warning")
        elif each.name in _STEERS and isinstance(child, Scalar) and not child.text:
            what = f"{owner}'{key}' has no value, so it says nothing"
            report.add("no-effect", what, node.where_key(key), "write its value, or remove it", "warning")
    return Fields(node, values, nodes)


def _tell_note(node: Mapping, key: str, each: Field, owner: str, report: Report) -> None:
    """Tell that a field is for readers alone. One that compares something was meant to steer: an error."""
    child, where = node.entries[key], node.where_key(key)
    if key == "until" and isinstance(child, Scalar) and _COMPARES.search(child.text):
        what = f"{owner}'{key}' is a condition in other tools and would do nothing here"
        report.add("foreign-word", what, where, each.instead)
        return
    what = f"{owner}'{key}' is a note for readers and does nothing"
    report.add("no-effect", what, where, each.instead, "warning")


_COMPARES = pattern(r"[=!<>]=|\{\{|\s[<>]\s|\bis (?:not )?(?:succe|fail|chang|defin)")
# Fields of which an author expects something, even where the value was forgotten.
_STEERS = frozenset(
    {"retry", "on_error", "continue_on_error", "fatal", "finally", "timeout", "idle_timeout", "parallel"}
    | {"parallel_group", "strict_shell", "idempotent", "recheck", "context_mode", "parse_json_required"}
    | {"max_attempts", "max_iterations", "max_while_iterations", "default_step_timeout", "required", "enum"}
)
_WITHOUT = {"condition": "it is not asked", "items": "there is no loop"}


def _read(child: Node, each: Field, owner: str, values: dict[str, Read], report: Report) -> None:
    if each.shape == "condition" and isinstance(child, Scalar) and not child.text.strip():
        what = f"{owner}'{each.name}' is empty, so it always holds"
        report.add("empty-condition", what, child.where, "remove it, or say when to run", "warning")
        return
    try:
        values[each.name] = read_field(child, each)
    except Unreadable as error:
        what = f"{owner}'{each.name}' {error}"
        if each.shape == "condition" and isinstance(child, Scalar):
            report.add("bad-condition", what, child.locate(error.offset), error.fix)
        else:
            from amplihack.recipes.shape_fixes import fix_for  # deferred: most files need no fix

            report.add("wrong-type", what, child.where, fix_for(child, each))


def _unknown(node: Mapping, key: str, table: FieldTable, owner: str, report: Report) -> None:
    if key.startswith("x-") or not isinstance(node.keys[key].value, str):
        return
    # Deferred: few recipes have unknown fields.
    from amplihack.recipes.foreign_words import instead_of, part_of_it
    from amplihack.recipes.near_words import word_for

    ours, meant = word_for(key, table.name), closest(key, table.known)
    is_odd = not key.isascii() and key.strip() in STEP.known | table.known
    instead = None if is_odd else instead_of(key, table.name, frozenset(table.known))
    if instead or (not ours and not meant and (instead := part_of_it(key, table.name))):
        what = f"{owner}'{key}' is a word of other tools and would do nothing here"
        report.add("foreign-word", what, node.where_key(key), instead)
        return
    thing = "Unrecognized top-level field" if table.name == "recipe" else f"{owner}unrecognized field"
    fix = f"did you mean '{meant}'?" if meant else "remove it, or rename it to x-… to keep it as a note"
    if ours and not _is_slip(key, meant):
        fix = ours
    if is_odd:
        fix = "indent with plain spaces: these are others, such as no-break spaces"
    report.add("unknown-field", f"{thing} '{key}' (possible typo)", node.where_key(key), fix, "warning")


def _is_slip(key: str, meant: str | None) -> bool:
    """Tell whether a word is another one with a letter more, less or changed."""
    return meant is not None and distance(key, meant, 1) <= 1


def is_blank(node: Node | None) -> bool:
    """Tell whether a name is missing or empty. What is no text at all is told for its shape."""
    return node is None or (isinstance(node, Scalar) and (node.absent or not node.text.strip()))


def _second_spelling(node: Mapping, first: str, key: str, owner: str, report: Report) -> None:
    if to_value(node.entries[key]) != to_value(node.entries[first]):
        report.add(
            "contradiction",
            f"{owner}'{first}' and '{key}' mean the same and say different things",
            node.where_key(key),
            "keep one of the two",
        )


def mappings(node: Node | None, what: str, report: Report, *, key: str = "id") -> Iterator[Mapping]:
    """Return the mappings of a list, each of which begins with `key`; anything else is reported."""
    if node is None:
        return
    if not isinstance(node, Sequence):
        report.add("wrong-type", f"{what} should be a list", node.where, _as_list(node, key))
        return
    for item in node.items:
        if isinstance(item, Mapping):
            yield item
        else:
            fix = _as_mapping(item, key)
            report.add("wrong-type", f"each of {what} should be a mapping", item.where, fix)


def _as_list(node: Node, key: str) -> str:
    """Say how to write a list of mappings that was written as something else."""
    first = next(iter(node.entries), "") if isinstance(node, Mapping) else ""
    if not first:
        return f"start each one with a dash: `- {key}: first`"
    if first.startswith("-"):
        return f"put a space behind each dash: `- {first[1:]}:`"
    if isinstance(node, Mapping) and key in node.entries:
        return f"start each one with a dash, in front of its `{key}:`"
    return f"start each one with a dash: write `- {key}: {first}` for `{first}:`, its fields below it"


def _as_mapping(item: Node, key: str) -> str:
    """Say how to write one of a list of mappings that was written as something else."""
    if isinstance(item, Scalar) and (found := _NO_BLANK.match(item.text)):
        return f"put a space behind the colon: `{found[1]}: {found[2]}`"
    if isinstance(item, Scalar) and (found := _EQUALS.match(item.text)) and found[1] == key:
        return f"write a colon for each =: `{key}: {found[2]}`"
    if isinstance(item, Scalar) and key == "id" and not item.absent:
        return f"begin it with `id:`, and write what it does below it: `command: {one_line(item.text, 40)}`"
    return f"begin it with `{key}:`, its other fields below it"
