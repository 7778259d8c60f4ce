"""Two runs side by side: where they first differ, and why."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.fake_world import FakeWorld

from amplihack.recipes.agent_port import Decision
from amplihack.recipes.compared_run import RunSide
from amplihack.recipes.decode import decode_text
from amplihack.recipes.run_diff import RunDifference, compare_runs, merged, summary
from amplihack.recipes.values import Value

PLAIN = "name: r\ncontext: {x: 1}\nsteps:\n  - {id: a, command: one}\n  - {id: b, command: 'two {{x}}'}\n"


def side(
    text: str = PLAIN,
    answers_by: dict[str, Any] | None = None,
    *,
    given: dict[str, Value] | None = None,
    recipes: dict[str, str] | None = None,
    answers: list[Any] | None = None,
    approve: bool = True,
    at: float = 0.0,
) -> RunSide:
    world = FakeWorld(answers_by, recipes)
    world.agent.answers = answers or ["done"]
    world.approver.decisions = [Decision(approve)]
    world.run(text, given or {})
    known = {"/here/recipe.yaml": text, **{f"/books/{k}.yaml": v for k, v in (recipes or {}).items()}}
    shelf = {path: decode_text(each).required() for path, each in known.items()}
    events = [(at + number, event) for number, event in enumerate(world.journal.events)]
    defaults = shelf["/here/recipe.yaml"].context
    return RunSide(events, shelf.get, "/here/recipe.yaml", {**defaults, **(given or {})})


def told(one: RunSide, other: RunSide) -> list[tuple[str, str]]:
    return [(each.identity, each.why) for each in compare_runs(one, other)]


def later(*arguments: Any, **more: Any) -> RunSide:
    """A run at another time: equal times would mean a shared step."""
    return side(*arguments, at=1000.0, **more)


def test_equal_runs_do_not_differ() -> None:
    assert told(side(), later()) == []
    assert summary([]) == {"first": None, "differences": []}


def test_other_output_from_the_same_input_is_output_and_what_reads_it_has_other_input() -> None:
    text = "name: r\nsteps:\n  - {id: a, command: one}\n  - {id: b, command: 'use {{a}}'}\n"
    text += "  - {id: c, command: x}\n"
    found = compare_runs(side(text, {"one": "1"}), later(text, {"one": "2"}))
    assert [(each.identity, each.why, each.a, each.b) for each in found] == [
        ("a", "output", "1", "2"),
        ("b", "input", "a: 1", "a: 2"),
    ]


def test_another_value_is_input_where_it_is_first_read() -> None:
    assert told(side(), later(given={"x": 2})) == [("b", "input")]


def test_an_input_that_no_step_reads_is_told_last() -> None:
    found = compare_runs(side(), later(given={"other": 5}))
    assert found == [RunDifference(identity="", why="input", a="other: not set", b="other: 5")]


def test_an_edited_step_is_recipe_whatever_came_of_it() -> None:
    edited = PLAIN.replace("command: one", "command: uno")
    (first,) = compare_runs(side(), later(edited))
    assert (first.identity, first.why, first.a, first.b, first.also) == (
        "a",
        "recipe",
        "one",
        "uno",
        ("output",),
    )


def test_another_ending_is_status_and_what_never_began_is_missing() -> None:
    found = told(side(answers_by={"one": "1"}), later(answers_by={"one": 3}))
    assert found == [("a", "status"), ("b", "missing")]


def test_a_step_that_only_one_recipe_has_is_missing_where_it_stands() -> None:
    more = PLAIN.replace("  - {id: b", "  - {id: extra, command: new}\n  - {id: b")
    found = compare_runs(side(), later(more))
    assert [(each.identity, each.why, each.a, each.b) for each in found] == [
        ("extra", "missing", None, "completed")
    ]


def test_differences_inside_sub_recipes_loops_and_bodies_are_told_where_they_are() -> None:
    text = (
        "name: r\nsteps:\n  - {id: call, recipe: child, context: {y: '{{x}}'}}\n"
        "  - {id: each, foreach: [p, q], command: 'do {{item}}'}\n"
        "  - id: body\n    foreach: [1]\n    steps:\n      - {id: inner, command: deep}\n"
    )
    child = "name: child\nsteps:\n  - {id: leaf, command: 'say {{y}}'}\n  - {id: still, command: quiet}\n"
    one = side(text, {"do": ["1", "2"], "deep": "1"}, given={"x": "a"}, recipes={"child": child})
    other = later(text, {"do": ["1", "3"], "deep": "2"}, given={"x": "b"}, recipes={"child": child})
    assert told(one, other) == [("call/leaf", "input"), ("each[1]", "output"), ("body[0]/inner", "output")]


def test_an_edited_sub_recipe_is_told_at_its_step() -> None:
    text = "name: r\nsteps:\n  - {id: call, recipe: child}\n"
    one, other = ({"child": f"name: child\nsteps:\n  - {{id: leaf, command: {word}}}\n"} for word in "xy")
    assert told(side(text, recipes=one), later(text, recipes=other)) == [("call/leaf", "recipe")]


def test_an_edited_loop_is_told_once_and_its_rounds_where_they_differ() -> None:
    text = "name: r\nsteps:\n  - {id: each, foreach: [p, q], command: 'do {{item}}'}\n"
    edited = text.replace("}'}", "}', timeout: 9}")
    assert told(side(text), later(edited)) == [("each", "recipe")]
    assert told(side(text, {"do": ["1", "2"]}), later(edited, {"do": ["1", "3"]})) == [
        ("each", "recipe"),
        ("each[1]", "recipe"),
    ]


def test_another_prompt_is_input() -> None:
    text = "name: r\ncontext: {x: 1}\nsteps:\n  - {id: s, prompt: 'Ask {{x}}'}\n"
    (first,) = compare_runs(side(text), later(text, given={"x": 2}))
    assert (first.identity, first.why) == ("s", "input")


def test_another_answer_at_a_gate_is_status() -> None:
    text = (
        "name: r\nstages:\n  - {name: one, approval: {prompt: Go?}, steps: [{id: a, command: x}]}\n"
        "  - {name: two, steps: [{id: b, command: y}]}\n"
    )
    assert told(side(text), later(text, approve=False)) == [("one", "status"), ("b", "missing")]


def test_a_value_that_becomes_equal_again_is_no_difference_any_more() -> None:
    text = (
        "name: r\ncontext: {x: 1}\nsteps:\n  - {id: a, command: 'see {{x}}'}\n"
        "  - {id: fix, command: same, output: x}\n  - {id: b, command: 'see {{x}}'}\n"
    )
    assert told(side(text, {"see": "ok"}), later(text, {"see": "ok"}, given={"x": 2})) == [("a", "input")]


def test_steps_that_a_fork_shares_do_not_differ() -> None:
    assert told(side(), side(given={"x": 2})) == [("", "input")]  # every time is equal, as if all were shared


def test_long_sides_are_cut_and_say_so() -> None:
    (first, *_) = compare_runs(side(answers_by={"one": "x" * 5000}), later(answers_by={"one": "y"}))
    assert str(first.a).endswith("… (3,000 more characters)")


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("abc", "abc", "abc"),
        ("ac", "abc", "abc"),
        ("abc", "xac", "xabc"),
        ("", "ab", "ab"),
        ("ab", "cd", "cdab"),
    ],
)
def test_two_orders_become_one(one: str, other: str, both: str) -> None:
    assert "".join(merged(list(one), list(other))) == both


LOOP = "name: r\ncontext: {list: [a, b]}\nsteps:\n  - id: each\n    foreach: LIST\n    steps:\n"
LOOP += "      - {id: x, command: 'echo {{item}}'}\n      - {id: y, command: same}\n"


def test_a_loop_over_an_edited_list_says_so_before_its_rounds_do() -> None:
    found = compare_runs(side(LOOP.replace("LIST", "[a, b]")), later(LOOP.replace("LIST", "[a, z, c]")))
    assert [(each.identity, each.why) for each in found] == [
        ("each", "recipe"),
        ("each[1]/x", "input"),
        ("each[2]", "missing"),
    ]
    assert (found[0].a, found[0].b) == (
        '[group ] each for each item of ["a","b"]',
        '[group ] each for each item of ["a","z","c"]',
    )
    assert (found[1].a, found[1].b) == ("item: b", "item: z")


def test_the_items_of_a_list_that_was_given_are_input_of_the_rounds() -> None:
    text = LOOP.replace("LIST", "'{{list}}'")
    assert told(side(text), later(text, given={"list": ["a", "z"]})) == [("each[1]/x", "input")]
    longer = told(side(text), later(text, given={"list": ["a", "b", "c"]}))
    assert longer == [("each", "input"), ("each[2]", "missing")]


def test_a_step_whose_condition_was_edited_shows_the_condition() -> None:
    text = "name: r\ncontext: {x: 1}\nsteps:\n  - {id: a, condition: x == 1, command: one}\n"
    (found,) = compare_runs(side(text), later(text.replace("== 1", "== 2")))
    assert (found.why, found.a, found.b) == ("recipe", "[bash  ] a [if x == 1]", "[bash  ] a [if x == 2]")
