"""Define what a module wants installed."""

from __future__ import annotations

from pathlib import Path

from amplihack.records import Record
from amplihack.system.modules.requirements import parse_requirement


class Build(Record):
    """Something that has to be built: a project in a directory, or a requirement that gives an address."""

    arguments: tuple[str, ...]
    project: Path | None = None
    name: str = ""


class Wanted(Record):
    """What one module wants installed: requirements, or the project in its directory, to be `built`."""

    name: str
    directory: Path
    requirements: tuple[str, ...] = ()
    built: bool = False

    @property
    def builds(self) -> tuple[Build, ...]:
        """Return what takes a build for certain."""
        project = (Build(("-e", str(self.directory)), self.directory),) if self.built else ()
        return (*project, *(built for each in self.requirements if (built := _build(each)) is not None))

    @property
    def wheels(self) -> tuple[str, ...]:
        """Return the requirements for which there may be a wheel."""
        return tuple(each for each in self.requirements if _build(each) is None)


def _build(text: str) -> Build | None:
    found = parse_requirement(text)
    if found is None or not found.is_address or ".whl" in found.rest:
        return None
    return Build((text,), name=found.name)
