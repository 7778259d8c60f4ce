"""Define what can go wrong with a session.

SessionError                    1
├── ModulesFailed               2  modules without which it cannot be opened
├── SessionNotFound             3  no stored session of that id
│   └── SessionAmbiguous        2  the beginning of several ids
├── SessionInUse                1  another process has it open
├── SessionNotStored            1  the disk is full, or may not be written to
├── TurnFailed                  1  a model or a loop failed; the cause is what it raised
├── SpawnRefused                1  an agent that may not be started here
└── TurnCancelled             130  the turn was cancelled before it was done

Errors that a module raises keep their own types.
"""

from __future__ import annotations

from amplihack.errors import AmplihackError, Problem
from amplihack.records import Record, field


class ModuleFailure(Record):
    """A module that could not be mounted: what went wrong, and how to fix it."""

    kind: str  # orchestrator, context, provider, tool or hook
    module: str
    what: str
    fix: str = ""
    instance: str = ""
    error: BaseException | None = field(default=None, compare=False, repr=False)

    @property
    def problem(self) -> Problem:
        name = f"{self.module} ({self.instance})" if self.instance else self.module
        return Problem(f"{self.kind} {name} failed: {self.what}", fix=self.fix, code="module-failed")


class SessionError(AmplihackError):
    pass


class ModulesFailed(SessionError):
    """A session that cannot be opened; `failures` holds every module that failed."""

    exit_code = 2

    def __init__(self, what: str, *, fix: str = "", failures: tuple[ModuleFailure, ...] = ()) -> None:
        super().__init__(what, fix=fix)
        self.failures = failures

    @property
    def problems(self) -> tuple[Problem, ...]:
        return tuple(failure.problem for failure in self.failures) or super().problems


class SessionNotFound(SessionError):
    exit_code = 3


class SessionAmbiguous(SessionNotFound):
    exit_code = 2


class SessionInUse(SessionError):
    pass


class SessionNotStored(SessionError):
    """What was said cannot be kept. `answer` is what the turn gave all the same: it is paid for."""

    answer: str = ""


class SpawnRefused(SessionError, ValueError):
    pass


class TurnFailed(SessionError):
    """A turn that failed. `transient` says that it may go well later, `retry_after` when, in seconds."""

    def __init__(
        self,
        what: str,
        *,
        fix: str = "",
        transient: bool = False,
        rate_limited: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(what, fix=fix)
        self.transient, self.rate_limited, self.retry_after = transient, rate_limited, retry_after


class TurnCancelled(SessionError):
    """A turn that did not come to its end. `partial` is what the loop answered all the same."""

    exit_code = 130

    def __init__(self, what: str, *, fix: str = "", partial: str = "") -> None:
        super().__init__(what, fix=fix)
        self.partial = partial
