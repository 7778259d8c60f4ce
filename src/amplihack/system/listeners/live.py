"""Show live progress to a person at a terminal. Import it only then: `rich` is slow to import."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from amplihack.recipes.events import Event, RunFinished, RunStarted, StepStarted
from amplihack.system.listeners.listener import Listener
from amplihack.system.listeners.wording import Line, Narrator, Note, Tone, clean

REFRESHES = 8  # a second
_SHORTEST_NAME = 8  # columns
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_STYLES: dict[Tone, str] = {
    "start": "",
    "completed": "green",
    "skipped": "dim",
    "failed": "bold red",
    "interrupted": "bold red",
    "degraded": "yellow",
    "waiting": "yellow",
    "note": "yellow",
    "output": "dim",
}


class _Terminal(Console):
    def on_broken_pipe(self) -> None:
        raise  # called while the error is handled; rich would end the process, and the run


def terminal(stream: TextIO, *, colours: bool = True) -> Console:
    """Return a console that raises an error when its terminal goes away."""
    return _Terminal(
        file=stream,
        force_terminal=stream.isatty(),  # otherwise `rich` asks FORCE_COLOR, and an empty one means no to it
        highlight=False,
        no_color=not colours,
        color_system="auto" if colours else None,
    )


class LiveProgress(Listener):
    """Shows running steps at the bottom of the terminal, and finished ones as lasting lines above.

    A thread redraws it, so that it moves even while the run is busy. Nothing is shown before the run starts,
    and only the lasting lines remain after `close`.
    """

    name = "the progress display"
    outlives = False
    wants_lines = True

    def __init__(
        self, console: Console, *, clock: Callable[[], float], verbose: bool = False, asks: bool = False
    ) -> None:
        """Draw on a console. `clock` gives seconds that never go backwards; `asks` is for the narrator."""
        self._console = console
        self._clock = clock
        self._narrator = Narrator(clock, verbose=verbose, asks=asks)
        self._lock = threading.RLock()
        self._recipe, self._of, self._number = "", 0, 0
        self._began = clock()
        self._live: Live | None = None
        self._over = False

    def hear(self, event: Event) -> None:
        with self._lock:
            lines = self._narrator.tell(event)
            self._follow(event)
        self._print([line for line in lines if line.tone != "start"])
        if isinstance(event, RunStarted):
            self.resume()
        if isinstance(event, RunFinished):
            self._over = True
            self.pause()

    def pause(self) -> None:
        """Release the terminal, for a question to a person. The lasting lines stay."""
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def resume(self) -> None:
        if self._live is None and not self._over:
            self._live = Live(
                get_renderable=lambda: _Panel(self),
                console=self._console,
                refresh_per_second=REFRESHES,
                transient=True,  # it vanishes when stopped
                redirect_stdout=False,  # results go to stdout after the run, untouched
                redirect_stderr=True,  # a line of ours has to stand above the display, which wipes its own
                vertical_overflow="crop",
            )
            self._live.start()

    def close(self) -> None:
        self._over = True
        self.pause()

    def rows(self, height: int, width: int) -> list[Text]:
        """Return the lines to draw now, at most `height` of them, each of at most `width` columns."""
        with self._lock:
            now = self._clock()
            rows = [self._header(now, width)]
            rows += [self._row(note, now, width) for note in self._narrator.running.notes.values()]
        if len(rows) > height:
            hidden = len(rows) - height + 1
            rows = [*rows[: height - 1], Text(f"  … and {hidden} more", style="dim")]
        for row in rows:
            row.truncate(width, overflow="ellipsis")
        return rows

    def _follow(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._recipe, self._of, self._began = clean(event.recipe), event.steps, self._clock()
        elif isinstance(event, StepStarted) and event.depth == 0 and not self._inside(event):
            self._number = event.number

    def _inside(self, event: StepStarted) -> bool:
        return any(True for _ in self._narrator.running.around(event.identity))

    def _header(self, now: float, width: int) -> Text:
        step = f"  step {self._number} of {self._of}" if self._number else ""
        facts = Text.assemble(step, (f"  {_elapsed(now - self._began)}", "dim"))
        return _beside(Text(self._recipe, "bold"), facts, width)

    def _row(self, note: Note, now: float, width: int) -> Text:
        row = Text("  " * (note.level + 1))
        row.append(_SPINNER[int(now * REFRESHES) % len(_SPINNER)], style="cyan")
        row.append(" ")
        facts = Text(f"  {_elapsed(now - note.since)}", style="dim")
        if note.rounds:
            facts = Text.assemble(facts, f"  {note.rounds.count}")
        row.append(_beside(Text(str(note)), facts, width - row.cell_len))
        if row.cell_len >= width:
            return row  # more would cut the end of what is there
        if note.rounds:
            row.append(f"  {note.rounds.names}".rstrip())
        if note.last_line and not note.holds_steps:
            row.append(f"  {clean(note.last_line)}", style="dim")
        return row

    def _print(self, lines: list[Line]) -> None:
        for line in lines:
            self._console.print(Text(str(line), style=_STYLES[line.tone]), soft_wrap=True)


def _beside(name: Text, facts: Text, width: int) -> Text:
    """Return a name and what changes, which must be seen: the name is cut where not both have room."""
    name.truncate(max(width - facts.cell_len, _SHORTEST_NAME), overflow="ellipsis")
    return Text.assemble(name, facts)


class _Panel:
    """Draws the current state each time the refreshing thread asks."""

    def __init__(self, progress: LiveProgress) -> None:
        self._progress = progress

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = max(2, (options.height or console.height) - 1)
        rows = self._progress.rows(height, options.max_width)
        yield Text("\n").join(rows)


def _elapsed(seconds: float) -> str:
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}m {rest:02d}s" if minutes < 60 else f"{minutes // 60}h {minutes % 60:02d}m"
