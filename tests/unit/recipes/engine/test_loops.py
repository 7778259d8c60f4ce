"""Loops: their items, their rounds, their variables, and how they end."""

from __future__ import annotations

import pytest
from tests.support.fake_world import FakeWorld, only, statuses

from amplihack.recipes.events import IterationStarted
from amplihack.recipes.ports import ShellOutcome
from amplihack.recipes.values import Value


def recipe(fields: str) -> str:
    return f"name: r\nsteps:\n  - {{id: s, {fields}}}\n  - {{id: after, command: 'after'}}\n"


@pytest.mark.parametrize("parallel", ["", "parallel: true,", "parallel: 2,", "parallel: '{{two}}',"])
def test_foreach_collects_results_in_the_order_of_the_items(parallel: str) -> None:
    world = FakeWorld()
    result = world.run(
        recipe(f"foreach: '{{{{items}}}}', {parallel} command: 'do {{{{item}}}}', collect: all"),
        {"items": ["a", "b", "c"], "two": 2},
    )
    assert [dict(each.script.variables) for each in world.shell.requests[:3]] == [
        {"RECIPE_VAR_item": each} for each in "abc"
    ]
    assert len(result.context["all"]) == 3  # type: ignore[arg-type]  # a list, as the next line would show
    assert [child.step_id for child in result.step_results[0].children] == ["s[0]", "s[1]", "s[2]"]
    assert [child.identity for child in result.step_results[0].children] == ["s[0]", "s[1]", "s[2]"]
    assert "item" not in result.context


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("[1, 2]", [1, 2]),
        ("'{{n}}'", [1, 2]),
        ("n", [1, 2]),
        ("'{{j}}'", [3]),
        ("'{{m.deep}}'", [4]),
        ("'{{e}}'", []),
    ],
)
def test_items_are_a_list_a_name_or_text_that_is_a_json_list(items: str, expected: list[Value]) -> None:
    world = FakeWorld()
    result = world.run(
        recipe(f"foreach: {items}, command: x"), {"n": [1, 2], "j": "[3]", "m": {"deep": [4]}, "e": []}
    )
    assert result.success
    assert len(world.shell.requests) == len(expected) + 1


@pytest.mark.parametrize(("items", "words"), [("'{{nope}}'", "is not defined"), ("'{{t}}'", "is not a list")])
def test_what_is_no_list_fails_the_step(items: str, words: str) -> None:
    result = FakeWorld().run(recipe(f"foreach: {items}, command: x"), {"t": "text"})
    assert words in only(result.step_results).error


def test_an_empty_list_sets_an_empty_collection() -> None:
    result = FakeWorld().run(recipe("foreach: [], command: x, collect: all"))
    assert (result.success, result.context["all"]) == (True, [])
    empty = result.step_results[0]
    assert (empty.status, empty.skip_reason) == ("skipped", "foreach: the list is empty")
    assert result.to_json()["counts"]["skipped"] == 1


def test_a_loop_variable_that_hides_another_is_put_back() -> None:
    world = FakeWorld({"x": 1})
    result = world.run(recipe("foreach: [1], as: name, command: x, on_error: continue"), {"name": "mine"})
    assert result.context["name"] == "mine"


def test_rounds_that_fail_follow_the_policy() -> None:
    answers = {"do": ["a", 1, "c"]}
    going_on = FakeWorld({"do": ["a", 1, "c"]}).run(
        recipe("foreach: [1, 2, 3], command: do, collect: all, on_error: continue")
    )
    assert going_on.context["all"] == ["a", None, "c"]
    assert going_on.step_results[0].status == "degraded"
    assert going_on.to_json()["counts"] == {
        "completed": 1,
        "skipped": 0,
        "degraded": 1,
        "failed": 0,
        "failed_allowed": 0,
        "interrupted": 0,
        "never_reached": 0,
    }
    failing = FakeWorld(dict(answers)).run(recipe("foreach: [1, 2, 3], command: do, collect: all"))
    assert failing.step_results[0].error == (
        "Step 's' failed: round 2: bash step failed: Command failed (exit 1): it broke"
    )
    assert [child.status for child in failing.step_results[0].children] == ["completed", "failed"]
    leaving = FakeWorld({"do": ["a", 1, "c"]}).run(
        recipe("foreach: [1, 2, 3], command: do, collect: all, on_error: skip_remaining")
    )
    assert (leaving.success, leaving.never_reached, leaving.context["all"]) == (True, ("after",), ["a", None])


