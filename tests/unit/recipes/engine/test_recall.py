"""A journal that remembers makes runs durable: what its history says is done is not done again, wherever it
stands, and the result at the end is the one of a run that nothing disturbed.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.support.fake_world import Crash, CrashingJournal, FakeApprover, FakeShell, FakeWorld

from amplihack.recipes.agent_port import AgentFailed, AgentReply, AgentRequest, Decision, Usage
from amplihack.recipes.events import (
    Event,
    GateReached,
    IterationFinished,
    IterationStarted,
    Retrying,
    StepFinished,
    StepStarted,
    from_json,
    to_json,
)
from amplihack.recipes.ports import ShellOutcome, ShellRequest
from amplihack.recipes.results import RunResult, StepResult
from amplihack.recipes.run_state import RunState
from amplihack.records import replace


def approving() -> FakeApprover:
    return FakeApprover([Decision(True, "go"), Decision(True, "go"), None])


def lives(world: Living, text: str, cut: int | None, **options: Any) -> RunResult | None:
    """Run until the journal has recorded `cut` events in this life; None if the run ended there."""
    world.journal.crash_after = cut
    try:
        return world.run(text, **options)
    except (Crash, BaseExceptionGroup):
        return None


class Living(FakeWorld):
    """A world that outlives the run: its answers depend only on what the journal knows."""

    def __init__(self, recipes: dict[str, str] | None = None) -> None:
        super().__init__(recipes=recipes)
        self.shell: LivingShell = LivingShell(self.clock, self._answers())
        self.journal: CrashingJournal = CrashingJournal()
        self.agent: Any = SteadyAgent(self.retried)

    def retried(self, identity: str) -> bool:
        known = (*self.journal.past, *self.journal.events)
        return any(isinstance(event, Retrying) and event.identity == identity for event in known)

    def _answers(self) -> dict[str, Any]:
        async def slow() -> str:
            for _ in range(20):
                await asyncio.sleep(0)
            return "slow"

        def fails_until_retried(identity: str) -> Callable[[], Any]:
            async def answer() -> str | int:
                return "mended" if self.retried(identity) else 3

            return answer

        return {
            "broken": 3,
            "see b": 4,
            "slowly": slow,
            "round-x": fails_until_retried("tries[0]"),
            "flaky": fails_until_retried("flaky"),
            "shaky": fails_until_retried("calls"),
        }

    def next_life(self) -> None:
        recorded = [*self.journal.past, *self.journal.events]
        self.journal.past = [from_json(json.loads(json.dumps(to_json(event)))) for event in recorded]
        assert self.journal.past == recorded
        self.journal.events = []
        self.journal.crash_after = None
        self.approver = approving()


class LivingShell(FakeShell):
    """Knows scripts by their text with the variables filled in."""

    @property
    def scripts(self) -> list[str]:
        return [_filled(request) for request in self.requests]

    async def _outcome(self, _source: str) -> ShellOutcome:
        return await super()._outcome(_filled(self.requests[-1]))


def _filled(request: ShellRequest) -> str:
    text = request.script.source
    for name, value in request.script.variables.items():
        text = text.replace(f'"${name}"', value)
    return text


@dataclass
class SteadyAgent:
    """Answers by the prompt; what asks for patience fails until the journal says that it was tried again."""

    retried: Callable[[str], bool]
    requests: list[AgentRequest] = field(default_factory=list)
    name: str = "steady"

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        self.requests.append(request)
        on_line("thinking")
        await asyncio.sleep(0)
        if "patience" in request.prompt and not self.retried("patient"):
            raise AgentFailed("too busy", transient=True)
        usage = Usage(input_tokens=7, output_tokens=2)
        return AgentReply(text=f"answer to {request.prompt}", usage=usage, cost_usd=0.25)


EVERYTHING = """
name: durable
context: {items: [a, b, c], n: 0}
hooks: {post_step: "hook-broken"}
summary: "{{again}} and {{seen}}"
steps:
  - {id: first, command: "one {{nowhere}}"}
  - {id: gone, command: broken, on_error: continue}
  - {id: each, foreach: "{{items}}", command: "see {{item}}", collect: seen, on_error: continue}
  - {id: wide, foreach: "{{items}}", command: "see {{item}}", collect: saw, parallel: 2, on_error: continue}
  - id: body
    foreach: [1, 2]
    as: k
    steps:
      - {id: inner, command: "inner {{k}} {{missing}}"}
      - {id: again, command: "again {{inner}}", condition: "k == 1"}
  - {id: after, command: "after {{steps.again.status}} {{steps.inner.output}}"}
  - {id: count, while_condition: "n < 3", command: echo, update_context: {n: "{{_loop_iteration}}"}}
  - {id: left, command: slowly, parallel_group: g, output: side}
  - {id: right, command: right, parallel_group: g, output: side}
  - {id: third, prompt: "think of {{first}}", parallel_group: g}
  - {id: skipped, command: never, condition: "first == 'x'"}
  - {id: flaky, command: flaky, retry: {max_attempts: 3, initial_delay: 4}}
  - {id: tries, foreach: [x, y], as: t, command: "round-{{t}}", retry: {max_attempts: 2}}
  - {id: patient, prompt: "patience", retry: {max_attempts: 3}}
  - {id: calls, recipe: child, retry: {max_attempts: 2, initial_delay: 1}}
  - {id: apart, recipe: child-apart, context_mode: isolated, context: {word: w}}
  - {id: may, recipe: fails, on_error: continue}
  - {id: last, command: "end {{first}} {{seen}} {{again}} {{side}} {{deep}} {{gone}} {{may}}"}
