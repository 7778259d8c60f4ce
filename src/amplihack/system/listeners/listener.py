"""What every listener does, and the one way in which they follow which steps are running."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Generic, TypeVar

from amplihack.recipes.events import Event
from amplihack.records import Record


class Listener(ABC):
    """Hears the events of a run in their order, secrets already masked.

    Any method may raise OSError, ValueError or AmplihackError: the listener is then dropped and that is
    reported; the run goes on.
    """

    name: ClassVar[str]  # for the report
    wants_lines: ClassVar[bool] = False  # whether it hears what steps print; there may be very much of it

    @abstractmethod
    def hear(self, event: Event) -> None: ...

    def tick(self) -> None:  # noqa: B027 - most listeners have nothing to do between events
        """Do what is due every few seconds, whether something happens or not."""

    def pause(self) -> None:  # noqa: B027 - most listeners do not draw
        """Give the terminal back, for a question to a person."""

    def resume(self) -> None:  # noqa: B027 - as above
        """Take the terminal again."""

    def close(self) -> None:  # noqa: B027 - most listeners hold nothing
        """Finish; called once, at the end, also after a failure or Ctrl-C."""


def below(identity: str, ancestor: str) -> bool:
    """Tell whether a step is inside another: `a/b` and `a[2]/b` are below `a`."""
    return identity.startswith((f"{ancestor}/", f"{ancestor}["))


_T = TypeVar("_T")


class Running(Record, Generic[_T], frozen=False):
    """The steps that have started and not finished, in the order of their start, with a note on each."""

    notes: dict[str, _T]

    def end(self, identity: str) -> tuple[_T | None, list[tuple[str, _T]]]:
        """Return the note on a step that is over, and those on steps that it cut off, innermost first."""
        note = self.notes.pop(identity, None)
        cut_off = [each for each in reversed(self.notes) if below(each, identity)]
        return note, [(each, self.notes.pop(each)) for each in cut_off]

    def around(self, identity: str) -> Iterator[str]:
        """Yield the running steps that this one, or this round of a loop, is inside of, outermost first."""
        return (each for each in self.notes if below(identity, each))

    def owner(self, identity: str) -> str | None:
        """Return the running step itself, or the innermost one around a loop's round."""
        if identity in self.notes:
            return identity
        return max(self.around(identity), key=len, default=None)
