"""Turn events into lines for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from amplihack.recipes.brief_error import brief, cause
from amplihack.recipes.events import (
    Event,
    GateDecided,
    GateReached,
    IterationFinished,
    IterationStarted,
    LinesPrinted,
    RecipeEntered,
    Retrying,
    RunFinished,
    Staged,
    StepFinished,
    StepStarted,
    Warned,
)
from amplihack.recipes.results import Status, StepResult, in_seconds
from amplihack.recipes.secret_forms import strip_colours
from amplihack.recipes.values import one_line, some
from amplihack.records import Record, replace
from amplihack.system.listeners.listener import Running
from amplihack.system.listeners.loop_progress import LoopProgress, shown_item

ICONS: dict[Status, str] = {
    "completed": "✓",
    "skipped": "⊘",
    "failed": "✗",
    "degraded": "⚠",
    "waiting": "⏸",
    "interrupted": "✗",
}
KINDS = {"agent": " [agent — may take several minutes]", "recipe": " [sub-recipe]"}
MOST_FILES = 20  # of one step, in one line
HEARTBEAT = 28.0  # seconds without a line of ours; asked every 5, so that it comes each half minute
_WIDEST_LINE = 120  # of what a step printed, behind our own words

Tone: TypeAlias = Status | Literal["start", "note", "output"]


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
    told: float  # when we last said something about it
    title: str = ""  # its name, where that is not the id
    last_line: str = ""  # as it came: clean it before showing it
    holds_steps: bool = False
    rounds: LoopProgress | None = None
    warned: str = ""  # the warning that was told last
    waits: str = ""  # what it waits for, until `waits_until`
    waits_until: float = 0.0

    def __str__(self) -> str:
        return f"{self.label} · {self.title}" if self.title else self.label


def clean(text: str) -> str:
    """Return one line that cannot control a terminal: no escapes, only the end of a progress bar."""
    last = strip_colours(text).rstrip("\r\n").rpartition("\r")[2]
    if last.isprintable():
        return last
    return "".join(char if char.isprintable() else " " if char == "\t" else "�" for char in last)


def first_line(text: str) -> str:
    return next((clean(line) for line in text.splitlines() if line.strip()), "")


class Narrator:
    """Turns events into lines, and tracks which steps are running.

    `asks` says that a person is asked here, with the words of the gate: they are not shown before that too.
    """

    def __init__(self, clock: Callable[[], float], *, verbose: bool = False, asks: bool = False) -> None:
        self._clock = clock
        self._verbose = verbose
        self._asks = asks
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
                return [*unfinished, Line(level, f"  {_ending(result, note)}", result.status)]
            case RunFinished():
                left = list(reversed(self.running.notes.values()))
                self.running.notes.clear()
                return [self._unfinished(note) for note in left]
            case LinesPrinted():
                return self._printed(event)
            case RecipeEntered():
                return [self._note(event.identity, f"» recipe {clean(event.recipe)}, {_steps(event.steps)}")]
            case IterationStarted():
                return [self._note(event.identity, self._round_started(event))]
            case IterationFinished(result):
                return self._round_finished(result)
            case Retrying():
                return [self._note(event.identity, self._retry(event))]
            case Warned():
                return self._warned(event)
            case Staged():
                names = clean(some(event.files, MOST_FILES))
                return [
                    self._note(event.identity, f"+ {self._label(event.identity)}: staged with git: {names}")
                ]
            case GateReached() | GateDecided():
                return [Line(0, text, "note") for text in _gate(event, asks=self._asks)]
            case _:
                return []

    def heartbeat(self) -> list[Line]:
        """Return a line for each working step that nothing was said of for a while: it does not hang."""
        now = self._clock()
        lines = []
        for identity, note in self.running.notes.items():
            if not note.holds_steps and now - note.told >= HEARTBEAT:
                note.told = now
                lines.append(Line(note.level, f"  … {_at_work(note, now, self._rounds(identity))}", "note"))
        return lines

    def _rounds(self, identity: str) -> str:
        """Say how far the loop of a step is: its own, else the innermost one around it, with its round."""
        if rounds := self.running.notes[identity].rounds:
            return f", {rounds}"
        for loop in reversed(list(self.running.around(identity))):
            note = self.running.notes[loop]
            if note.rounds and (name := note.rounds.name_in(identity[len(loop) :])):
                return f", {note.label} {name} ({note.rounds.count})"
        return ""

    def _started(self, event: StepStarted) -> Line:
        level, now = self._level(event.identity), self._clock()
        for each in self.running.around(event.identity):
            self.running.notes[each].holds_steps = True
        label = clean(event.step_id)
        title = clean(event.title) if event.title != event.step_id else ""
        self.running.notes[event.identity] = note = Note(label, level, now, now, title)
        kind = KINDS.get(event.kind, "")
        return Line(level, f"▶ {note}{kind} ({event.number} of {event.of})", "start")

    def _round_started(self, event: IterationStarted) -> str:
        note = self.running.notes.get(event.identity)
        rounds = (note and note.rounds) or LoopProgress(event.of)
        name = rounds.begin(event.index, clean(shown_item(event)))
        done = f" ({rounds.count})" if rounds.done else ""
        if note is not None:
            note.rounds = rounds
            note.last_line = note.last_line if rounds.side_by_side else ""  # the round before printed it
        return f"↻ {self._label(event.identity)}: {name}{done}"

    def _round_finished(self, result: StepResult) -> list[Line]:
        """Say that a round is over, where rounds run at the same time: elsewhere the next one says it."""
        loop, _, index = result.identity.rpartition("[")
        note = self.running.notes.get(loop)
        if note is None or note.rounds is None:
            return []
        name = note.rounds.end(int(index.rstrip("]")))
        if not note.rounds.side_by_side:
            return []
        about = f" — {clean(cause(result))}" if result.status == "failed" else ""
        took, count = in_seconds(result.duration), note.rounds.count
        text = f"{ICONS[result.status]} {note.label}: {name}{took}{about} ({count})"
        return [replace(self._note(loop, text), tone=result.status)]

    def _warned(self, event: Warned) -> list[Line]:
        if (note := self.running.notes.get(event.identity)) is not None:
            note.warned = event.what
        where = f"{self._label(event.identity)}: " if event.identity else ""
        return [self._note(event.identity, f"⚠ {where}{text}") for text in _lines(event.what)]

    def _unfinished(self, note: Note) -> Line:
        took = in_seconds(self._clock() - note.since)
        return Line(note.level, f"  ✗ {note}{took} — cut off before its end", "interrupted")

    def _printed(self, event: LinesPrinted) -> list[Line]:
        owner = self.running.owner(event.identity)
        if owner is not None:
            note = self.running.notes[owner]
            note.waits_until = 0.0
            if self._verbose:
                note.told = self._clock()
            if not event.of_hook:
                note.last_line = next(
                    (line for line in reversed(event.lines) if line.strip()), note.last_line
                )
        if not self._verbose:
            return []
        level, label = self._inside(event.identity), self._label(event.identity)
        label += f", {event.stream}" if event.of_hook else ""
        return [Line(level, f"  │ {label}: {clean(line)}", "output") for line in event.lines]

    def _note(self, identity: str, text: str) -> Line:
        owner = self.running.owner(identity)
        if owner is not None:
            self.running.notes[owner].told = self._clock()
        return Line(self._inside(identity), f"  {text}" if identity else text, "note")

    def _retry(self, event: Retrying) -> str:
        attempt = f"attempt {event.attempt} of {event.of}"
        if (owner := self.running.owner(event.identity)) is not None:
            note = self.running.notes[owner]
            note.waits, note.waits_until = f"waits for {attempt}", self._clock() + event.delay
        wait = f" in {event.delay:g}s" if event.delay else ""
        return f"↺ {self._label(event.identity)}: {attempt}{wait} — {clean(brief(event.reason))}"

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


def _ending(result: StepResult, note: Note | None) -> str:
    about = {
        "failed": clean(_with_last_line(cause(result), note)) if result.status == "failed" else "",
        "completed": first_line(result.skip_reason),
        "skipped": first_line(result.skip_reason),
        "degraded": _shortfall(result, note),
    }.get(result.status, "")
    allowed = " (allowed)" if result.allowed and result.status == "failed" else ""
    why = f" — {about}" if about else ""
    label = note or clean(result.step_id)
    return f"{ICONS[result.status]} {label}{in_seconds(result.duration)}{allowed}{why}"


def _shortfall(result: StepResult, note: Note | None) -> str:
    """Return why a step is degraded, unless the line before has said so."""
    why = result.warnings[-1] if result.warnings else result.error
    return "" if note and note.warned == why else first_line(why)


def _with_last_line(error: str, note: Note | None) -> str:
    """Add what a step printed last, where it ran out of time; other errors quote it themselves."""
    said = _last(note) if note and not note.holds_steps and "timed out" in error else ""
    return f"{error}; it printed last: {said}" if said else error


def _at_work(note: Note, now: float, rounds: str) -> str:
    """Say which step is at work, for how long, how far its loop is and what it printed last."""
    doing = note.waits if now < note.waits_until else "working"
    said = f" — {_last(note)}" if note.last_line else ""
    return f"{note}: {doing} ({now - note.since:.0f}s){rounds}{said}"


def _last(note: Note) -> str:
    return one_line(clean(note.last_line), _WIDEST_LINE)


def _gate(event: GateReached | GateDecided, *, asks: bool) -> list[str]:
    if isinstance(event, GateReached):
        prompt = [] if asks else [f"  {line}" for line in _lines(event.prompt)]
        return [f"⏸ {clean(event.stage)}: waits for approval", *prompt]
    word = "approved" if event.approved else "denied"
    message = f" — {first_line(event.message)}" if event.message.strip() else ""
    return [f"⏵ {clean(event.stage)}: {word}{message}"]


def _lines(text: str) -> list[str]:
    return [clean(line) for line in text.splitlines() if line.strip()]


def _steps(number: int) -> str:
    return "1 step" if number == 1 else f"{number} steps"
