"""Define what can be wrong with a bundle.

BundleError                 1
├── BundleNotFoundError     3  no such name, file, repository or path inside it
├── BundleLoadError         2  the file is there and cannot be read as a bundle
├── BundleValidationError   2  it can be read, and what it says cannot be used
└── BundleDependencyError   2  something that it includes failed
"""

from __future__ import annotations

from amplihack.errors import AmplihackError, Location, Problem
from amplihack.records import Record


class Subject(Record):
    """Which bundle an error is about: its address, its file, and who included it, outermost first."""

    uri: str | None = None
    path: str | None = None
    chain: tuple[str, ...] = ()


_NOBODY = Subject()


class BundleError(AmplihackError):
    def __init__(
        self,
        what: str,
        *,
        where: Location | None = None,
        fix: str = "",
        found: tuple[Problem, ...] = (),
        subject: Subject = _NOBODY,
    ) -> None:
        super().__init__(what, where=where, fix=fix)
        self.found = found
        self.uri = subject.uri
        self.path = subject.path or (where.file if where else None)
        self.chain = subject.chain

    def __str__(self) -> str:
        """Return what happened, with its place in front unless the text names it already."""
        place = str(self.where) if self.where else self.path or ""
        return f"{place}: {self.what}" if place and place not in self.what else self.what

    @property
    def line(self) -> int | None:
        return self.where.line if self.where else None

    @property
    def hint(self) -> str:
        return self.fix

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self.found or super().problems


class BundleNotFoundError(BundleError):
    exit_code = 3


class BundleLoadError(BundleError):
    exit_code = 2


class BundleValidationError(BundleError):
    exit_code = 2


class BundleDependencyError(BundleError):
    exit_code = 2


def error_from(
    kind: type[BundleError], problems: tuple[Problem, ...], subject: Subject = _NOBODY
) -> BundleError:
    """Make one error of many problems: it reads as all of them and stands where the first does."""
    wrong = tuple(problem for problem in problems if problem.severity == "error") or problems
    what = "; ".join(problem.what for problem in wrong)
    first = wrong[0] if wrong else Problem("")
    return kind(what, where=first.where, fix=first.fix, found=problems, subject=subject)
