"""Sub-recipes: what goes in, what comes out, how deep, and what a failure tells."""

from __future__ import annotations

import pytest
from tests.support.fake_world import FakeWorld, only, statuses

from amplihack.recipes.agent_port import AgentFailed, AgentReply
from amplihack.recipes.ports import ShellOutcome

CALL = (
    "name: p\ncontext: {task: parent, n: 5}\nsteps:\n  - {id: call, recipe: child%s}\n"
    "  - {id: after, command: after}\n"
)


def test_everything_goes_in_and_what_the_child_writes_comes_out() -> None:
    child = (
        "name: child\ncontext: {task: default, own: default}\nsteps:\n"
        "  - {id: see, command: 'see {{task}} {{own}} {{extra}}', output: found}\n"
    )
    world = FakeWorld({"see": "42"}, {"child": child})
    result = world.run(CALL % ", context: {extra: '{{n}}', task: told}")
    assert dict(world.shell.requests[0].script.variables) == {
        "RECIPE_VAR_task": "told",
        "RECIPE_VAR_own": "default",
        "RECIPE_VAR_extra": "5",
    }
    assert (result.context["found"], result.context["task"]) == (42, "parent")
    assert "extra" not in result.context
    assert "own" not in result.context
    assert str(result.context["call"]).startswith("Recipe 'child': SUCCESS")


def test_a_name_that_was_passed_in_and_written_by_the_child_comes_back_changed() -> None:
    child = "name: child\nsteps: [{id: w, command: write, output: task}]\n"
    result = FakeWorld({"write": "new"}, {"child": child}).run(CALL % ", sub_context: {task: told}")
    assert result.context["task"] == "new"


def test_what_the_child_stores_under_the_steps_id_is_not_covered_by_its_summary() -> None:
    child = "name: child\nsteps: [{id: call, command: write}]\n"
    result = FakeWorld({"write": "inner"}, {"child": child}).run(CALL % "")
    assert result.context["call"] == "inner"


def test_an_isolated_child_sees_only_what_it_is_given_and_answers_with_a_map() -> None:
    child = (
        "name: child\ncontext: {task: default}\n"
        "steps: [{id: see, command: 'see {{task}} {{n}} {{m}}', output: found}]\n"
    )
    world = FakeWorld({"see": "yes"}, {"child": child})
    result = world.run(CALL % ", context_mode: isolated, output: got, context: {m: '{{n}}'}")
    assert dict(world.shell.requests[0].script.variables) == {
        "RECIPE_VAR_task": "default",
        "RECIPE_VAR_n": "",
        "RECIPE_VAR_m": "5",
    }
    assert result.context["got"] == {"task": "default", "found": "yes"}
    assert result.context["task"] == "parent"


def test_a_placeholder_alone_keeps_its_type_on_the_way_in() -> None:
    child = "name: child\nsteps: [{id: a, foreach: '{{list}}', command: x}]\n"
    world = FakeWorld(recipes={"child": child})
    assert world.run(CALL % ", context: {list: '{{mine}}'}", {"mine": [1, 2]}).success
    assert len(world.shell.requests) == 3


def test_the_calling_file_is_known_to_the_search() -> None:
    world = FakeWorld(
        recipes={
            "child": "name: child\nsteps: [{id: a, recipe: grand}]\n",
            "grand": "name: grand\nsteps: [{id: b, command: x}]\n",
        }
    )
    world.run(CALL % "")
    assert world.book.callers == ["/here/recipe.yaml", "/books/child.yaml"]