"""
BOOK = {
    "child": "name: child\nsteps:\n  - {id: c1, command: 'c-one {{absent}}', output: deep}\n"
    "  - {id: c2, recipe: grandchild}\n  - {id: c3, command: shaky}\n",
    "grandchild": "name: grandchild\nsteps: [{id: g1, prompt: think}, {id: g2, command: 'g {{g1}}'}]\n",
    "child-apart": "name: child-apart\ncontext: {word: ''}\nsteps: [{id: p1, command: 'apart {{word}}'}]\n",
    "fails": "name: fails\nsteps: [{id: f1, command: ok}, {id: f2, command: broken}, {id: f3, command: x}]\n",
}
STAGES = """
name: gated
version: 1.0.0
description: d
stages:
  - name: one
    steps: [{id: a, type: bash, command: "x {{undefined}}"}, {id: b, type: bash, command: y}]
    approval: {required: true, prompt: "go on with {{a}}?"}
  - name: never
    condition: "a == 'nothing'"
    steps: [{id: n, type: bash, command: never}]
  - name: two
    steps: [{id: c, type: bash, command: "said {{_approval_message}}"}, {id: d, recipe: gated-child}]
"""
GATED = {
    "gated-child": "name: gated-child\nversion: 1.0.0\ndescription: d\nstages:\n"
    "  - name: inner\n    approval: {required: true, prompt: really?}\n"
    "    steps: [{id: e, type: bash, command: z}]\n"
}
LIMITED = """
name: limited
recursion: {max_total_steps: 5}
steps:
  - {id: a, command: one}
  - {id: each, foreach: [1, 2], command: "see {{item}}"}
  - {id: call, recipe: child-small}
  - {id: over, command: too-many, on_error: continue}
  - {id: z, command: z}
"""
SMALL = {"child-small": "name: child-small\nsteps: [{id: s1, command: s1}, {id: s2, command: s2}]\n"}
LEAVES = """
name: leaves
steps:
  - {id: a, command: one}
  - {id: b, command: broken, on_error: skip_remaining}
  - {id: c, command: never}
"""
FAILED_ROUND = """
name: failed-round
steps:
  - id: loop
    foreach: [1, 2]
    output: v
    collect: all
    on_error: continue
    steps:
      - {id: inner, command: ok, output: v}
      - {id: breaks, command: broken}
"""
ABANDONED = """
name: abandoned
steps:
  - {id: call, recipe: small, continue_on_error: true}
  - id: each
    foreach: [1, 2]
    continue_on_error: true
    steps:
      - {id: breaks, command: broken}
      - {id: never, command: work}
  - {id: last, recipe: small}
  - {id: end, command: work}
