"""Estimate the token cost of a module's tools from its source, without running it."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import TypedDict

from amplihack.bundles.tokens import estimate_tokens
from amplihack.system.source_names import Names, assigned, imports, inlined, names_of_file, parsed, returned


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
    seen: dict[Path, Names] = {}
    tools = [tool for file in _sources(module_dir) for tool in _tools(file, seen)]
    if not tools:
        return None
    total = sum(tool["total_tokens"] for tool in tools)
    return {"tool_count": len(tools), "total_tokens": total, "tools": tools}


def _sources(module_dir: Path) -> list[Path]:
    """Return the files that a module's packages start with, and what these import of themselves."""
    found = sorted(module_dir.glob("amplifier_module_*/__init__.py")) if module_dir.is_dir() else []
    for file in found:  # which grows
        found += dict.fromkeys(each for each, *_ in imports(file, parsed(file)) if each not in found)
    return found


def _tools(file: Path, seen: dict[Path, Names]) -> list[ToolCost]:
    try:
        known = names_of_file(file, seen)
        classes = (node for node in ast.walk(parsed(file)) if isinstance(node, ast.ClassDef))
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
    """Return the value of an attribute, or what the property or method of that name returns.

    Names in it are replaced by what they stand for: local variables, attributes and constants.
    """
    for item in node.body:
        if isinstance(item, ast.Assign | ast.AnnAssign) and attribute in assigned([item]):
            return inlined(item.value, known) if item.value else None
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name == attribute:
            value = returned([item]).get(attribute)
            return inlined(value, known) if value is not None else None
    value = _of_instance(node).get(attribute)
    return inlined(value, known) if value is not None else None


def _members(node: ast.ClassDef) -> Names:
    """Return the attributes of a class and of its instances, under the names that methods call them by."""
    names = {**returned(node.body), **assigned(node.body), **_of_instance(node)}
    owners = ("self", "cls", node.name)
    return {f"{owner}.{name}": value for owner in owners for name, value in names.items()}


def _of_instance(node: ast.ClassDef) -> Names:
    """Return the attributes that `__init__` sets."""
    names: Names = {}
    inits = (item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__")
    for inner in (each for init in inits for each in ast.walk(init)):
        if isinstance(inner, ast.Assign | ast.AnnAssign) and inner.value is not None:
            targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
            names |= {each.attr: inner.value for each in targets if isinstance(each, ast.Attribute)}
    return names


def _text(expression: ast.expr | None) -> str:
    """Return the value as it is sent to a model, or its source if it is not constant."""
    if expression is None:
        return ""
    try:
        value = ast.literal_eval(expression)
        return value if isinstance(value, str) else json.dumps(value)
    except (ValueError, TypeError):
        return ast.unparse(expression)
