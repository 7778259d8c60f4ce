"""Find the Python packages at the roots of bundles, which their modules share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from amplihack.records import replace
from amplihack.system.modules.environments import version_outside
from amplihack.system.modules.package import ModulePackage, is_installable, read_project

CODE_DIRECTORIES = ("src", "lib")  # of a bundle that is a package too


def root_packages(directories: Sequence[Path]) -> dict[str, ModulePackage]:
    """Return the packages of bundles that are no installed wheels, by name.

    The sources of a wheel would shadow it.
    """
    found: dict[str, ModulePackage] = {}
    for directory in directories:
        if not is_installable(directory):
            continue
        package = read_project(directory)
        if package.name and version_outside(package.name) and not _is_editable_here(package):
            continue
        if not any((directory / name).is_dir() for name in CODE_DIRECTORIES):
            package = replace(package, must_build=True)
        found[package.name or directory.name] = package
    return found


def _is_editable_here(package: ModulePackage) -> bool:
    """Tell whether what is installed under that name leads to this very directory."""
    import json
    from importlib import metadata
    from urllib.parse import unquote

    try:
        data = json.loads(metadata.distribution(package.name).read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return False
    url = data.get("url") if isinstance(data, dict) else None
    return isinstance(url, str) and unquote(url.removeprefix("file://")) == str(package.directory)
