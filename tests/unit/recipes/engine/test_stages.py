"""Stages, their conditions and their gates."""

from __future__ import annotations

import asyncio

import pytest
from tests.support.fake_world import FakeWorld, statuses

from amplihack.recipes.agent_port import Decision
from amplihack.recipes.events import GateDecided, GateReached

TWO = """\
name: r
description: two stages
version: 1.0.0
context: {who: Ann}
stages:
  - name: build
%s
    steps:
      - {id: a, type: bash, command: one}
      - {id: a2, type: bash, command: "one more"}
  - name: ship
    steps: [{id: b, type: bash, command: "two {{_approval_message}}"}]
"""
GATE = "    approval: {required: true, prompt: 'Ship it, {{who}}?'%s}"


def test_an_approved_gate_opens_and_its_message_is_passed_on() -> None:
    world = FakeWorld()
    world.approver.decisions = [Decision(True, "go ahead", by="Ann")]
    result = world.run(TWO % GATE % "")
    assert world.approver.asked == [("Approve stage 'build'?", "Ship it, Ann?")]
    assert statuses(result) == {"a": "completed", "a2": "completed", "b": "completed"}
    assert world.shell.requests[-1].script.variables == {"RECIPE_VAR__approval_message": "go ahead"}
    now = world.clock.wall()
    assert world.journal.of(GateDecided) == [GateDecided("build", True, "go ahead", "build", "Ann", now)]


def test_a_denied_gate_ends_the_run_for_good() -> None:
    world = FakeWorld()
    world.approver.decisions = [Decision(False, "too risky")]
    result = world.run(TWO % GATE % "")
    assert (result.ending, result.success, result.never_reached) == ("denied", False, ("b",))
    assert result.error == "stage 'build' was denied: too risky"
    assert statuses(result) == {"a": "completed", "a2": "completed"}


def test_a_gate_before_its_stage_lets_nothing_of_it_run() -> None:
    world = FakeWorld()
    world.approver.decisions = [Decision(False)]
    result = world.run(TWO % GATE % ", when: before")
    assert (world.shell.scripts, result.never_reached) == ([], ("a", "a2", "b"))


def test_without_anybody_to_ask_the_run_waits() -> None:
    result = FakeWorld().run(TWO % GATE % "")
    assert (result.ending, result.never_reached) == ("waiting", ("b",))
    assert "--yes" in result.error


def test_yes_approves_without_asking() -> None:
    world = FakeWorld()
    assert world.run(TWO % GATE % "", approve_all=True).success
    assert world.approver.asked == []


@pytest.mark.parametrize(("default", "ending"), [("approve", "completed"), ("deny", "denied")])
def test_a_gate_that_nobody_answers_follows_its_default(default: str, ending: str) -> None:
    world = FakeWorld()
    world.approver.decisions = [None, None]
    result = world.run(TWO % GATE % f", timeout: 0.01, default: {default}")
    assert result.ending == ending
    assert world.journal.of(GateDecided)[0].message == "nobody answered in 0.01 s"


def test_a_dry_run_asks_nobody() -> None:
    world = FakeWorld()
    assert world.run(TWO % GATE % "", dry_run=True).success
    assert (world.approver.asked, world.journal.of(GateReached)) == ([], [])


def test_the_steps_of_an_unwanted_stage_are_skipped_and_say_why() -> None:
    result = FakeWorld().run(TWO % "    condition: \"who == 'Bob'\"")
    assert statuses(result) == {"a": "skipped", "a2": "skipped", "b": "completed"}
    assert result.step_results[0].skip_reason == "stage 'build' is skipped by its condition"


def test_a_stage_condition_without_an_answer_fails_the_run() -> None:
    result = FakeWorld().run(TWO % '    condition: "int(who) > 1"')
    assert (result.success, result.never_reached) == (False, ("a", "a2", "b"))
    assert result.error.startswith("stage 'build': ")


def test_skip_remaining_leaves_only_its_stage() -> None:
    text = (TWO % "").replace("command: one}", "command: one, on_error: skip_remaining}")
    result = FakeWorld({"one": 1}).run(text)
    assert statuses(result) == {"a": "failed", "b": "completed"}
    assert (result.success, result.never_reached) == (True, ("a2",))


def test_two_gates_at_once_ask_one_after_the_other() -> None:
    class Slow:
        asking = most = 0

        async def decide(self, question: str, prompt: str) -> Decision | None:  # noqa: ARG002 - the port's words
            self.asking += 1
            self.most = max(self.most, self.asking)
            await asyncio.sleep(0.01)
            self.asking -= 1
            return Decision(True)

    world = FakeWorld(recipes={"child": TWO % GATE % ""})
    slow = Slow()
    world.approver = slow  # type: ignore[assignment]  # another approver for this once
    text = (
        "name: p\nsteps:\n  - {id: x, recipe: child, parallel_group: g}\n"
        "  - {id: y, recipe: child, parallel_group: g}\n"
    )
    assert world.run(text).success
    assert slow.most == 1


def test_a_gate_inside_a_sub_recipe_ends_the_whole_run() -> None:
    world = FakeWorld(recipes={"child": TWO % GATE % ""})
    world.approver.decisions = [Decision(False)]
    result = world.run(
        "name: p\nsteps:\n  - {id: x, recipe: child, continue_on_error: true}\n  - {id: y, command: z}\n"
    )
    assert (result.ending, result.never_reached) == ("denied", ("x/b", "y"))


def test_a_name_without_a_value_in_the_question_of_a_gate_is_told() -> None:
    world = FakeWorld()
    result = world.run(
        "name: r\nstages:\n  - {name: s, steps: [{id: a, command: x}], approval: {prompt: 'Go {{nope}}?'}}\n"
    )
    assert "s: undefined in approval: nope; it renders empty" in result.warnings
