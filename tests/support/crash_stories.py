"""Tell what is killed, how a person goes on after it, and what must be true at the end.

A story begins in a saved place. Its next command follows from what is there to be seen, as it does for a
person, until there is nothing left to do.
"""

from __future__ import annotations

import json
import re
import signal
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from tests.support.crash_points import Kill, Place
from tests.support.crash_recipes import EDITED, SECRET

from amplihack.recipes.results import StepResult
from amplihack.system.run_store.rows import KeptRun

# ruff: noqa: ARG002 - a story need not look at all that it is given
_TOOK = re.compile(r" \(\d+\.\ds\)")
_QUIET = ("--json", "-q")
PATIENCE = 30  # lives of one story; more would mean that it does not get on
REFUSED = 2


@dataclass
class Ended:
    """The end of a story: the run's context and statuses, what steps did, and how often it was killed."""

    context: dict[str, Any]
    statuses: list[tuple[str, str]]
    effects: Counter[str]
    kills: int = 0
    points: int = 0  # of its first life


class Story:
    """A run of `main.yaml` until it is completed, with a gate that is answered on the way."""

    name = "run"
    opens_sessions = False  # then its lives cannot be forked from a process that has opened one
    in_flight = 2  # steps that can be: the members of the group
    first: tuple[str, ...] = ("recipe", "run", "main.yaml", *_QUIET)

    def begin(self, place: Place) -> None:
        """Bring the place to where the story begins."""

    def next(self, place: Place, code: int | None) -> Sequence[str] | None:
        """Return the next command, or None at the end. `code` is how the last life ended."""
        runs = place.runs()
        if not runs:
            return self.first  # or killed before the run was kept: it begins anew
        if runs[0].status == "completed":
            return None
        waits = runs[0].status == "waiting" and any(
            gate.approved is None for gate in place.history(runs[0]).gates()
        )
        return ("runs", "approve", "-m", "go") if waits else ("runs", "resume", *_QUIET)

    def ended(self, place: Place) -> Ended:
        return _end_of(place, place.runs()[0])

    def finished(self, place: Place) -> set[str]:
        """Return the steps that must not be done again."""
        return place.finished()

    def repeats(self, done: set[str], again: Counter[str]) -> set[str]:
        """Return the finished steps that a life has done again."""
        return {name for name in done if again[name.rpartition("/")[2]]}

    def check(self, ended: Ended, expected: Ended) -> None:
        """Raise AssertionError if kills have changed anything but how often a step in flight ran."""
        assert ended.context == expected.context
        assert sorted(ended.statuses) == sorted(expected.statuses)
        more = ended.effects - expected.effects
        assert not expected.effects - ended.effects
        assert all(count <= ended.kills for count in more.values()), more
        assert sum(more.values()) <= self.in_flight * ended.kills, more


class Approval(Story):
    """From the gate on: the answer is killed, or a life after it."""

    name = "approve"

    def begin(self, place: Place) -> None:
        _lead(place, self, lives=1)


class Rest(Story):
    """From the answered gate on."""

    name = "resume"

    def begin(self, place: Place) -> None:
        _lead(place, self, lives=2)


class Background(Story):
    """The same in the background."""

    name = "detach"
    first = ("recipe", "run", "main.yaml", "--detach")


class Denial(Story):
    """A gate is denied, which is final."""

    name = "deny"

    def begin(self, place: Place) -> None:
        _lead(place, Story(), lives=1)

    def next(self, place: Place, code: int | None) -> Sequence[str] | None:
        (run,) = place.runs()
        if run.status != "denied":
            return ("runs", "deny", "-m", "no")
        if code != REFUSED:  # nothing can go on after it
            return ("runs", "resume", *_QUIET)
        return None

    def ended(self, place: Place) -> Ended:
        (run,) = place.runs()
        (gate,) = place.history(run).gates()
        assert (gate.approved, gate.message, bool(gate.by)) == (False, "no", True)
        return Ended({}, [], place.effects)


