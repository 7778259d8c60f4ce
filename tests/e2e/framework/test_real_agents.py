"""The development workflow with the real claude, codex and copilot, and a model on 127.0.0.1 behind them."""

from __future__ import annotations

import json

import pytest
from tests.support.agent_tools import PERMISSIONS, agent_environment, needs_agent_tools
from tests.support.framework_place import RIGHT, WRONG, FrameworkPlace
from tests.support.model_server import ModelServer, Say, UseTool

pytestmark = needs_agent_tools


def shell(tool: str, script: str) -> UseTool:
    """Return the call by which a tool runs a script, as its own model would ask for it."""
    if tool == "codex":
        return UseTool("exec_command", {"cmd": script})
    return UseTool("Bash" if tool == "claude" else "bash", {"command": script, "description": "edit"})


@pytest.mark.parametrize("tool", ["claude", "codex", "copilot"])
def test_a_change_is_made_repaired_tested_reviewed_and_committed(place: FrameworkPlace, tool: str) -> None:
    plan = {"approach": ["add mul"], "files": ["calc.sh"], "tests": ["2 * 5"], "risks": []}
    turns = (
        Say(json.dumps(plan)),
        shell(tool, WRONG),
        Say("I added mul; all tests pass."),
        shell(tool, RIGHT),
        Say("It added instead of multiplying."),
        Say(f"I looked at it.\n```json\n{json.dumps({'verdict': 'approve', 'findings': []})}\n```"),
    )
    with ModelServer(*turns) as server:
        place.workspace.env.update(agent_environment(place.workspace.path / "home", server))
        place.workspace.env.update(PERMISSIONS[tool])
        done = place.run("default-workflow", "-q", "--agent", tool, task_description="Add mul to calc.sh")
    assert done.exit_code == 0, done.stderr
    assert "Changed and tested." in done.stdout
    assert "Tests: passed (make test)" in done.stdout
    assert "Review: approve" in done.stdout
    assert place.git("diff", "--name-only", "main", "HEAD").split() == ["calc.sh", "check.sh"]
    assert place.git("log", "--format=%s", "main..HEAD") == "Add mul to calc.sh"
    assert place.git("status", "--porcelain") == ""
    assert len(server.asked) == len(turns)
    told = [request.text for request in server.asked]
    assert "You understand before you decide" in told[0]  # the persona of the architect
    assert "mul is wrong" in told[3]  # what the runner saw, not what the agent said