def test_children_stand_below_the_step_and_their_failures_are_summed_up() -> None:
    child = (
        "name: child\nsteps:\n  - {id: good, command: fine}\n  - {id: bad, command: broken}\n"
        "  - {id: never, command: x}\n"
    )
    result = FakeWorld({"broken": 2}, {"child": child}).run(CALL % "")
    step = only(result.step_results)
    assert step.error == (
        "Step 'call' failed: Sub-recipe 'child' failed.\nFailed steps:\n"
        "- bad [error]: Step 'bad' failed: bash step failed: Command failed (exit 2): it broke\n"
        "Completed steps: good"
    )
    assert [each.identity for each in step.children] == ["call/good", "call/bad"]
    assert result.to_json()["counts"]["failed"] == 1
    allowed = FakeWorld({"broken": 2}, {"child": child}).run(CALL % ", continue_on_error: true")
    assert (
        allowed.success,
        allowed.count("failed", allowed=True),
        allowed.count("failed", allowed=False),
    ) == (True, 1, 0)


def test_a_degraded_child_degrades_its_caller() -> None:
    child = "name: child\nsteps: [{id: j, command: prose, parse_json: true}]\n"
    assert statuses(FakeWorld(recipes={"child": child}).run(CALL % ""))["call"] == "degraded"


def test_a_missing_sub_recipe_fails_the_step() -> None:
    assert "Sub-recipe 'child' not found" in only(FakeWorld().run(CALL % "").step_results).error


def test_a_broken_sub_recipe_fails_the_step_with_its_problems() -> None:
    result = FakeWorld(recipes={"child": "name: child\nsteps: []\n"}).run(CALL % "")
    assert "Failed to parse sub-recipe 'child': " in only(result.step_results).error


def test_a_recipe_that_calls_itself_ends_at_the_depth_limit() -> None:
    world = FakeWorld(recipes={"self": "name: self\nsteps: [{id: again, recipe: self}]\n"})
    result = world.run("name: p\nrecursion: {max_depth: 3}\nsteps: [{id: call, recipe: self}]\n")
    assert "Maximum recipe recursion depth (3) exceeded" in only(result.step_results).error
    assert len(world.book.callers) == 3


def test_a_sub_recipe_can_tighten_the_limits_and_never_loosen_them() -> None:
    steps = "".join(f"  - {{id: s{n}, command: x}}\n" for n in range(3))
    tight = FakeWorld(recipes={"child": f"name: child\nrecursion: {{max_total_steps: 2}}\nsteps:\n{steps}"})
    result = tight.run(CALL % ", continue_on_error: true")
    assert statuses(result) == {"call": "failed", "after": "completed"}
    assert "Total step limit (2) exceeded" in result.step_results[0].error
    loose = FakeWorld(recipes={"child": f"name: child\nrecursion: {{max_total_steps: 99}}\nsteps:\n{steps}"})
    assert (
        "Total step limit (3) exceeded"
        in only(loose.run("recursion: {max_total_steps: 3}\n" + CALL % "").step_results[1:]).error
    )


def test_a_step_can_tighten_the_limits_of_its_call() -> None:
    child = "name: child\nsteps:\n  - {id: a, command: x}\n  - {id: b, command: x}\n"
    result = FakeWorld(recipes={"child": child}).run(CALL % ", recursion: {max_total_steps: 1}")
    assert "Total step limit (1) exceeded" in only(result.step_results).error


def test_the_inputs_of_a_child_are_checked_too() -> None:
    child = "name: child\ncontext_validation: {goal: nonempty}\nsteps: [{id: a, command: x}]\n"
    world = FakeWorld(recipes={"child": child})
    assert "'goal' is required but empty or missing" in only(world.run(CALL % "").step_results).error
    assert world.shell.scripts == []


BROKEN = "name: child\nsteps:\n  - {id: good, command: fine}\n  - {id: bad, command: broken}\n"


def test_an_agent_can_finish_what_a_sub_recipe_began() -> None:
    world = FakeWorld({"broken": 1}, {"child": BROKEN})
    world.agent.answers = [AgentReply(text="I repaired it.\n\n**STATUS: COMPLETE**", cost_usd=2.0)]
    result = world.run(CALL % ", recovery_on_failure: true")
    assert (result.success, result.cost_usd) == (True, 2.0)
    assert "'child'" in world.agent.requests[0].prompt
    assert "- bad [error]" in world.agent.requests[0].prompt
    assert result.count("failed", allowed=False) == 0


