"""Find the names of a condition that have no value, and the bare words that were perhaps meant as texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from amplihack.recipes.conditions.evaluate import evaluate, evaluated_operands, is_text
from amplihack.recipes.conditions.rules import Rules
from amplihack.recipes.conditions.tree import (
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
    Property,
)
from amplihack.recipes.conditions.used_variables import references
from amplihack.recipes.values import KeyPath, Missing, Value, lookup

ASKING = ("defined", "default")  # functions that are there for names without a value


def unset_names(tree: Expression, scope: Mapping[str, Value], rules: Rules) -> tuple[str, ...]:
    """Return the names without a value that decide about a condition, each once.

    What `and` and `or` do not evaluate is left out, and so is what `defined` and `default` ask about.
    """
    return tuple(dict.fromkeys(_unset(tree, scope, rules)))


def _unset(node: Expression, scope: Mapping[str, Value], rules: Rules) -> Iterator[str]:
    match node:
        case Name(name):
            if name not in scope:
                yield name
        case PlaceholderNode(path):
            if path[0] not in scope:
                yield path[0]
        case Compare(_, left, right):
            for side, other in ((left, right), (right, left)):
                if not (isinstance(side, Name) and is_text(side, other, scope, rules)):
                    yield from _unset(side, scope, rules)
        case Interpolated(parts):
            for part in parts:
                if isinstance(part, PlaceholderNode):
                    yield from _unset(part, scope, rules)
        case And() | Or():
            for operand in evaluated_operands(node, scope, rules):
                yield from _unset(operand, scope, rules)
        case Call("defined"):
            return
        case Call("default", (first, *rest)):
            if evaluate(first, scope, rules) is None:
                for fallback in rest:
                    yield from _unset(fallback, scope, rules)
        case _:
            for child in node.inner:
                yield from _unset(child, scope, rules)


def missing_members(tree: Expression, scope: Mapping[str, Value], rules: Rules) -> tuple[KeyPath, ...]:
    """Return the parts that are compared, or given to a method, and that their variables do not have.

    Where only the truth of one counts (`report.blocked`), or null is compared with, it may well be absent,
    unless its variable is a text or a number, which has no parts at all.
    """
    return tuple(dict.fromkeys(_members(tree, scope, rules)))


def _members(node: Expression, scope: Mapping[str, Value], rules: Rules) -> Iterator[KeyPath]:
    match node:
        case And() | Or():
            for operand in evaluated_operands(node, scope, rules):
                yield from _members(operand, scope, rules)
        case Not(operand):
            yield from _members(operand, scope, rules)
        case Compare(_, left, right) if Constant(None) not in (left, right):
            yield from _absent((left, right), scope)
        case Method(base, method, arguments) if method != "get":
            yield from _absent((base, *arguments), scope)
        case Property() | PlaceholderNode():
            yield from (path for path in _absent((node,), scope) if not _may_lack(path, scope))
        case _:
            return


def _absent(nodes: Iterable[Expression], scope: Mapping[str, Value]) -> Iterator[KeyPath]:
    for node in nodes:
        asked = asked_about(node)
        for path in (each.path for each in references(node) if each.path[0] not in asked):
            whole = path[0] in scope and isinstance(lookup(scope, path), Missing)
            if whole and all(lookup(scope, path[:end]) is not None for end in range(1, len(path))):
                yield path


def _may_lack(path: KeyPath, scope: Mapping[str, Value]) -> bool:
    """Tell whether the value at which a path ends is a map or a list, or blank: it may lack any part."""
    reached = (lookup(scope, path[:end]) for end in range(len(path), 0, -1))
    last = next(value for value in reached if not isinstance(value, Missing))
    return isinstance(last, Mapping | list) or last == ""


def asked_about(tree: Expression) -> frozenset[str]:
    """Return the names that a condition asks about with `defined` or `default`."""
    if isinstance(tree, Call) and tree.function in ASKING:
        return frozenset(_names(tree))
    return frozenset().union(*map(asked_about, tree.inner))


def _names(node: Expression) -> Iterator[str]:
    match node:
        case Name(name):
            yield name
        case PlaceholderNode(path):
            yield path[0]
        case Interpolated(parts):
            yield from (part.path[0] for part in parts if isinstance(part, PlaceholderNode))
        case _:
            for child in node.inner:
                yield from _names(child)


def bare_words(tree: Expression) -> Iterator[tuple[str, int]]:
    """Yield each bare name that stands where a text is compared, and its column.

    `status == ok` reads like a text to its author, although `ok` is the name of a variable. A name with dots
    counts on the right alone, as in `host == example.org`: on the left it is mostly what it seems.
    """
    sides: tuple[Expression, ...]
    match tree:
        case Compare(_, left, right):
            sides = (left, right)
        case ListLiteral(items):
            sides = items
        case Method(_, _, arguments):
            sides = arguments
        case _:
            sides = ()
    for side in sides:
        if isinstance(side, Name):
            yield side.name, side.column
    if isinstance(tree, Compare) and isinstance(tree.right, Property):
        yield from _dotted(tree.right)
    for child in tree.inner:
        yield from bare_words(child)


def beside_constants(tree: Expression) -> Iterator[int]:
    """Yield the columns of names on the left that are compared with a constant, or a list of constants."""
    if isinstance(tree, Compare) and isinstance(tree.left, Name):
        right = tree.right.items if isinstance(tree.right, ListLiteral) else (tree.right,)
        if right and all(isinstance(each, Constant) for each in right):
            yield tree.left.column
    for child in tree.inner:
        yield from beside_constants(child)


def text_words(tree: Expression, rules: Rules) -> Iterator[int]:
    """Yield the columns of bare words that are texts as long as no variable has their name."""
    if isinstance(tree, Compare):
        for side, other in ((tree.left, tree.right), (tree.right, tree.left)):
            if isinstance(side, Name) and is_text(side, other, {}, rules):
                yield side.column
    for child in tree.inner:
        yield from text_words(child, rules)


def _dotted(node: Expression, rest: str = "") -> Iterator[tuple[str, int]]:
    """Yield `a.b.c` and the column of `a`, if it is nothing but names."""
    if isinstance(node, Name):
        yield node.name + rest, node.column
    elif isinstance(node, Property):
        yield from _dotted(node.base, f".{node.key}{rest}")
