"""Gather what the events of a run tell beside its state: prompts, failed attempts, and when it was alive."""

from __future__ import annotations

from collections.abc import Iterable

from amplihack.recipes.events import (
    AgentAsked,
    GateDecided,
    GateReached,
    RecipeEntered,
    Recorded,
    Retrying,
    RunStarted,
    StepStarted,
)
from amplihack.records import Record, field


class FailedAttempt(Record):
    """An attempt after which a step was tried again: its number, when it ended, why, and the pause."""

    attempt: int
    at: float
    reason: str
    delay: float


class RunStory(Record, frozen=False):
    """What happened, by identities. `lives` are the times in which a process had the run."""

    prompts: dict[str, list[str]] = field(default_factory=dict)
    failed_attempts: dict[str, list[FailedAttempt]] = field(default_factory=dict)
    entered: dict[str, RecipeEntered] = field(default_factory=dict)  # the call -> its recipe
    titles: dict[str, str] = field(default_factory=dict)
    gates: dict[str, tuple[float, float | None]] = field(default_factory=dict)  # when reached and decided
    lives: list[tuple[float, float]] = field(default_factory=list)


def tell_story(events: Iterable[tuple[float, Recorded]]) -> RunStory:
    """Return the story of a run from its events and their times."""
    story = RunStory()
    for at, event in events:
        _live(story, at, event)
        _note(story, at, event)
    return story


def _live(story: RunStory, at: float, event: Recorded) -> None:
    if isinstance(event, RunStarted) or not story.lives:
        story.lives.append((at, at))
    elif not isinstance(event, GateDecided):  # a person may answer while no process has the run
        story.lives[-1] = (story.lives[-1][0], at)


def _note(story: RunStory, at: float, event: Recorded) -> None:
    match event:
        case StepStarted():
            story.titles[event.identity] = event.title
        case AgentAsked():
            story.prompts.setdefault(event.identity, []).append(event.prompt)
        case Retrying():
            failed = FailedAttempt(event.attempt - 1, at, event.reason, event.delay)
            story.failed_attempts.setdefault(event.identity, []).append(failed)
        case RecipeEntered():
            story.entered[event.identity] = event
        case GateReached():
            story.gates.setdefault(event.identity, (at, None))
        case GateDecided():
            story.gates[event.identity] = (story.gates.get(event.identity, (at, None))[0], at)
        case _:
            return
