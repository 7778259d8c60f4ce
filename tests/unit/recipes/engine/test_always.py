"""Steps with `finally: true` run whatever became of the steps before them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.support.fake_world import FakeWorld, statuses

from amplihack.recipes.agent_port import Decision
from amplihack.recipes.results import RunResult

STAGES = """
name: r
stages:
  - name: one
    steps:
      - {id: a, command: ANSWER}
      - {id: b, command: work}
  - name: two
    steps:
      - {id: c, command: work}
      - {id: tidy, command: tidy up, finally: true}
"""


def steps(*lines: str) -> str:
    return "name: r\nsteps:\n" + "".join(f"  - {{{line}}}\n" for line in lines)


def again(world: FakeWorld, text: str, shell: dict[str, Any] | None = None) -> RunResult:
    """Go on with the run of a world, in the same world or in one where the shell answers otherwise."""
    later = FakeWorld(shell or {}, world.book.texts)
    later.journal.past = list(world.journal.events)
    result = later.run(text)
    world.shell = later.shell
    return result


def test_after_a_failure_only_what_always_runs_is_still_run() -> None:
    world = FakeWorld({"fails": 1})
    text = steps(
        "id: a, command: fails",
        "id: b, command: b",
        "id: tell, command: tell, finally: true",
        "id: c, command: c",
    )
    result = world.run(text)
    assert statuses(result) == {"a": "failed", "tell": "completed"}
    assert result.never_reached == ("b", "c")
    assert result.ending == "failed"


def test_without_a_failure_it_runs_in_its_turn() -> None:
    world = FakeWorld()
    result = world.run(steps("id: a, command: a", "id: t, command: t, finally: true", "id: b, command: b"))
    assert (world.shell.scripts, result.ending) == (["a", "t", "b"], "completed")


def test_its_own_failure_fails_the_run_and_keeps_no_other_from_running() -> None:
    world = FakeWorld({"one": 3})
    result = world.run(
        steps(
            "id: a, command: a", "id: t, command: one, finally: true", "id: u, command: two, always_run: true"
        )
    )
    assert statuses(result) == {"a": "completed", "t": "failed", "u": "completed"}
    assert result.ending == "failed"


def test_it_knows_what_became_of_the_others() -> None:
    world = FakeWorld({"fails": 1})
    told = (
        "id: t, command: 'echo {{steps.a.status}}', condition: \"steps.a.status == 'failed'\", finally: true"
    )
    result = world.run(steps("id: a, command: fails", told))
    assert statuses(result) == {"a": "failed", "t": "completed"}


def test_after_skip_remaining_it_runs_and_the_run_succeeds() -> None:
    world = FakeWorld({"fails": 1})
    text = steps(
        "id: a, command: fails, on_error: skip_remaining",
        "id: b, command: b",
        "id: t, command: t, finally: true",
    )
    result = world.run(text)
    assert (statuses(result), result.ending) == ({"a": "failed", "t": "completed"}, "completed")


def test_a_later_stage_gives_what_always_runs() -> None:
    result = FakeWorld({"ANSWER": 1}).run(STAGES)
    assert statuses(result) == {"a": "failed", "tidy": "completed"}
    assert result.never_reached == ("b", "c")


def test_a_gate_that_waits_is_no_end_and_one_that_is_denied_is() -> None:
    text = STAGES.replace("  - name: two", "    approval: {prompt: go on?}\n  - name: two")
    world = FakeWorld()
    waiting = world.run(text)
    assert (waiting.ending, statuses(waiting)) == ("waiting", {"a": "completed", "b": "completed"})
    world.approver.decisions = [Decision(False, "no", "me")]
    denied = world.run(text)
    assert (denied.ending, statuses(denied)["tidy"], denied.never_reached) == ("denied", "completed", ("c",))


def test_in_a_loop_it_runs_in_every_round_and_is_not_its_result() -> None:
    text = """
name: r
steps:
  - id: each
    foreach: [good, bad, good]
    on_error: continue
    collect: found
    steps:
      - {id: work, command: "echo {{item}}", condition: "item == 'good'"}
      - {id: fail, command: fails, condition: "item == 'bad'"}
      - {id: tidy, command: "tidy up", finally: true}
