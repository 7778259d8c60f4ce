"""Agent steps: what the agent is told, what its answer costs, and what is staged afterwards."""

from __future__ import annotations

from tests.support.fake_world import FakeWorld, only

from amplihack.recipes.agent_port import AgentFailed, AgentReply, AgentRequest, Usage
from amplihack.recipes.events import Staged
from amplihack.recipes.ports import Disturbed, LeftAlone, Persona
from amplihack.system.spawn import ProcessError


def recipe(fields: str) -> str:
    return f"name: r\nsteps:\n  - {{id: s, {fields}}}\n"


def test_prompt_persona_model_mode_and_place_reach_the_agent() -> None:
    world = FakeWorld()
    world.personas.known["team:critic"] = Persona("You are a critic.", "small")
    world.places.directories.add("/here/sub")
    world.run(
        recipe("agent: 'team:critic', prompt: 'Read {{x}}', mode: REVIEW, working_dir: sub"), {"x": "it"}
    )
    request = only_request(world)
    assert (request.prompt, request.persona, request.model) == ("Read it", "You are a critic.", "small")
    assert (request.mode, request.working_dir, request.agent) == ("REVIEW", "/here/sub", "team:critic")


def only_request(world: FakeWorld) -> AgentRequest:
    (request,) = world.agent.requests
    return request


def test_the_steps_model_beats_the_personas() -> None:
    world = FakeWorld()
    world.personas.known["a:b"] = Persona("x", "small")
    world.run(recipe("agent: 'a:b', prompt: p, model: big"))
    assert only_request(world).model == "big"


def test_an_unknown_agent_is_a_warning_or_under_strictness_a_failure() -> None:
    lenient = FakeWorld().run(recipe("agent: 'a:b', prompt: p"))
    assert lenient.warnings == ("s: there is no agent a:b; the step runs without this persona",)
    strict = FakeWorld().run(recipe("agent: 'a:b', prompt: p"), strict_agents=True)
    assert only(strict.step_results).error == "Step 's' failed: there is no agent a:b"


def test_an_agent_that_only_has_the_name_is_told_and_under_strictness_refused() -> None:
    world = FakeWorld()
    world.personas.known["theirs:critic"] = Persona("x", namesake="ours:critic")
    text = recipe("agent: 'theirs:critic', prompt: p")
    told = "there is no agent 'theirs:critic' here"
    assert world.run(text).warnings == (f"s: {told}; 'ours:critic' answers, which has its name",)
    strict = world.run(text, strict_agents=True)
    assert only(strict.step_results).error.startswith(f"Step 's' failed: {told}")
    assert len(world.agent.requests) == 1


def test_an_agents_failure_tells_its_last_words() -> None:
    world = FakeWorld()
    world.agent.answers = [AgentFailed("it failed (exit 2)", tool_exit_code=2, stderr="no login")]
    step = only(world.run(recipe("prompt: p")).step_results)
    assert (
        step.error
        == "Step 's' failed: agent step failed: it failed (exit 2)\n--- stderr (tail) ---\nno login"
    )
    assert (step.exit_code, step.stderr) == (2, "no login")


def test_unknown_usage_stays_unknown_and_known_usage_adds_up() -> None:
    world = FakeWorld()
    world.agent.answers = [
        AgentReply(text="a"),
        AgentReply(text="b", usage=Usage(input_tokens=3), cost_usd=0.25),
    ]
    result = world.run(recipe("prompt: p") + "  - {id: t, prompt: q}\n")
    first, second = result.to_json()["step_results"]
    assert (first["usage"], first["cost_usd"]) == (None, None)
    assert second["usage"] == {"input_tokens": 3, "output_tokens": None, "cached_tokens": None}
    assert result.to_json()["cost_usd"] == 0.25


def test_usage_inside_loops_and_sub_recipes_is_counted_once() -> None:
    child = "name: child\nsteps: [{id: each, foreach: [1, 2], steps: [{id: q, prompt: p}]}]\n"
    world = FakeWorld(recipes={"child": child})
    world.agent.answers = [AgentReply(text="a", usage=Usage(output_tokens=5), cost_usd=1.0)]
    result = world.run("name: p\nsteps: [{id: call, recipe: child}]\n")
    assert (result.cost_usd, result.usage) == (2.0, Usage(output_tokens=10))


def test_changes_are_staged_after_an_agent_unless_told_otherwise() -> None:
    def staged(fields: str, *, auto_stage: bool = True, dry_run: bool = False) -> list[str]:
        world = FakeWorld()
        world.run(recipe(fields), auto_stage=auto_stage, dry_run=dry_run)
        return world.work_tree.staged

    assert staged("prompt: p") == ["/here"]
    assert staged("prompt: p", auto_stage=False) == []
    assert staged("prompt: p, auto_stage: false") == []
    assert staged("prompt: p, auto_stage: true", auto_stage=False) == ["/here"]
    assert staged("command: c") == []
    assert staged("prompt: p", dry_run=True) == []


