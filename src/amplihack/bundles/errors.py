"""Define what can be wrong with a bundle.

BundleError                 1
├── BundleNotFoundError     3  no such name, file, repository or path inside it
├── BundleLoadError         2  the file is there and cannot be read as a bundle
├── BundleValidationError   2  it can be read, and what it says cannot be used
│   └── MalformedModuleError   a module entry in data of a program that is no mapping; a TypeError, too
└── BundleDependencyError   2  something that it includes failed; 1 or 4 if that only could not be fetched
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from amplihack.errors import (
    AmplihackError,
    DocumentError,
    InputError,
    Location,
    NotFound,
    NothingToUse,
    Problem,
)
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


class MalformedModuleError(BundleValidationError, TypeError):
    """Programs of the ecosystem expect a TypeError here."""


class BundleDependencyError(BundleError):
    exit_code = 2


def unreadable(error: DocumentError, file: str) -> BundleLoadError:
    """Return the error of a file whose text cannot be read, as one of bundles."""
    return BundleLoadError(error.what, where=error.where, fix=error.fix, subject=Subject(path=file))


def error_from(
    kind: type[BundleError], problems: tuple[Problem, ...], subject: Subject = _NOBODY
) -> BundleError:
    """Make one error of many problems: it reads as all of them and stands where the first does."""
    wrong = tuple(problem for problem in problems if problem.severity == "error") or problems
    what = "; ".join(problem.what for problem in wrong)
    first = wrong[0] if wrong else Problem("")
    return kind(what, where=first.where, fix=first.fix, found=problems, subject=subject)


_Whole = TypeVar("_Whole", bound=BundleError)


def caused_by(whole: _Whole, parts: Sequence[AmplihackError]) -> _Whole:
    """Return the error of a whole with the exit code of its parts, and the first of them as its cause."""
    whole.exit_code = failure_code(parts)
    whole.__cause__ = parts[0] if parts else None
    return whole


def failure_code(parts: Sequence[AmplihackError]) -> int:
    """Return the exit code of a bundle of which parts failed.

    What is wrong with its files comes first, because no other day mends it. A part that does not exist is
    that as well: the bundle was found, and it names what is not there.
    """
    found = {each.exit_code for each in parts}
    if not found or found & {InputError.exit_code, NotFound.exit_code}:
        return InputError.exit_code
    return NothingToUse.exit_code if found == {NothingToUse.exit_code} else AmplihackError.exit_code