def test_parallel_rounds_all_end_before_a_failure_counts() -> None:
    world = FakeWorld({"do": ["a", 1, "c"]})
    result = world.run(recipe("foreach: [1, 2, 3], parallel: true, command: do"))
    assert [child.status for child in only(result.step_results).children] == [
        "completed",
        "failed",
        "completed",
    ]
    assert only(result.step_results).error.startswith("Step 's' failed: round 2: ")
    assert result.to_json()["counts"]["failed"] == 1


@pytest.mark.parametrize("parallel", ["", "parallel: true,"])
def test_the_step_limit_ends_a_loop_whatever_its_policy(parallel: str) -> None:
    text = "recursion: {max_total_steps: 2}\n" + recipe(
        f"foreach: [1, 2, 3], {parallel} command: x, on_error: continue"
    )
    result = FakeWorld().run(text)
    assert (result.success, result.never_reached) == (False, ("after",))
    assert "Total step limit (2) exceeded" in only(result.step_results).error


def test_too_long_a_list_is_refused_before_the_first_round() -> None:
    world = FakeWorld()
    result = world.run(recipe("foreach: [1, 2, 3], max_iterations: 2, command: x"))
    assert "the list has 3 items; max_iterations allows 2" in only(result.step_results).error
    assert world.shell.scripts == []


def test_a_body_of_several_steps_shares_variables_within_a_round() -> None:
    text = """\
name: r
steps:
  - id: s
    foreach: [x, y]
    collect: all
    steps:
      - {id: one, command: "one {{item}}", output: first}
      - {id: two, command: "two {{first}}", condition: "item == 'y'"}
      - {id: three, command: "three {{first}}"}
"""
    world = FakeWorld({"one": ["1x", "1y"], "two": "2", "three": ["3x", "3y"]})
    result = world.run(text)
    assert result.context["all"] == ["3x", "3y"]
    assert [child.identity for child in only(result.step_results).children[1].children] == [
        "s[1]/one",
        "s[1]/two",
        "s[1]/three",
    ]
    assert [each.status for each in only(result.step_results).children[0].children] == [
        "completed",
        "skipped",
        "completed",
    ]
    side_by_side = FakeWorld({"one": ["1x", "1y"], "two": "2", "three": ["3x", "3y"]})
    again = side_by_side.run(text.replace("collect: all", "collect: all\n    parallel: true"))
    assert again.context["all"] == ["3x", "3y"]
    assert "first" not in again.context


def test_a_loop_runs_inside_a_loop() -> None:
    text = """\
name: r
steps:
  - id: outer
    foreach: [a, b]
    as: letter
    collect: rows
    steps:
      - {id: inner, foreach: [1, 2], as: digit, command: "say {{letter}}{{digit}}", collect: row}
      - {id: whole, command: "row {{row}}", output: text}
"""
    world = FakeWorld({"say": ["a1", "a2", "b1", "b2"], "row": ["A", "B"]})
    result = world.run(text)
    assert result.context["rows"] == ["A", "B"]
    assert [event.identity for event in world.journal.of(IterationStarted)] == [
        "outer",
        "outer[0]/inner",
        "outer[0]/inner",
        "outer",
        "outer[1]/inner",
        "outer[1]/inner",
    ]


def test_while_runs_until_its_condition_fails_and_keeps_its_counters_to_itself() -> None:
    world = FakeWorld({"tick": ["1", "2", "3"]})
    result = world.run(
        recipe("while_condition: 'n < 3', command: 'tick {{_loop_index}}{{_loop_iteration}}', output: n"),
        {"n": 0},
    )
    assert [dict(each.script.variables) for each in world.shell.requests[:3]] == [
        {"RECIPE_VAR__loop_index": f"{n}", "RECIPE_VAR__loop_iteration": f"{n + 1}"} for n in range(3)
    ]
    assert result.context["n"] == 3
    assert not any(name.startswith("_loop") for name in result.context)


def test_a_while_loop_without_a_round_says_so() -> None:
    result = FakeWorld().run(recipe("while_condition: 'false', command: x, output: y"))
    step = result.step_results[0]
    assert (step.status, step.executed) == ("completed", 0)
    assert step.skip_reason == "no round: the while_condition did not hold at the start"
    never = FakeWorld().run(recipe("while_condition: 'tries < 3', command: x, output: tries"))
    assert never.step_results[0].skip_reason.endswith("at the start (tries had no value)")


def test_a_while_loop_at_its_limit_is_degraded() -> None:
    result = FakeWorld().run(recipe("while_condition: 'true', max_while_iterations: 2, command: x"))
    assert (result.success, statuses(result)["s"]) == (True, "degraded")
    assert "s: the loop still wanted to go on after 2 rounds" in result.warnings


