"""Trying again, running out of time, and JSON: the same for every kind of step."""

from __future__ import annotations

import asyncio

import pytest
from tests.support.fake_world import FakeWorld, only, statuses

from amplihack.recipes.agent_port import AgentFailed, AgentReply, Usage
from amplihack.recipes.events import Retrying
from amplihack.recipes.ports import ShellOutcome
from amplihack.system.spawn import ProcessError


def recipe(fields: str) -> str:
    return f"name: r\nsteps:\n  - {{id: s, {fields}}}\n"


@pytest.mark.parametrize(
    ("backoff", "waits"), [("exponential", [2.0, 4.0, 5.0]), ("linear", [2.0, 2.0, 2.0])]
)
def test_retries_wait_longer_or_as_long_each_time(backoff: str, waits: list[float]) -> None:
    world = FakeWorld({"work": [1, 1, 1, "fine"]})
    retry = f"retry: {{max_attempts: 4, initial_delay: 2, max_delay: 5, backoff: {backoff}}}"
    result = world.run(recipe(f"command: work, {retry}"))
    assert world.clock.slept == waits
    assert (only(result.step_results).attempts, result.context["s"]) == (4, "fine")
    assert [event.attempt for event in world.journal.of(Retrying)] == [2, 3, 4]


@pytest.mark.parametrize("code", [126, 127])
def test_a_command_that_does_not_exist_is_not_tried_again(code: int) -> None:
    world = FakeWorld({"work": code})
    result = world.run(recipe("command: work, retry: {max_attempts: 5}"))
    assert (len(world.shell.requests), world.clock.slept) == (1, [])
    assert only(result.step_results).exit_code == code


def test_only_transient_failures_are_tried_again_if_that_is_asked() -> None:
    retry = "retry: {max_attempts: 3, on: transient}"
    firm = FakeWorld({"work": 1})
    firm.run(recipe(f"command: work, {retry}"))
    assert len(firm.shell.requests) == 1
    slow = FakeWorld({"work": ShellOutcome(stdout="", timed_out="timed out after 1s")})
    slow.run(recipe(f"command: work, {retry}"))
    assert len(slow.shell.requests) == 3


def test_the_number_of_attempts_can_be_a_template() -> None:
    world = FakeWorld({"work": 1})
    world.run(recipe("command: work, retry: {max_attempts: '{{n}}', initial_delay: 0}"), {"n": 3})
    assert len(world.shell.requests) == 3


@pytest.mark.parametrize("given", ["1e9", "2.5", "0", "-1", "many", "0x10", "9" * 16, "inf", ""])
def test_the_number_of_attempts_from_a_template_is_held_to_what_may_be_written_there(given: str) -> None:
    world = FakeWorld({"work": 1})
    step = "command: work, retry: {max_attempts: '{{n}}', initial_delay: 0}"
    result = world.run(recipe(step), {"n": given})
    assert world.shell.requests == []
    assert (
        "'retry.max_attempts' should be a whole number, 1 or more, of at most 15 digits"
        in result.step_results[0].error
    )


def test_retried_attempts_count_as_one_step() -> None:
    text = "name: r\nrecursion: {max_total_steps: 2}\nsteps:\n"
    text += (
        "  - {id: a, command: flaky, retry: {max_attempts: 3, initial_delay: 0}}\n  - {id: b, command: x}\n"
    )
    assert FakeWorld({"flaky": [1, 1, "ok"]}).run(text).success


def test_what_the_machine_cannot_do_fails_the_step_and_no_more() -> None:
    text = recipe("command: work, on_error: continue") + "  - {id: t, command: later}\n"
    result = FakeWorld({"work": ProcessError("no space left")}).run(text)
    assert statuses(result) == {"s": "failed", "t": "completed"}
    assert "no space left" in result.step_results[0].error


@pytest.mark.parametrize(
    ("fields", "limit"),
    [
        ("command: x, timeout: 7", 7.0),
        ("command: x, timeout: '{{t}}'", 9.0),
        ("command: x, timeout: 0", None),
        ("command: x", 5.0),
        ("prompt: x", 5.0),
    ],
)
def test_the_time_limit_comes_from_the_step_then_the_recipe(fields: str, limit: float | None) -> None:
    world = FakeWorld()
    world.run(f"default_step_timeout: 5\n{recipe(fields)}", {"t": 9}, step_timeout=3.0)
    asked = [each.timeout for each in world.shell.requests] + [each.timeout for each in world.agent.requests]
    assert asked == [limit]