class Cancel(Story):
    """A run that was cut off is cancelled, and resumed all the same."""

    name = "cancel"

    def begin(self, place: Place) -> None:
        place.live(list(Story.first), 200)
        assert place.runs()[0].status == "interrupted"

    def next(self, place: Place, code: int | None) -> Sequence[str] | None:
        (run,) = place.runs()
        if run.status == "completed":
            return None
        return ("runs", "resume", "--yes", *_QUIET) if run.status == "cancelled" else ("runs", "cancel")


class Fork(Story):
    """A completed run is forked; it stays as it is, and one fork comes of it."""

    name = "fork"

    def begin(self, place: Place) -> None:
        _lead(place, Story(), lives=PATIENCE)
        self.source = place.runs()[0]
        self.shared = [event for *_, event in place.store.events(self.source)]

    def next(self, place: Place, code: int | None) -> Sequence[str] | None:
        forks = [run for run in place.runs() if run.forked_from == self.source.run_id]
        if not forks:
            return ("runs", "fork", self.source.run_id, "--from", "call", "--yes", *_QUIET)
        if forks[0].status == "completed":
            return None
        return ("runs", "resume", forks[0].run_id, "--yes", *_QUIET)

    def finished(self, place: Place) -> set[str]:
        return super().finished(place) if len(place.runs()) > 1 else set()

    def ended(self, place: Place) -> Ended:
        fork, source = sorted(place.runs(), key=lambda run: run.forked_from is None)
        assert fork.forked_from == source.run_id
        assert [event for *_, event in place.store.events(source)] == self.shared
        return _end_of(place, fork)


class Prune(Story):
    """Of three runs the one that waits stays; of the others nothing does."""

    name = "prune"

    def begin(self, place: Place) -> None:
        for name in ("guarded", "main", "guarded"):
            place.live(["recipe", "run", f"{name}.yaml", *_QUIET])
        assert len(place.runs()) == len({run.run_id for run in place.runs()}) == 3

    def next(self, place: Place, code: int | None) -> Sequence[str] | None:
        return None if code == 0 else ("runs", "prune", "--keep", "0")

    def ended(self, place: Place) -> Ended:
        (waiting,) = place.runs()
        assert waiting.status == "waiting"
        with closing(sqlite3.connect(place.store.database)) as connection:
            for table in ("events", "recipes"):
                numbers = connection.execute(f"SELECT DISTINCT run FROM {table}").fetchall()  # noqa: S608
                assert numbers == [(waiting.number,)], table
        return Ended({}, _statuses(place.history(waiting).steps()), place.effects)


class Edited(Story):
    """Recipes are edited after a crash; the run goes on as one of the edited recipes."""

    name = "edit"
    in_flight = 6  # what was finished runs once more if it was edited

    def begin(self, place: Place) -> None:
        _lead(place, Story(), lives=2)
        assert place.live(["runs", "resume", *_QUIET], 60)[0] == -signal.SIGKILL
        place.write(EDITED)

    def next(self, place: Place, code: int | None) -> Sequence[str] | None:
        (run,) = place.runs()
        return None if run.status == "completed" else ("runs", "resume", "--accept-changes", *_QUIET)

    def finished(self, place: Place) -> set[str]:
        return super().finished(place) & {"a", "b", "big", "flaky"}


class Guarded(Story):
    """Steps that must not run twice unasked do not, wherever the run was killed."""

    name = "idempotent: false"
    in_flight = 1
    first = ("recipe", "run", "guarded.yaml", *_QUIET)

    def next(self, place: Place, code: int | None) -> Sequence[str] | None:
        words = super().next(place, code)
        if code == REFUSED and words is not None:
            self.asked += 1
            return (*words, "--run-again")
        return words

    def begin(self, place: Place) -> None:
        self.asked = 0

    def check(self, ended: Ended, expected: Ended) -> None:
        super().check(ended, expected)
        paid = sum(count - 1 for name, count in ended.effects.items() if name[:3] in ("pay", "ref"))
        asked, self.asked = self.asked, 0
        assert paid <= asked, (paid, asked)


