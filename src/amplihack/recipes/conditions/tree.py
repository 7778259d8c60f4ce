"""Define the syntax tree of conditions. Columns are for messages: comparing two trees ignores them."""

from __future__ import annotations

from typing import Literal, TypeAlias

from amplihack.recipes.values import KeyPath
from amplihack.records import Record, field

Operator: TypeAlias = Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in"]


class Constant(Record):
    """A literal."""

    value: bool | int | float | str | None
    column: int = field(default=0, compare=False)


class Name(Record):
    """A variable."""

    name: str
    column: int = field(default=0, compare=False)


class PlaceholderNode(Record):
    """`{{path}}`, outside of quotes or as a part of a quoted text."""

    path: KeyPath
    column: int = field(default=0, compare=False)


class Interpolated(Record):
    """A quoted text with at least one placeholder in it; text parts are not empty and never neighbours."""

    parts: tuple[str | PlaceholderNode, ...]
    column: int = field(default=0, compare=False)


class ListLiteral(Record):
    """`[a, b]`."""

    items: tuple[Expression, ...]
    column: int = field(default=0, compare=False)


class Property(Record):
    """`base.key`."""

    base: Expression
    key: str
    column: int = field(default=0, compare=False)


class Index(Record):
    """`base[index]`."""

    base: Expression
    index: Expression
    column: int = field(default=0, compare=False)


class Call(Record):
    """`function(arguments)`."""

    function: str
    arguments: tuple[Expression, ...]
    column: int = field(default=0, compare=False)


class Method(Record):
    """`base.method(arguments)`."""

    base: Expression
    method: str
    arguments: tuple[Expression, ...]
    column: int = field(default=0, compare=False)


class Compare(Record):
    """`left operator right`."""

    operator: Operator
    left: Expression
    right: Expression
    column: int = field(default=0, compare=False)


class Not(Record):
    """`not operand`."""

    operand: Expression
    column: int = field(default=0, compare=False)


class And(Record):
    """Two or more operands in one node, so that a long chain is wide and not deep."""

    operands: tuple[Expression, ...]
    column: int = field(default=0, compare=False)


class Or(Record):
    """Two or more operands, of which one must hold."""

    operands: tuple[Expression, ...]
    column: int = field(default=0, compare=False)


Expression: TypeAlias = (
    Constant
    | Name
    | PlaceholderNode
    | Interpolated
    | ListLiteral
    | Property
    | Index
    | Call
    | Method
    | Compare
    | Not
    | And
    | Or
)


class Condition(Record):
    """The text of a condition and its tree."""

    text: str
    tree: Expression


def children(node: Expression) -> tuple[Expression, ...]:
    """Return the expressions directly inside, in the order of the text."""
    match node:
        case Name() | Constant() | PlaceholderNode() | Interpolated():  # most nodes are leaves
            return ()
        case And(operands) | Or(operands):
            return operands
        case ListLiteral(items):
            return items
        case Call(_, arguments):
            return arguments
        case Not(operand):
            return (operand,)
        case Compare(_, left, right):
            return (left, right)
        case Property(base):
            return (base,)
        case Index(base, index):
            return (base, index)
        case Method(base, _, arguments):
            return (base, *arguments)


def height(tree: Expression) -> int:
    """Count the levels of expressions inside one another."""
    # Level by level instead of recursively: this check protects the recursive walks, so it must not recurse.
    levels, level = 0, [tree]
    while level:
        levels += 1
        level = [child for node in level for child in children(node)]
    return levels
