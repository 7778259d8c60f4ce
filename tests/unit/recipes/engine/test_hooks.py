"""Hooks: what they know, when they run, and that they never end a run."""

from __future__ import annotations

import pytest
from tests.support.fake_world import FakeWorld, statuses

from amplihack.recipes.engine import hooks
from amplihack.recipes.events import LinesPrinted
from amplihack.recipes.ports import ShellOutcome, ShellRequest
from amplihack.system.spawn import ProcessError

HOOKED = """\
name: r
hooks:
  pre_step: "before {{step_id}}"
  post_step: "behind {{step_status}}"
  on_error: "broken {{step_error}}"
steps:
  - {id: a, command: one, working_dir: sub}
  - {id: b, command: two, continue_on_error: true}
  - {id: c, command: three, condition: "false"}
"""


def run(answers: dict[str, object] | None = None, dry_run: bool = False) -> FakeWorld:
    world = FakeWorld({"two": 3, **(answers or {})})
    world.places.directories.add("/here/sub")
    world.run(HOOKED, dry_run=dry_run)
    return world


def hooked(world: FakeWorld, word: str) -> list[ShellRequest]:
    return [request for request in world.shell.requests if word in request.script.source]


def test_hooks_stand_around_every_step_that_runs() -> None:
    assert [script.split()[0] for script in run().shell.scripts] == [
        "before",
        "one",
        "behind",
        "before",
        "two",
        "broken",
    ]


def test_a_hook_knows_the_step_by_variable_and_by_placeholder() -> None:
    world = run()
    before, behind, broken = (
        hooked(world, "before")[0],
        hooked(world, "behind")[0],
        hooked(world, "broken")[0],
    )
    assert (before.env["STEP_ID"], before.env["STEP_STATUS"], before.env["RECIPE_NAME"]) == (
        "a",
        "running",
        "r",
    )
    assert (behind.env["STEP_STATUS"], behind.env["STEP_TYPE"]) == ("completed", "bash")
    assert broken.env["STEP_ERROR"] == "Step 'b' failed: bash step failed: Command failed (exit 3): it broke"
    assert before.script.variables == {"RECIPE_VAR_step_id": "a"}
    assert behind.script.variables == {"RECIPE_VAR_step_status": "completed"}


def test_hooks_run_in_the_runs_directory_within_their_time() -> None:
    request = hooked(run(), "before")[0]
    assert (request.working_dir, request.timeout) == ("/here", hooks.HOOK_TIMEOUT)


def test_the_duration_that_a_hook_hears_is_the_steps() -> None:
    world = FakeWorld()

    async def slow() -> str:
        await world.clock.sleep(1.5)
        return "done"

    world.shell.answers["one"] = slow
    world.run("name: r\nhooks: {post_step: behind}\nsteps: [{id: a, command: one}]\n")
    assert hooked(world, "behind")[0].env["STEP_DURATION_MS"] == "1500"


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (1, "hook pre_step failed (exit 1): it broke"),
        (ShellOutcome(stdout="", timed_out="timed out after 30s"), "hook pre_step timed out after 30s"),
        (ShellOutcome(stdout="", signal=9), "hook pre_step failed (signal 9)"),
        (ProcessError("no bash"), "hook pre_step could not run: no bash"),
    ],
)
def test_a_hook_that_fails_is_a_warning(outcome: object, words: str) -> None:
    world = run({"before": outcome})
    assert statuses(world.result) == {"a": "completed", "b": "failed", "c": "skipped"}
    assert f"a: {words}" in world.result.warnings


def test_a_dry_run_runs_no_hooks() -> None:
    assert run(dry_run=True).shell.scripts == []


def test_an_error_with_a_nul_still_reaches_the_hook() -> None:
    world = FakeWorld({"two": ShellOutcome(stdout="", stderr="a\0b", exit_code=1)})
    world.places.directories.add("/here/sub")
    world.run(HOOKED)
    assert hooked(world, "broken")[0].env["STEP_ERROR"].endswith("a\ufffdb")


def test_a_sub_recipes_steps_run_its_own_hooks_only() -> None:
    world = FakeWorld(
        recipes={"child": "name: child\nhooks: {pre_step: inner}\nsteps: [{id: x, command: work}]\n"}
    )
    world.run("name: p\nhooks: {pre_step: outer}\nsteps: [{id: call, recipe: child}]\n")
    assert world.shell.scripts == ["outer", "inner", "work"]


def test_a_hook_that_runs_a_value_as_a_program_is_told() -> None:
    world = FakeWorld()
    text = "name: r\nhooks: {post_step: 'eval {{step_id}}'}\nsteps: [{id: a, command: one}]\n"
    assert world.run(text).warnings == (
        "hook post_step: the value of step_id is run as a bash program on line 1",
    )


def test_a_name_without_a_value_in_a_hook_is_told_once() -> None:
    world = FakeWorld()
    result = world.run(
        "name: r\nhooks: {pre_step: 'log {{nope}} $RECIPE_VAR_no'}\n"
        "steps: [{id: a, command: x}, {id: b, command: y}]\n"
    )
    assert result.warnings == ("undefined in hook pre_step: RECIPE_VAR_no, nope; it renders empty",)


def test_what_a_hook_prints_is_told_under_its_name() -> None:
    world = FakeWorld()
    world.run("name: r\nhooks: {post_step: note}\nsteps: [{id: a, command: one}]\n")
    assert [event.stream for event in world.journal.of(LinesPrinted)] == ["stdout", "post_step"]


def test_a_hook_that_fails_without_a_word_on_stderr_is_quoted_all_the_same() -> None:
    world = FakeWorld()
    world.shell.answers["note"] = ShellOutcome(exit_code=3, stdout="no room\n")
    result = world.run("name: r\nhooks: {post_step: note}\nsteps: [{id: a, command: one}]\n")
    assert result.warnings == ("a: hook post_step failed (exit 3): no room",)


def test_a_gate_that_waits_inside_a_sub_recipe_is_no_error_for_the_hooks_around_it() -> None:
    gate = "{name: first, steps: [{id: x, command: x}], approval: {prompt: go?}}"
    rest = "{name: second, steps: [{id: y, command: y}]}"
    world = FakeWorld(recipes={"inner": f"name: inner\nstages: [{gate}, {rest}]\n"})
    result = world.run("name: r\nhooks: {on_error: broken}\nsteps:\n  - {id: s, recipe: inner}\n")
    assert (result.ending, hooked(world, "broken")) == ("waiting", [])