def test_the_default_time_limit_reaches_into_sub_recipes_and_never_limits_what_holds_others() -> None:
    world = FakeWorld(recipes={"child": recipe("command: x")})
    world.run(f"default_step_timeout: 5\n{recipe('recipe: child')}")
    assert [each.timeout for each in world.shell.requests] == [5.0]
    other = FakeWorld()
    other.run(recipe("command: x"), step_timeout=3.0)
    assert [each.timeout for each in other.shell.requests] == [3.0]


@pytest.mark.parametrize(("given", "seconds"), [("5m", 300.0), ("1h30m", 5400.0), (90, 90.0), ("0.5", 0.5)])
def test_a_time_limit_may_be_a_placeholder_for_a_duration(given: str | int, seconds: float) -> None:
    world = FakeWorld()
    world.run(recipe("command: x, timeout: '{{t}}'"), {"t": given})
    assert [each.timeout for each in world.shell.requests] == [seconds]


def test_a_time_limit_that_is_no_number_fails_the_step() -> None:
    result = FakeWorld().run(recipe("command: x, timeout: '{{t}}'"), {"t": "soon"})
    assert "'timeout' should be a number" in only(result.step_results).error


@pytest.mark.parametrize(
    "fields", ["recipe: child", "foreach: [1], steps: [{id: inner, command: hang}]"], ids=["recipe", "body"]
)
def test_a_step_that_holds_others_is_cut_short_when_its_time_is_up(fields: str) -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    world = FakeWorld({"hang": forever}, recipes={"child": recipe("command: hang")})
    result = world.run(
        recipe(f"{fields}, timeout: 0.01, on_error: continue") + "  - {id: t, command: later}\n"
    )
    assert statuses(result)["t"] == "completed"
    failed = result.step_results[0]
    assert failed.status == "failed" or failed.children[0].status == "failed"
    assert "timed out after 0.01s" in f"{failed.error} {[each.error for each in failed.children]}"
    assert world.shell.running == 0


def test_json_is_found_stored_and_shown_compactly() -> None:
    result = FakeWorld({"work": 'Sure!\n```json\n{"b": 1, "a": [2]}\n```'}).run(
        recipe("command: work, parse_json: true")
    )
    assert result.context["s"] == {"b": 1, "a": [2]}
    assert only(result.step_results).output == '{"b":1,"a":[2]}'


def test_without_json_a_step_is_degraded_or_failed_as_the_recipe_says() -> None:
    soft = FakeWorld({"work": "no"}).run(recipe("command: work, parse_json: true"))
    assert (soft.success, only(soft.step_results).status, soft.context["s"]) == (True, "degraded", "no")
    hard = FakeWorld({"work": "no"}).run(recipe("command: work, parse_json: true, parse_json_required: true"))
    assert not hard.success
    assert only(hard.step_results).error == (
        "Step 's' failed: parse_json failed: output is not valid JSON; it begins: no"
    )


def test_an_agent_is_asked_once_more_for_json_the_same_way() -> None:
    world = FakeWorld()
    world.places.directories.add("/here/sub")
    usage = Usage(input_tokens=10, output_tokens=1)
    world.agent.answers = [
        AgentReply(text="I think so", usage=usage, cost_usd=0.5),
        AgentReply(text='{"ok": true}', usage=usage),
    ]
    fields = (
        "prompt: 'judge {{x}}', agent: 'a:b', model: big, mode: PLAN, working_dir: sub, "
        "timeout: 9, parse_json: true"
    )
    result = world.run(recipe(fields), {"x": "it"})
    first, second = world.agent.requests
    assert second.prompt.startswith("judge it")
    assert "IMPORTANT" in second.prompt
    assert second.prompt.endswith("I think so")
    for name in ("agent", "persona", "model", "mode", "working_dir", "timeout"):
        assert getattr(first, name) == getattr(second, name)
    step = only(result.step_results)
    assert (step.status, result.context["s"]) == ("completed", {"ok": True})
    assert (step.usage, step.cost_usd) == (Usage(input_tokens=20, output_tokens=2), 0.5)


def test_an_agent_that_fails_the_second_time_leaves_its_first_answer() -> None:
    world = FakeWorld()
    world.agent.answers = ["just prose", AgentFailed("gone")]
    result = world.run(recipe("prompt: x, parse_json: true"))
    assert (only(result.step_results).status, result.context["s"]) == ("degraded", "just prose")


def test_the_cost_of_failed_attempts_is_not_forgotten() -> None:
    world = FakeWorld()
    world.agent.answers = [
        AgentReply(text="no", cost_usd=1.0),
        AgentReply(text="no", cost_usd=1.0),
        AgentReply(text="{}", cost_usd=1.0),
    ]
    fields = (
        "prompt: x, parse_json: true, parse_json_required: true, retry: {max_attempts: 2, initial_delay: 0}"
    )
    result = world.run(recipe(fields))
    assert (result.success, result.cost_usd, result.usage) == (True, 3.0, None)


