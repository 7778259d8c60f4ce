"""Define the syntax tree of conditions. Columns are for messages: comparing two trees ignores them.

`inner` of a node are the expressions directly inside it, in the order of the text.
"""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from amplihack.recipes.values import KeyPath
from amplihack.records import Record, field

Operator: TypeAlias = Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in"]


class Constant(Record):
    """A literal."""

    value: bool | int | float | str | None
    column: int = field(default=0, compare=False)
    inner: ClassVar[tuple[Expression, ...]] = ()


class Name(Record):
    """A variable."""

    name: str
    column: int = field(default=0, compare=False)
    inner: ClassVar[tuple[Expression, ...]] = ()


class PlaceholderNode(Record):
    """`{{path}}`, outside of quotes or as a part of a quoted text."""

    path: KeyPath
    column: int = field(default=0, compare=False)
    inner: ClassVar[tuple[Expression, ...]] = ()


class Interpolated(Record):
    """A quoted text with at least one placeholder in it; text parts are not empty and never neighbours."""

    parts: tuple[str | PlaceholderNode, ...]
    column: int = field(default=0, compare=False)
    inner: ClassVar[tuple[Expression, ...]] = ()


class ListLiteral(Record):
    """`[a, b]`."""

    items: tuple[Expression, ...]
    column: int = field(default=0, compare=False)

    @property
    def inner(self) -> tuple[Expression, ...]:
        return self.items


class Property(Record):
    """`base.key`."""

    base: Expression
    key: str
    column: int = field(default=0, compare=False)

    @property
    def inner(self) -> tuple[Expression, ...]:
        return (self.base,)


class Index(Record):
    """`base[index]`."""

    base: Expression
    index: Expression
    column: int = field(default=0, compare=False)

    @property
    def inner(self) -> tuple[Expression, ...]:
        return (self.base, self.index)


class Call(Record):
    """`function(arguments)`."""

    function: str
    arguments: tuple[Expression, ...]
    column: int = field(default=0, compare=False)

    @property
    def inner(self) -> tuple[Expression, ...]:
        return self.arguments


class Method(Record):
    """`base.method(arguments)`."""

    base: Expression
    method: str
    arguments: tuple[Expression, ...]
    column: int = field(default=0, compare=False)

    @property
    def inner(self) -> tuple[Expression, ...]:
        return (self.base, *self.arguments)


class Compare(Record):
    """`left operator right`."""

    operator: Operator
    left: Expression
    right: Expression
    column: int = field(default=0, compare=False)

    @property
    def inner(self) -> tuple[Expression, ...]:
        return (self.left, self.right)


class Not(Record):
    """`not operand`."""

    operand: Expression
    column: int = field(default=0, compare=False)

    @property
    def inner(self) -> tuple[Expression, ...]:
        return (self.operand,)


class And(Record):
    """Two or more operands in one node, so that a long chain is wide and not deep."""

    operands: tuple[Expression, ...]
    column: int = field(default=0, compare=False)

    @property
    def inner(self) -> tuple[Expression, ...]:
        return self.operands


class Or(Record):
    """Two or more operands, of which one must hold."""

    operands: tuple[Expression, ...]
    column: int = field(default=0, compare=False)

    @property
    def inner(self) -> tuple[Expression, ...]:
        return self.operands


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


def height(tree: Expression) -> int:
    """Count the levels of expressions inside one another."""
    # Level by level instead of recursively: this check protects the recursive walks, so it must not recurse.
    levels, level = 0, [tree]
    while level:
        levels += 1
        level = [child for node in level for child in node.inner]
    return levels
