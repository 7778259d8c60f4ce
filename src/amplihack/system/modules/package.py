"""Read what a directory says about the Python package in it, without running any of it."""

from __future__ import annotations

import hashlib
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from amplihack.records import Record, replace
from amplihack.system.modules.errors import ModuleError
from amplihack.system.modules.requirements import (
    Requirement,
    canonical,
    installed_version,
    is_met,
    is_refused,
    is_unclear,
    parse_requirement,
)

ENTRY_POINTS = "amplifier.modules"
PREFIX = "amplifier_module_"
# Packages that every session has. Modules must not bring their own copies.
PEERS = frozenset({"amplifier-core", "amplifier-foundation", "amplihack"})
_NATIVE = "rust"
_OTHER_TRANSPORTS = frozenset({_NATIVE, "wasm", "grpc"})
_COMPILING = ("maturin", "scikit_build", "meson", "setuptools_rust", "cython", "mypy")
_REQUIREMENTS = "requirements.txt"
# Files beside pyproject.toml that may say what to install (`setup.py`, a list of dependencies, a backend of
# the project's own), and sources anywhere that an editable install compiles once.
_DESCRIBING = frozenset({".toml", ".txt", ".in", ".cfg", ".py", ".build"})
_COMPILED = frozenset({".rs", ".pyx", ".pxd", ".c", ".cc", ".cpp", ".h", ".hpp"})
_MADE_BY_BUILDS = frozenset({"build", "dist", "target", "node_modules", "__pycache__"})


class ModulePackage(Record):
    """A module's directory: how it is imported, and what it needs to be installed.

    `root` is the directory that has to be on `sys.path`, and `package` what is in it. The kernel finds only
    packages whose names begin with `amplifier_module_`; `target` is what the entry point says.
    """

    directory: Path
    root: Path
    package: str = ""
    target: str = ""
    name: str = ""  # of the distribution
    requirements: tuple[Requirement, ...] = ()
    must_build: bool = False
    is_python: bool = True
    is_native: bool = False  # a program that the kernel starts
    python: str = ""  # the versions of Python that it allows
    uv_sources: frozenset[str] = frozenset()  # packages that only its author's own checkout has

    @property
    def for_kernel(self) -> bool:
        """Tell whether the kernel finds the package by itself."""
        return not self.is_python or self.package.startswith(PREFIX)

    @property
    def missing(self) -> tuple[Requirement, ...]:
        """Return what it requires that is not here: neither ours nor a peer."""
        return tuple(
            each
            for each in self.requirements
            if each.name not in PEERS and not is_met(each, installed_version(each.name))
        )

    @property
    def other_peers(self) -> tuple[str, ...]:
        """Return what it requires of packages that every session has, in versions that are not these."""
        peers = [(each, installed_version(each.name)) for each in self.requirements if each.name in PEERS]
        return tuple(
            f"{each.text}, and this is {version}"
            for each, version in peers
            if version is not None and not is_met(each, version) and not is_unclear(each, version)
        )


def read_module(directory: Path, module: str) -> ModulePackage:
    """Read the package of a module. Raises ModuleError, with what to write, if there is none."""
    if not directory.is_dir():
        fix = "check that `source:` leads to the module's directory; it starts at the bundle's file"
        raise ModuleError(f"Module not found: there is no directory {directory}", fix=fix)
    found = read_project(directory)
    if not found.is_python:
        return found
    _require_python(found, module)
    target = found.target or _entry_target(directory, module)
    place = _package_place(directory, module, target)
    if place is None:
        raise _no_package(directory, module, target)
    return replace(found, root=place.parent, package=place.stem, target=target)


def read_project(directory: Path) -> ModulePackage:
    """Read the metadata alone: name, requirements, and whether it takes a build to have it."""
    data = _toml(directory / "pyproject.toml")
    project = data.get("project")
    table: Mapping[str, Any] = project if isinstance(project, dict) else {}
    lines = _dependencies(directory, table) if table else _requirement_lines(directory)
    found = (parse_requirement(line) for line in lines)
    return ModulePackage(
        directory,
        directory,
        name=str(table.get("name") or ""),
        requirements=(*(each for each in found if each is not None), *_whole_file(directory, lines, table)),
        must_build=_must_build(directory, data, table),
        is_python=_transport(directory) not in _OTHER_TRANSPORTS,
        is_native=_transport(directory) == _NATIVE,
        python=str(table.get("requires-python") or ""),
        uv_sources=frozenset(map(canonical, _uv_sources(data))),
    )


def _dependencies(directory: Path, project: Mapping[str, Any]) -> list[str]:
    """Return what a project requires. Raises ModuleError for what no installer would understand either."""
    found = project.get("dependencies", [])
    wrong = [] if isinstance(found, list) else [found]
    wrong += [each for each in _items(found) if not isinstance(each, str) or parse_requirement(each) is None]
    if wrong:
        what = f"{directory / 'pyproject.toml'}: `dependencies` has {wrong[0]!r:.80}, which is no requirement"
        raise ModuleError(what, fix='write it as a list of texts: dependencies = ["rich>=13"]')
    return list(found)


def is_installable(directory: Path) -> bool:
    """Tell whether a directory is a Python project: tool settings alone make none."""
    data = _toml(directory / "pyproject.toml")
    return "project" in data or "build-system" in data


