"""Tell which parts of a function can be reached, as far as its constants tell. Nothing is run."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_NEVER = "TYPE_CHECKING"


def reached(function: Function) -> Iterator[ast.AST]:
    """Return the parts of a function, without inner functions that nobody names and what is never reached."""
    named = {each.id for each in ast.walk(function) if isinstance(each, ast.Name)}
    left: list[ast.AST] = list(_to_the_end(function.body))
    while left:
        node = left.pop()
        yield node
        if not isinstance(node, Function) or node.name in named or node.decorator_list:
            for parts in _parts(node):
                left.extend(_to_the_end(parts))


def _parts(node: ast.AST) -> Iterator[list[object]]:
    """Return the lists and values that a node holds, without those that a constant rules out."""
    match node:
        case ast.While(test=test, orelse=rest) if _constant(test) is False:
            yield [*rest]
        case ast.For(iter=ast.List(elts=[]) | ast.Tuple(elts=[]), orelse=rest):
            yield [*rest]
        case ast.IfExp(test=test) if (truth := _constant(test)) is not None:
            yield [node.body if truth else node.orelse]
        case ast.BoolOp(op=op, values=values):
            yield [*_to_the_decision(values, deciding=isinstance(op, ast.Or))]
        case _:
            for _, value in ast.iter_fields(node):
                yield value if isinstance(value, list) else [value]


def _to_the_end(parts: Iterable[object]) -> Iterator[ast.AST]:
    """Return the parts of a list or block up to where it is left; a constant `if` is the block it takes."""
    left = deque(parts)
    while left:
        each = left.popleft()
        if isinstance(each, ast.If) and (truth := _constant(each.test)) is not None:
            left.extendleft(reversed(each.body if truth else each.orelse))
            continue
        if isinstance(each, ast.AST):
            yield each
        if isinstance(each, _LEAVING):
            return


def _to_the_decision(values: Iterable[ast.expr], *, deciding: bool) -> Iterator[ast.expr]:
    """Return the operands of `and` and `or`, up to a constant that decides."""
    for each in values:
        yield each
        if _constant(each) is deciding:
            return


def _constant(test: ast.expr) -> bool | None:
    """Return whether a test is always true or never; None if only running tells."""
    turned = False
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, turned = test.operand, not turned
    match test:
        case ast.Constant(value=value):
            return bool(value) is not turned
        case ast.Name(id=name) | ast.Attribute(attr=name) if name == _NEVER:
            return turned
        case _:
            return None
