"""Define what a module wants installed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from amplihack.records import Record
from amplihack.system.modules.package import fingerprint
from amplihack.system.modules.requirements import Requirement, canonical, parse_requirement

_SOME, _ALL = "#build:", "#whole:"  # between a project and the fingerprint of it


class Build(Record):
    """A project on this disk that has to be built: editable, or as the wheel of a requirement."""

    project: Path
    requirement: Requirement | None = None

    @property
    def hook(self) -> str:
        """Return what its build backend is asked for."""
        return "build_editable" if self.requirement is None else "build_wheel"

    @property
    def mark(self) -> str:
        """Return a word for the project as it is now. Reads it."""
        return _mark(self.project, whole=self.requirement is not None)

    def argument(self, wheel: Path) -> str:
        """Return what an installer is given for it, once it is built."""
        if self.requirement is None or not self.requirement.extras:
            return str(wheel)
        return f"{self.requirement.name}{self.requirement.extras} @ {wheel.as_uri()}"


class Wanted(Record):
    """What one module wants installed: requirements, or the project in its directory, to be `built`."""

    name: str
    directory: Path
    requirements: tuple[str, ...] = ()
    built: bool = False
    project: str = ""  # the name of what is built, if it is known

    @property
    def builds(self) -> tuple[Build, ...]:
        """Return the projects of this disk that take a build for certain."""
        own = (Build(self.directory),) if self.built else ()
        return (*own, *(built for each in self.requirements if (built := _build(each)) is not None))

    @property
    def others(self) -> tuple[str, ...]:
        """Return the requirements that are the installer's business."""
        return tuple(each for each in self.requirements if _build(each) is None)

    @property
    def marks(self) -> tuple[str, ...]:
        """Return words for all of it, which change when it does. Reads the projects that are built."""
        return (*self.others, *(each.mark for each in self.builds))


def is_outdated(mark: str) -> bool:
    """Tell whether the project that a mark was made for has changed since, or is gone."""
    for separator, whole in ((_ALL, True), (_SOME, False)):
        project, found, _ = mark.rpartition(separator)
        if found:
            return _mark(Path(project), whole=whole) != mark
    return False


def _mark(project: Path, *, whole: bool) -> str:
    return f"{project}{_ALL if whole else _SOME}{fingerprint(project, whole=whole)}"


def projects(wanted: Sequence[Wanted]) -> Collection[str]:
    """Return the names of what is built here: it may be here in another version, from the same place."""
    return frozenset(canonical(one.project) for one in wanted if one.built and one.project)


def _build(text: str) -> Build | None:
    found = parse_requirement(text)
    if found is None or not found.is_address or ";" in found.rest:
        return None
    url = urlsplit(found.rest.removeprefix("@").strip())
    path = Path(unquote(url.path))
    return Build(path, found) if url.scheme == "file" and path.is_dir() else None