def test_an_empty_command_is_a_command() -> None:
    assert FakeWorld().run("name: r\nsteps:\n  - {id: a, command: ''}\n").success


def test_an_answer_that_was_no_json_is_kept_and_its_beginning_shown() -> None:
    world = FakeWorld()
    world.agent.answers = [AgentReply(text="sorry,\nno " + "x" * 300)]  # the same again when asked again
    result = world.run(recipe("prompt: x, parse_json: true, parse_json_required: true"))
    failed = only(result.step_results)
    assert failed.output == "sorry,\nno " + "x" * 300
    assert failed.error.endswith("it begins: sorry, no " + "x" * 190 + "…")


@pytest.mark.parametrize("required", ["true", "false"])
def test_of_two_answers_without_json_both_are_kept(required: str) -> None:
    world = FakeWorld()
    world.agent.answers = [AgentReply(text="The fault is in a.py."), AgentReply(text="I cannot.")]
    result = world.run(recipe(f"prompt: x, parse_json: true, parse_json_required: {required}"))
    assert only(result.step_results).output == "The fault is in a.py.\n\nI cannot."
    assert "s: the second answer was not JSON either: both are kept, the second below the first" in (
        result.warnings
    )


def test_a_second_answer_without_json_does_not_replace_one_that_only_does_not_fit() -> None:
    world = FakeWorld()
    world.agent.answers = [AgentReply(text='{"a": 1}'), AgentReply(text="I cannot.")]
    result = world.run(recipe("prompt: x, json_schema: {required: [b]}, parse_json_required: false"))
    assert result.context["s"] == {"a": 1}


@pytest.mark.parametrize(
    ("printed", "kept"),
    [("  a\n\n", "  a"), ("a \n", "a "), ("\na", "\na"), ("\n", ""), ("\t- x\n", "\t- x")],
)
def test_only_newlines_at_the_end_of_an_output_are_cut(printed: str, kept: str) -> None:
    result = FakeWorld({"say": ShellOutcome(stdout=printed, exit_code=0)}).run(recipe("command: say"))
    assert only(result.step_results).output == kept


@pytest.mark.parametrize("exit_code", [0, 127])
def test_a_script_that_was_stopped_at_a_word_fails_its_step_whatever_exit_codes_mean(exit_code: int) -> None:
    world = FakeWorld()
    said = "bash: line 2: AMPLIHACK_STOP: n is not a number\n"
    world.shell.answers["count"] = ShellOutcome(exit_code=exit_code, stdout="so far", stderr=said)
    result = world.run("name: r\nsteps: [{id: a, command: count, output_exit_code: code}]\n")
    (step,) = result.step_results
    assert (step.status, step.output) == ("failed", "so far")
    assert (
        "line 2: bash evaluates $n there, and it is not a number\n  fix: check the text first" in step.error
    )


def test_stderr_that_was_cut_tells_how_much_was_lost() -> None:
    world = FakeWorld()
    world.shell.answers["talk"] = ShellOutcome(exit_code=0, stdout="", stderr="end", stderr_lost=5)
    result = world.run(
        "name: r\nsteps: [{id: a, command: talk, output_stderr: said}, {id: b, command: talk}]\n"
    )
    told = "stderr was larger than a step can keep and was cut: 5 bytes lost"
    assert result.warnings == (f"a: {told}", f"b: {told}")  # the result of either has it


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        ("I am sorry,\n  no JSON", "; the raw text is kept; it begins: I am sorry, no JSON"),
        ("", ": it is empty"),
    ],
)
def test_the_beginning_of_what_was_no_json_is_told(printed: str, told: str) -> None:
    result = FakeWorld({"work": printed}).run(recipe("command: work, parse_json: true"))
    assert result.warnings == (f"s: parse_json found no JSON in the output{told}",)


def test_an_empty_second_answer_does_not_replace_the_first() -> None:
    world = FakeWorld()
    world.agent.answers = ["just prose", " "]
    result = world.run(recipe("prompt: x, parse_json: true"))
    assert (only(result.step_results).status, result.context["s"]) == ("degraded", "just prose")


def test_an_output_that_is_no_text_is_told() -> None:
    world = FakeWorld({"work": ShellOutcome(stdout="a\ufffdb", exit_code=0, stdout_broken=1)})
    assert "the output is no UTF-8 in 1 place" in world.run(recipe("command: work")).warnings[0]
    world = FakeWorld()
    world.agent.answers = [AgentReply(text="a\ufffd\ufffd", broken=2)]
    assert "the output is no UTF-8 in 2 places" in world.run(recipe("prompt: x")).warnings[0]