@pytest.mark.parametrize("answer", ["not recovered", "STATUS: COMPLETE\nbut wait", AgentFailed("gone")])
def test_anything_but_a_last_line_of_success_is_no_recovery(answer: str | AgentFailed) -> None:
    world = FakeWorld({"broken": 1}, {"child": BROKEN})
    world.agent.answers = [answer]
    error = only(world.run(CALL % ", recovery_on_failure: true").step_results).error
    assert "Sub-recipe 'child' failed and agentic recovery was unsuccessful." in error
    assert "- bad [error]" in error


@pytest.mark.parametrize(
    "outcome", [127, ShellOutcome(stdout="", stderr="Permission denied", exit_code=1)], ids=["127", "words"]
)
def test_hopeless_failures_cost_no_agent(outcome: object) -> None:
    world = FakeWorld({"broken": outcome}, {"child": BROKEN})
    world.run(CALL % ", recovery_on_failure: true")
    assert world.agent.requests == []


def test_a_lookup_that_fails_is_not_recovered() -> None:
    world = FakeWorld()
    world.run(CALL % ", recovery_on_failure: true")
    assert world.agent.requests == []


CHAIN = {f"r{i}": f"name: r{i}\nsteps: [{{id: s{i}, recipe: r{i + 1}}}]\n" for i in range(1, 9)}


@pytest.mark.parametrize("dialect", ["amplihack", "amplifier"])
@pytest.mark.parametrize(("levels", "success"), [(6, True), (7, False)])
def test_six_levels_are_allowed_in_either_dialect(dialect: str, levels: int, success: bool) -> None:
    recipes = {**CHAIN, f"r{levels}": "name: last\nsteps: [{id: last, command: ls}]\n"}
    text = f"name: r\ndialect: {dialect}\nsteps: [{{id: call, recipe: r1}}]\n"
    assert FakeWorld(recipes=recipes).run(text).success is success


@pytest.mark.parametrize(("limit", "success"), [(0, False), (1, True)])
def test_a_call_with_no_levels_is_refused(limit: int, success: bool) -> None:
    recipes = {"child": "name: child\nsteps: [{id: c, command: ls}]\n"}
    call = f"{{id: call, recipe: child, recursion: {{max_depth: {limit}}}}}"
    result = FakeWorld(recipes=recipes).run(f"name: r\nsteps: [{call}]\n")
    assert result.success is success
    assert ("recursion depth (0)" in only(result.step_results).error) is not success


@pytest.mark.parametrize("mode", ["inherit", "isolated"])
def test_the_value_of_a_step_is_the_output_of_the_sub_recipe_where_it_has_one(mode: str) -> None:
    child = "name: child\noutput: 'all of {{inner}}'\nsteps: [{id: inner, command: say}]"
    world = FakeWorld({"say": "it"}, recipes={"child": child})
    result = world.run(f"name: r\nsteps: [{{id: a, recipe: child, context_mode: {mode}}}]")
    assert result.context["a"] == "all of it"
    assert ("inner" in result.context) is (mode == "inherit")


def test_a_caller_of_the_other_dialect_gets_the_isolated_value_all_the_same() -> None:
    child = "name: child\noutput: words\nsteps: [{id: inner, command: say}]"
    world = FakeWorld({"say": "it"}, recipes={"child": child})
    result = world.run("name: r\ndialect: amplifier\nsteps: [{id: a, recipe: child}]")
    assert result.context["a"] == {"inner": "it"}


def test_a_name_without_a_value_in_the_output_of_a_sub_recipe_is_told() -> None:
    child = "name: child\nsteps: [{id: c, command: y}]\noutput: '{{nope}}!'\n"
    world = FakeWorld(recipes={"child": child})
    result = world.run("name: r\nsteps: [{id: a, recipe: child}]\n")
    assert result.step_results[0].output == "!"
    assert result.warnings == ("a: undefined in the output of 'child': nope; it renders empty",)


