"""Kill a run anywhere and go on with it: nothing finished is done again, nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.support.running import Scene, Terminal, wait_until
from tests.support.workspace import Answer, Workspace

STEPS = """\
name: work
steps:
  - {id: first, command: 'echo first >> done.txt; echo one'}
  - id: second
    command: 'echo second >> done.txt; touch begun; while [ ! -e go ]; do sleep 0.02; done; echo two'
  - {id: third, command: 'echo third >> done.txt; echo "{{first}} {{second}}"'}
"""


@pytest.fixture
def scene(workspace: Workspace) -> Scene:
    return Scene(workspace)


def home(workspace: Workspace) -> Path:
    return workspace.path / "home" / ".amplihack"


def done(workspace: Workspace) -> list[str]:
    return (workspace.path / "done.txt").read_text().split()


def listed(workspace: Workspace) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = workspace.run("runs", "list", "--json").json
    return runs


def resumed(workspace: Workspace, *words: str) -> Any:
    answer = workspace.run("runs", "resume", *words, "--json")
    assert answer.exit_code == 0, answer
    return answer.json


def killed(scene: Scene, *words: str, number: int = signal.SIGKILL) -> Answer:
    started = scene.start("recipe", "run", *words)
    started.wait_for("begun")
    started.interrupt(number=number)
    answer = started.end()
    wait_until("the end of its processes", lambda: not scene.alive())
    return answer


# kept, and how ----------------------------------------------------------------------------------------------


def test_a_run_tells_its_id_and_is_listed_and_shown(workspace: Workspace) -> None:
    workspace.write("a.yaml", "name: a\nsteps:\n  - {id: hello, command: 'echo hi'}\n")
    answer = workspace.run("recipe", "run", "a.yaml", "--json")
    run_id = answer.json["run_id"]
    assert answer.stderr.splitlines()[0] == f"run {run_id}"
    (only,) = listed(workspace)
    assert (only["run_id"], only["recipe"], only["status"]) == (run_id, "a", "completed")
    for name in (run_id, run_id[:-2], "last", "latest", "newest"):
        shown = workspace.run("runs", "show", name, "--json").json
        (step,) = shown["steps"]
        assert (shown["run_id"], step["identity"], step["status"], step["output"]) == (
            run_id,
            "hello",
            "completed",
            "hi",
        )
        assert step["started"] <= step["ended"]
    by_recipe = workspace.run("runs", "show", "a")  # which is no run, but has one
    assert (by_recipe.exit_code, f"did you mean '{run_id}'?" in by_recipe.stderr) == (3, True)
    page = workspace.run("runs", "show").stdout
    assert "✓ hello" in page
    assert "│ hi" in page


def test_the_last_run_is_the_one_that_was_started_last_whatever_the_clock_says(workspace: Workspace) -> None:
    workspace.write("work.yaml", "name: work\nsteps: [{id: a, command: 'true'}]\n")
    first = workspace.run("recipe", "run", "work.yaml", "--json").json["run_id"]
    with sqlite3.connect(home(workspace) / "runs.sqlite3") as database:  # then the clock is set back
        database.execute("UPDATE runs SET started = started + 3600")
    second = workspace.run("recipe", "run", "work.yaml", "--json").json["run_id"]
    assert [run["run_id"] for run in listed(workspace)] == [second, first]
    assert workspace.run("runs", "show", "last", "--json").json["run_id"] == second
    assert workspace.run("runs", "diff").exit_code == 0
    assert "-3" not in workspace.run("runs", "list").stdout.split(first)[1].split()[-1]
    assert workspace.run("runs", "show", first, "--html", "page.html").exit_code == 0


def test_what_is_kept_is_private(workspace: Workspace) -> None:
    workspace.write(
        "a.yaml", "name: a\nsteps:\n  - {id: big, command: 'head -c 50000 /dev/zero | tr \"\\\\0\" x'}\n"
    )
    assert workspace.run("recipe", "run", "a.yaml").exit_code == 0
    kept = [home(workspace), *home(workspace).rglob("*")]
    assert any(path.parent.name == "values" for path in kept)
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in kept} == {0}


@pytest.mark.parametrize("flag", ["--ephemeral", "--dry-run"])
def test_a_run_that_keeps_nothing_writes_nothing(workspace: Workspace, flag: str) -> None:
    workspace.write("a.yaml", "name: a\nsteps:\n  - {id: hello, command: 'echo hi'}\n")
    answer = workspace.run("recipe", "run", "a.yaml", flag)
    assert answer.exit_code == 0
    assert not [line for line in answer.stderr.splitlines() if line.startswith("run ")]
    assert not home(workspace).exists()
    assert workspace.run("runs", "list", "--json").json == []


def test_a_python_program_writes_nothing_unless_it_says_where(workspace: Workspace) -> None:
    workspace.write("a.yaml", "name: a\nsteps:\n  - {id: hello, command: 'echo hi'}\n")
    program = "import amplihack; assert amplihack.run_file('a.yaml').success"
    done = subprocess.run([sys.executable, "-c", program], cwd=workspace.path, env=workspace.env, check=False)
    assert done.returncode == 0
    assert not home(workspace).exists()


def test_names_that_mean_no_run_or_several_are_refused(workspace: Workspace) -> None:
    nothing = workspace.run("runs", "show")
    assert (nothing.exit_code, "there are no runs yet" in nothing.stderr) == (3, True)
    workspace.write("a.yaml", "name: a\nsteps:\n  - {id: hello, command: 'echo hi'}\n")
    ids = [workspace.run("recipe", "run", "a.yaml", "--json").json["run_id"] for _ in range(2)]
    several = workspace.run("runs", "show", ids[0][0])
    assert (several.exit_code, f"begins 2 runs: {min(ids)}, {max(ids)}" in several.stderr) == (3, True)
    assert workspace.run("runs", "show", "x%").exit_code == 3
    assert f"did you mean '{ids[0]}'?" in workspace.run("runs", "show", ids[0].upper()).stderr
    assert workspace.run("runs", "show", "").exit_code == 3


# going on ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_was_ended_goes_on_where_it_was(scene: Scene, number: int) -> None:
    workspace = scene.workspace
    workspace.write("work.yaml", STEPS)
    killed(scene, "work.yaml", number=number)
    (run,) = listed(workspace)
    assert run["status"] == "interrupted"
    shown = workspace.run("runs", "show", "--json").json
    assert [step["status"] for step in shown["steps"]] == ["completed", "interrupted"]
    workspace.write("go", "")
    result = resumed(workspace)
    assert result["run_id"] == run["run_id"]
    assert result["context"] == {"first": "one", "second": "two", "third": "one two"}
    assert done(workspace) == ["first", "second", "second", "third"]
    assert listed(workspace)[0]["status"] == "completed"


def test_what_a_step_had_printed_when_it_was_killed_is_shown(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write(
        "a.yaml",
        "name: a\nsteps:\n  - id: each\n    foreach: [1, 2]\n"
        "    command: 'echo round {{item}}; [ {{item}} = 1 ] || sleep 1000'\n",
    )
    started = scene.start("recipe", "run", "a.yaml")
    wait_until("its lines", lambda: "│ round 2" in workspace.run("runs", "show").stdout)
    started.interrupt(number=signal.SIGKILL)
    started.end()
    assert "✗ each[1] [interrupted]\n      │ round 2" in workspace.run("runs", "show").stdout
    (each,) = workspace.run("runs", "show", "--json").json["steps"]
    assert [child["output"] for child in each["children"]] == ["round 1", "round 2"]
    assert "round 2" in workspace.run("runs", "show", "--html", "-").stdout


def test_what_agents_cost_is_told_of_a_run_that_was_killed_and_counted_once(scene: Scene) -> None:
    workspace = scene.workspace
    tool = workspace.write(
        "claude",
        "#!/bin/sh\necho asked >> done.txt\n"
        'echo \'{"type":"result","subtype":"success","result":"hi","total_cost_usd":0.25,'
        '"usage":{"input_tokens":10,"output_tokens":4}}\'\n',
    )
    tool.chmod(0o755)
    workspace.write(
        "work.yaml",
        "name: work\nsteps:\n  - {id: each, foreach: [1, 2], prompt: 'Say {{item}}'}\n"
        "  - {id: wait, command: 'touch begun; while [ ! -e go ]; do sleep 0.02; done'}\n"
        "  - {id: again, prompt: Say more}\n",
    )
    killed(scene, "work.yaml", "--agent", str(tool))
    shown = workspace.run("runs", "show", "--json").json
    assert (shown["status"], shown["cost_usd"], shown["usage"]["input_tokens"]) == ("interrupted", 0.5, 20)
    assert "cost $0.5000" in workspace.run("runs", "show").stdout
    workspace.write("go", "")
    assert resumed(workspace)["cost_usd"] == 0.75
    assert (done(workspace), listed(workspace)[0]["cost_usd"]) == (["asked"] * 3, 0.75)


def test_a_failed_step_is_tried_again_and_the_others_are_not(workspace: Workspace) -> None:
    workspace.write(
        "a.yaml",
        "name: a\nsteps:\n  - {id: one, command: 'echo one >> done.txt'}\n"
        "  - {id: two, command: 'echo two >> done.txt; test -e fixed'}\n",
    )
    assert workspace.run("recipe", "run", "a.yaml").exit_code == 1
    assert listed(workspace)[0]["status"] == "failed"
    workspace.write("fixed", "")
    assert resumed(workspace)["success"]
    assert done(workspace) == ["one", "two", "two"]
    again = workspace.run("runs", "resume")
    assert (again.exit_code, "it is completed" in again.stderr) == (2, True)


NESTED = """\
name: nested
steps:
  - {id: a, parallel_group: g, command: 'sleep 0.3; echo a >> done.txt; echo A'}
  - {id: b, parallel_group: g, command: 'echo b >> done.txt; echo B'}
  - {id: call, recipe: ./child.yaml, context: {given: '{{a}}{{b}}'}}
  - {id: each, foreach: [x, y, z], command: 'echo each-{{item}} >> done.txt; echo {{item}}', collect: all}
  - id: flaky
    retry: {max_attempts: 3, initial_delay: 0}
    command: 'echo flaky >> done.txt; n=$(grep -c flaky done.txt); [ $n -gt 1 ]; echo "{{all}}"'
    strict_shell: true
  - {id: stop, command: 'echo stop >> done.txt; touch begun; [ -e go ] || sleep 100; echo {{inner}}'}
