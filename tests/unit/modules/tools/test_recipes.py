from __future__ import annotations

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