@pytest.mark.parametrize("loop", ["foreach: [1, 2, 3, 4]", "while_condition: 'true'"])
def test_update_context_and_break_when_work_in_both_loops(loop: str) -> None:
    world = FakeWorld()
    fields = (
        f"{loop}, command: x, update_context: {{seen: '{{{{s}}}}!', typed: '{{{{flag}}}}'}}, "
        f"break_when: \"seen == 'x!'\""
    )
    result = world.run(recipe(fields), {"flag": True})
    assert world.shell.scripts == ["x", "after"]
    assert (result.context["seen"], result.context["typed"]) == ("x!", True)


def test_a_break_condition_without_an_answer_fails_the_loop_and_keeps_its_rounds() -> None:
    result = FakeWorld().run(recipe("foreach: [1, 2], command: x, break_when: 'int(s) > 1'"))
    step = only(result.step_results)
    assert "Condition error" in step.error
    assert len(step.children) == 1


def test_each_round_tries_again_on_its_own() -> None:
    world = FakeWorld({"do": [1, "a", 1, "b"]})
    result = world.run(
        recipe("foreach: [1, 2], command: do, collect: all, retry: {max_attempts: 2, initial_delay: 1}")
    )
    assert result.context["all"] == ["a", "b"]
    assert [child.attempts for child in result.step_results[0].children] == [2, 2]
    assert world.clock.slept == [1.0, 1.0]


# what a round knows about its loop


def heard(world: FakeWorld) -> list[dict[str, str]]:
    return [
        {name.removeprefix("RECIPE_VAR_"): text for name, text in each.script.variables.items()}
        for each in world.shell.requests
    ]


@pytest.mark.parametrize("parallel", ["", "parallel: 2,"])
def test_a_round_over_a_list_knows_where_it_stands(parallel: str) -> None:
    names = ["index", "index0", "first", "last", "length", "revindex", "revindex0", "depth", "item"]
    world = FakeWorld()
    command = " ".join(f"{{{{loop.{name}}}}}" for name in names)
    result = world.run(f"name: r\nsteps:\n  - {{id: s, foreach: [a, b], {parallel} command: '{command}'}}\n")
    assert [" ".join(each[f"loop__{name}"] for name in names) for each in heard(world)] == [
        "1 0 true false 2 2 1 1 a",
        "2 1 false true 2 1 0 1 b",
    ]
    assert (result.warnings, "loop" in result.context) == ((), False)


def test_a_round_of_a_while_loop_knows_how_many_there_were() -> None:
    world = FakeWorld()
    text = (
        "name: r\nsteps:\n  - {id: s, while_condition: 'loop.index <= 3', command: '{{loop.index0}}', "
        "break_when: 'loop.index == 2'}\n  - {id: t, command: 'x {{loop.index}}'}\n"
    )
    result = world.run(text)
    assert [each["loop__index0"] for each in heard(world)[:2]] == ["0", "1"]
    assert len(world.shell.requests) == 3
    assert result.warnings == ("t: undefined in command: loop.index; it renders empty",)
    assert (
        len(FakeWorld().run(text.replace(", break_when: 'loop.index == 2'", "")).step_results[0].children)
        == 3
    )


def test_the_steps_of_a_body_and_their_conditions_know_the_loop() -> None:
    world = FakeWorld()
    inner = (
        "{id: in, foreach: [x], command: '{{loop.parent.index}} {{loop.depth}}', condition: loop.index > 1}"
    )
    world.run(f"name: r\nsteps:\n  - {{id: s, foreach: [a, b], steps: [{inner}]}}\n")
    assert heard(world) == [{"loop__parent__index": "2", "loop__depth": "2"}]


def test_a_variable_called_loop_wins() -> None:
    world = FakeWorld()
    mine = "name: r\ncontext: {loop: {index: mine}}\nsteps:\n"
    world.run(mine + "  - {id: s, foreach: [a], command: '{{loop.index}}'}\n")
    world.run("name: r\nsteps:\n  - {id: s, foreach: [a], as: loop, command: '{{loop}}'}\n")
    assert heard(world) == [{"loop__index": "mine"}, {"loop": "a"}]


def test_a_sub_recipe_does_not_see_the_loop_of_its_caller() -> None:
    world = FakeWorld(recipes={"child": "name: child\nsteps: [{id: c, command: '{{loop.index}}'}]\n"})
    result = world.run("name: r\nsteps:\n  - {id: s, foreach: [a], recipe: child}\n")
    assert result.warnings == ("s[0]/c: undefined in command: loop.index; it renders empty",)


def test_a_number_and_a_text_that_is_none_have_no_order_and_the_user_hears_of_it() -> None:
    world = FakeWorld()
    loop = "while_condition: '{{n}} < 5', update_context: {n: '{{n}} + 1'}, command: x"
    result = world.run(recipe(loop), {"n": 0})
    assert len(only(result.step_results[:1]).children) == 1
    assert result.warnings == ("s: while_condition: the text '0 + 1' and 5 have no order: never true",)