"""
CHILD = """\
name: child
steps:
  - {id: inner, command: 'echo inner >> done.txt; echo "in {{given}}"'}
  - id: rounds
    while_condition: 'count < 2'
    update_context: {count: '{{_loop_iteration}}'}
    command: 'echo round >> done.txt; echo r'
context: {count: 0}
"""


def test_groups_loops_retries_and_sub_recipes_are_not_done_again(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write("nested.yaml", NESTED)
    workspace.write("child.yaml", CHILD)
    killed(scene, "nested.yaml")
    before = done(workspace)
    workspace.write("go", "")
    result = resumed(workspace)
    assert done(workspace) == [*before, "stop"]
    assert result["context"]["stop"] == "in AB"
    assert result["context"]["all"] == ["x", "y", "z"]
    identities = {
        step["identity"] for step in workspace.run("runs", "show", "--json").json["steps"][2]["children"]
    }
    assert identities == {"call/inner", "call/rounds"}


def test_values_of_any_size_come_back_exactly(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write(
        "big.yaml",
        "name: big\nsteps:\n"
        "  - {id: text, command: 'head -c 3000000 /dev/zero | tr \"\\\\0\" x'}\n"
        "  - {id: odd, command: 'cat odd.json'}\n"
        "  - {id: wait, command: 'touch begun; [ -e go ] || sleep 100; echo ok'}\n",
    )
    odd = {
        "\0file": "x",
        "list": list(range(20_000)),
        "\0map": {"\0map": 1},
        "text": "ü\ud800" + "y" * 20_000,
    }
    workspace.write("odd.json", json.dumps(odd))
    killed(scene, "big.yaml")
    workspace.write("go", "")
    context = resumed(workspace)["context"]
    assert context["text"] == "x" * 3_000_000
    assert context["odd"] == odd


def test_processes_that_still_live_are_ended_first(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write(
        "a.yaml",
        "name: a\nsteps:\n  - {id: s, command: 'echo $$ >> pids.txt; touch begun; [ -e go ] || sleep 100'}\n",
    )
    started = scene.start("recipe", "run", "a.yaml")
    started.wait_for("begun")
    # As if the watcher had been killed with it: a process with the mark of the run is still there.
    run_id = listed(workspace)[0]["run_id"]
    mark = next(
        Path("/proc", pid).joinpath("environ").read_bytes()
        for pid in (workspace.path / "pids.txt").read_text().split()
    )
    assert run_id.encode() in mark
    started.interrupt(number=signal.SIGKILL)
    started.end()
    workspace.write("go", "")
    assert resumed(workspace)["success"]
    assert scene.alive() == []


def test_a_step_that_must_not_run_twice_is_asked_about(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write("work.yaml", STEPS.replace("id: second\n", "id: second\n    idempotent: false\n"))
    killed(scene, "work.yaml")
    workspace.write("go", "")
    refused = workspace.run("runs", "resume")
    assert refused.exit_code == 2
    assert "'second'" in refused.stderr
    assert "--run-again" in refused.stderr
    assert done(workspace) == ["first", "second"]
    terminal = Terminal(scene, "runs", "resume", "--json")
    terminal.read_until("Run again? [y/N]")
    terminal.type("y")
    assert terminal.end().json["success"]
    assert done(workspace) == ["first", "second", "second", "third"]


def test_a_secret_result_of_a_step_that_must_not_run_twice_is_asked_about(workspace: Workspace) -> None:
    workspace.write(
        "s.yaml",
        "name: s\nsecrets: [made]\nsteps:\n"
        "  - {id: made, idempotent: false, command: 'echo made >> done.txt; echo sesame-$((6*7))-open'}\n"
        "  - {id: use, command: 'test -e fixed && echo {{made}} > seen.txt'}\n",
    )
    assert workspace.run("recipe", "run", "s.yaml").exit_code == 1
    workspace.write("fixed", "")
    refused = workspace.run("runs", "resume")
    assert (refused.exit_code, "the result of 'made' is secret and was not kept" in refused.stderr) == (
        2,
        True,
    )
    assert done(workspace) == ["made"]
    assert workspace.run("runs", "resume", "--run-again").exit_code == 0
    assert (workspace.path / "seen.txt").read_text() == "sesame-42-open\n"


def test_a_delay_between_attempts_goes_on_from_where_it_was(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write(
        "r.yaml",
        "name: r\nsteps:\n  - id: flaky\n    retry: {max_attempts: 3, initial_delay: 3}\n"
        "    command: 'date +%s.%N >> done.txt; [ $(wc -l < done.txt) -gt 1 ]'\n",
    )
    started = scene.start("recipe", "run", "r.yaml")
    wait_until("the failed attempt", lambda: "attempt 2 at " in workspace.run("runs", "show").stdout)
    started.interrupt(number=signal.SIGKILL)
    started.end()
    shown = workspace.run("runs", "show").stdout
    assert "flaky [interrupted, attempt 2" in shown
    assert resumed(workspace)["step_results"][0]["attempts"] == 2
    first, second = map(float, done(workspace))
    assert second - first >= 3  # not less because of the crash


def test_secrets_are_not_written_and_are_given_again(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write(
        "s.yaml",
        "name: s\nsecrets: [token, made]\ninputs: [{name: token, env: MY_INPUT}]\nsteps:\n"
        "  - {id: made, command: 'echo made >> done.txt; echo \"{{token}}-and-more\"'}\n"
        "  - {id: plain, command: 'echo plain >> done.txt; echo free'}\n"
        "  - {id: wait, command: 'touch begun; [ -e go ] || sleep 100; printf %s \"{{made}}\" > seen.txt'}\n",
    )
    killed(scene, "s.yaml", "--set", "token=hunter2-sesame")
    for path in home(workspace).rglob("*"):
        assert not path.is_file() or b"hunter2" not in path.read_bytes(), path
    workspace.write("go", "")
    refused = workspace.run("runs", "resume")
    assert (refused.exit_code, "--set token=" in refused.stderr) == (2, True)
    other = workspace.run("runs", "resume", "--set", "token=x", "--set", "plain=y")
    assert (other.exit_code, "plain cannot be set" in other.stderr) == (2, True)
    answer = workspace.run("runs", "resume", env={"MY_INPUT": "hunter2-sesame"})
    assert answer.exit_code == 0, answer
    assert (workspace.path / "seen.txt").read_text() == "hunter2-sesame-and-more"
    assert done(workspace) == ["made", "plain", "made"]  # a result that is secret is made again


def test_inputs_from_the_environment_are_what_they_were(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write(
        "s.yaml",
        "name: s\nsecrets: [token]\n"
        "inputs: [{name: token, env: MY_TOKEN_INPUT}, {name: place, env: MY_PLACE}]\nsteps:\n"
        "  - {id: wait, command: 'touch begun; [ -e go ] || sleep 100; echo \"{{place}} {{token}}\"'}\n",
    )
    workspace.env |= {"MY_TOKEN_INPUT": "hunter2-sesame", "MY_PLACE": "here"}
    killed(scene, "s.yaml")
    workspace.write("go", "")
    del workspace.env["MY_TOKEN_INPUT"]
    refused = workspace.run("runs", "resume", env={"MY_PLACE": "there"})
    assert (refused.exit_code, "needs 'token' again" in refused.stderr) == (2, True)
    answer = workspace.run("runs", "resume", "--set", "token=new", "--json", env={"MY_PLACE": "there"})
    assert answer.json["context"]["place"] == "here"


# edited recipes ---------------------------------------------------------------------------------------------


def test_an_edited_recipe_is_compared_and_accepted(workspace: Workspace) -> None:
    text = (
        "name: e\nsteps:\n  - {id: one, command: 'echo one >> done.txt; echo 1'}\n"
        "  - {id: two, command: 'echo two >> done.txt; echo {{one}}'}\n"
        "  - {id: old, command: 'echo old >> done.txt'}\n"
        "  - {id: free, command: 'echo free >> done.txt'}\n"
        "  - {id: bad, command: 'echo bad >> done.txt; false'}\n"
    )
    workspace.write("e.yaml", text)
    workspace.run("recipe", "run", "e.yaml")
    edited = text.replace("echo 1'", "echo 11'").replace("; false", "").replace("id: old", "id: fresh")
    workspace.write("e.yaml", "# a comment changes nothing\n" + edited)
    refused = workspace.run("runs", "resume")
    assert refused.exit_code == 2
    lines = refused.stderr.splitlines()
    assert lines[1:5] == [
        "  kept: free",
        "  runs again: one, two, bad",
        "  new: fresh",
        "  can no longer be: old",
    ]
    answer = workspace.run("runs", "resume", "--accept-changes", "--json")
    assert answer.exit_code == 0, answer
    assert answer.json["context"]["two"] == 11
    assert [step["step_id"] for step in answer.json["step_results"]] == ["one", "two", "free", "bad", "fresh"]
    assert sorted(done(workspace)[5:]) == ["bad", "old", "one", "two"]


def test_a_new_gate_before_work_already_done_is_refused(workspace: Workspace) -> None:
    text = (
        "name: g\nstages:\n  - name: build\n    steps: [{id: b, command: 'echo b'}]\n"
        "  - name: ship\n    steps: [{id: s, command: 'false'}]\n"
    )
    workspace.write("g.yaml", text)
    workspace.run("recipe", "run", "g.yaml")
    workspace.write("g.yaml", text.replace("  - name: ship", "    approval: {prompt: sure?}\n  - name: ship"))
    refused = workspace.run("runs", "resume", "--accept-changes")
    assert refused.exit_code == 2
    assert "stage 'build' has a new gate" in refused.stderr


def test_a_recipe_that_is_gone_goes_on_as_it_was(workspace: Workspace) -> None:
    file = workspace.write("a.yaml", "name: a\nsteps:\n  - {id: s, command: 'test -e fixed'}\n")
    workspace.run("recipe", "run", "a.yaml")
    file.unlink()
    workspace.write("fixed", "")
    answer = workspace.run("runs", "resume")
    assert answer.exit_code == 0
    assert "goes on with the recipe as it was" in answer.stderr


# gates ------------------------------------------------------------------------------------------------------

GATE = """\
name: gate
stages:
  - name: build
    steps: [{id: b, command: 'echo b >> done.txt; echo built'}]
    approval: {prompt: "ship {{b}}?"%s}
  - name: ship
    steps: [{id: s, command: 'echo s >> done.txt; echo "{{_approval_message}}"'}]
