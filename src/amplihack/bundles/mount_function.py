"""Find the `mount()` of a module in its source, and tell whether it mounts anything. Nothing is run."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator
from typing import TypeAlias

from amplihack.bundles.ports import FileText, Texts
from amplihack.bundles.reached_code import Function, reached
from amplihack.records import Record

_PREFIX = "amplifier_module_"
_MOUNTING = frozenset(
    {"mount", "register", "register_hook", "register_capability", "register_contributor", "on", "add"}
)
# Where a value is only looked at, and goes nowhere.
_LOOKING = (
    ast.Attribute, ast.Compare, ast.UnaryOp, ast.FormattedValue, ast.Expr, ast.If, ast.Assert, ast.Delete,
)  # fmt: skip
_FOLLOWED = 3  # imports of imports of …
_DEPTH = 3  # directories below that of a module in which a package may lie
_BUILT = frozenset({"Cargo.toml", "setup.py", "setup.cfg", "CMakeLists.txt", "meson.build"})


class MountFunction(Record):
    file: str
    function: Function


class NoPython(Record):
    """A file that cannot be parsed, with the line that is to blame."""

    file: str
    line: int
    reason: str


class NoPackage(Record):
    """A package that an entry point names and that is nowhere in the module; without a name, any package."""

    name: str


Mount: TypeAlias = MountFunction | NoPython | NoPackage | str | None


def find_mount(directory: str, target: str | None, files: Texts, *, module: str = "") -> Mount:
    """Return the function that an entry point names, or the one of the package that a session would take.

    Returns the file that lacks it; None if no package is named, or if reading does not tell.
    """
    package, _, name = (target or "").partition(":")
    file = _package_file(directory, package.strip(), module, files)
    if file is not None:
        return _function(file, (name or "mount").strip(), files, _FOLLOWED)
    top = package.strip().partition(".")[0]
    return None if _may_hold(directory, top, files, _DEPTH) else NoPackage(top)


def _may_hold(directory: str, package: str, files: Texts, left: int) -> bool:
    """Tell whether a package may come from somewhere below a directory: by its name, or by being built."""
    inside = files.list(directory)
    is_any = not package and any(name.endswith((".py", ".so")) for name in inside.files)
    names = (*inside.directories, *inside.files)
    if is_any or any(name.partition(".")[0] == (package or None) or name in _BUILT for name in names):
        return True
    below = (name for name in inside.directories if not name.startswith((".", "_")))
    return left > 0 and any(_may_hold(f"{directory}/{name}", package, files, left - 1) for name in below)


def _package_file(directory: str, package: str, module: str, files: Texts) -> str | None:
    """Return the file of a package; without its name, that of the one which a session would import."""
    roots = (directory, f"{directory}/src")
    name = package.replace(".", "/") or f"{_PREFIX}{module.replace('-', '_')}"
    tried = [f"{root}/{name}{ending}" for root in roots for ending in ("/__init__.py", ".py")]
    if not package:
        others = ((root, each) for root in roots for each in sorted(files.list(root).directories))
        tried += [f"{root}/{each}/__init__.py" for root, each in others if each.startswith(_PREFIX)]
        tried.append(f"{directory}/__init__.py")
    return next((each for each in tried if files.is_file(each)), None)


def _function(file: str, name: str, files: Texts, left: int) -> Mount:
    text = files.read(file)
    if not isinstance(text, FileText):
        return None
    try:
        tree = ast.parse(text.content)
    except SyntaxError as error:
        return NoPython(file, error.lineno or 1, error.msg)
    except (ValueError, RecursionError):
        return None
    return _named(file, name, list(_outside_of_bodies(tree)), files, left)


def _named(file: str, name: str, outside: list[ast.AST], files: Texts, left: int) -> Mount:
    """Return the function of a name in a file, wherever it comes from; the file if it has no such name."""
    for node in outside:
        if isinstance(node, Function) and node.name == name:
            return MountFunction(file, node)
    for node in outside:
        if isinstance(node, ast.ImportFrom) and (known := _imported_as(node, name)):
            inner = _relative_file(file, node, files)
            return _function(inner, known, files, left - 1) if inner and left else None
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.Import) and name in _bound(node):
            match node.value if not isinstance(node, ast.Import) else None:
                case ast.Name(id=other) if left and other != name:
                    found = _named(file, other, outside, files, left - 1)
                    return None if isinstance(found, str) else found
                case ast.Constant():
                    return file
            return None  # made in a way that only running tells
    stars = [each for each in outside if isinstance(each, ast.ImportFrom) and each.names[0].name == "*"]
    inside = (_relative_file(file, star, files) if left else None for star in stars)
    found_there = (_function(inner, name, files, left - 1) if inner else None for inner in inside)
    return next((each for each in found_there if isinstance(each, MountFunction)), None if stars else file)


def _outside_of_bodies(tree: ast.AST) -> Iterator[ast.AST]:
    """Return what a file holds, but nothing in the bodies of its classes and functions."""
    left = [tree]
    while left:  # a deep expression would be too much for a function that calls itself
        for node in ast.iter_child_nodes(left.pop()):
            yield node
            if not isinstance(node, Function | ast.ClassDef):
                left.append(node)


def _imported_as(node: ast.ImportFrom, name: str) -> str:
    """Return what a name was called where it is imported from."""
    return next((each.name for each in node.names if (each.asname or each.name) == name), "")


def _relative_file(file: str, node: ast.ImportFrom, files: Texts) -> str | None:
    """Return the file of `from .part import …`; an absolute import of its own package counts as well."""
    here = posixpath.dirname(file)
    module = node.module or ""
    if node.level:
        for _ in range(node.level - 1):
            here = posixpath.dirname(here)
    elif module.partition(".")[0] == posixpath.basename(here):
        module = module.partition(".")[2]
    else:
        return None
    start = posixpath.join(here, *module.split(".")) if module else here
    return next((each for each in (f"{start}.py", f"{start}/__init__.py") if files.is_file(each)), None)


def _bound(node: ast.Assign | ast.AnnAssign | ast.Import) -> Iterator[str]:
    if isinstance(node, ast.Import):
        return (each.asname or each.name for each in node.names)
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return (each.id for each in targets if isinstance(each, ast.Name))


def cannot_be_called(function: Function) -> str:
    """Return why a session cannot call a mount function; empty if it can, or if only running tells."""
    if function.decorator_list:
        return ""
    arguments = (*function.args.posonlyargs, *function.args.args)
    needed = len(arguments) - len(function.args.defaults)
    takes = len(arguments) >= 2 or function.args.vararg is not None
    named = [each for each in function.args.kw_defaults if each is None]
    if not takes or needed > 2 or named:
        return "cannot be called with a coordinator and a config"
    returns = (each for each in reached(function) if isinstance(each, ast.Return))
    is_awaited = isinstance(function, ast.AsyncFunctionDef) or any(each.value is not None for each in returns)
    return "" if is_awaited else "is no `async def`, and sessions await it"


def mounts_nothing(function: Function, *, is_tool: bool) -> bool:
    """Tell whether a mount function certainly mounts nothing; a tool may also be what it returns."""
    arguments = (*function.args.posonlyargs, *function.args.args)
    if not arguments:
        return not (function.args.vararg or function.args.kwarg)
    coordinator = arguments[0].arg
    nodes = list(reached(function))
    idle = set(_idle(nodes))
    return not any(_may_mount(node, coordinator, is_tool=is_tool) for node in nodes if id(node) not in idle)


def _idle(nodes: list[ast.AST]) -> Iterator[int]:
    """Return what looks like mounting: a mount that nobody awaits, a function that cleans up, `_ = …`."""
    inner = {each.name for each in nodes if isinstance(each, Function)}
    for node in nodes:
        match node:
            case ast.Expr(value=value) if _is_mount(value):
                yield id(value)
            case ast.Return(value=ast.Name(id=name)) if name in inner:
                yield id(node)
            case ast.Assign(targets=[ast.Name(id="_")]):  # how an argument is left unused on purpose
                yield id(node)


def _is_mount(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "mount"


def _may_mount(node: ast.AST, coordinator: str, *, is_tool: bool) -> bool:
    match node:
        case ast.Call():
            return _calls(node, coordinator, is_tool=is_tool)
        case ast.Assign(value=value) | ast.NamedExpr(value=value) | ast.withitem(context_expr=value):
            return _root(value) == coordinator and not isinstance(value, ast.Call)
        case ast.Return(value=value):
            return is_tool and not isinstance(value, ast.Dict | ast.Constant | None)
        case _:
            return not isinstance(node, _LOOKING) and _holds(node, coordinator)


def _holds(node: ast.AST, name: str) -> bool:
    """Tell whether a name itself is a part of something: of a list, say, which somebody else may be given."""
    return any(isinstance(each, ast.expr) and _is_name(each, name) for each in ast.iter_child_nodes(node))


def _calls(node: ast.Call, coordinator: str, *, is_tool: bool) -> bool:
    """Tell whether a call mounts something, or hands the coordinator to somebody who may."""
    passed = [*node.args, *(each.value for each in node.keywords)]
    function = node.func
    if any(_root(each) == coordinator for each in passed):
        return not (isinstance(function, ast.Attribute) and _is_logging(function)) and not _is_name(
            function, "print"
        )
    if not isinstance(function, ast.Attribute) or _root(function) != coordinator:
        return False
    return function.attr == "mount" if is_tool else function.attr in _MOUNTING


def _is_logging(function: ast.Attribute) -> bool:
    return function.attr in ("debug", "info", "warning", "error", "exception", "critical", "log")


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _root(node: ast.expr) -> str:
    """Return the name that a chain of attributes starts with."""
    while isinstance(node, ast.Attribute | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
