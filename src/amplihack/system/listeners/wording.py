"""Turn events into lines for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from amplihack.recipes.events import (
    Event,
    GateDecided,
    GateReached,
    IterationStarted,
    LinesPrinted,
    RecipeEntered,
    Retrying,
    RunFinished,
    StepFinished,
    StepStarted,
    Warned,
)
from amplihack.recipes.results import Status, StepResult
from amplihack.recipes.secret_forms import strip_colours
from amplihack.records import Record
from amplihack.system.listeners.listener import Running

ICONS: dict[Status, str] = {"completed": "✓", "skipped": "⊘", "failed": "✗", "degraded": "⚠"}
KINDS = {"agent": " [agent — may take several minutes]", "recipe": " [sub-recipe]"}
QUIET = 30.0  # seconds without a line after which a person may wonder

Tone: TypeAlias = Literal["start", "completed", "skipped", "failed", "degraded", "note", "output"]


class Line(Record):
    """A line of progress; `level` is the number of running steps around it."""

    level: int
    text: str
    tone: Tone

    def __str__(self) -> str:
        return "  " * self.level + self.text


class Note(Record, frozen=False):
    """What to know about a running step."""

    label: str
    level: int
    since: float
    heard: float  # when it last printed something, or we last said that it does not
    last_line: str = ""  # as it came: clean it before showing it
    holds_steps: bool = False


def clean(text: str) -> str:
    """Return one line that cannot control a terminal: no escapes, only the end of a progress bar."""
    last = strip_colours(text).rstrip("\r\n").rpartition("\r")[2]
    if last.isprintable():
        return last
    return "".join(char if char.isprintable() else " " if char == "\t" else "�" for char in last)


def first_line(text: str) -> str:
    return next((clean(line) for line in text.splitlines() if line.strip()), "")


def seconds(duration: float | None) -> str:
    return "" if duration is None else f" ({duration:.1f}s)"


class Narrator:
    """Turns events into lines, and tracks which steps are running."""

    def __init__(self, clock: Callable[[], float], *, verbose: bool = False) -> None:
        self._clock = clock
        self._verbose = verbose
        self.running: Running[Note] = Running({})

    def tell(self, event: Event) -> list[Line]:
        """Return the lines for this event; many events have none."""
        match event:
            case StepStarted():
                return [self._started(event)]
            case StepFinished(result):
                note, cut_off = self.running.end(result.identity)
                level = note.level if note else self._level(result.identity)
                unfinished = [self._unfinished(each) for _, each in cut_off]
                return [*unfinished, Line(level, f"  {_ending(result)}", result.status)]
            case RunFinished():
                left = list(reversed(self.running.notes.values()))
                self.running.notes.clear()
                return [self._unfinished(note) for note in left]
            case LinesPrinted():
                return self._printed(event)
            case RecipeEntered():
                return [self._note(event.identity, f"» recipe {clean(event.recipe)}, {_steps(event.steps)}")]
            case IterationStarted():
                of = f" of {event.of}" if event.of is not None else ""
                return [
                    self._note(
                        event.identity, f"↻ {self._label(event.identity)}: round {event.index + 1}{of}"
                    )
                ]
            case Retrying():
                return [self._note(event.identity, self._retry(event))]
            case Warned():
                where = f"{self._label(event.identity)}: " if event.identity else ""
                return [self._note(event.identity, f"⚠ {where}{text}") for text in _lines(event.what)]
            case GateReached() | GateDecided():
                return [Line(0, text, "note") for text in _gate(event)]
            case _:
                return []

    def silent(self) -> list[Line]:
        """Return a line for each step that has been silent for a while, so that nobody thinks it hangs."""
        now = self._clock()
        lines = []
        for note in self.running.notes.values():
            if not note.holds_steps and now - note.heard >= QUIET:
                note.heard = now
                lines.append(Line(note.level, f"  … {note.label}: working ({now - note.since:.0f}s)", "note"))
        return lines

    def _started(self, event: StepStarted) -> Line:
        level, now = self._level(event.identity), self._clock()
        for each in self.running.around(event.identity):
            self.running.notes[each].holds_steps = True
        label = clean(event.step_id)
        self.running.notes[event.identity] = Note(label, level, now, now)
        title = f": {clean(event.title)}" if event.title != event.step_id else ""
        kind = KINDS.get(event.kind, "")
        return Line(level, f"▶ {label}{kind} ({event.number} of {event.of}){title}", "start")

    def _unfinished(self, note: Note) -> Line:
        took = seconds(self._clock() - note.since)
        return Line(note.level, f"  ✗ {note.label}{took} — cut off before its end", "failed")

    def _printed(self, event: LinesPrinted) -> list[Line]:
        owner = self.running.owner(event.identity)
        if owner is not None:
            note = self.running.notes[owner]
            note.heard = self._clock()
            note.last_line = next((line for line in reversed(event.lines) if line.strip()), note.last_line)
        if not self._verbose:
            return []
        level, label = self._inside(event.identity), self._label(event.identity)
        return [Line(level, f"  │ {label}: {clean(line)}", "output") for line in event.lines]

    def _note(self, identity: str, text: str) -> Line:
        return Line(self._inside(identity), f"  {text}" if identity else text, "note")

    def _retry(self, event: Retrying) -> str:
        wait = f" in {event.delay:g}s" if event.delay else ""
        label = self._label(event.identity)
        return f"↺ {label}: attempt {event.attempt} of {event.of}{wait} — {first_line(event.reason)}"

    def _level(self, identity: str) -> int:
        return sum(1 for _ in self.running.around(identity))

    def _inside(self, identity: str) -> int:
        owner = self.running.owner(identity)
        return self.running.notes[owner].level if owner is not None else 0

    def _label(self, identity: str) -> str:
        """Return the id of a step or of one of its rounds, such as `each[2]`."""
        owner = self.running.owner(identity)
        if owner is None:
            return clean(identity)
        return self.running.notes[owner].label + clean(identity[len(owner) :])


def _ending(result: StepResult) -> str:
    about = {
        "failed": first_line(result.error.removeprefix(f"Step '{result.step_id}' failed: ")),
        "skipped": first_line(result.skip_reason),
        "degraded": first_line(result.warnings[-1] if result.warnings else result.error),
    }.get(result.status, "")
    allowed = " (allowed)" if result.allowed and result.status == "failed" else ""
    why = f" — {about}" if about else ""
    return f"{ICONS[result.status]} {clean(result.step_id)}{seconds(result.duration)}{allowed}{why}"


def _gate(event: GateReached | GateDecided) -> list[str]:
    if isinstance(event, GateReached):
        return [
            f"⏸ {clean(event.stage)}: waits for approval",
            *(f"  {line}" for line in _lines(event.prompt)),
        ]
    word = "approved" if event.approved else "denied"
    message = f" — {first_line(event.message)}" if event.message.strip() else ""
    return [f"⏵ {clean(event.stage)}: {word}{message}"]


def _lines(text: str) -> list[str]:
    return [clean(line) for line in text.splitlines() if line.strip()]


def _steps(number: int) -> str:
    return "1 step" if number == 1 else f"{number} steps"
