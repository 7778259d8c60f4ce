"""Report habits of module packages that fail only when a session is opened, each with its remedy."""

from __future__ import annotations

import posixpath
import sys
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from amplihack.bundles.module_requirements import (
    at,
    one_spelling,
    package_name,
    required_by,
    required_packages,
    text_at,
)
from amplihack.bundles.mount_function import (
    Mount,
    MountFunction,
    NoPackage,
    NoPython,
    cannot_be_called,
    find_mount,
    mounts_nothing,
)
from amplihack.bundles.ports import Texts
from amplihack.errors import Location, Problem, Severity
from amplihack.records import Record

ENTRY_POINTS = "amplifier.modules"
_HOST = ("amplifier-core", "amplifier-foundation", "amplihack")  # packages that every session has
_OTHER_TRANSPORTS = frozenset({"rust", "wasm", "grpc"})  # these have no Python to look into
_MOUNT = "define `async def mount(coordinator, config=None)`"
_SAFE_ASSETS = (".py", ".pyi", ".so", ".typed")


class ModulePlace(Record):
    """A module on this disk: its directory, and the section and the name that a bundle mounts it under."""

    directory: str
    section: str
    name: str


class _Text(Record):
    """A file, to point at its lines."""

    file: str
    text: str

    def problem(self, code: str, what: str, fix: str, at: str = "", level: Severity = "warning") -> Problem:
        """Report something about the first line that holds `at`."""
        lines = self.text.splitlines() or [""]
        places = (index for index, line in enumerate(lines) if at in line or at in one_spelling(line))
        number = next(places, 0) if at else 0
        return Problem(what, Location(self.file, number + 1, 1, lines[number]), fix, level, code)


def lint_module(place: ModulePlace, files: Texts) -> tuple[Problem, ...]:
    """Report everything that keeps a module from being installed or mounted."""
    project = _read(f"{place.directory}/pyproject.toml", files)
    found: list[Problem] = []
    data: Mapping[str, Any] = {}
    if project is not None:
        data, wrong = _parsed(project)
        found += wrong
        found += (*_uv_sources(data, project), *_shadowing(data, project))
    found[:0] = _provided(place.directory, files)
    found += _hiding(place.directory, files)
    found += _mounting(place, data, project, files)
    return tuple(found)


def lint_root_package(directory: str, files: Texts) -> tuple[Problem, ...]:
    """Report a Python package at the root of a bundle, which is configuration."""
    project = _read(f"{directory}/pyproject.toml", files)
    if project is None:
        return ()
    data, wrong = _parsed(project)
    if "project" not in data or "build-system" not in data:
        return wrong
    what = "the bundle is a Python package too; it needs that only to share code between its modules"
    fix = "keep packages in modules/, unless they share code or the bundle has a command of its own"
    note = project.problem("root-package", what, fix, "[project]", "note")
    return (*wrong, note, *_shadowing(data, project))


def _read(file: str, files: Texts) -> _Text | None:
    text = text_at(file, files)
    return _Text(file, text) if text is not None else None


def _parsed(project: _Text) -> tuple[Mapping[str, Any], tuple[Problem, ...]]:
    try:
        return tomllib.loads(project.text), ()
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return {}, (project.problem("module-package", f"the file is no TOML: {error}", "correct it"),)


def _provided(directory: str, files: Texts) -> Iterator[Problem]:
    """Report dependencies that the session itself provides; installing them fails, or replaces the host's."""
    for required in required_packages(directory, files):
        where, name = _Text(required.file, text_at(required.file, files) or ""), required.name
        if name in _HOST:
            what = f"the module depends on {name}, which every session provides"
            yield where.problem("kernel-dependency", what, "remove it from the dependencies", name)
        elif name.startswith("amplifier-bundle-"):
            what = f"the module depends on {name}: a bundle is included, not installed"
            fix = "remove it; share code through the bundle's own package, or publish a package"
            yield where.problem("bundle-dependency", what, fix, name)


def _uv_sources(data: Mapping[str, Any], project: _Text) -> Iterator[Problem]:
    """Report sources that only uv's own projects know: modules are installed with --no-sources."""
    sources = at(data, "tool", "uv", "sources")
    if not isinstance(sources, Mapping) or not sources:
        return
    needed = [name for name in sources if package_name(name) in required_by(data)]
    what = f"[tool.uv.sources] has no effect when the module is installed: {', '.join(needed or sources)}"
    fix = "share code through the bundle's own package, or publish it; keep this for development only"
    place = "tool.uv.sources" if "tool.uv.sources" in project.text else "sources"
    yield project.problem("uv-sources", what, fix, place, "warning" if needed else "note")


def _shadowing(data: Mapping[str, Any], project: _Text) -> Iterator[Problem]:
    """Report files that a wheel puts over its own Python package."""
    wheel = at(data, "tool", "hatch", "build", "targets", "wheel")
    names = _packages(data, wheel)
    for forced in (at(wheel, "force-include"), at(data, "tool", "hatch", "build", "force-include")):
        for source, target in forced.items() if isinstance(forced, Mapping) else ():
            if isinstance(target, str) and _shadows(target, names):
                what = f"{source!r} goes to {target} in the wheel, where it hides the Python package"
                top = posixpath.normpath(target).strip("/").partition("/")[0]
                fix = f"put it into {top}/_bundle/{posixpath.basename(source.rstrip('/'))}"
                yield project.problem("package-shadowed", what, fix, target)


