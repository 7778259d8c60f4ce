"""Find conditions with a constant answer: by their constants, by kinds of values, or by contradiction."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from amplihack.errors import ConditionError
from amplihack.recipes.conditions import (
    And,
    Compare,
    Constant,
    Expression,
    Interpolated,
    ListLiteral,
    Name,
    Not,
    Or,
    PlaceholderNode,
    Property,
    Rules,
    known,
    show,
)
from amplihack.recipes.conditions.kinds import ANYTHING, Bounds, bounds, clash, misspelt
from amplihack.recipes.conditions.rules import equal, number_in, truthy
from amplihack.recipes.conditions.tree import Operator
from amplihack.recipes.conditions.used_variables import mentions_variables
from amplihack.recipes.values import MISSING, Missing, Value

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_OPPOSITE: dict[Operator, Operator] = {"==": "!=", "!=": "==", "in": "not in", "not in": "in"}


def verdict(tree: Expression, rules: Rules, *, all_compared: bool = False) -> bool | None:
    """Return the answer that holds for all values of the variables, or None.

    `all_compared` tells that `compared` has found none for any comparison of variables in it.
    """
    if not mentions_variables(tree):
        constant = constant_value(tree, rules)
        return None if isinstance(constant, Missing) else truthy(constant, rules)
    match tree:
        case Compare():
            return None if all_compared else compared(tree, rules)[0]
        case And():
            return _all(tree.operands, rules, all_compared)
        case Or():
            denied = _all(tuple(_denied(operand) for operand in tree.operands), rules, all_compared)
            return None if denied is None else not denied
        case Not():
            inner = verdict(tree.operand, rules, all_compared=all_compared)
            return None if inner is None else not inner
        case _:
            return None


def constant_value(tree: Expression, rules: Rules) -> Value | Missing:
    """Return the value of an expression without variables, or MISSING if it has none or always fails."""
    try:
        return known(tree, rules)
    except ConditionError:
        return MISSING


def _all(operands: tuple[Expression, ...], rules: Rules, all_compared: bool) -> bool | None:
    answers = [verdict(operand, rules, all_compared=all_compared) for operand in operands]
    if False in answers or contradiction(operands, rules):
        return False
    return True if all(answers) else None


def _denied(tree: Expression) -> Expression:
    """Return the negation in the form that `contradiction` understands."""
    match tree:
        case Not(operand):
            return operand
        case Compare(symbol, left, right) if symbol in _OPPOSITE:
            return Compare(_OPPOSITE[symbol], left, right, tree.column)
        case _:
            return Not(tree, tree.column)


# comparisons


def compared(node: Compare, rules: Rules) -> tuple[bool | None, str]:
    """Return the answer that a comparison always gives, and why."""
    left, operator = bounds(node.left), node.operator
    if operator in ("in", "not in"):
        why = _not_inside(node, left, bounds(node.right), rules)
        return (operator == "not in", why) if why else (None, "")
    if left is ANYTHING:  # nearly always: a variable can be equal to anything, and more or less than it
        return None, ""
    if operator in ("==", "!="):
        why = clash(left, bounds(node.right), rules)
        return (operator == "!=", why) if why else (None, "")
    return _ordered(operator, left, bounds(node.right))


def _not_inside(node: Compare, left: Bounds, right: Bounds, rules: Rules) -> str:
    if isinstance(node.right, ListLiteral) and node.right.items:
        reasons = [clash(left, bounds(item), rules) for item in node.right.items]
        return reasons[0] if all(reasons) else ""
    if isinstance(left.value, str) and misspelt(right, left.value):
        return f"a text in {right.case} case never holds '{left.value}'"
    if right.kinds <= {"null", "yes or no", "number"}:
        return "nothing is in a value that is neither text nor list nor map"
    return ""


def lost_items(node: Compare, rules: Rules) -> Iterator[tuple[Expression, str]]:
    """Yield the items of a list that can never be the one that is looked for."""
    if node.operator in ("in", "not in") and isinstance(node.right, ListLiteral):
        for item in node.right.items:
            if why := clash(bounds(node.left), bounds(item), rules):
                yield item, why


def _ordered(symbol: str, left: Bounds, right: Bounds) -> tuple[bool | None, str]:
    if isinstance(left.value, int | float):
        symbol, left, right = _MIRRORED[symbol], right, left
    if left.kinds != {"number"}:
        return None, ""
    if isinstance(right.value, str) and number_in(right.value) is None:
        return False, f"a number has no order with the text '{right.value}'"
    bound = right.value
    if left.least is None or not isinstance(bound, int | float):
        return None, ""
    why = f"it is never less than {left.least:g}"
    if (symbol == "<" and bound <= left.least) or (symbol == "<=" and bound < left.least):
        return False, why
    if (symbol == ">=" and bound <= left.least) or (symbol == ">" and bound < left.least):
        return True, why
    return None, ""


# contradictions


def contradiction(operands: tuple[Expression, ...], rules: Rules) -> str:
    """Tell why operands of an `and` cannot hold together, when two are about the same variable."""
    denied = [show(each.operand) for each in operands if isinstance(each, Not)]
    if denied:
        plain = {show(each) for each in operands}
        for text in denied:
            if text in plain:
                return f"{text} is wanted and denied"
    compares = [each for each in operands if isinstance(each, Compare)]
    about: dict[str, list[Compare]] = {}
    for each in compares if len(compares) > 1 else ():
        if subject := _subject(each.left):
            about.setdefault(subject, []).append(each)
    for tests in about.values():
        # Pairs grow with the square: the limit keeps a long generated condition fast to check.
        for one, other in combinations(tests[:16], 2):
            if _exclude(one, other, rules):
                return f"{show(one)} and {show(other)} exclude each other"
    return ""


def _subject(node: Expression) -> str:
    """Return the variable that an expression stands for, in one spelling; empty for a constant."""
    match node:
        case Name(name):
            return name
        case PlaceholderNode(path):
            return ".".join(path)
        case Property(base, key):
            return f"{inner}.{key}" if (inner := _subject(base)) else ""
        case Interpolated() | Constant() | ListLiteral():
            return ""
        case _:
            return show(node)


def _exclude(one: Compare, other: Compare, rules: Rules) -> bool:
    wanted, more, refused = _wanted(one), _wanted(other), _refused(one) or _refused(other)
    if wanted and more:
        return not any(_could_be_same(a, b, rules) for a in wanted for b in more)
    if refused and (mine := wanted or more):
        return all(any(_is_same(a, b) for b in refused) for a in mine)
    return _empty_range(one, other)


def _wanted(node: Compare) -> tuple[Value, ...]:
    return _constants(node, "==", "in")


def _refused(node: Compare) -> tuple[Value, ...]:
    return _constants(node, "!=", "not in")


def _constants(node: Compare, single: str, many: str) -> tuple[Value, ...]:
    match node:
        case Compare(symbol, _, Constant(value)) if symbol == single:
            return (value,)
        case Compare(symbol, _, ListLiteral(items)) if symbol == many:
            values = tuple(item.value for item in items if isinstance(item, Constant))
            return values if len(values) == len(items) else ()
        case _:
            return ()


def _is_same(one: Value, other: Value) -> bool:
    return type(one) is type(other) and one == other


def _could_be_same(one: Value, other: Value, rules: Rules) -> bool:
    """Tell whether one value can be equal to both: the number 1 is equal to '1' and to '1.0'."""
    if equal(one, other, rules):
        return True
    if isinstance(one, str) and isinstance(other, str):
        number = number_in(one)
        return one.lower() == other.lower() or (number is not None and number == number_in(other))
    return False


def _empty_range(one: Compare, other: Compare) -> bool:
    low = [bound for each in (one, other) if (bound := _bound(each, ">")) is not None]
    high = [bound for each in (one, other) if (bound := _bound(each, "<")) is not None]
    if not low or not high:
        return False
    strict = one.operator in "<>" or other.operator in "<>"
    return low[0] > high[0] or (strict and low[0] == high[0])


def _bound(node: Compare, direction: str) -> float | None:
    match node:
        case Compare(symbol, _, Constant(int() | float() as value)) if symbol.startswith(direction):
            return value
        case _:
            return None
