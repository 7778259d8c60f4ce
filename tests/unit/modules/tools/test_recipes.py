from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.tool_stage import mounted

pytestmark = pytest.mark.asyncio

GREET = """name: greet
context: {who: world}
steps:
  - {id: hello, command: 'echo "hello {{who}}"', output: said}
"""
GATED = """name: gated
stages:
  - name: first
    steps: [{id: a, command: echo a}]
    approval: {required: true, prompt: Go on?}
  - name: second
    steps: [{id: b, command: echo b}]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AMPLIHACK_HOME", str(tmp_path / "home"))
    here = tmp_path / "project"
    here.mkdir()
    (here / "greet.yaml").write_text(GREET)
    (here / "gated.yaml").write_text(GATED)
    (here / "broken.yaml").write_text("name: broken\nsteps: 3\n")
    return here


async def test_an_agent_lists_validates_and_runs_recipes(project: Path) -> None:
    async with mounted("tool-recipes", project) as tools:
        assert isinstance((await tools.call("recipes", action="list")), dict)
        await tools.call("recipes", action="validate", recipe="greet.yaml")
        tricky = "you\"; touch hacked; $(touch hacked) '{{x}}"
        ran = await tools.call("recipes", action="run", recipe="greet.yaml", context={"who": tricky})
        assert tricky in str(ran["context"]["said"])
        assert not (project / "hacked").exists()
        shown = await tools.call("recipes", action="status", run=ran["run_id"])
        assert shown["status"] == "completed"


async def test_a_recipe_that_is_wrong_or_not_there_is_told(project: Path) -> None:
    async with mounted("tool-recipes", project) as tools:
        assert "broken.yaml" in await tools.fails("recipes", action="run", recipe="broken.yaml")
        assert "'exit_code': 3" in await tools.fails("recipes", action="run", recipe="nowhere")


@pytest.mark.parametrize(
    "given",
    [
        {"action": "run"},
        {"action": "run", "recipe": "--help"},
        {"action": "status", "run": "--html=/tmp/x"},
        {"action": "run", "recipe": "greet.yaml", "context": {"--agent": "x"}},
        {"action": "erase"},
    ],
)
async def test_a_value_never_becomes_an_option(project: Path, given: dict[str, Any]) -> None:
    async with mounted("tool-recipes", project) as tools:
        assert await tools.fails("recipes", **given)


async def test_a_gate_is_for_a_person_unless_the_settings_say_otherwise(project: Path) -> None:
    async with mounted("tool-recipes", project) as tools:
        result = await tools.coordinator.get("tools")["recipes"].execute(
            {"action": "run", "recipe": "gated.yaml"}
        )
        run = result.output["run_id"]
        assert "amplihack runs approve" in await tools.fails("recipes", action="approve", run=run)
        assert (await tools.call("recipes", action="status", run=run))["status"] == "waiting"
    async with mounted("tool-recipes", project, config={"allow_approve": True}) as tools:
        await tools.call("recipes", action="approve", run=run, stage="first", message="fine")
        done = await tools.call("recipes", action="resume", run=run)
        assert done["run_id"] == run
        assert (await tools.call("recipes", action="status", run=run))["status"] == "completed"


async def test_keys_of_models_reach_the_agents_of_a_recipe_and_not_its_commands(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-for-agents")
    (project / "keys.yaml").write_text(
        "name: keys\n"
        "inputs: {asked: {env: ANTHROPIC_API_KEY, default: none}}\n"
        "steps:\n"
        "  - {id: seen, command: 'echo \"[${ANTHROPIC_API_KEY:-none}] {{asked}}\"'}\n"
        "  - {id: sub, recipe: inner.yaml, context_mode: isolated}\n"
        "  - {id: answer, prompt: hello}\n"
    )
    (project / "inner.yaml").write_text(
        "name: inner\ninputs: {asked: {env: ANTHROPIC_API_KEY, default: none}}\n"
        "steps: [{id: inner, command: 'echo \"{{asked}}\"'}]\n"
    )
    tell_key = "command:sh -c 'test -n \"$ANTHROPIC_API_KEY\" && echo has one'"
    async with mounted("tool-recipes", project, config={"agent": tell_key}) as tools:
        ran = await tools.call("recipes", action="run", recipe="keys.yaml")
    assert ran["context"]["seen"] == "[none] none"
    assert "for-agents" not in str(ran)
    assert ran["context"]["answer"] == "has one"


async def test_a_decision_at_a_gate_names_its_run(project: Path) -> None:
    async with mounted("tool-recipes", project, config={"allow_approve": True}) as tools:
        await tools.fails("recipes", action="run", recipe="gated.yaml")
        assert "the id of the run" in await tools.fails("recipes", action="approve", run="last")


async def test_a_large_result_is_cut_inside_and_says_so(project: Path) -> None:
    (project / "large.yaml").write_text(
        "name: large\nsteps: [{id: big, command: 'head -c 3000000 /dev/zero | tr \"\\0\" x'}]\n"
    )
    async with mounted("tool-recipes", project) as tools:
        ran = await tools.call("recipes", action="run", recipe="large.yaml")
    assert ran["status"] == "completed"
    assert "characters left out" in ran["context"]["big"]
    assert len(json.dumps(ran)) < 250_000


async def test_only_recipes_that_a_name_leads_to_are_listed(project: Path) -> None:
    async with mounted("tool-recipes", project) as tools:
        listed = (await tools.call("recipes", action="list"))["result"]
    names = [each["name"] for each in listed]
    assert "greet" in names
    assert len(names) == len(set(names))
