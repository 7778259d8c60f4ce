"""Agent steps with scripted answers and with any program as the agent."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from tests.support.workspace import Answer, Workspace


def run(workspace: Workspace, text: str, *flags: str, env: dict[str, str] | None = None) -> Answer:
    workspace.write("r.yaml", text)
    return workspace.run("recipe", "run", "r.yaml", "--json", "-q", *flags, env=env)


def step(answer: Answer, index: int = 0) -> Any:
    return answer.json["step_results"][index]


def without_agents(workspace: Workspace) -> dict[str, str]:
    """A PATH on which there is bash and git but no agent."""
    folder = workspace.path / "bin"
    folder.mkdir(exist_ok=True)
    for name in ("bash", "touch", "cat", "git", "echo"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(subprocess.check_output(["which", name], text=True).strip())
    return {"PATH": str(folder)}


def test_scripted_answers_flow_through_a_recipe(workspace: Workspace) -> None:
    workspace.write(
        "s.yaml", "- {match: classify, reply: {kind: bug}}\n- {match: fix the bug, reply: fixed}\n"
    )
    answer = run(
        workspace,
        (
            "name: r\nsteps:\n  - {id: a, prompt: Classify this, parse_json: true, output: c}\n"
            "  - {id: b, prompt: 'Fix the {{c.kind}}'}\n"
        ),
        "--agent",
        "scripted:s.yaml",
    )
    assert (answer.json["context"]["c"], answer.json["context"]["b"]) == ({"kind": "bug"}, "fixed")
    assert (step(answer)["usage"], step(answer)["cost_usd"], answer.json["usage"]) == (None, None, None)


def test_an_answer_that_is_not_json_is_asked_for_once_more(workspace: Workspace) -> None:
    text = (
        "name: r\nsteps:\n  - {id: a, prompt: Judge, parse_json: true%s}\n  - {id: b, command: echo later}\n"
    )
    workspace.write(
        "better.yaml",
        "- {match: 'IMPORTANT: your previous answer', reply: {ok: true}}\n- {reply: sure thing}\n",
    )
    answer = run(workspace, text % "", "--agent", "scripted:better.yaml")
    assert (step(answer)["status"], answer.json["context"]["a"]) == ("completed", {"ok": True})
    workspace.write("never.yaml", "- {reply: sure thing}\n")
    soft = run(workspace, text % "", "--agent", "scripted:never.yaml")
    assert (soft.exit_code, step(soft)["status"], soft.json["context"]["a"]) == (0, "degraded", "sure thing")
    assert soft.json["counts"]["degraded"] == 1
    hard = run(workspace, text % ", parse_json_required: true", "--agent", "scripted:never.yaml")
    assert (hard.exit_code, hard.json["never_reached"]) == (1, ["b"])
    assert "parse_json failed" in step(hard)["error"]


def test_a_program_gets_persona_prompt_model_and_place(workspace: Workspace) -> None:
    workspace.write(".claude/agents/team/core/critic.md", "---\nname: critic\n---\nYou are a stern critic.\n")
    workspace.write(
        "amplifier-bundle/agents/core/critic.md", "---\nname: critic\n---\nYou are a stern critic.\n"
    )
    workspace.write("show.sh", 'pwd; echo "model=$1"; cat\n')
    (workspace.path / "sub").mkdir()
    answer = run(
        workspace,
        (
            "name: r\nsteps:\n  - {id: a, agent: 'amplihack:critic', prompt: 'Read {{x}}', "
            "model: big, working_dir: sub, mode: PLAN}\n"
        ),
        "--agent",
        f"command:bash {workspace.path}/show.sh {{model}}",
        "--set-str",
        "x=$(touch owned) it's",
    )
    output = step(answer)["output"]
    assert output.startswith(f"{workspace.path}/sub\nmodel=big\n"), answer.stderr
    assert "Read $(touch owned) it's" in output
    assert "MODE: PLAN" in output
    assert not (workspace.path / "owned").exists()
    assert "You are a stern critic." in output or "persona" in str(answer.json["warnings"])


def test_without_an_agent_nothing_runs(workspace: Workspace) -> None:
    workspace.write("child.yaml", "name: child\nsteps: [{id: c, prompt: hi}]\n")
    env = without_agents(workspace)
    for last in ("prompt: hi", "recipe: child", "foreach: [1], steps: [{id: x, prompt: hi}]"):
        answer = run(
            workspace, f"name: r\nsteps:\n  - {{id: a, command: touch ran}}\n  - {{id: b, {last}}}\n", env=env
        )
        assert answer.exit_code == 4
        assert "there is no agent to use" in answer.stderr
        assert "--agent" in answer.stderr
        assert "there is no agent to use" in answer.json["error"]["what"]
        assert not (workspace.path / "ran").exists()


def test_a_recipe_whose_agent_steps_are_left_out_needs_no_agent(workspace: Workspace) -> None:
    text = "name: r\nsteps:\n  - {id: a, command: echo ran}\n  - {id: b, prompt: hi, when_tags: [slow]}\n"
    answer = run(workspace, text, "--exclude-tags", "slow", env=without_agents(workspace))
    assert answer.exit_code == 0, answer.stderr
    assert run(workspace, text, "--dry-run", env=without_agents(workspace)).exit_code == 0


def test_agents_that_start_agents_end_somewhere(workspace: Workspace) -> None:
    text = "name: r\nsteps:\n  - {id: a, command: 'echo $AMPLIHACK_SESSION_DEPTH'}\n  - {id: b, prompt: hi}\n"
    workspace.write("agent.sh", "touch asked; echo hi\n")
    env = {"AMPLIHACK_SESSION_DEPTH": "6", "AMPLIHACK_MAX_DEPTH": "6"}
    answer = run(workspace, text, "--agent", "command:bash agent.sh", env=env)
    assert (answer.exit_code, answer.json["context"]["a"]) == (1, 7)
    assert "agents are nested too deeply" in step(answer, 1)["error"]
    assert not (workspace.path / "asked").exists()


def test_recovery_asks_one_agent_and_believes_only_a_clear_answer(workspace: Workspace) -> None:
    workspace.write(
        "child.yaml",
        (
            "name: child\nsteps:\n  - {id: good, command: echo fine}\n"
            "  - {id: bad, command: 'echo test failed >&2; exit 1'}\n"
        ),
    )
    text = "name: r\nsteps:\n  - {id: a, recipe: child, recovery_on_failure: true}\n"
    workspace.write("yes.yaml", "- {match: 'bad [error]', reply: \"Did it.\\nSTATUS: COMPLETE\"}\n")
    good = run(workspace, text, "--agent", "scripted:yes.yaml")
    assert (good.exit_code, step(good)["status"]) == (0, "completed"), good.stdout
    assert [child["status"] for child in step(good)["children"]] == ["completed", "failed"]
    assert (good.json["counts"]["failed"], good.json["counts"]["failed_allowed"]) == (0, 1)
    workspace.write("no.yaml", "- {reply: not recovered}\n")
    bad = run(workspace, text, "--agent", "scripted:no.yaml")
    assert bad.exit_code == 1
    assert "agentic recovery was unsuccessful" in step(bad)["error"]


def git(folder: Path, *words: str) -> str:
    return subprocess.check_output(["git", "-C", str(folder), *words], text=True)


def test_an_agents_changes_are_staged_in_a_work_tree_and_only_there(workspace: Workspace) -> None:
    workspace.write("agent.sh", 'echo made > "made-$RANDOM.txt"; echo done\n')
    command = f"command:bash {workspace.path}/agent.sh"
    (workspace.path / "repo").mkdir()
    git(workspace.path / "repo", "init", "-q")
    text = "name: r\nsteps: [{id: a, prompt: change}]\n"
    assert run(workspace, text, "--agent", command, "-C", "repo", "--no-auto-stage").exit_code == 0
    assert git(workspace.path / "repo", "diff", "--cached", "--name-only") == ""
    assert run(workspace, text, "--agent", command, "-C", "repo").exit_code == 0
    assert git(workspace.path / "repo", "diff", "--cached", "--name-only").count("made-") == 1
    plain = run(workspace, text, "--agent", command)
    assert (plain.exit_code, plain.json["warnings"]) == (0, [])


def test_isolated_agents_work_in_a_directory_of_their_own(workspace: Workspace) -> None:
    workspace.write("agent.sh", "pwd; touch here\n")
    answer = run(
        workspace,
        "name: r\nsteps: [{id: a, prompt: x}]\n",
        "--isolate-agents",
        "--agent",
        f"command:bash {workspace.path}/agent.sh",
    )
    place = Path(step(answer)["output"])
    assert place != workspace.path
    assert not place.exists()
    assert not (workspace.path / "here").exists()
