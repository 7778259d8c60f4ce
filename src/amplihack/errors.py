"""Define every failure that we can explain, as one family of exceptions.

    AmplihackError                 1  it ran and failed
    ├── InputError                 2  the input is wrong
    │   ├── UsageError                a flag or an argument
    │   ├── DocumentError             the YAML text itself
    │   └── RecipeError               the recipe that the YAML describes
    │       ├── ConditionError        an expression, when read or when evaluated
    │       └── TemplateError         a placeholder in a place where no value can be safe
    ├── NotFound                   3  a recipe, an agent, a file
    └── NothingToUse               4  no recipe given, no agent to run it with

An error holds what happened, where, and how to fix it. The command line decides how to show it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from amplihack.credentials import hide_credentials, hide_keys
from amplihack.records import Record, field, replace

Severity: TypeAlias = Literal["error", "warning", "note"]


class Location(Record):
    """A place in a text file; line and column count from 1."""

    file: str
    line: int
    column: int
    text: str = field(default="", compare=False, repr=False)  # the whole source line

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def without_credentials(where: Location | None) -> Location | None:
    """Return the place with a source line that may be shown."""
    if where is None or not where.text:
        return where
    shown = hide_keys(hide_credentials(where.text, keep_columns=True))
    return where if shown == where.text else replace(where, text=shown)


class Problem(Record):
    """One thing that is wrong with a file: what, where, how to fix it, and how bad it is.

    It can be shown as it is: credentials in addresses are hidden.
    """

    what: str
    where: Location | None = None
    fix: str = ""
    severity: Severity = "error"
    code: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "what", hide_credentials(self.what))
        object.__setattr__(self, "fix", hide_credentials(self.fix))
        object.__setattr__(self, "where", without_credentials(self.where))

    @property
    def placed(self) -> str:
        """What is wrong, with its place in front."""
        return f"{self.where}: {self.what}" if self.where else self.what

    @property
    def in_one_line(self) -> str:
        return f"{self.placed} ({self.fix})" if self.fix else self.placed


def in_file_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the problems of one file by line and column; first those of the file as a whole."""
    return tuple(
        sorted(problems, key=lambda each: (each.where.line, each.where.column) if each.where else (0, 0))
    )


class AmplihackError(Exception):
    exit_code: int = 1  # of the class; an error of a whole has that of its parts

    def __init__(self, what: str, *, where: Location | None = None, fix: str = "") -> None:
        self.what, self.where, self.fix = (
            hide_credentials(what),
            without_credentials(where),
            hide_credentials(fix),
        )
        super().__init__(self.what)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Return what to show: most errors are one problem, a bad file may be many."""
        return (Problem(self.what, self.where, self.fix),)


class InputError(AmplihackError):
    exit_code = 2


class UsageError(InputError):
    pass


class DocumentError(InputError):
    pass


class RecipeError(InputError):
    """A recipe that cannot be used; `found` holds every problem of its file, in file order."""

    def __init__(
        self, what: str, *, where: Location | None = None, fix: str = "", found: tuple[Problem, ...] = ()
    ) -> None:
        super().__init__(what, where=where, fix=fix)
        self.found = found

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self.found or super().problems


class ConditionError(RecipeError):
    """An error in a condition. `column` counts from 0 inside the text of the condition."""

    def __init__(self, what: str, *, column: int = 0, where: Location | None = None, fix: str = "") -> None:
        super().__init__(what, where=where, fix=fix)
        self.column = column


class TemplateError(RecipeError):
    """An error in a template. `line` counts from 1 inside the text of the template."""

    def __init__(self, what: str, *, line: int = 1, where: Location | None = None, fix: str = "") -> None:
        super().__init__(what, where=where, fix=fix)
        self.line = line


class NotFound(AmplihackError):
    exit_code = 3


class NothingToUse(AmplihackError):
    exit_code = 4