def test_without_git_the_step_is_fine_and_the_user_hears_of_it() -> None:
    world = FakeWorld()
    world.work_tree.problem = ProcessError("cannot run git: no such program on the PATH")
    result = world.run(recipe("prompt: p"))
    assert result.success
    assert "not staged" in result.warnings[0]


def test_what_is_staged_and_what_is_not_is_told() -> None:
    world = FakeWorld()
    world.work_tree.left = (LeftAlone("no\ntes.md", "it had changes before the step"),)
    result = world.run(recipe("prompt: p"))
    assert Staged("s", ("made.txt",)) in world.journal.events
    assert result.step_results[0].warnings == (
        "changed during the step, but not staged: no\\ntes.md (it had changes before the step)",
    )


def test_all_attempts_of_a_step_are_one_change_and_a_failed_step_stages_nothing() -> None:
    world = FakeWorld()
    world.agent.answers = [AgentFailed("busy", transient=True), "no JSON", "{}"]
    world.run(recipe("prompt: p, parse_json: true, retry: {max_attempts: 2, initial_delay: 0}"))
    assert world.work_tree.staged == ["/here"]
    world = FakeWorld()
    world.agent.answers = [AgentFailed("no")]
    result = world.run(recipe("prompt: p"))
    assert world.work_tree.staged == []
    assert result.step_results[0].warnings == (
        "changed during the step, but not staged: made.txt (the step failed)",
    )


def test_agents_keep_the_pace_of_the_recipe() -> None:
    world = FakeWorld()
    rule = "rate_limiting: {min_delay_ms: 500, backoff: {initial_delay_ms: 2000, reset_after_success: 1}}\n"
    world.agent.answers = ["a", AgentFailed("429", rate_limited=True), "c", "d"]
    retry = "retry: {max_attempts: 2, initial_delay: 0}"
    world.run(
        f"{rule}name: r\nsteps:\n  - {{id: a, prompt: p}}\n  - {{id: b, prompt: p, {retry}}}\n"
        f"  - {{id: c, prompt: p}}\n"
    )
    assert world.clock.slept == [0.5, 2.0, 0.5]


def test_a_model_pattern_is_left_to_the_agent_and_a_whole_name_is_not() -> None:
    world = FakeWorld()
    text = "name: r\nsteps:\n  - {id: a, prompt: p, agent: 'x:y', provider_preferences: [%s]}\n"
    result = world.run(text % "{provider: p1, model: 'big-*'}, {provider: p2, model: small}")
    assert world.agent.requests[-1].model == "small"
    result = world.run(text % "{provider: p1, model: 'big-*'}")
    assert world.agent.requests[-1].model is None
    assert not any("pattern" in warning for warning in result.warnings)  # this agent could follow it
    world.agent.answers = [AgentReply(text="ok", unused=("providers",))]
    result = world.run(text % "{provider: p1, model: 'big-*'}")
    assert any("'big-*' is a pattern" in warning for warning in result.warnings)


def test_what_an_agent_cannot_use_is_told() -> None:
    world = FakeWorld()
    world.agent.answers = [AgentReply(text="ok", unused=("model_role",))]
    result = world.run("name: r\nsteps:\n  - {id: a, prompt: p, model_role: fast}\n")
    assert result.success
    assert any("cannot use what the step says about model_role" in warning for warning in result.warnings)


def test_an_agent_that_is_not_here_is_told_with_the_bundle_that_the_recipe_names() -> None:
    world = FakeWorld()
    world.personas.known["theirs:critic"] = Persona("x", namesake="ours:critic")
    text = "dependencies: [{source: 'git+https://u:pw@h.org/theirs', required_agents: ['theirs:critic']}]\n"
    text += "name: r\nsteps:\n- {id: s, agent: 'theirs:critic', prompt: p}\n"
    text += "- {id: t, agent: 'theirs:x', prompt: p}\n"
    source = "git+https://***@h.org/theirs"
    known, unknown = world.run(text).warnings
    assert known.endswith(
        f"(fix: the recipe says that it comes from {source}; run with `--agent session:{source}`)"
    )
    assert f"the recipe's `dependencies:` may have it: {source}; run with" in unknown
    strict = world.run(text, strict_agents=True)
    assert f"run with `--agent session:{source}`" in str(strict.step_results[0])


def test_what_the_step_did_to_the_work_of_others_is_told() -> None:
    world = FakeWorld()
    world.work_tree.disturbed = (Disturbed("ü\udcff\x1b", "it is gone"), Disturbed("a.txt", "it was staged"))
    result = world.run(recipe("prompt: p"))
    assert result.step_results[0].warnings == (
        "no longer as it was before the step: ü\\xff\\x1b (it is gone), a.txt (it was staged)",
    )
