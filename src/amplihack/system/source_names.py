"""Tell what the names in a Python file stand for, without running it: variables, functions, imports."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

Names: TypeAlias = dict[str, ast.expr]  # what names stand for
_LARGEST = 20_000  # parts that are put in for the names of one expression


def parsed(file: Path) -> ast.Module:
    """Return the tree of a file; an empty one if it cannot be read."""
    try:
        return ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError, RecursionError):
        return ast.Module([], [])


def names_of_file(file: Path, seen: dict[Path, Names]) -> Names:
    """Return what the names of a file stand for, also those that it imports from its own package.

    `seen` holds the names of the files that were read so far.
    """
    if file in seen:
        return seen[file]
    seen[file] = {}  # two files may import each other
    tree = parsed(file)
    names: Names = {}
    for imported, known, own in imports(file, tree):
        theirs = names_of_file(imported, seen)
        taken = {known: own} if own else {f"{known}.{name}": name for name in theirs}
        names |= {name: inlined(theirs[its], theirs) for name, its in taken.items() if its in theirs}
    seen[file] = {**names, **returned(tree.body), **assigned(tree.body)}
    return seen[file]


def imports(file: Path, tree: ast.Module) -> Iterator[tuple[Path, str, str]]:
    """Yield what a file imports of its own package: the file, the name here, the name there ("" for all)."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom | ast.Import):
            continue
        module = (node.module or "").split(".") if isinstance(node, ast.ImportFrom) else []
        level = node.level if isinstance(node, ast.ImportFrom) else 0
        for each in node.names:
            parts = [*filter(None, module), *each.name.split(".")]
            start = _package(file, level) if level else _outermost(file, parts)
            if start is None:
                continue
            if whole := _source(start.joinpath(*parts)):
                yield whole, each.asname or each.name, ""
            elif part := _source(start.joinpath(*parts[:-1])):
                yield part, each.asname or each.name, parts[-1]


def _package(file: Path, level: int) -> Path | None:
    """Return where a relative import starts; None if that is outside of the package."""
    above = file.parents[min(level, len(file.parents)) - 1]
    return above if (above / "__init__.py").is_file() else None


def _outermost(file: Path, parts: list[str]) -> Path | None:
    """Return where an absolute import of a file's own package starts; None if it is of another package."""
    return next((each.parent for each in file.parents if each.name and each.name == parts[0]), None)


def _source(path: Path) -> Path | None:
    tried = (path.with_name(f"{path.name}.py"), path / "__init__.py")
    return next((each for each in tried if each.is_file()), None)


def returned(statements: Iterable[ast.AST]) -> Names:
    """Return the largest value that each function returns, with its local variables put in."""
    found: Names = {}
    for item in statements:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = list(ast.walk(item))
            values = [each.value for each in inner if isinstance(each, ast.Return) and each.value is not None]
            if values:
                local = assigned(inner)
                found[item.name] = max((inlined(value, local) for value in values), key=_size)
    return found


def assigned(statements: Iterable[ast.AST]) -> Names:
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
                found[name.id] = max(before, value, key=_size)
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
        self._left -= _size(value)
        if self._left < 0:
            return node
        self._open.add(name)
        meant: ast.expr = self.visit(copy.deepcopy(value))
        self._open.remove(name)
        return meant


def inlined(value: ast.expr, known: Names) -> ast.expr:
    """Return an expression with what its names stand for in their place."""
    meant: ast.expr = _Inliner(known).visit(copy.deepcopy(value))
    return meant


def _size(expression: ast.expr) -> int:
    return sum(1 for _ in ast.walk(expression))
