"""Parse tokens into a tree, with one small function for each rule of the grammar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, cast

from amplihack.errors import ConditionError
from amplihack.recipes.conditions import literals
from amplihack.recipes.conditions.functions import LEAST_ARGUMENTS as FUNCTIONS
from amplihack.recipes.conditions.methods import LEAST_ARGUMENTS as METHODS
from amplihack.recipes.conditions.tokens import Token, tokenize
from amplihack.recipes.conditions.tree import (
    And,
    Call,
    Compare,
    Condition,
    Constant,
    Expression,
    Index,
    ListLiteral,
    Method,
    Name,
    Not,
    Operator,
    Or,
    Property,
    height,
)
from amplihack.records import Record

MOST_BYTES: Final = 8192
MOST_BRACKETS: Final = 32
MOST_LEVELS: Final = 160  # keeps every walk over a tree far from Python's own recursion limit

_LITERALS: Final = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "none": None,
    "None": None,
    "null": None,
}
_COMPARISONS: Final = frozenset({"==", "!=", "<", "<=", ">", ">=", "in"})
_STARTS: Final = frozenset({"name", "number", "string", "placeholder", "(", "["})


def parse_condition(text: str) -> Condition:
    """Parse the text of a condition. Raises ConditionError with the column of the first mistake."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        raise ConditionError(
            f"Parse error: condition expression too long ({size} bytes, max {MOST_BYTES})",
            fix="compute the answer in a bash step and test its output",
        )
    reader = _Reader(tokenize(text))
    tree = _or(reader)
    if reader.kind != "end":
        raise reader.unexpected(fix="join expressions with `and` or `or`; there is no arithmetic here")
    if height(tree) > MOST_LEVELS:
        raise _too_deep(MOST_LEVELS, tree.column)
    return Condition(text, tree)


class _Reader(Record, frozen=False):
    """The position of the parser in the tokens, and the number of brackets that are open there."""

    tokens: tuple[Token, ...]
    position: int = 0
    brackets: int = 0

    @property
    def kind(self) -> str:
        return self.tokens[self.position].kind

    @property
    def column(self) -> int:
        return self.tokens[self.position].column

    def take(self) -> Token:
        token = self.tokens[self.position]
        self.position += 1
        return token

    def accept(self, kind: str) -> bool:
        if self.kind != kind:
            return False
        self.position += 1
        return True

    def unexpected(self, wanted: str = "", *, fix: str = "") -> ConditionError:
        token = self.tokens[self.position]
        what = f"unexpected token: {token.text} at position {token.column}"
        if token.kind == "end":
            what = "unexpected end of expression"
        if wanted:
            what = f"expected {wanted} at position {token.column}"
        return ConditionError(f"Parse error: {what}", column=token.column, fix=fix)

    @contextmanager
    def inside(self, closing: str) -> Iterator[None]:
        """Parse what stands between an opening bracket, already taken, and its closing one."""
        self.brackets += 1
        if self.brackets > MOST_BRACKETS:
            raise _too_deep(MOST_BRACKETS, self.tokens[self.position - 1].column)
        yield
        if not self.accept(closing):
            raise self.unexpected(f"'{closing}'")
        self.brackets -= 1


def _too_deep(most: int, column: int) -> ConditionError:
    return ConditionError(
        f"Parse error: expression too deeply nested (max {most} levels)",
        column=column,
        fix="compute a part of it in a bash step",
    )


def _or(reader: _Reader) -> Expression:
    """and { "or" and }"""
    return _chain(reader, "or", _and, Or)


def _and(reader: _Reader) -> Expression:
    """not { "and" not }"""
    return _chain(reader, "and", _not, And)


def _chain(
    reader: _Reader, word: str, operand: Callable[[_Reader], Expression], node: type[And | Or]
) -> Expression:
    column, operands = reader.column, [operand(reader)]
    while reader.accept(word):
        operands.append(operand(reader))
    return node(tuple(operands), column) if len(operands) > 1 else operands[0]


