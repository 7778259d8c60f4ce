"""Write progress as plain lines, for a log or a pipe."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from amplihack.recipes.events import Event
from amplihack.system.listeners.listener import Listener
from amplihack.system.listeners.wording import Line, Narrator, Tone

# The colours that the live display has, for logs that are read with colours.
_CODES: dict[Tone, str] = {
    "completed": "32",
    "skipped": "2",
    "failed": "1;31",
    "interrupted": "1;31",
    "degraded": "33",
    "waiting": "33",
    "note": "33",
    "output": "2",
}


class PlainProgress(Listener):
    """Writes a line when a step starts and one when it ends; with `verbose` also what it prints.

    A step that takes long is mentioned every half minute, with what it printed last.

    ▶ build [sub-recipe] (1 of 2)
        » recipe compile, 1 step
      ▶ cc (1 of 1)
        ✓ cc (0.4s)
      ✓ build (0.4s)
    """

    name = "the progress display"
    outlives = False
    wants_lines = True

    def __init__(
        self,
        stream: TextIO,
        *,
        clock: Callable[[], float],
        verbose: bool = False,
        colours: bool = False,
        asks: bool = False,
    ) -> None:
        """Write to a stream. `clock` gives seconds that never go backwards; `asks` is for the narrator."""
        self._stream, self._colours = stream, colours
        self._narrator = Narrator(clock, verbose=verbose, asks=asks)

    def hear(self, event: Event) -> None:
        self._write(self._narrator.tell(event))

    def tick(self) -> None:
        self._write(self._narrator.heartbeat())

    def _write(self, lines: list[Line]) -> None:
        if not lines:
            return
        text = "".join(f"{self._painted(line)}\n" for line in lines)
        encoding = self._stream.encoding or "utf-8"
        # A stream of a plain-ASCII locale still gets its lines, with ? for the signs it cannot show.
        self._stream.write(text.encode(encoding, "replace").decode(encoding))
        self._stream.flush()

    def _painted(self, line: Line) -> str:
        code = _CODES.get(line.tone) if self._colours else None
        return f"\x1b[{code}m{line}\x1b[0m" if code else str(line)
