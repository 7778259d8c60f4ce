"""Estimate the token cost of a module's tools from its source, without running it."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import TypedDict

from amplihack.bundles.tokens import estimate_tokens


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
        source = file.read_text(encoding="utf-8")
        tree = ast.parse(source)
    except (OSError, ValueError, SyntaxError, RecursionError):
        return []
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return [tool for node in classes if (tool := _tool(node, source))]


def _tool(node: ast.ClassDef, source: str) -> ToolCost | None:
    schema = _given(node, "input_schema")
    if schema is None:
        return None
    name = _text(_given(node, "name"), source) or node.name
    description = estimate_tokens(_text(_given(node, "description"), source))
    cost = estimate_tokens(_text(schema, source))
    total = estimate_tokens(name) + description + cost
    return {"name": name, "description_tokens": description, "schema_tokens": cost, "total_tokens": total}


def _given(node: ast.ClassDef, attribute: str) -> ast.expr | None:
    """Return the value of a class attribute, or what the property or method of that name returns."""
    for item in node.body:
        if isinstance(item, ast.Assign) and any(_is_name(target, attribute) for target in item.targets):
            return item.value
        if isinstance(item, ast.AnnAssign) and _is_name(item.target, attribute):
            return item.value
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name == attribute:
            return next(
                (inner.value for inner in ast.walk(item) if isinstance(inner, ast.Return) and inner.value),
                None,
            )
    return None


def _is_name(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name


def _text(expression: ast.expr | None, source: str) -> str:
    """Return the value as it is sent to a model, or the source if the value is not constant."""
    if expression is None:
        return ""
    try:
        value = ast.literal_eval(expression)
        return value if isinstance(value, str) else json.dumps(value)
    except (ValueError, TypeError):
        return ast.get_source_segment(source, expression) or ""
