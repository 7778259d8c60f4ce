"""Find comparisons by order that mislead: a number and the text 'many' have none, '10' comes before '9'."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from amplihack.recipes.conditions.evaluate import evaluate, evaluated_operands
from amplihack.recipes.conditions.rules import Rules, comparable, text_misleads
from amplihack.recipes.conditions.tree import And, Compare, Expression, Or
from amplihack.recipes.values import Value

_BY_ORDER: Final = ("<", "<=", ">", ">=")


def compares_order(node: Expression) -> bool:
    """Tell whether an expression asks which of two values is the larger one."""
    if isinstance(node, Compare) and node.operator in _BY_ORDER:
        return True
    return any(map(compares_order, node.inner))


def unordered(node: Expression, scope: Mapping[str, Value], rules: Rules) -> Iterator[tuple[Value, Value]]:
    """Yield the two sides of each comparison that is false because they have no order, or of which two texts
    have another order than the numbers that they spell.

    What `and` and `or` do not evaluate is left out, and so is null, which a step that was skipped leaves.
    """
    match node:
        case And() | Or():
            for operand in evaluated_operands(node, scope, rules):
                yield from unordered(operand, scope, rules)
        case Compare(symbol, left, right) if symbol in _BY_ORDER:
            sides = evaluate(left, scope, rules), evaluate(right, scope, rules)
            if None not in sides and (comparable(*sides, rules) is None or text_misleads(*sides, rules)):
                yield sides
        case _:
            for child in node.inner:
                yield from unordered(child, scope, rules)