class Secret(Story):
    """A secret is never on the disk, and is given again."""

    name = "secret"
    in_flight = 2  # one that was cut off, and one whose result is not kept
    first = ("recipe", "run", "secret.yaml", "--set", f"token={SECRET}", *_QUIET)

    def next(self, place: Place, code: int | None) -> Sequence[str] | None:
        assert SECRET.encode() not in place.kept_bytes()
        words = super().next(place, code)
        return words if words in (None, self.first) else (*(words or ()), "--set", f"token={SECRET}")


class ToolGate(Story):
    """A tool of an agent waits for a person. What is kept of the conversation is not paid for again."""

    name = "tool gate"
    opens_sessions = True
    in_flight = 1  # an answer of the model, or the tool, whose end was not noted
    first = ("recipe", "run", "gated.yaml", "--agent", "session:./agent.yaml", *_QUIET)

    def finished(self, place: Place) -> set[str]:
        done = super().finished(place)
        known = place.history(place.runs()[0]).state.instance("ask") if place.runs() else None
        if "ask" in done:
            return {*done, "paid-1", "paid-2", "tool"}
        if known is None or known.paused is None or not known.paused.state:
            return done
        has_result = any(each["role"] == "tool" for each in json.loads(known.paused.state)["messages"])
        return {*done, "paid-1", *(["tool"] if has_result else [])}

    def ended(self, place: Place) -> Ended:
        gates = place.history(place.runs()[0]).gates()
        assert all(gate.approved for gate in gates)
        assert place.effects["tool"] <= len(gates), (place.effects, gates)  # never without an answer
        return super().ended(place)


class ToolGateAnswered(ToolGate):
    """The same from the answered gate on."""

    name = "tool gate answered"

    def begin(self, place: Place) -> None:
        _lead(place, self, lives=2)


STORIES = (
    *(Story, Approval, Rest, Background, Denial, Cancel, Fork, Prune, Edited, Guarded, Secret),
    *(ToolGate, ToolGateAnswered),
)


def _lead(place: Place, story: Story, lives: int) -> None:
    code: int | None = None
    for _ in range(lives):
        words = story.next(place, code)
        if words is None:
            return
        code, _ = place.live(list(words))


def tell(story: Story, place: Place, kills: Sequence[Kill], expected: Ended | None = None) -> Ended:
    """Live the story in the saved place, each life killed as `kills` says, and check all that must hold."""
    place.restore()
    code: int | None = None
    lives = killed = points = 0
    try:
        while (words := story.next(place, code)) is not None:
            before, done = place.effects, story.finished(place)
            code, passed = place.live(list(words), kills[lives] if lives < len(kills) else None)
            points = passed if lives == 0 else points
            killed += code == -signal.SIGKILL
            assert not story.repeats(done, place.effects - before), (done, place.effects - before)
            lives += 1
            assert lives < PATIENCE
        ended = story.ended(place)
        ended.kills, ended.points = killed, points
        _check_place(place)
        if expected is not None:
            story.check(ended, expected)
    except AssertionError as error:
        error.add_note(f"story '{story.name}', kills {list(kills)}, place {place.path}")
        error.add_note(f"errors:\n{place.errors[-2000:]}")
        raise
    return ended


def _check_place(place: Place) -> None:
    with closing(sqlite3.connect(place.store.database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    left = place.left_over()
    assert not left, left


def _end_of(place: Place, run: KeptRun) -> Ended:
    history = place.history(run)
    assert history.result is not None
    context = {name: _timeless(value) for name, value in history.result.context.items()}
    return Ended(context, _statuses(history.steps()), place.effects)


def _timeless(value: Any) -> Any:
    """Return a value without the times in the text of a sub-recipe's result."""
    return _TOOK.sub("", value) if isinstance(value, str) else value


def _statuses(steps: tuple[StepResult, ...]) -> list[tuple[str, str]]:
    return [pair for step in steps for pair in [(step.identity, step.status), *_statuses(step.children)]]