"""


def test_a_gate_is_answered_once_from_another_process(workspace: Workspace) -> None:
    workspace.write("gate.yaml", GATE % "")
    waiting = workspace.run("recipe", "run", "gate.yaml", "--json")
    run_id = waiting.json["run_id"]
    assert (waiting.exit_code, waiting.json["status"]) == (1, "waiting")
    assert f"amplihack runs approve {run_id}" in waiting.json["error"]
    approved = workspace.run("runs", "approve", run_id, "--stage", "build", "-m", "well done", "--json").json
    assert (approved["decision"], bool(approved["by"]), bool(approved["at"])) == ("approved", True, True)
    for verb in ("approve", "deny"):
        second = workspace.run("runs", verb, run_id)
        assert (second.exit_code, "approved already by" in second.stderr) == (2, True)
    assert resumed(workspace)["context"]["s"] == "well done"
    assert done(workspace) == ["b", "s"]
    (gate,) = workspace.run("runs", "show", "--json").json["gates"]
    assert (gate["stage"], gate["prompt"], gate["decision"]) == ("build", "ship built?", "approved")
    late = workspace.run("runs", "approve", run_id)
    assert (late.exit_code, "waits for no approval" in late.stderr) == (2, True)


def test_a_run_that_was_cancelled_at_its_gate_comes_back_to_it(workspace: Workspace) -> None:
    workspace.write(
        "gate.yaml", "name: g\nstages: [{name: s, steps: [{id: a, command: ls}], approval: {}}]\n"
    )
    workspace.run("recipe", "run", "gate.yaml")
    assert workspace.run("runs", "cancel").exit_code == 0
    assert "runs approve" not in workspace.run("runs", "show").stdout
    refused = workspace.run("runs", "approve")
    assert (refused.exit_code, "goes on, and asks at its gate" in refused.stderr) == (2, True)
    assert workspace.run("runs", "resume").exit_code == 1
    assert workspace.run("runs", "approve").exit_code == 0
    assert workspace.run("runs", "resume").exit_code == 0


def test_a_denial_is_final(workspace: Workspace) -> None:
    workspace.write("gate.yaml", GATE % "")
    workspace.run("recipe", "run", "gate.yaml")
    assert workspace.run("runs", "deny", "-m", "not today").exit_code == 0
    shown = workspace.run("runs", "show")
    assert "was denied: not today" in shown.stdout
    assert "waits" not in shown.stdout
    assert listed(workspace)[0]["status"] == "denied"
    for words in (("runs", "approve"), ("runs", "deny"), ("runs", "resume")):
        refused = workspace.run(*words)
        assert (refused.exit_code, "denied" in refused.stderr) == (2, True)
    assert done(workspace) == ["b"]


def test_after_a_denial_only_what_always_runs_is_left_to_do(workspace: Workspace) -> None:
    workspace.write(
        "gate.yaml",
        GATE % "" + "  - {name: e, steps: [{id: t, command: echo t >> done.txt, finally: true}]}\n",
    )
    workspace.run("recipe", "run", "gate.yaml")
    assert done(workspace) == ["b"]
    assert "runs the steps that always run: t" in workspace.run("runs", "deny").stderr
    assert workspace.run("runs", "resume", "--json").json["status"] == "denied"
    assert done(workspace) == ["b", "t"]
    refused = workspace.run("runs", "resume")
    assert (refused.exit_code, "that is final" in refused.stderr) == (2, True)


def test_a_failed_run_cleans_up_again_when_it_is_resumed(workspace: Workspace) -> None:
    steps = "  - {id: w, command: test -e go}\n  - {id: t, command: echo t >> done.txt, finally: true}\n"
    workspace.write("tidy.yaml", f"name: tidy\nsteps:\n{steps}")
    assert workspace.run("recipe", "run", "tidy.yaml").exit_code == 1
    assert done(workspace) == ["t"]
    workspace.write("go", "")
    assert resumed(workspace)["status"] == "completed"
    assert done(workspace) == ["t", "t"]


@pytest.mark.parametrize(("default", "status"), [("deny", "denied"), ("approve", "completed")])
def test_an_expired_gate_takes_no_answer_and_decides_itself(
    workspace: Workspace, default: str, status: str
) -> None:
    workspace.write("gate.yaml", GATE % f", timeout: 0.01, default: {default}")
    workspace.run("recipe", "run", "gate.yaml")
    if listed(workspace)[0]["status"] == "waiting":
        late = workspace.run("runs", "approve")
        assert (late.exit_code, "has expired" in late.stderr) == (2, True)
        workspace.run("runs", "resume")
    assert listed(workspace)[0]["status"] == status


def test_a_gate_inside_a_step_that_may_fail_is_not_passed_over(workspace: Workspace) -> None:
    workspace.write(
        "outer.yaml", "name: outer\nsteps:\n  - {id: call, recipe: ./gate.yaml, continue_on_error: true}\n"
    )
    workspace.write("gate.yaml", GATE % "")
    assert workspace.run("recipe", "run", "outer.yaml", "--json").json["status"] == "waiting"
    assert workspace.run("runs", "approve").exit_code == 0
    assert resumed(workspace)["status"] == "completed"
    assert done(workspace) == ["b", "s"]


# two at once, and in the background -------------------------------------------------------------------------


def test_one_process_has_a_run_and_the_other_says_who(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write("work.yaml", STEPS)
    started = scene.start("recipe", "run", "work.yaml")
    started.wait_for("begun")
    taken = workspace.run("runs", "resume")
    assert taken.exit_code == 1
    assert f"process {started.process.pid} on {os.uname().nodename}, since" in taken.stderr
    assert listed(workspace)[0]["owner"]["pid"] == started.process.pid
    workspace.write("go", "")
    assert started.end().exit_code == 0


def test_a_process_that_still_asks_whether_to_go_on_is_named_and_can_be_cancelled(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write("work.yaml", STEPS.replace("id: second\n", "id: second\n    idempotent: false\n"))
    killed(scene, "work.yaml")
    terminal = Terminal(scene, "runs", "resume")
    terminal.read_until("Run again? [y/N]")
    taken = workspace.run("runs", "resume", "--run-again")
    assert (taken.exit_code, f"process {terminal.started.process.pid} on" in taken.stderr) == (1, True), taken
    assert listed(workspace)[0]["owner"]["pid"] == terminal.started.process.pid
    assert workspace.run("runs", "cancel").exit_code == 0
    assert terminal.end().exit_code != 0
    assert (listed(workspace)[0]["status"], done(workspace)) == ("cancelled", ["first", "second"])


def test_a_run_in_the_background_is_followed_and_cancelled(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write("work.yaml", STEPS)
    answer = workspace.run("recipe", "run", "work.yaml", "--detach")
    run_id = answer.stdout.strip()
    assert (answer.exit_code, listed(workspace)[0]["run_id"]) == (0, run_id)
    wait_until("the second step", lambda: scene.has("begun"))
    following = scene.start("runs", "tail", run_id)
    wait_until("the runner and its follower", lambda: len(scene.alive()) >= 3)
    assert workspace.run("runs", "cancel", run_id).stdout == f"cancelled: run {run_id}\n"
    told = following.end()
    assert "▶ second (2 of 3)" in told.stdout
    assert "is cancelled" in told.stderr
    assert scene.alive() == []
    assert listed(workspace)[0]["status"] == "cancelled"
    workspace.write("go", "")
    assert resumed(workspace, run_id)["success"]


@pytest.mark.parametrize(
    "step",
    [
        "command: 'test {{item}} != b', foreach: [a, b], on_error: continue",
        "command: 'echo no', parse_json: true, parse_json_required: false",
        "recipe: inner.yaml",
    ],
)
def test_a_run_with_less_than_was_asked_for_is_degraded(workspace: Workspace, step: str) -> None:
    workspace.write(
        "inner.yaml",
        "name: inner\nsteps:\n"
        "  - {id: i, foreach: [1, 2], command: 'test {{item}} = 1', on_error: continue}\n",
    )
    workspace.write("a.yaml", f"name: a\nsteps:\n  - {{id: s, {step}}}\n")
    assert workspace.run("recipe", "run", "a.yaml").exit_code == 0
    assert listed(workspace)[0]["status"] == "degraded"


def test_a_cancel_that_was_refused_leaves_no_mark(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write("work.yaml", STEPS)
    started = scene.start("recipe", "run", "work.yaml")
    started.wait_for("begun")
    (lock,) = (home(workspace) / "runs").glob("*/lock")
    lock.write_text(lock.read_text().replace(os.uname().nodename, "elsewhere"))
    refused = workspace.run("runs", "cancel")
    assert (refused.exit_code, "on elsewhere, since" in refused.stderr) == (2, True)
    started.interrupt(number=signal.SIGKILL)
    started.end()
    assert listed(workspace)[0]["status"] == "interrupted"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_run_whose_starter_was_killed_before_it_was_kept_never_begins(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write("a.yaml", "name: a\nsteps:\n  - {id: s, command: 'echo s >> done.txt'}\n")
    workspace.run("recipe", "run", "a.yaml")
    holder = sqlite3.connect(home(workspace) / "runs.sqlite3", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")  # the new run cannot be kept yet
    started = scene.start("recipe", "run", "a.yaml", "--detach")
    wait_until("the process in the background", lambda: len(scene.alive()) >= 2)
    started.interrupt(number=signal.SIGKILL)
    started.end()
    holder.close()
    wait_until("the end of its processes", lambda: not scene.alive())
    assert [run["status"] for run in listed(workspace)] == ["completed"]
    assert done(workspace) == ["s"]


def test_what_cannot_begin_in_the_background_says_so_at_once(workspace: Workspace) -> None:
    workspace.write(
        "a.yaml", "name: a\ninputs: [{name: x, required: true}]\nsteps:\n  - {id: s, command: 'true'}\n"
    )
    answer = workspace.run("recipe", "run", "a.yaml", "--detach")
    assert (answer.exit_code, answer.stdout, "'x' is required" in answer.stderr) == (2, "", True)


def test_prune_leaves_what_runs_or_waits(workspace: Workspace) -> None:
    workspace.write("a.yaml", "name: a\nsteps:\n  - {id: s, command: 'true'}\n")
    workspace.write("gate.yaml", GATE % "")
    workspace.run("recipe", "run", "gate.yaml")
    for _ in range(3):
        workspace.run("recipe", "run", "a.yaml")
    assert workspace.run("runs", "prune").exit_code == 2
    assert workspace.run("runs", "prune", "--older-than", "soon").exit_code == 2
    assert workspace.run("runs", "prune", "--older-than", "30").exit_code == 2  # seconds? days?
    assert workspace.run("runs", "prune", "--keep", "-1").exit_code == 2
    assert workspace.run("runs", "list", "--limit", "-1").exit_code == 2
    assert workspace.run("runs", "prune", "--older-than", "30d").stdout == "removed 0 runs\n"
    assert workspace.run("runs", "prune", "--older-than", "2w").stdout == "removed 0 runs\n"
    assert workspace.run("runs", "prune", "--keep", "1").stdout == "removed 2 runs\n"
    assert [run["recipe"] for run in listed(workspace)] == ["a", "gate"]
    assert workspace.run("runs", "prune", "--older-than", "0s").stdout == "removed 1 run\n"
    assert [run["status"] for run in listed(workspace)] == ["waiting"]
    assert len(list((home(workspace) / "runs").iterdir())) == 1


# damage -----------------------------------------------------------------------------------------------------


def one_run(workspace: Workspace) -> Path:
    workspace.write(
        "a.yaml",
        "name: a\nsteps:\n  - {id: s, command: 'head -c 50000 /dev/zero | tr \"\\\\0\" x; test -e fixed'}\n",
    )
    workspace.run("recipe", "run", "a.yaml")
    return home(workspace) / "runs.sqlite3"


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 100, "cut"])
def test_a_damaged_database_is_told_and_left_alone(workspace: Workspace, content: bytes | str) -> None:
    database = one_run(workspace)
    damaged = database.read_bytes()[:5000] if isinstance(content, str) else content
    database.write_bytes(damaged)
    for words in (("runs", "list"), ("recipe", "run", "a.yaml"), ("runs", "resume")):
        answer = workspace.run(*words)
        assert answer.exit_code in (1, 3), answer
        assert str(database) in answer.stderr
        assert "fix:" in answer.stderr
    assert database.read_bytes() == damaged
    assert workspace.run("recipe", "run", "a.yaml", "--ephemeral").exit_code == 1


def test_a_missing_database_does_not_become_an_empty_history(workspace: Workspace) -> None:
    database = one_run(workspace)
    database.unlink()
    answer = workspace.run("runs", "list")
    assert (answer.exit_code, "is missing, though 1 run" in answer.stderr) == (1, True)
    assert workspace.run("recipe", "run", "a.yaml").exit_code == 1
    assert not database.exists()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE events SET data = json_set(data, '$.identity', 7) WHERE kind = 'StepStarted'",
        "UPDATE events SET data = json_set(data, '$.result', 'x') WHERE kind = 'StepFinished'",
        "UPDATE events SET data = printf('%.3000c', '[') WHERE kind = 'StepStarted'",
        "UPDATE events SET data = '[]' WHERE kind = 'StepStarted'",
        "UPDATE events SET file = x'00ff' WHERE kind = 'StepStarted'",
        "UPDATE runs SET ended = 'never'",
        "UPDATE runs SET request = '[]'",
        "UPDATE runs SET cancelled = '{}x'",
        "UPDATE runs SET cancelled = '{\"a\": 1}'",
        "UPDATE runs SET inputs = printf('%.3000c', '[')",
    ],
)
def test_a_damaged_record_is_told_as_damage(workspace: Workspace, change: str) -> None:
    database = one_run(workspace)
    with sqlite3.connect(database) as connection:
        connection.execute(change)
    connection.close()
    for words in (("runs", "show"), ("runs", "resume")):
        answer = workspace.run(*words)
        assert answer.exit_code == 1, answer
        assert "cannot be read" in answer.stderr or "damaged" in answer.stderr
        assert "fix:" in answer.stderr
    assert workspace.run("runs", "list").exit_code in (0, 1)


def test_a_home_that_cannot_be_written_refuses_the_run_and_names_the_way_out(workspace: Workspace) -> None:
    workspace.write("a.yaml", "name: a\nsteps:\n  - {id: s, command: 'touch ran'}\n")
    workspace.write("home/.amplihack", "a file where a directory should be")
    answer = workspace.run("recipe", "run", "a.yaml")
    assert (answer.exit_code, "--ephemeral" in answer.stderr) == (1, True)
    assert not (workspace.path / "ran").exists()


def test_a_newer_database_is_not_touched(workspace: Workspace) -> None:
    database = one_run(workspace)
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    answer = workspace.run("runs", "list")
    assert (answer.exit_code, "newer amplihack" in answer.stderr) == (1, True)


def test_a_locked_database_makes_others_wait(scene: Scene) -> None:
    workspace = scene.workspace
    database = one_run(workspace)
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    workspace.write("fixed", "")
    started = scene.start("runs", "resume")
    time.sleep(0.5)
    assert started.process.poll() is None
    connection.execute("COMMIT")
    connection.close()
    assert started.end().exit_code == 0


LEFT = """\
name: work
dialect: amplihack
steps:
  - {id: first, command: 'cd "$AMPLIFIER_RECIPE_SCRATCH_DIR" && echo payload > p && pwd'}
  - {id: second, command: '[ -e go ] || { touch begun; sleep 1000; }'}
  - {id: third, command: 'cat "$AMPLIFIER_RECIPE_SCRATCH_DIR/p" {{first}}/p; ls -ld {{first}} | cut -c1-10'}