def _packages(data: Mapping[str, Any], wheel: object) -> set[str]:
    """Return the packages that a wheel holds: those it lists, or else the one with the project's name."""
    listed = at(wheel, "packages")
    if isinstance(listed, list):
        return {posixpath.basename(each.rstrip("/")) for each in listed if isinstance(each, str)}
    return {package_name(at(data, "project", "name")).replace("-", "_")} - {""}


def _shadows(target: str, packages: set[str]) -> bool:
    top, _, rest = posixpath.normpath(target).strip("/").partition("/")
    inside = rest.partition("/")[0]
    is_apart = inside.startswith("_") or inside == "data" or inside.endswith(_SAFE_ASSETS)
    return top in packages and not is_apart


def _hiding(directory: str, files: Texts) -> Iterator[Problem]:
    """Report packages with the name of another one: a module's directory is searched first by all imports."""
    hidden = {*sys.stdlib_module_names, *(name.replace("-", "_") for name in _HOST)} - {"test", "__main__"}
    for root in (directory, f"{directory}/src"):
        inside = files.list(root)
        packages = {name: f"{root}/{name}/__init__.py" for name in inside.directories}
        packages |= {name[:-3]: f"{root}/{name}" for name in inside.files if name.endswith(".py")}
        for name, file in packages.items():
            if name in hidden and files.is_file(file):
                what = f"the module hides the package {name} from the whole session"
                yield Problem(what, Location(file, 1, 1), "rename it", "warning", "package-hidden")


def _mounting(
    place: ModulePlace, data: Mapping[str, Any], project: _Text | None, files: Texts
) -> Iterator[Problem]:
    """Report a module that cannot be found, or that mounts nothing."""
    transport = _read(f"{place.directory}/amplifier.toml", files)
    if transport is not None and at(_parsed(transport)[0], "module", "transport") in _OTHER_TRANSPORTS:
        return
    target = _entry_point(place, data)
    if project is not None and data and target is None:
        # A package of the usual name is found without one.
        usual = find_mount(place.directory, f"amplifier_module_{place.name.replace('-', '_')}", files)
        level: Severity = "note" if isinstance(usual, MountFunction) else "warning"
        fix = f'write [project.entry-points."{ENTRY_POINTS}"] with {place.name} = "<package>:mount"'
        what = f"no entry point is called {place.name}"
        yield project.problem("no-entry-point", what, fix, "[project]", level)
    elif project is not None and target is not None and ":" not in target:
        what, fix = f"the entry point {target} names no function", f'write "{target.strip()}:mount"'
        yield project.problem("no-entry-point", what, fix, target)
    yield from _mount_problems(place, find_mount(place.directory, target, files, module=place.name), project)


def _entry_point(place: ModulePlace, data: Mapping[str, Any]) -> str | None:
    """Return what the entry point of a module names, as a project or as poetry spells it."""
    for path in (("project", "entry-points"), ("tool", "poetry", "plugins")):
        target = at(data, *path, ENTRY_POINTS, place.name)
        if isinstance(target, str):
            return target
    return None


def _mount_problems(place: ModulePlace, found: Mount, project: _Text | None) -> Iterator[Problem]:
    """Report a module whose mount() is missing, cannot be called, or mounts nothing."""
    if isinstance(found, NoPackage):
        what = f"there is no {f'package {found.name}' if found.name else 'Python package'} in the module"
        fix = "write it, or correct the entry point" if found.name else "check where the source leads"
        where = Location(project.file if project is not None else place.directory, 1, 1)
        yield Problem(what, where, fix, "warning", "no-package")
    elif isinstance(found, NoPython):
        what, where = f"the module cannot be imported: {found.reason}", Location(found.file, found.line, 1)
        yield Problem(what, where, "correct the line, or the one before it", "warning", "module-syntax")
    elif isinstance(found, str) and project is not None:
        where = Location(found, 1, 1)
        yield Problem("the module has no mount()", where, _MOUNT, "warning", "no-mount")
    elif isinstance(found, MountFunction):
        where = Location(found.file, found.function.lineno, found.function.col_offset + 1)
        if reason := cannot_be_called(found.function):
            yield Problem(f"mount() {reason}", where, _MOUNT, "warning", "mount-call")
        if mounts_nothing(found.function, is_tool=place.section == "tools"):
            what, fix = "mount() mounts nothing", _mount_fix(place.section)
            yield Problem(what, where, fix, "warning", "mounts-nothing")


def _mount_fix(section: str) -> str:
    if section == "hooks":
        return "call `coordinator.hooks.register(event, handler, …)`"
    placeholder = "; a tool may be a placeholder, if it says so" if section == "tools" else ""
    return f"call `await coordinator.mount(…)` with what the module provides{placeholder}"