def _not(reader: _Reader) -> Expression:
    """{ "not" } compare"""
    columns = []
    while reader.kind == "not":
        columns.append(reader.take().column)
    tree = _compare(reader)
    for column in reversed(columns):
        tree = Not(tree, column)
    return tree


def _compare(reader: _Reader) -> Expression:
    """primary [ operator primary ]"""
    column, left = reader.column, _primary(reader)
    operator = _operator(reader)
    return Compare(operator, left, _primary(reader), column) if operator else left


def _operator(reader: _Reader) -> Operator | None:
    if reader.kind in _COMPARISONS:
        return cast("Operator", reader.take().kind)
    if reader.tokens[reader.position].text == "not" and reader.tokens[reader.position + 1].kind == "in":
        reader.position += 2
        return "not in"
    return None


def _primary(reader: _Reader) -> Expression:
    """atom { "." key | "." method "(" items ")" | "[" primary "]" }"""
    tree = _atom(reader)
    while reader.kind in (".", "["):
        tree = _dotted(reader, tree) if reader.take().kind == "." else _indexed(reader, tree)
    return tree


def _dotted(reader: _Reader, base: Expression) -> Expression:
    if reader.kind != "key":
        raise reader.unexpected("method name after '.'")
    key = reader.take()
    literals.safe_name(key.text, key.column)
    if not reader.accept("("):
        return Property(base, key.text, base.column)
    if key.text not in METHODS:
        raise _unsafe(f"method '.{key.text}()'", key.column, METHODS)
    with reader.inside(")"):
        arguments = _items(reader, ")")
    _check_count(f".{key.text}()", len(arguments), METHODS[key.text], key.column)
    return Method(base, key.text, arguments, key.column)


def _indexed(reader: _Reader, base: Expression) -> Expression:
    if reader.kind not in _STARTS:
        raise _expected_index(reader.column)
    with reader.inside("]"):
        index = _primary(reader)
    match index:
        case Constant(str() as key):
            literals.safe_name(key, index.column)
        case Constant(bool() | float() | None) | ListLiteral():
            raise _expected_index(index.column)
    return Index(base, index, base.column)


def _expected_index(column: int) -> ConditionError:
    return ConditionError(
        f"Parse error: expected string key or numeric index inside brackets at position {column}",
        column=column,
    )


def _atom(reader: _Reader) -> Expression:
    if reader.kind not in _STARTS:
        raise reader.unexpected()
    token = reader.take()
    match token.kind:
        case "string":
            return literals.quoted(token)
        case "number":
            return literals.number(token)
        case "placeholder":
            return literals.placeholder(token)
        case "(":
            with reader.inside(")"):
                return _or(reader)
        case "[":
            with reader.inside("]"):
                return ListLiteral(_items(reader, "]"), token.column)
        case _:
            return _name(reader, token)


def _name(reader: _Reader, token: Token) -> Expression:
    if token.text in _LITERALS:
        return Constant(_LITERALS[token.text], token.column)
    literals.safe_name(token.text, token.column)
    if not reader.accept("("):
        return Name(token.text, token.column)
    if token.text not in FUNCTIONS:
        raise _unsafe(f"function '{token.text}'", token.column, FUNCTIONS)
    with reader.inside(")"):
        arguments = _items(reader, ")")
    _check_count(f"{token.text}()", len(arguments), FUNCTIONS[token.text], token.column)
    return Call(token.text, arguments, token.column)


def _items(reader: _Reader, closing: str) -> tuple[Expression, ...]:
    """[ primary { "," primary } [ "," ] ]"""
    items: list[Expression] = []
    while reader.kind != closing:
        items.append(_primary(reader))
        if not reader.accept(","):
            break
    return tuple(items)


def _unsafe(what: str, column: int, allowed: dict[str, int]) -> ConditionError:
    return ConditionError(
        f"Unsafe expression: {what} is not allowed",
        column=column,
        fix=f"allowed are {', '.join(sorted(allowed))}",
    )


def _check_count(name: str, given: int, least: int, column: int) -> None:
    if given < least:
        plural = "" if least == 1 else "s"
        raise ConditionError(f"Parse error: {name} needs at least {least} argument{plural}", column=column)
