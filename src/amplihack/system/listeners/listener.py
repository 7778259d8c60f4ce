"""Define what every listener does, and track which steps are running."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from amplihack.errors import UsageError
from amplihack.recipes.events import Event, LinesPrinted, below
from amplihack.records import Record


class Listener(ABC):
    """Receives the events of a run in order, with secrets already masked.

    Any method may raise OSError, ValueError or AmplihackError. The listener is then dropped and reported, and
    the run continues.
    """

    name: ClassVar[str]  # for the report
    outlives: ClassVar[bool] = True  # whether somebody may act on what it heard after we are gone
    wants_lines: ClassVar[bool] = False  # whether it hears what steps print; there may be very much of it

    def wants(self, kind: type[Event]) -> bool:
        """Tell whether it acts on such events at all: masking what nobody hears costs time.

        The answer may not change.
        """
        return self.wants_lines or kind is not LinesPrinted

    @abstractmethod
    def hear(self, event: Event) -> None: ...

    def tick(self) -> None:  # noqa: B027 - most listeners have nothing to do between events
        """Do what is due every few seconds, also when no event arrives."""

    def pause(self) -> None:  # noqa: B027 - most listeners do not draw
        """Release the terminal, for a question to a person."""

    def resume(self) -> None:  # noqa: B027 - as above
        """Use the terminal again."""

    def close(self) -> None:  # noqa: B027 - most listeners hold nothing
        """Finish. Called once at the end, also after a failure or Ctrl-C."""


class NobodyReads(UsageError):
    """Raised for a named pipe that nobody has opened to read from it."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"nobody reads from the pipe {path}", fix="start its reader")


_T = TypeVar("_T")


class Running(Record, Generic[_T], frozen=False):
    """The steps that have started and not finished, in order of their start, with a note on each."""

    notes: dict[str, _T]

    def end(self, identity: str) -> tuple[_T | None, list[tuple[str, _T]]]:
        """Return the note on a finished step, and those on steps cut off inside it, innermost first."""
        note = self.notes.pop(identity, None)
        cut_off = [each for each in reversed(self.notes) if below(each, identity)]
        return note, [(each, self.notes.pop(each)) for each in cut_off]

    def around(self, identity: str) -> Iterator[str]:
        """Yield the running steps around this step or round, outermost first."""
        return (each for each in self.notes if below(identity, each))

    def owner(self, identity: str) -> str | None:
        """Return the running step itself, or the innermost one around a round of a loop."""
        if identity in self.notes:
            return identity
        return max(self.around(identity), key=len, default=None)