@pytest.mark.parametrize(
    "use",
    [
        "{id: after, command: 'say {{got.found.a}}'}",
        "{id: after, command: say, condition: got.found.a == 1}",
        '{id: after, command: say, condition: "{{got.found.a}} == 1"}',
        "{id: after, command: say, env: {A: '{{got.found.a}}'}}",
        "{id: after, prompt: 'say {{got.found}}'}",
        "{id: after, foreach: '{{got.list}}', command: say}",
    ],
)
def test_a_result_of_which_the_caller_uses_parts_is_the_map_of_what_the_child_made(use: str) -> None:
    child = (
        "name: child\ncontext: {own: 1, task: default}\n"
        "steps: [{id: see, command: see, output: found}, {id: l, command: lot, output: list}]\n"
    )
    world = FakeWorld({"see": '{"a": 1}', "lot": "[1, 2]"}, {"child": child})
    call = "{id: c, recipe: child, output: got, context: {task: told}}"
    text = f"name: p\ncontext: {{task: parent}}\nsteps:\n  - {call}\n"
    result = world.run(f"{text}  - {use}\n")
    assert set(statuses(result).values()) == {"completed"}
    assert result.context["got"] == {"found": {"a": 1}, "list": [1, 2], "own": 1}
    assert (result.context["found"], result.context["task"]) == ({"a": 1}, "parent")


def test_a_loop_that_calls_a_recipe_collects_what_it_made() -> None:
    child = "name: child\nsteps: [{id: see, command: 'see {{item}}', output: found}]\n"
    world = FakeWorld({"see": ["one", "two"]}, {"child": child})
    result = world.run("name: p\nsteps: [{id: c, foreach: [1, 2], recipe: child, collect: all}]\n")
    assert result.context["all"] == [{"found": "one"}, {"found": "two"}]


def test_what_a_call_leaves_is_the_same_however_long_its_steps_took() -> None:
    left = []
    for wait in (0, 7):
        retry = f"retry: {{max_attempts: 2, initial_delay: {wait}}}"
        child = f"name: child\nsteps:\n  - {{id: x, command: x, {retry}}}\n"
        world = FakeWorld({"x": [1, "done"]}, {"child": child})
        left.append(world.run("name: r\nsteps:\n  - {id: call, recipe: child}\n").context["call"])
    assert left == ["Recipe 'child': SUCCESS\n  [completed] x"] * 2


FOUR = (
    "name: child\nsteps: [{id: a, command: a}, {id: b, command: broken%s},"
    " {id: c, command: c}, {id: d, command: d}]\n"
)


@pytest.mark.parametrize(
    ("call", "child", "left"),
    [
        ("", "", ("call/c", "call/d", "after")),
        (", continue_on_error: true", "", ("call/c", "call/d")),
        ("", ", on_error: skip_remaining", ("call/c", "call/d")),
        (", foreach: [1, 2], continue_on_error: true", "", ("call/c", "call/d")),
        ("", ", continue_on_error: true", ()),
    ],
)
def test_the_steps_that_a_failed_child_never_reached_are_counted(
    call: str, child: str, left: tuple[str, ...]
) -> None:
    result = FakeWorld({"broken": 1}, {"child": FOUR % child}).run(CALL % call)
    assert result.never_reached == left
    assert result.to_json()["counts"]["never_reached"] == len(left)


def test_a_step_that_another_round_reached_was_reached() -> None:
    world = FakeWorld({"see": "[1, 2]"})
    body = "steps: [{id: a, command: 'exit {{n}}', condition: n == 2}, {id: b, command: x}]"
    world.shell.answers['exit "$RECIPE_VAR_n"'] = 1
    result = world.run(f"name: p\nsteps: [{{id: each, foreach: [1, 2], as: n, {body}}}]\n")
    assert (result.success, result.never_reached) == (False, ())


def test_what_a_child_that_could_not_begin_holds_was_never_reached() -> None:
    child = "name: child\ncontext_validation: {goal: nonempty}\nsteps: [{id: a, command: x}]\n"
    result = FakeWorld(recipes={"child": child}).run(CALL % "")
    assert result.never_reached == ("call/a", "after")
