"""Describe what an environment was made for and what is in it, and tell whether it serves somebody else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from amplihack.records import Record, field
from amplihack.system.modules.requirements import canonical, is_met, parse_requirement
from amplihack.system.modules.wanted import is_outdated
from amplihack.system.replace import replace_text

FILE = "contents.json"
_INFO = ".dist-info"
Kind: TypeAlias = Literal["run", "build"]


class EnvironmentContents(Record, kw_only=True):
    """`wanted` are the marks of what it was made for, `installed` the distributions that are in it."""

    kind: Kind = "run"
    wanted: frozenset[str] = frozenset()
    constraints: str = ""  # a digest of what a caller allowed besides
    installed: Mapping[str, str] = field(default_factory=dict)  # by directory: rich-1.dist-info: rich==1

    @property
    def versions(self) -> dict[str, str]:
        pairs = (each.partition("==") for each in self.installed.values())
        return {name: version for name, _, version in pairs}

    @property
    def is_outdated(self) -> bool:
        """Tell whether it cannot serve anybody any more: what was built for it is another now."""
        return any(map(is_outdated, self.wanted))

    def serves(self, wanted: Iterable[str]) -> bool:
        """Tell whether all that is wanted is in it for certain."""
        versions = self.versions
        return all(mark in self.wanted or _is_met(mark, versions) for mark in wanted)

    def agrees(self, version_here: Callable[[str], str | None]) -> bool:
        """Tell whether what is in it too, and here already, has the same version in both places."""
        return all(version_here(name) in (None, version) for name, version in self.versions.items())

    def write(self, directory: Path) -> None:
        """Say that the environment in a directory is whole. Raises OSError."""
        data = {
            "kind": self.kind,
            "wanted": sorted(self.wanted),
            "constraints": self.constraints,
            "installed": dict(sorted(self.installed.items())),
        }
        replace_text(directory / FILE, json.dumps(data, indent=1) + "\n")


def installed_in(site_packages: Path) -> dict[str, str]:
    """Return the distributions of a directory that has just been filled, each with its version."""
    from importlib import metadata  # slow, and most bundles install nothing

    found: dict[str, str] = {}
    for each in site_packages.glob(f"*{_INFO}"):
        distribution = metadata.Distribution.at(each)
        found[each.name] = f"{canonical(distribution.name or each.name)}=={distribution.version}"
    return found


def read_contents(directory: Path, site_packages: Path) -> EnvironmentContents | None:
    """Return what a whole environment holds; None for one that was never finished, or has lost something."""
    try:
        data = json.loads((directory / FILE).read_bytes())
        found = EnvironmentContents(
            kind=data["kind"],
            wanted=frozenset(data["wanted"]),
            constraints=data["constraints"],
            installed=dict(data["installed"]),
        )
        whole = set(found.installed).issubset(os.listdir(site_packages))  # noqa: PTH208 - names alone
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if whole else None


def _is_met(mark: str, versions: Mapping[str, str]) -> bool:
    wanted = parse_requirement(mark)
    if wanted is None or wanted.is_address:
        return False
    return is_met(wanted, versions.get(wanted.name))
