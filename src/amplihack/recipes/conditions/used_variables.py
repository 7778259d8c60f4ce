"""Find the variables that a condition uses, and the value of an expression that uses none."""

from __future__ import annotations

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
)
from amplihack.recipes.values import MISSING, KeyPath, Missing, Value
from amplihack.records import Record

_CHAINS = (Property, Index, PlaceholderNode)


class VariableReference(Record):
    """A use of a variable in a condition; `quoted` if it is a placeholder inside a quoted text."""

    path: KeyPath
    column: int
    quoted: bool


def references(tree: Expression) -> tuple[VariableReference, ...]:
    """Return every use of a variable in text order, each with the constant part of its path."""
    found: list[VariableReference] = []
    _add_references(tree, found)
    return tuple(found)


def known(tree: Expression, rules: Rules = AMPLIHACK) -> Value | Missing:
    """Return the value of an expression that uses no variable, otherwise MISSING.

    Raises ConditionError if evaluating such an expression always fails.
    """
    return MISSING if mentions_variables(tree) else evaluate(tree, {}, rules)


def mentions_variables(tree: Expression) -> bool:
    """Tell whether there are any references; stops at the first, as the check asks this very often."""
    kind = type(tree)
    if kind is Name or kind is PlaceholderNode:
        return True
    if kind is Interpolated:
        return True  # it has at least one placeholder, otherwise it is a constant
    return any(map(mentions_variables, tree.inner))


def _add_references(node: Expression, found: list[VariableReference]) -> None:
    kind = type(node)
    if kind is Constant:
        return
    if path := _constant_path(node):
        found.append(VariableReference(path, node.column, quoted=False))
    elif isinstance(node, Interpolated):
        inner = (part for part in node.parts if isinstance(part, PlaceholderNode))
        found += (VariableReference(part.path, part.column, quoted=True) for part in inner)
    else:
        for child in node.inner:
            _add_references(child, found)


def _constant_path(node: Expression) -> KeyPath:
    """Return `a.b['c'][0]` as a path; empty if the expression is no such chain."""
    if isinstance(node, Name):  # nearly always
        return (node.name,)
    if not isinstance(node, _CHAINS):
        return ()
    steps: list[str] = []
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