"""
    world = FakeWorld({"echo": "worked", "fails": 1})
    result = world.run(text)
    assert world.shell.scripts.count("tidy up") == 3
    assert [each.status for each in result.step_results[0].children] == ["completed", "failed", "completed"]


def test_a_sub_recipe_cleans_up_before_its_caller_does() -> None:
    inner = steps("id: x, command: fails", "id: y, command: inner tidy, finally: true")
    world = FakeWorld({"fails": 1}, {"inner": inner})
    result = world.run(steps("id: call, recipe: inner", "id: t, command: outer tidy, finally: true"))
    assert world.shell.scripts == ["fails", "inner tidy", "outer tidy"]
    assert (result.ending, [each.status for each in result.step_results]) == (
        "failed",
        ["failed", "completed"],
    )


def test_a_sub_recipe_that_always_runs_runs_whole_after_a_denial() -> None:
    inner = "name: inner\nsteps:\n  - {id: x, command: one}\n  - {id: y, command: two}\n"
    world = FakeWorld({}, {"inner": inner})
    world.approver.decisions = [Decision(False, "", "me")]
    gate = "  - {name: s, steps: [{id: a, command: a}], approval: {prompt: ok?}}\n"
    always = "  - {name: e, steps: [{id: t, recipe: inner, finally: true}]}\n"
    result = world.run("name: r\nstages:\n" + gate + always)
    assert (result.ending, world.shell.scripts) == ("denied", ["a", "one", "two"])


def test_it_is_no_matter_of_the_step_limit() -> None:
    text = "recursion: {max_total_steps: 1}\n" + steps(
        "id: a, command: a", "id: b, command: b", "id: t, command: tidy, finally: true"
    )
    world = FakeWorld()
    result = world.run(text)
    assert statuses(result) == {"a": "completed", "b": "failed", "t": "completed"}
    assert sum(step.executed for step in result.step_results) == 1  # and takes no room of it


def test_when_the_time_of_the_call_is_up_it_still_runs() -> None:
    async def for_ever() -> str:
        await asyncio.Event().wait()
        return ""

    inner = steps("id: x, command: hangs", "id: z, command: z", "id: y, command: tidy, finally: true")
    world = FakeWorld({"hangs": for_ever}, {"inner": inner})
    result = world.run(steps("id: call, recipe: inner, timeout: 0.05", "id: t, command: told, finally: true"))
    assert world.shell.scripts == ["hangs", "tidy", "told"]
    assert "timed out after 0.05s" in result.step_results[0].error


def test_an_interruption_is_no_end() -> None:
    begun = asyncio.Event()

    async def for_ever() -> str:
        begun.set()
        await asyncio.Event().wait()
        return ""

    async def interrupted(world: FakeWorld) -> None:
        text = steps("id: a, command: hangs", "id: t, command: t, finally: true")
        task = asyncio.ensure_future(world.start(text))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    world = FakeWorld({"hangs": for_ever})
    asyncio.run(interrupted(world))
    assert (world.shell.scripts, world.result.ending) == (["hangs"], "interrupted")


@pytest.mark.parametrize(("flags", "times"), [("finally: true", 1), ("finally: true, idempotent: false", 0)])
def test_a_failed_run_that_goes_on_does_it_again_at_its_end(flags: str, times: int) -> None:
    text = steps("id: a, command: work", f"id: t, command: tidy, {flags}")
    world = FakeWorld({"work": 1})
    assert world.run(text).ending == "failed"
    result = again(world, text)
    assert (result.ending, world.shell.scripts.count("tidy")) == ("completed", times)


def test_what_it_did_after_a_failure_is_told_where_it_did_it_last() -> None:
    text = steps("id: a, command: work", "id: b, command: more", "id: t, command: tidy, finally: true")
    world = FakeWorld({"work": 1})
    assert [step.step_id for step in world.run(text).step_results] == ["a", "t"]
    assert [step.step_id for step in again(world, text).step_results] == ["a", "b", "t"]


def test_a_run_that_was_cut_off_after_it_does_not_do_it_again() -> None:
    text = steps(
        "id: a, command: work", "id: t, command: tidy, finally: true", "id: u, command: tell, finally: true"
    )
    world = FakeWorld({"work": 1})
    world.run(text)
    events = world.journal.events
    done = next(
        i for i, event in enumerate(events) if getattr(getattr(event, "result", None), "identity", "") == "t"
    )
    del events[done + 1 :]  # killed right after `t` was done
    result = again(world, text)
    assert (result.ending, world.shell.scripts) == ("failed", ["tell"])