def test_a_round_that_asks_for_item_is_told_what_it_is_called() -> None:
    result = FakeWorld().run("name: r\nsteps: [{id: a, foreach: [1], as: f, command: 'x {{item}}'}]\n")
    assert result.warnings == ("a[0]: undefined in command: item (the loop says `as: f`); it renders empty",)


@pytest.mark.parametrize("parallel", ["", "parallel: true,"])
def test_a_step_that_a_round_skips_gives_it_no_result_of_another_round(parallel: str) -> None:
    world = FakeWorld()
    world.shell.answers = {"first": "first", "second": "second"}
    result = world.run(
        f"""
name: r
context: {{kept: of a step before}}
steps:
  - id: both
    foreach: [1, 2, 3]
    {parallel.rstrip(",")}
    collect: seen
    steps:
      - {{id: a, command: first, output: made}}
      - {{id: b, command: second, output: kept, condition: item == 2}}
  - id: one
    foreach: [1, 2, 3]
    {parallel.rstrip(",")}
    collect: only
    steps:
      - {{id: c, command: second, output: kept, condition: item == 2}}
"""
    )
    assert result.context["seen"] == ["first", "second", "first"]
    assert result.context["only"] == [None, "second", None]


@pytest.mark.parametrize("given", ["0", "-1", "all", "2.5"])
def test_how_many_rounds_at_once_from_a_template_is_held_to_what_may_be_written(given: str) -> None:
    world = FakeWorld()
    result = world.run(recipe("foreach: [1, 2], parallel: '{{n}}', command: x"), {"n": given})
    assert world.shell.requests == []
    assert "'parallel' should be a whole number, 1 or more" in result.step_results[0].error


@pytest.mark.parametrize("parallel", ["", ", parallel: true"])
def test_what_is_wrong_with_a_step_is_told_once_for_all_its_rounds(parallel: str) -> None:
    body = f"foreach: [a, b, c], command: 'eval {{{{item}}}}; echo {{{{nope}}}}'{parallel}"
    result = FakeWorld().run(recipe(body))
    assert [each for each in result.warnings if "undefined" in each] == [
        "s[0]: undefined in command: nope; it renders empty"
    ]
    assert len([each for each in result.warnings if "as a bash program" in each]) == 1


def test_two_steps_of_one_id_in_two_recipes_both_say_what_is_wrong() -> None:
    world = FakeWorld(recipes={"child": "name: child\nsteps: [{id: s, command: 'echo {{nope}}'}]\n"})
    result = world.run("name: p\nsteps: [{id: s, command: 'echo {{nope}}'}, {id: call, recipe: child}]\n")
    assert result.warnings == (
        "s: undefined in command: nope; it renders empty",
        "call/s: undefined in command: nope; it renders empty",
    )


@pytest.mark.parametrize("parallel", ["", "parallel: true,"])
def test_a_loop_with_degraded_rounds_is_degraded_and_tells_each(parallel: str) -> None:
    world = FakeWorld({"work": ["{}", "prose", "[]"]})
    fields = f"foreach: [a, b, c], {parallel} command: work, parse_json: true"
    result = world.run(recipe(fields))
    step = result.step_results[0]
    assert (step.status, sorted(child.status for child in step.children)) == (
        "degraded",
        ["completed", "completed", "degraded"],
    )
    assert (result.status, result.count("degraded"), result.count("completed")) == ("degraded", 1, 1)
    assert "s: 1 of 3 rounds is degraded" in result.warnings
    assert any(each.endswith("the raw text is kept; it begins: prose") for each in result.warnings)


def test_what_holds_a_degraded_step_is_degraded_and_the_step_counts_once() -> None:
    inner = "steps: [{id: p, foreach: [1], steps: [{id: q, command: prose, parse_json: true}]}]"
    result = FakeWorld().run(recipe(f"foreach: [1, 2], {inner}"))
    step = result.step_results[0]
    assert {step.status, step.children[0].status, step.children[0].children[0].status} == {"degraded"}
    assert (result.status, result.count("degraded")) == ("degraded", 1)
    assert "s[0]: degraded inside: p" in result.warnings


def test_a_failed_round_is_told_by_the_step_that_failed_without_prefixes() -> None:
    world = FakeWorld({"broken": ShellOutcome(stdout="", stderr="noise\nno such file\n", exit_code=2)})
    body = "steps: [{id: p, command: broken}]"
    result = world.run(recipe(f"foreach: [1], continue_on_error: true, {body}"))
    assert "s[0]: this round failed: p: exit 2: no such file" in result.warnings
