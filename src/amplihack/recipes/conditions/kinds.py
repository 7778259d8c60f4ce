"""Work out what values an expression can have, without running it: kinds, letter case, limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from amplihack.recipes.conditions import (
    And,
    Call,
    Compare,
    Constant,
    Expression,
    Interpolated,
    ListLiteral,
    Method,
    Name,
    Not,
    Or,
    PlaceholderNode,
    Rules,
)
from amplihack.recipes.conditions.rules import number_in
from amplihack.recipes.values import MISSING, Missing, Value
from amplihack.records import Record, replace

ValueKind: TypeAlias = Literal["null", "yes or no", "number", "text", "list", "map"]

_ANYTHING: Final = frozenset[ValueKind](("null", "yes or no", "number", "text", "list", "map"))
_JUST: Final = {kind: frozenset[ValueKind]((kind,)) for kind in _ANYTHING}
_FLAG_WORDS: Final = frozenset({"true", "True", "false", "False"})


class Bounds(Record):
    """What is known about a value without running anything."""

    kinds: frozenset[ValueKind] = _ANYTHING
    value: Value | Missing = MISSING
    case: Literal["", "lower", "upper"] = ""
    bare_left: bool = False  # no blanks at its beginning
    bare_right: bool = False
    least: float | None = None
    whole: bool = False


ANYTHING: Final = Bounds()
FLAG: Final = Bounds(frozenset({"yes or no"}))
TEXT: Final = Bounds(frozenset({"text"}))
LIST: Final = Bounds(frozenset({"list"}))
COUNT: Final = Bounds(frozenset({"number"}), least=0, whole=True)
_FUNCTIONS: Final[dict[str, Bounds]] = {
    **dict.fromkeys(("bool", "any", "all", "defined"), FLAG),
    "int": Bounds(frozenset({"number"}), whole=True),
    "float": Bounds(frozenset({"number", "null"})),
    "len": COUNT,
    "str": TEXT,
}
_METHODS: Final[dict[str, Bounds]] = {
    **dict.fromkeys(("startswith", "endswith", "contains"), FLAG),
    **dict.fromkeys(("replace", "join", "title"), TEXT),
    "split": LIST,
    "count": COUNT,
    "find": Bounds(frozenset({"number"}), least=-1, whole=True),
}


def bounds(node: Expression) -> Bounds:
    """Return everything that is known about the value of an expression."""
    if isinstance(node, Constant):
        return Bounds(_JUST[_kind(node.value)], node.value)
    match node:
        case Name() | PlaceholderNode():
            return ANYTHING
        case ListLiteral():
            return LIST
        case Interpolated():
            return TEXT
        case Compare() | Not() | And() | Or():
            return FLAG
        case Call(function):
            return _FUNCTIONS.get(function, ANYTHING)
        case Method(base, method, arguments):
            return _METHODS.get(method) or _changed(method, bounds(base), arguments)
        case _:
            return ANYTHING


def _changed(method: str, base: Bounds, arguments: Sequence[Expression]) -> Bounds:
    """Return the bounds after `lower`, `strip` and the like; what earlier methods guarantee stays true."""
    known = base if base.kinds == TEXT.kinds and base.value is MISSING else TEXT
    match method:
        case "lower" | "upper":
            return replace(known, case="lower" if method == "lower" else "upper")
        case "strip" | "lstrip" | "rstrip" if not arguments:
            return replace(
                known,
                bare_left=known.bare_left or method != "rstrip",
                bare_right=known.bare_right or method != "lstrip",
            )
        case "strip" | "lstrip" | "rstrip":
            # Stripping given characters can uncover blanks that an earlier `strip()` did not see.
            return replace(known, bare_left=False, bare_right=False)
        case _:
            return ANYTHING


def _kind(value: Value) -> ValueKind:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "yes or no"
    return "number" if isinstance(value, int | float) else "text"


def clash(left: Bounds, right: Bounds, rules: Rules) -> str:
    """Return the reason why two expressions can never be equal; empty if they can."""
    if left is ANYTHING or right is ANYTHING:
        return ""
    return _beside(left, right, rules) or _beside(right, left, rules) or _kinds_clash(left, right, rules)


def _beside(one: Bounds, other: Bounds, rules: Rules) -> str:
    """Return the reason why the first can never equal the second, when the second is a constant."""
    if isinstance(other.value, Missing):
        return ""
    if isinstance(other.value, str):
        return _beside_text(one, other.value, rules)
    if other.value is True or other.value is False:
        shouted = one.kinds == TEXT.kinds and one.case == "upper"
        return "a text in capitals is never equal to true or false" if shouted else ""
    if isinstance(other.value, int | float):
        return _beside_number(one, other.value)
    return ""


def _beside_text(one: Bounds, text: str, rules: Rules) -> str:
    if one.kinds == FLAG.kinds and text not in _FLAG_WORDS:
        return f"it is true or false, and never the text '{text}'"
    if one.kinds <= {"number", "null"} and number_in(text) is None:
        return f"it is a number, and never the text '{text}'"
    if one.kinds != TEXT.kinds or (rules.numbers_in_text and number_in(text) is not None):
        return ""
    if misspelt(one, text):
        return f"a text in {one.case} case is never '{text}'"
    if (one.bare_left and text != text.lstrip()) or (one.bare_right and text != text.rstrip()):
        return f"a text without blanks around it is never '{text}'"
    return ""


def misspelt(one: Bounds, text: str) -> bool:
    """Tell whether a text has the wrong case to equal, or to occur in, the value of this expression."""
    return (one.case == "lower" and text != text.lower()) or (one.case == "upper" and text != text.upper())


def _beside_number(one: Bounds, number: float) -> str:
    if one.kinds != COUNT.kinds:
        return ""
    if one.least is not None and number < one.least:
        return f"it is never less than {one.least:g}"
    if one.whole and isinstance(number, float) and not number.is_integer():
        return f"it is a whole number, and never {number:g}"
    return ""


def _kinds_clash(left: Bounds, right: Bounds, rules: Rules) -> str:
    if any(_can_be_equal(a, b, rules) for a in left.kinds for b in right.kinds):
        return ""
    return f"{_named(left)} is never equal to {_named(right)}"


def _can_be_equal(one: ValueKind, other: ValueKind, rules: Rules) -> bool:
    if one == other:
        return True
    pair = {one, other}
    if "text" not in pair or "null" in pair:
        return False
    return rules.containers_as_json or not pair & {"list", "map"}


def _named(one: Bounds) -> str:
    article = {"null": "null", "yes or no": "true or false"}
    return " or ".join(article.get(kind, f"a {kind}") for kind in sorted(one.kinds))
