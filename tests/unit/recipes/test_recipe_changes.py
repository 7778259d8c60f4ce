"""What an edit of a recipe means for a run: what is kept, what runs again, what is new, what is gone."""

from __future__ import annotations

import pytest
from tests.support.fake_world import FakeWorld

from amplihack.recipes.decode import decode_text
from amplihack.recipes.events import RecipeEntered, Recorded
from amplihack.recipes.model import Recipe
from amplihack.recipes.recipe_changes import Changes, Work, compare
from amplihack.recipes.run_state import RunState

MAIN = "/here/recipe.yaml"
STEPS = """\
name: main
context: {word: hello, other: x}
steps:
  - {id: one, command: echo 1, output: first}
  - {id: two, command: 'echo {{first}} {{word}}'}
  - {id: three, command: 'echo {{steps.two.output}}'}
  - {id: free, command: echo free}
  - {id: shell, command: 'echo $RECIPE_VAR_first'}
  - {id: call, recipe: child, context: {given: '{{other}}'}}
  - {id: each, foreach: [a, b], steps: [{id: inner, command: 'echo {{item}} {{other}}'}]}
"""
CHILD = "name: child\nsteps:\n  - {id: x, command: 'echo {{given}}'}\n  - {id: y, command: echo y}\n"


def ran(text: str, recipes: dict[str, str] | None = None) -> list[Recorded]:
    world = FakeWorld(recipes=recipes or {})
    world.run(text)
    return list(world.journal.events)


def changes(
    before: str, after: str, child: str = CHILD, *, was: str = CHILD, inputs: frozenset[str] = frozenset()
) -> Changes:
    events = ran(before, {"child": was})
    entered = {each.identity: each.path for each in events if isinstance(each, RecipeEntered) and each.path}

    def shelf(main: str, other: str) -> dict[str, Recipe]:
        return {MAIN: decode_text(main).required(), "/books/child.yaml": decode_text(other).required()}

    work = Work(RunState(events).instances(), entered, inputs)
    return compare(work, MAIN, shelf(before, was).get, shelf(after, child).get)


def test_comments_and_places_change_nothing_and_another_order_is_only_told() -> None:
    lines = STEPS.splitlines()
    found = changes(STEPS, "# hello\n" + "\n".join([*lines[:3], *reversed(lines[3:])]) + "\n")
    assert (found.again, found.new, found.gone, found.undone) == ((), (), (), ())
    assert found.moved == ("each", "call", "shell", "three", "two", "one")  # `free` stays in the middle
    assert changes(STEPS, f"# hello\n{STEPS}").moved == ()
    assert changes(STEPS, STEPS.replace("  - {id: free, command: echo free}\n", "")).moved == ()
    assert {"one", "call", "call/x", "each", "each[0]/inner"} <= set(found.kept)


@pytest.mark.parametrize(
    ("old", "new", "again"),
    [
        ("echo 1, ", "echo 2, ", {"one", "two", "three", "shell"}),
        ("word: hello", "word: bye", {"two", "three"}),
        ("echo free", "echo freed", {"free"}),
        ("other: x", "other: y", {"call", "each[0]/inner", "each[1]/inner"}),
        ("command: echo 1,", "command: echo 1, timeout: 5,", {"one", "two", "three", "shell"}),
    ],
)
def test_what_changed_runs_again_with_what_reads_it(old: str, new: str, again: set[str]) -> None:
    found = changes(STEPS, STEPS.replace(old, new))
    assert set(found.again) == again
    assert not set(found.again) & set(found.kept)


def test_a_default_that_the_run_was_given_a_value_for_does_not_count() -> None:
    found = changes(STEPS, STEPS.replace("word: hello", "word: bye"), inputs=frozenset({"word"}))
    assert found.again == ()


def test_new_and_removed_steps_are_told_and_their_readers_run_again() -> None:
    after = STEPS.replace("{id: free, command: echo free}", "{id: fresh, command: echo fresh, output: word}")
    found = changes(STEPS, after)
    assert (found.new, found.gone) == (("fresh",), ("free",))
    assert "two" not in found.again  # it stands before the new step


def test_an_edited_sub_recipe_is_entered_again_and_keeps_the_rest() -> None:
    found = changes(STEPS, STEPS, CHILD.replace("echo y", "echo yy"))
    assert found.again == ("call/y",)
    assert "call/x" in found.kept
    assert {(each.identity, each.how) for each in found.undone} == {("call/y", "again"), ("call", "inside")}


def test_what_failed_is_not_told_as_kept() -> None:
    text = "name: main\nsteps:\n  - {id: a, command: echo a}\n  - {id: b, command: echo b}\n"
    world = FakeWorld({"echo b": 1})
    world.run(text)
    work = Work(RunState(world.journal.events).instances(), {}, frozenset())
    recipe = decode_text(text).required()
    found = compare(work, MAIN, lambda _path: recipe, lambda _path: recipe)
    assert (found.kept, found.again, found.undone) == (("a",), ("b",), ())


STAGES = """\
name: main
stages:
  - name: one
    steps: [{id: a, command: echo a}]
  - name: two
    steps: [{id: b, command: echo b}]
"""


@pytest.mark.parametrize(
    ("gate", "refused"),
    [
        ("  - name: two", "    approval: {prompt: p}\n  - name: two"),
        ("    steps: [{id: b", "    approval: {prompt: p, when: before}\n    steps: [{id: b"),
    ],
)
def test_a_new_gate_before_finished_work_is_refused(gate: str, refused: str) -> None:
    assert "has a new gate" in changes(STAGES, STAGES.replace(gate, refused)).refused


def test_a_new_gate_after_all_finished_work_is_welcome() -> None:
    assert changes(STAGES, STAGES + "    approval: {prompt: p}\n").refused == ""


CALLING = "name: main\nsteps:\n  - {id: first, command: echo a}\n  - {id: call, recipe: child}\n"
CHILD_STAGES = STAGES.replace("name: main", "name: child")
GATED = CHILD_STAGES + "    approval: {prompt: p, when: after}\n"


def test_a_new_gate_at_the_end_of_a_sub_recipe_is_refused_if_work_is_done_behind_the_call() -> None:
    calling = CALLING + "  - {id: last, command: echo b}\n"
    found = changes(calling, calling, GATED, was=CHILD_STAGES)
    assert found.refused.endswith("work behind it is done already: last")


def test_a_new_gate_at_the_end_of_a_finished_sub_recipe_is_still_asked() -> None:
    found = changes(CALLING, CALLING, GATED, was=CHILD_STAGES)
    assert found.refused == ""
    assert [(each.identity, each.how) for each in found.undone] == [("call", "inside")]


def test_a_run_forgets_what_was_undone_and_keeps_its_cost_in_mind() -> None:
    events = ran(STEPS, {"child": CHILD})
    found = changes(STEPS, STEPS.replace("echo 1, ", "echo 2, "))
    world = FakeWorld(recipes={"child": CHILD})
    world.journal.past = [*events, *found.undone]
    result = world.run(STEPS.replace("echo 1, ", "echo 2, "))
    assert result.success
    assert len(world.shell.requests) == 4
    assert result.context["first"] == "echo 2"