"""
BROKEN_SMALL = {"small": "name: small\nsteps: [{id: x, command: broken}, {id: y, command: work}]\n"}
CASES = {
    "abandoned": (ABANDONED, BROKEN_SMALL),
    "failed round": (FAILED_ROUND, {}),
    "everything": (EVERYTHING, BOOK),
    "stages": (STAGES, GATED),
    "limited": (LIMITED, SMALL),
    "leaves": (LEAVES, {}),
}


def timeless(result: RunResult) -> RunResult:
    steps = tuple(_timeless(step) for step in result.step_results)
    return replace(result, duration=None, step_results=steps)


def _timeless(step: StepResult) -> StepResult:
    return replace(step, duration=None, children=tuple(_timeless(child) for child in step.children))


def in_flight(events: Sequence[Event]) -> int:
    """Return how many commands or agents may have been at work when the events ended."""
    open_ones: dict[str, None] = {}
    for event in events:
        match event:
            case StepStarted(identity=identity):
                open_ones[identity] = None
            case IterationStarted(identity=identity, index=index):
                open_ones[f"{identity}[{index}]"] = None
            case StepFinished(result=result) | IterationFinished(result=result):
                open_ones.pop(result.identity, None)
    holders = {
        each for each in open_ones for other in open_ones if other.startswith((f"{each}/", f"{each}["))
    }
    return len(open_ones.keys() - holders)


def undisturbed(case: str) -> tuple[Living, RunResult]:
    text, recipes = CASES[case]
    world = Living(recipes)
    world.approver = approving()
    return world, world.run(text)


@pytest.mark.parametrize("case", CASES)
def test_a_run_that_crashed_anywhere_ends_like_one_that_did_not(case: str) -> None:
    text, recipes = CASES[case]
    whole, expected = undisturbed(case)
    once = Counter(whole.shell.scripts)
    for cut in range(1, len(whole.journal.events)):
        world = Living(recipes)
        world.approver = approving()
        assert lives(world, text, cut) is None, cut
        at_work = in_flight(world.journal.events)
        world.next_life()
        result = lives(world, text, None)
        assert result is not None
        assert timeless(result) == timeless(expected), cut
        twice = Counter(world.shell.scripts) - once
        assert twice.pop("hook-broken", 0) <= 3
        assert sum(twice.values()) <= at_work, (cut, twice)


@pytest.mark.parametrize("case", CASES)
def test_a_run_that_crashes_again_and_again_ends_all_the_same(case: str) -> None:
    text, recipes = CASES[case]
    _, expected = undisturbed(case)
    world = Living(recipes)
    for _ in range(100):
        world.approver = approving()
        result = lives(world, text, 12)
        if result is not None:
            break
        world.next_life()
    assert result is not None
    assert timeless(result) == timeless(expected)


def test_rounds_that_run_at_once_share_the_limit_after_a_crash_too() -> None:
    text = (
        "name: raced\nrecursion: {max_total_steps: 5}\nsteps:\n"
        "  - {id: both, foreach: [1, 2], parallel: true, recipe: child, on_error: continue}\n"
    )
    child = "name: child\nsteps: [{id: a, command: a}, {id: b, command: b}, {id: c, command: c}]\n"
    whole = Living({"child": child})
    assert whole.run(text).step_results[0].executed == 5
    for cut in range(1, len(whole.journal.events)):
        world = Living({"child": child})
        assert lives(world, text, cut) is None, cut
        world.next_life()
        result = lives(world, text, None)
        assert result is not None
        assert result.step_results[0].executed <= 5, cut


@pytest.mark.parametrize("case", CASES)
def test_the_fold_of_the_events_is_the_result(case: str) -> None:
    world, expected = undisturbed(case)
    state = RunState(world.journal.events)
    assert state.ended == expected
    assert state.results() == expected.step_results
    assert state.warnings() == expected.warnings


@pytest.mark.parametrize("case", CASES)
def test_results_survive_json(case: str) -> None:
    _, expected = undisturbed(case)
    assert RunResult.from_json(json.loads(json.dumps(expected.to_json()))) == expected


def test_nothing_runs_again_when_everything_is_remembered() -> None:
    world, expected = undisturbed("everything")
    world.journal.past, world.journal.events = list(world.journal.events[:-1]), []
    world.shell.requests.clear()
    assert timeless(world.run(EVERYTHING)) == timeless(expected)
    assert world.shell.scripts == []
    assert world.journal.of(StepStarted) == []


def test_an_approved_gate_is_not_asked_again() -> None:
    world, _ = undisturbed("stages")
    world.next_life()
    world.approver = FakeApprover([])
    assert world.run(STAGES).success
    assert world.approver.asked == []


def test_a_gate_that_nobody_answered_is_asked_again_until_its_time_is_up() -> None:
    text = STAGES.replace('prompt: "go on', 'timeout: 60, default: approve, prompt: "go on')
    world = Living(GATED)
    world.approver = FakeApprover([None])
    assert world.run(text).ending == "waiting"
    due = world.journal.of(GateReached)[0].due
    assert due == world.clock.wall() + 60
    world.next_life()
    world.clock.time += 61
    world.approver = FakeApprover([None])  # for the next gate: nobody can answer this one any more
    result = world.run(text)
    assert (result.ending, world.journal.of(GateReached)[0].due) == ("waiting", due)
    assert len(world.approver.asked) == 1
    assert result.context["_approval_message"] == "nobody answered in 60 s"


@pytest.mark.parametrize("lost", [0, 1, 2, 3])
def test_a_run_that_waits_inside_a_step_comes_back_to_the_gate_though_its_last_words_are_lost(
    lost: int,
) -> None:
    gate = "{name: first, steps: [{id: x, command: x}], approval: {prompt: go?}}"
    inner = f"name: inner\nstages: [{gate}, {{name: second, steps: [{{id: y, command: y}}]}}]\n"
    text = "name: r\nsteps: [{id: each, foreach: [1, 2], recipe: inner}]\n"
    world = Living({"inner": inner})
    world.approver = FakeApprover([None])
    assert [step.status for step in world.run(text).step_results] == ["waiting"]
    world.next_life()
    world.journal.past = world.journal.past[: len(world.journal.past) - lost]
    world.approver = FakeApprover([Decision(True), Decision(True)])
    assert world.run(text).success
    assert Counter(world.shell.scripts) == {"x": 2, "y": 2}


def test_a_run_that_failed_tries_its_failure_again_and_keeps_the_rest() -> None:
    text = (
        "name: r\nrecursion: {max_total_steps: 3}\nsteps: [{id: a, command: one}, {id: b, recipe: child}]\n"
    )
    child = "name: child\nsteps: [{id: c, prompt: think}, {id: d, command: door}]\n"
    world = Living({"child": child})
    world.shell.answers["door"] = 1
    first = world.run(text)
    assert (first.success, first.cost_usd) == (False, 0.25)
    world.next_life()
    world.shell.answers["door"] = "open"
    world.shell.requests.clear()
    second = world.run(text)
    assert second.success
    assert world.shell.scripts == ["door"]
    assert (second.cost_usd, second.context["d"]) == (0.25, "open")
    assert [step.status for step in second.step_results] == ["completed", "completed"]


def test_what_a_failed_life_paid_is_still_counted() -> None:
    text = "name: r\nsteps: [{id: a, prompt: think, parse_json: true, parse_json_required: true}]\n"
    world = Living()
    assert world.run(text).cost_usd == 0.5  # asked, and asked once more for JSON
    world.next_life()
    assert world.run(text).cost_usd == 1.0


@pytest.mark.parametrize(
    ("now", "waits"), [(10.0, 20.0), (-100_000.0, 30.0)], ids=["later", "the clock was set back"]
)
def test_a_retry_waits_for_what_is_left_of_its_delay(now: float, waits: float) -> None:
    text = "name: r\nsteps: [{id: flaky, command: flaky, retry: {max_attempts: 2, initial_delay: 30}}]\n"
    world = Living()
    assert lives(world, text, 4) is None  # after the second attempt has been announced, and 30 s of sleep
    world.next_life()
    world.clock.time, world.clock.slept = now, []
    result = world.run(text)
    assert (result.success, world.clock.slept) == (True, [waits])
    assert result.step_results[0].attempts == 2


def test_the_cost_of_failed_attempts_of_a_sub_recipe_is_counted() -> None:
    text = "name: r\nsteps: [{id: calls, recipe: child, retry: {max_attempts: 2, initial_delay: 0}}]\n"
    world = Living(BOOK)
    result = world.run(text)
    assert result.success
    assert (result.cost_usd, result.step_results[0].executed) == (0.5, 8)


def test_a_warning_is_told_once_however_often_its_reason_is_met() -> None:
    text = (
        "name: r\nsteps: [{id: flaky, command: 'flaky {{no}}', retry: {max_attempts: 2, initial_delay: 0}}]\n"
    )
    assert Living().run(text).warnings == ("flaky: undefined in command: no; it renders empty",)


def test_every_finished_thing_has_an_identity_of_its_own() -> None:
    whole, _ = undisturbed("everything")
    whole.journal.events = [event for event in whole.journal.events if not _of_an_attempt(event)]
    finished = [event.result.identity for event in whole.journal.of(StepFinished)]
    rounds = [event.result.identity for event in whole.journal.of(IterationFinished)]
    assert len({*finished, *rounds}) == len(finished) + len(rounds)
    assert {"each[2]", "body[1]/again", "may/f2"} <= {*finished, *rounds}


def _of_an_attempt(event: Event) -> bool:
    return isinstance(event, StepFinished) and event.result.identity.startswith("calls/")


def test_ids_with_marks_of_identities_in_them_do_not_collide() -> None:
    text = (
        "name: r\nsteps:\n  - {id: a, recipe: child}\n  - {id: a/c, command: two}\n"
        "  - {id: 'a[0]', command: x}\n"
    )
    world = FakeWorld(recipes={"child": "name: child\nsteps: [{id: c, command: one}]\n"})
    result = world.run(text)
    assert [step.identity for step in result.step_results] == ["a", "a%2Fc", "a%5B0%5D"]
    assert world.shell.scripts == ["one", "two", "x"]


def test_steps_of_later_stages_are_numbered_on() -> None:
    whole = FakeWorld()
    whole.run(
        "name: s\nversion: 1.0.0\ndescription: d\nstages:\n"
        "  - {name: one, steps: [{id: a, type: bash, command: x}, {id: b, type: bash, command: x}]}\n"
        "  - {name: two, steps: [{id: c, type: bash, command: x}]}\n"
    )
    started = [(event.step_id, event.number, event.of) for event in whole.journal.of(StepStarted)]
    assert started == [("a", 1, 3), ("b", 2, 3), ("c", 3, 3)]
