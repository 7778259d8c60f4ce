"""Write a condition tree as text that parses to the same tree."""

from __future__ import annotations

from typing import assert_never

from amplihack.patterns import pattern
from amplihack.recipes.conditions.tree import (
    And,
    Call,
    Compare,
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
from amplihack.recipes.values import KeyPath

_PLAIN = pattern(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_JOINED = (And, Or)
_TESTS = (Compare, Not, And, Or)
_WORDS = {True: "true", False: "false", None: "null"}


def show(tree: Expression) -> str:
    if isinstance(tree, Name):  # most trees that are shown are names and comparisons, and so they come first
        return tree.name
    if isinstance(tree, Compare):
        return f"{_operand(tree.left)} {tree.operator} {_operand(tree.right)}"
    match tree:
        case Constant():
            return _constant(tree.value)
        case PlaceholderNode():
            return _placeholder(tree.path)
        case Call():
            return f"{tree.function}({_items(tree.arguments)})"
        case Property() | Index() | Method():
            return _postfix(tree)
        case Not():
            return f"not {_within(tree.operand, _JOINED)}"
        case And():
            return " and ".join([_within(operand, _JOINED) for operand in tree.operands])
        case Or():
            return " or ".join([_within(operand, Or) for operand in tree.operands])
        case Interpolated():
            return _interpolated(tree.parts)
        case ListLiteral():
            return f"[{_items(tree.items)}]"
        case _:
            assert_never(tree)


def _postfix(tree: Property | Index | Method) -> str:
    base = _operand(tree.base)
    match tree:
        case Index(_, index):
            return f"{base}[{_operand(index)}]"
        case Property(_, key):
            return f"{_before_dot(tree.base, base)}.{key}"
        case Method(_, method, arguments):
            return f"{_before_dot(tree.base, base)}.{method}({_items(arguments)})"


def _before_dot(node: Expression, text: str) -> str:
    """Put a blank after a number, which would otherwise take the dot as its decimal point."""
    is_number = isinstance(node, Constant) and isinstance(node.value, int | float)
    return f"{text} " if is_number else text


def _items(items: tuple[Expression, ...]) -> str:
    return ", ".join(map(_operand, items))


def _operand(node: Expression) -> str:
    return node.name if isinstance(node, Name) else _within(node, _TESTS)


def _within(node: Expression, weaker: type | tuple[type, ...]) -> str:
    return f"({show(node)})" if isinstance(node, weaker) else show(node)


def _constant(value: bool | float | str | None) -> str:
    if isinstance(value, str):
        return "'" + _escaped(value, quote="'") + "'"
    return _WORDS[value] if value is None or isinstance(value, bool) else repr(value)


def _escaped(text: str, *, quote: str) -> str:
    if text.isalnum():
        return text
    for plain, escape in (
        ("\\", "\\\\"),
        (quote, f"\\{quote}"),
        ("\n", "\\n"),
        ("\t", "\\t"),
        ("{{", "\\{\\{"),
    ):
        text = text.replace(plain, escape)
    return text


def _interpolated(parts: tuple[str | PlaceholderNode, ...]) -> str:
    in_keys = "".join(key for part in parts if isinstance(part, PlaceholderNode) for key in part.path)
    quote = '"' if '"' in in_keys else "'"  # a key in brackets takes the other one
    shown = (
        _escaped(part, quote=quote) if isinstance(part, str) else _placeholder(part.path, quote)
        for part in parts
    )
    return f"{quote}{''.join(shown)}{quote}"


def _placeholder(path: KeyPath, around: str = "") -> str:
    return f"{{{{{path[0]}{''.join(_step(part, around) for part in path[1:])}}}}}"


def _step(part: str, around: str) -> str:
    if _PLAIN.fullmatch(part):
        return f".{part}"
    if around:
        part = _escaped(part, quote=around)
    quote = "'" if '"' in part else '"'
    return f"[{quote}{part}{quote}]"
