"""Evaluate a condition tree. For any values, the only exception raised is ConditionError."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import ParamSpec, TypeVar, assert_never

from amplihack.errors import ConditionError
from amplihack.recipes.conditions.functions import FUNCTIONS
from amplihack.recipes.conditions.methods import call_method, element
from amplihack.recipes.conditions.rules import AMPLIHACK, COMPARISONS, Rules, truthy
from amplihack.recipes.conditions.tree import (
    And,
    Call,
    Compare,
    Condition,
    Constant,
    Expression,
    Index,
    Interpolated,
    ListLiteral,
    Method,
    Name,
    Not,
    Or,
    PlaceholderNode,
    Property,
)
from amplihack.recipes.values import Missing, Value, lookup, member, to_text

_WHEN_IT_FAILS = "test the value first, such as `defined(x) and int(x) > 1`, or prepare it in a bash step"
P = ParamSpec("P")
R = TypeVar("R")


def holds(condition: Condition, scope: Mapping[str, Value], rules: Rules = AMPLIHACK) -> bool:
    """Tell whether a condition is true for these variables."""
    return truthy(evaluate(condition.tree, scope, rules), rules)


def evaluate(tree: Expression, scope: Mapping[str, Value], rules: Rules = AMPLIHACK) -> Value:
    """Return the value of an expression. Names that are not in the scope are null."""
    try:
        return _value(tree, scope, rules)
    except RecursionError as error:
        raise ConditionError(
            "a value is nested too deeply to be compared",
            column=tree.column,
            fix="compare a part of it, such as x.key",
        ) from error


def evaluated_operands(node: And | Or, scope: Mapping[str, Value], rules: Rules) -> Iterator[Expression]:
    """Yield the operands that are evaluated: none behind a true one of `or`, or a false one of `and`."""
    for operand in node.operands:
        yield operand
        if truthy(evaluate(operand, scope, rules), rules) is isinstance(node, Or):
            return


def _value(node: Expression, scope: Mapping[str, Value], rules: Rules) -> Value:
    match node:
        case Name(name):
            return scope.get(name)
        case Constant(value):
            return value
        case Compare(symbol, left, right):
            values = _side(left, right, scope, rules), _side(right, left, scope, rules)
            return _blaming(node.column, COMPARISONS[symbol], *values, rules)
        case Or(operands):
            return _decided(operands, True, scope, rules)
        case And(operands):
            return _decided(operands, False, scope, rules)
        case Not(operand):
            return not truthy(_value(operand, scope, rules), rules)
        case PlaceholderNode() | Property() | Index():
            return _null_if_missing(_found(node, scope, rules))
        case Interpolated(parts):
            return _blaming(node.column, _joined, parts, scope)
        case ListLiteral(items):
            return [_value(item, scope, rules) for item in items]
        case Call():
            return _called(node, scope, rules)
        case Method(base, method, arguments):
            receiver, *rest = [_value(part, scope, rules) for part in (base, *arguments)]
            return _blaming(node.column, call_method, method, receiver, rest, rules)
        case _:
            assert_never(node)


def _side(side: Expression, other: Expression, scope: Mapping[str, Value], rules: Rules) -> Value:
    if isinstance(side, Name) and is_text(side, other, scope, rules):
        return side.name
    return _value(side, scope, rules)


def is_text(side: Name, other: Expression, scope: Mapping[str, Value], rules: Rules) -> bool:
    """Tell whether a bare word in a comparison is a text: its author marks variables by braces."""
    marked = isinstance(other, PlaceholderNode | Interpolated)
    return rules.bare_texts and marked and side.name not in scope


def _blaming(column: int, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call the function and turn its ValueError into a ConditionError at this column."""
    try:
        return function(*args, **kwargs)
    except ValueError as error:  # also Python's own, for integers of thousands of digits
        raise ConditionError(str(error), column=column, fix=_WHEN_IT_FAILS) from error


def _decided(
    operands: tuple[Expression, ...], decisive: bool, scope: Mapping[str, Value], rules: Rules
) -> bool:
    """Stop at the first operand that decides: a true one for `or`, a false one for `and`."""
    for operand in operands:
        if truthy(_value(operand, scope, rules), rules) is decisive:
            return decisive
    return not decisive


def _found(node: Expression, scope: Mapping[str, Value], rules: Rules) -> Value | Missing:
    """Return the value, or MISSING where nothing has that name, key or index."""
    match node:
        case Name(name):
            return lookup(scope, (name,))
        case PlaceholderNode(path) | Interpolated((PlaceholderNode(path),)):
            return lookup(scope, path)
        case Property(base, key):
            return member(_value(base, scope, rules), key)
        case Index(base, index):
            values = _value(base, scope, rules), _value(index, scope, rules)
            return _blaming(index.column, element, *values)
        case _:
            return _value(node, scope, rules)


def _null_if_missing(found: Value | Missing) -> Value:
    return None if isinstance(found, Missing) else found


def _joined(parts: tuple[str | PlaceholderNode, ...], scope: Mapping[str, Value]) -> str:
    return "".join(part if isinstance(part, str) else to_text(lookup(scope, part.path)) for part in parts)


def _called(node: Call, scope: Mapping[str, Value], rules: Rules) -> Value:
    match node:
        case Call("defined", (argument, *_)):
            return not isinstance(_found(argument, scope, rules), Missing)
        case Call("default", (argument, fallback, *_)):
            value = _value(argument, scope, rules)
            return _value(fallback, scope, rules) if value is None else value
        case Call(function, arguments):
            values = [_value(argument, scope, rules) for argument in arguments]
            return _blaming(node.column, FUNCTIONS[function], values, rules)
