"""Which variables a tree mentions, and what it is worth without any."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.recipes.conditions.evaluate import evaluate
from amplihack.recipes.conditions.rules import AMPLIHACK, Rules
from amplihack.recipes.conditions.tree import (
    Constant,
    Expression,
    Index,
    Interpolated,
    Name,
    PlaceholderNode,
    Property,
    children,
)
from amplihack.recipes.values import MISSING, KeyPath, Missing, Value
from amplihack.records import Record


class VariableReference(Record):
    """A variable that a condition mentions; `quoted` when it is a placeholder inside a quoted text."""

    path: KeyPath
    column: int
    quoted: bool


def references(tree: Expression) -> tuple[VariableReference, ...]:
    """Return every mention in the order of the text, with as much of its path as is constant."""
    return tuple(_references(tree))


def known(tree: Expression, rules: Rules = AMPLIHACK) -> Value | Missing:
    """Return the value of an expression that mentions no variable, else MISSING.

    Raises ConditionError where such an expression can only fail.
    """
    return MISSING if mentions_variables(tree) else evaluate(tree, {}, rules)


def mentions_variables(tree: Expression) -> bool:
    return next(_references(tree), None) is not None


def _references(node: Expression) -> Iterator[VariableReference]:
    if isinstance(node, Constant):
        return
    if path := _constant_path(node):
        yield VariableReference(path, node.column, quoted=False)
    elif isinstance(node, Interpolated):
        for part in node.parts:
            if isinstance(part, PlaceholderNode):
                yield VariableReference(part.path, part.column, quoted=True)
    else:
        for child in children(node):
            yield from _references(child)


def _constant_path(node: Expression) -> KeyPath:
    """`a.b['c'][0]` as a path; empty where the expression is no such chain."""
    steps: list[str] = []
    if isinstance(node, Name):  # nearly always
        return (node.name,)
    while isinstance(node, Property | Index):
        match node:
            case Property(_, key):
                steps.append(key)
            case Index(_, Constant(str() | int() as key)):
                steps.append(str(key))
            case _:
                return ()
        node = node.base
    match node:
        case Name(name):
            return (name, *reversed(steps))
        case PlaceholderNode(path):
            return (*path, *reversed(steps))
        case _:
            return ()
