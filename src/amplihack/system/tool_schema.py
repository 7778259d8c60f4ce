"""Estimate the token cost of a module's tools from its source, without running it."""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias, TypedDict

from amplihack.bundles.tokens import estimate_tokens

Names: TypeAlias = dict[str, ast.expr]  # what names stand for
_LARGEST = 20_000  # parts of a schema that are counted


class ToolCost(TypedDict):
    name: str
    description_tokens: int
    schema_tokens: int
    total_tokens: int


class ModuleCost(TypedDict):
    tool_count: int
    total_tokens: int
    tools: list[ToolCost]


def estimate_module_tool_tokens(module_dir: Path) -> ModuleCost | None:
    """Return the cost of the tools that a module's classes define; None if there are none."""
    tools = [tool for file in _sources(module_dir) for tool in _tools(file)]
    if not tools:
        return None
    total = sum(tool["total_tokens"] for tool in tools)
    return {"tool_count": len(tools), "total_tokens": total, "tools": tools}


def _sources(module_dir: Path) -> list[Path]:
    return sorted(module_dir.glob("amplifier_module_*/__init__.py")) if module_dir.is_dir() else []


def _tools(file: Path) -> list[ToolCost]:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError, RecursionError):
        return []
    known = {**_returned(tree.body), **_assigned(tree.body)}
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    try:
        return [tool for node in classes if (tool := _tool(node, known))]
    except RecursionError:  # nested deeper than anybody would write
        return []


def _tool(node: ast.ClassDef, known: Names) -> ToolCost | None:
    known = {**known, **_members(node)}
    schema = _given(node, "input_schema", known)
    if schema is None:
        return None
    name = _text(_given(node, "name", known)) or node.name
    description = estimate_tokens(_text(_given(node, "description", known)))
    cost = estimate_tokens(_text(schema))
    total = estimate_tokens(name) + description + cost
    return {"name": name, "description_tokens": description, "schema_tokens": cost, "total_tokens": total}


def _given(node: ast.ClassDef, attribute: str, known: Names) -> ast.expr | None:
    """Return the value of a class attribute, or what the property or method of that name returns.

    Names in it are replaced by what they stand for: local variables, attributes and constants.
    """
    for item in node.body:
        if isinstance(item, ast.Assign | ast.AnnAssign) and attribute in _assigned([item]):
            return _inlined(item.value, known) if item.value else None
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name == attribute:
            value = _returned([item]).get(attribute)
            return _inlined(value, known) if value is not None else None
    return None


def _returned(statements: Iterable[ast.AST]) -> Names:
    """Return what each function returns first, with its local variables put in."""
    found: Names = {}
    for item in statements:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = list(ast.walk(item))
            values = (each.value for each in inner if isinstance(each, ast.Return))
            value = next((each for each in values if each is not None), None)
            if value is not None:
                found[item.name] = _inlined(value, _assigned(inner))
    return found


def _members(node: ast.ClassDef) -> Names:
    """Return the attributes of a class and of its instances, under the names that methods call them by."""
    names = {**_returned(node.body), **_assigned(node.body)}
    inits = (item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__")
    for init in inits:
        for inner in ast.walk(init):
            if isinstance(inner, ast.Assign | ast.AnnAssign) and inner.value is not None:
                targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
                names |= {each.attr: inner.value for each in targets if isinstance(each, ast.Attribute)}
    owners = ("self", "cls", node.name)
    return {f"{owner}.{name}": value for owner in owners for name, value in names.items()}


def _assigned(statements: Iterable[ast.AST]) -> Names:
    """Return the largest value that each name is set to, with what is added to it later."""
    found: Names = {}
    for item in statements:
        for target, value, adds in _settings(item):
            name = target
            while isinstance(name, ast.Subscript):
                name = name.value
            if not isinstance(name, ast.Name):
                continue
            before = found.get(name.id)
            if before is None:
                found[name.id] = value
            elif adds or name is not target:
                found[name.id] = ast.List([before, value], ast.Load())
            else:
                found[name.id] = max(before, value, key=lambda each: sum(1 for _ in ast.walk(each)))
    return found


def _settings(item: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
    """Return what a statement sets, to what, and whether that is added to what was there."""
    match item:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from ((each, part, False) for each, part in _unpacked(target, value))
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield target, value, False
        case ast.NamedExpr(target=target, value=value):
            yield target, value, False
        case ast.AugAssign(target=target, value=value):
            yield target, value, True
        case ast.Call(func=ast.Attribute(value=target, attr="update" | "setdefault" | "append" | "extend")):
            yield from (
                (target, value, True) for value in (*item.args, *(each.value for each in item.keywords))
            )


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Return the pairs of `a, b = 1, 2`, and any other assignment as it is."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        yield from zip(target.elts, value.elts, strict=True)
    else:
        yield target, value


class _Inliner(ast.NodeTransformer):
    """Puts what names stand for in their place; a name that stands for itself stays.

    How much is put in is bounded, since each name may stand for many others.
    """

    def __init__(self, known: Names) -> None:
        self._known, self._open, self._left = known, set[str](), _LARGEST

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._meant(node.id, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        name = f"{owner}.{node.attr}"
        if name in self._known:
            return self._meant(name, node)
        node.value = self.visit(node.value)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        value: ast.expr = self.visit(node.value)
        return value

    def _meant(self, name: str, node: ast.expr) -> ast.expr:
        value = self._known.get(name)
        if value is None or name in self._open:
            return node
        self._left -= sum(1 for _ in ast.walk(value))
        if self._left < 0:
            return node
        self._open.add(name)
        meant: ast.expr = self.visit(copy.deepcopy(value))
        self._open.remove(name)
        return meant


def _inlined(value: ast.expr, known: Names) -> ast.expr:
    inlined: ast.expr = _Inliner(known).visit(copy.deepcopy(value))
    return inlined


def _text(expression: ast.expr | None) -> str:
    """Return the value as it is sent to a model, or its source if it is not constant."""
    if expression is None:
        return ""
    try:
        value = ast.literal_eval(expression)
        return value if isinstance(value, str) else json.dumps(value)
    except (ValueError, TypeError):
        return ast.unparse(expression)
