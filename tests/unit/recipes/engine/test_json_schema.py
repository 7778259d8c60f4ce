"""Steps that hold the JSON of their result to a schema."""

from __future__ import annotations

from tests.support.fake_world import FakeWorld, only, statuses

_SCHEMA = "{type: object, required: [verdict], properties: {verdict: {enum: [ship, wait]}}}"


def recipe(more: str = "", action: str = "prompt: judge") -> str:
    return f"name: r\nsteps:\n  - {{id: a, {action}, json_schema: {_SCHEMA}{more}}}\n"


def test_the_agent_is_shown_the_schema_and_its_runner_is_handed_it() -> None:
    world = FakeWorld()
    world.agent.answers = ['{"verdict": "ship"}']
    result = world.run(recipe())
    (request,) = world.agent.requests
    assert result.context["a"] == {"verdict": "ship"}
    assert request.prompt.startswith("judge\n\nEnd your answer with one JSON value")
    assert '"enum":["ship","wait"]' in request.prompt
    assert request.json_schema is not None
    assert request.json_schema["required"] == ["verdict"]


def test_an_answer_that_does_not_fit_is_asked_for_once_more_with_the_reason() -> None:
    world = FakeWorld()
    world.agent.answers = ['{"verdict": "maybe"}', '{"verdict": "wait"}']
    result = world.run(recipe())
    again = world.agent.requests[1].prompt
    assert result.context["a"] == {"verdict": "wait"}
    assert 'does not fit the JSON Schema ($.verdict: should be one of "ship", "wait", is "maybe")' in again
    assert '"enum":["ship","wait"]' in again
    assert list(result.warnings) == [
        'a: the answer does not fit json_schema: $.verdict: should be one of "ship", "wait", is "maybe"; '
        "the agent is asked once more"
    ]


def test_a_step_whose_answer_never_fits_fails_and_is_tried_again_as_its_retry_says() -> None:
    world = FakeWorld()
    world.agent.answers = ['{"verdict": 1}', "prose", '{"no": 1}', "[]"]
    result = world.run(recipe(", retry: {max_attempts: 2, initial_delay: 0}"))
    step = only(result.step_results)
    assert (step.status, step.attempts, len(world.agent.requests)) == ("failed", 2, 4)
    assert step.error == (
        "Step 'a' failed: the JSON of the output does not fit json_schema: $: should be an object, is []"
    )


def test_where_json_is_not_required_what_does_not_fit_is_kept_and_told() -> None:
    world = FakeWorld()
    world.agent.answers = ['{"verdict": "maybe"}']
    result = world.run(recipe(", parse_json_required: false"))
    assert statuses(result) == {"a": "degraded"}
    assert result.context["a"] == {"verdict": "maybe"}


def test_the_json_that_fits_is_found_among_others() -> None:
    world = FakeWorld()
    world.agent.answers = ['Like {"example": 1}.\n```json\n{"draft": 1}\n```\nSo: {"verdict": "wait"} it is.']
    assert world.run(recipe()).context["a"] == {"verdict": "wait"}


def test_what_a_command_prints_is_held_to_it_too() -> None:
    world = FakeWorld({"cat": '{"verdict": "ship"}'})
    assert world.run(recipe(action="command: cat")).context["a"] == {"verdict": "ship"}
    world = FakeWorld({"cat": '{"verdict": 2}'})
    assert "$.verdict: should be one of" in only(world.run(recipe(action="command: cat")).step_results).error