"""


def test_what_a_step_leaves_for_others_is_there_after_a_resume_and_goes_with_the_run(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write("r.yaml", LEFT)
    killed(scene, "r.yaml")
    (workspace.path / "go").touch()
    result = resumed(workspace)
    first, _, third = (step["output"] for step in result["step_results"])
    assert third.split() == ["payload", "payload", "drwx------"]
    assert Path(first).is_relative_to(home(workspace) / "runs")
    assert workspace.run("runs", "prune", "--keep", "0").exit_code == 0
    assert not Path(first).exists()


def test_a_run_that_is_not_kept_removes_what_its_steps_left_and_one_that_leaves_nothing_has_no_directory(
    workspace: Workspace,
) -> None:
    workspace.write("r.yaml", LEFT)
    (workspace.path / "go").touch()
    outer = {"AMPLIFIER_RECIPE_SCRATCH_DIR": "/nowhere"}
    result = workspace.run("recipe", "run", "r.yaml", "--ephemeral", "--json", env=outer).json
    first, _, third = (step["output"] for step in result["step_results"])
    assert third.split() == ["payload", "payload", "drwx------"]
    assert not Path(first).exists()
    workspace.write("e.yaml", "name: e\nsteps: [{id: a, command: 'ls -d $AMPLIFIER_RECIPE_SCRATCH_DIR'}]\n")
    kept = workspace.run("recipe", "run", "e.yaml", "--json").json["step_results"][0]["output"]
    assert not Path(kept).exists()
