"""The names that semantics says the runner provides are those that a run provides."""

from __future__ import annotations

from tests.support.fake_world import FakeWorld

from amplihack.recipes.decode import decode_text
from amplihack.recipes.inputs import declared_names, required_names
from amplihack.recipes.model import Limits
from amplihack.recipes.semantics import (
    BUILT_IN,
    HOOK_NAMES,
    batches,
    levels_for_call,
    levels_inside,
    reached_steps,
    writes,
)


def test_every_built_in_name_is_there_in_a_step() -> None:
    command = " ".join(f"{{{{{name}}}}}" for name in sorted(BUILT_IN))
    world = FakeWorld()
    assert world.run(f"name: r\nsteps:\n  - {{id: a, command: 'echo {command}'}}\n").warnings == ()


def test_every_hook_name_is_there_in_a_hook() -> None:
    hook = " ".join(f"{{{{{name}}}}}" for name in sorted(HOOK_NAMES))
    world = FakeWorld()
    world.run(f"name: r\nhooks: {{post_step: 'HOOK {hook}'}}\nsteps:\n  - {{id: a, command: ls}}\n")
    (request,) = (each for each in world.shell.requests if "HOOK" in each.script.source)
    assert request.script.missing == ()
    assert {name.lower() for name in request.env} >= HOOK_NAMES


def steps_of(text: str) -> dict[str, tuple[str, ...]]:
    return {step.id: writes(step) for step in decode_text(f"name: r\nsteps:\n{text}").required().steps}


def test_a_step_writes_its_result_and_what_its_fields_name() -> None:
    assert steps_of(
        "- {id: a, command: ls}\n- {id: b, command: ls, output: o, output_exit_code: c, output_stderr: e}\n"
        "- {id: d, foreach: [1], command: ls, collect: all, update_context: {u: 1}}\n"
        "- {id: f, foreach: [1], parallel: true, command: ls, collect: all, output_stderr: e}\n"
    ) == {"a": ("a",), "b": ("o", "c", "e"), "d": ("d", "all", "u"), "f": ("f", "all")}


def test_a_member_that_depends_on_another_begins_a_batch() -> None:
    text = (
        "- {id: a, parallel_group: g, command: ls}\n- {id: b, parallel_group: g, command: ls}\n"
        "- {id: c, parallel_group: g, depends_on: [a], command: ls}\n"
        "- {id: d, parallel_group: g, depends_on: [b], command: ls}\n- {id: e, command: ls}\n"
    )
    found = batches(decode_text(f"name: r\nsteps:\n{text}").required().steps)
    assert [[step.id for step in batch] for batch in found] == [["a", "b"], ["c", "d"], ["e"]]


def test_limits_only_tighten() -> None:
    loose = decode_text("name: r\nsteps: [{id: a, command: ls}]").required()
    tight = decode_text("name: r\nrecursion: {max_depth: 1}\nsteps: [{id: a, command: ls}]").required()
    assert levels_for_call(6, Limits(max_depth=9)) == 6
    assert (levels_inside(6, Limits(), loose), levels_inside(6, Limits(), tight)) == (5, 1)
    assert (levels_inside(6, Limits(max_depth=1), loose), levels_inside(1, Limits(), tight)) == (0, 0)


def test_only_what_every_successful_run_comes_to_is_reached() -> None:
    text = """\
name: r
stages:
- {name: one, condition: x, steps: [{id: a, command: ls}]}
- name: two
  steps:
  - {id: b, condition: x, command: ls}
  - {id: c, foreach: [1], steps: [{id: d, command: ls}]}
  - {id: e, foreach: "{{x}}", steps: [{id: f, command: ls}]}
  - {id: g, on_error: skip_remaining, command: ls}
  - {id: h, command: ls}
- {name: three, steps: [{id: i, command: ls}]}
"""
    assert [step.id for step in reached_steps(decode_text(text).required())] == ["b", "c", "d", "e", "g", "i"]


def test_an_input_that_describes_a_member_expects_the_whole_variable() -> None:
    inputs = "inputs: [{name: setup.path, description: d}, {name: task}]"
    recipe = decode_text(f"name: n\n{inputs}\nsteps: [{{id: a, command: ls}}]\n").required()
    assert required_names(recipe) == {"setup", "task"}
    assert declared_names(recipe) == {"setup", "task"}