def fingerprint(directory: Path, *, whole: bool = False) -> str:
    """Return the sha256 of the files that say what to install, and are compiled; `none` if there are none.

    `whole` takes all files: a wheel has copies of them.
    """
    digest, found = hashlib.sha256(), False
    for path in sorted(_build_files(directory, whole=whole)):
        try:
            content = path.read_bytes()
        except OSError:
            continue
        digest.update(str(path.relative_to(directory)).encode() + b"\0" + content + b"\0")
        found = True
    return f"sha256:{digest.hexdigest()}" if found else "none"


def _build_files(directory: Path, *, whole: bool) -> Iterator[Path]:
    for folder, below, names in os.walk(directory):
        below[:] = [each for each in below if not _is_made(each)]
        place = Path(folder)
        wanted = _COMPILED | _DESCRIBING if place == directory else _COMPILED
        yield from (place / name for name in names if whole or Path(name).suffix in wanted)


def _is_made(folder: str) -> bool:
    """Tell whether a folder is no source: hidden, or made by a build."""
    return folder.startswith(".") or folder in _MADE_BY_BUILDS or folder.endswith(".egg-info")


def entry_points(directory: Path) -> Mapping[str, str]:
    """Return the modules that a project declares, with what each entry point names."""
    project = _toml(directory / "pyproject.toml").get("project")
    groups = project.get("entry-points") if isinstance(project, dict) else None
    group = groups.get(ENTRY_POINTS) if isinstance(groups, dict) else None
    return {str(key): str(value) for key, value in group.items()} if isinstance(group, dict) else {}


def _entry_target(directory: Path, module: str) -> str:
    declared = entry_points(directory)
    if module in declared:
        return declared[module]
    return next(iter(declared.values())) if len(declared) == 1 else ""


def _package_place(directory: Path, module: str, target: str) -> Path | None:
    """Return the package's directory, or the file of a module that is one file."""
    if (directory / "__init__.py").is_file():
        return directory
    wanted = [f"{PREFIX}{module.replace('-', '_')}", target.partition(":")[0].partition(".")[0].strip()]
    for root in (directory, directory / "src"):
        for name in filter(None, wanted):
            if (root / name / "__init__.py").is_file():
                return root / name
            if (root / f"{name}.py").is_file():
                return root / f"{name}.py"
    others = (each for root in (directory, directory / "src") for each in _packages(root))
    return next(others, None)


def _packages(root: Path) -> Iterator[Path]:
    entries = sorted(root.iterdir()) if root.is_dir() else ()
    yield from (each for each in entries if each.name.startswith(PREFIX) and (each / "__init__.py").is_file())


def _no_package(directory: Path, module: str, target: str) -> ModuleError:
    package = f"{PREFIX}{module.replace('-', '_')}"
    if target:
        what = f"Module '{module}': its entry point names {target}, and {directory} has no such package"
        return ModuleError(
            what, fix=f"correct the entry point, or add {target.partition(':')[0]}/__init__.py"
        )
    what = f"Module '{module}': {directory} has neither a package {package} nor an entry point {module!r}"
    line = f'[project.entry-points."{ENTRY_POINTS}"] {module} = "{package}:mount"'
    return ModuleError(what, fix=f"add {package}/__init__.py with a mount(), and to pyproject.toml {line}")


def _must_build(directory: Path, data: Mapping[str, Any], project: Mapping[str, Any]) -> bool:
    """Tell whether only a build knows what it needs, or makes what it imports."""
    if "dependencies" in _texts(project.get("dynamic")):
        return True
    if not project:
        return "build-system" in data or (directory / "setup.py").is_file()
    system = data.get("build-system")
    requires = _texts(system.get("requires")) if isinstance(system, dict) else []
    return any(each.startswith(_COMPILING) for each in map(_spelled, requires))


def _spelled(requirement: str) -> str:
    return requirement.strip().lower().replace("-", "_")


def _requirement_lines(directory: Path) -> list[str]:
    try:
        return (directory / _REQUIREMENTS).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _whole_file(directory: Path, lines: list[str], project: Mapping[str, Any]) -> tuple[Requirement, ...]:
    """Return the file itself where a line is an option or a path: only the installer understands those."""
    if project or not any(each.strip().startswith(("-", ".", "/")) for each in lines):
        return ()
    return (Requirement("", "", f"--requirement={directory / _REQUIREMENTS}"),)


def _require_python(package: ModulePackage, module: str) -> None:
    """Raise ModuleError for a module that another Python is needed for."""
    version = ".".join(map(str, sys.version_info[:3]))
    if is_refused(package.python, version):
        what = f"Module '{module}' requires Python {package.python}, and this is {version}"
        raise ModuleError(what, fix="run amplihack with such a Python, or use another version of the module")


def _uv_sources(data: Mapping[str, Any]) -> list[str]:
    tool = data.get("tool")
    uv = tool.get("uv") if isinstance(tool, dict) else None
    sources = uv.get("sources") if isinstance(uv, dict) else None
    return list(sources) if isinstance(sources, dict) else []


def _transport(directory: Path) -> str:
    module = _toml(directory / "amplifier.toml").get("module")
    return str(module.get("transport") or "python") if isinstance(module, dict) else "python"


def _toml(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ModuleError(f"{path} is no TOML: {error}", fix="correct it") from error


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
