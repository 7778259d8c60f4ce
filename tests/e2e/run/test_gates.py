"""Gates between stages, with and without a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.running import Scene, Terminal, wait_until
from tests.support.workspace import Answer, Workspace

GATED = """\
name: gated
description: d
version: 1.0.0
context: {who: Ann}
stages:
  - name: build
    approval: {required: true, prompt: "Ship it, {{who}}?"%s}
    steps: [{id: a, type: bash, command: touch built}]
  - name: ship
    steps: [{id: b, type: bash, command: "touch shipped; echo said {{_approval_message}}"}]
"""


@pytest.fixture
def scene(workspace: Workspace) -> Iterator[Scene]:
    scene = Scene(workspace)
    yield scene
    assert scene.alive() == []


def ask(scene: Scene, answer: str, more: str = "", *flags: str) -> tuple[str, Answer]:
    """What the terminal showed, and what the command left."""
    scene.workspace.write("g.yaml", GATED % more)
    terminal = Terminal(scene, "recipe", "run", "g.yaml", "--json", *flags)
    terminal.read_until("Approve stage 'build'?")
    terminal.type(answer)
    result = terminal.end()
    return terminal.shown, result


def test_a_person_approves_with_a_message(scene: Scene) -> None:
    shown, result = ask(scene, "y looks good")
    assert shown.count("Ship it, Ann?") == 1
    assert (result.exit_code, result.json["context"]["b"]) == (0, "said looks good")


@pytest.mark.parametrize("answer", ["n too risky", "No"])
def test_a_no_denies_and_that_is_final(scene: Scene, answer: str) -> None:
    _, result = ask(scene, answer, "", "-q")
    assert (result.exit_code, result.json["status"]) == (1, "denied")
    assert scene.has("built")
    assert not scene.has("shipped")


@pytest.mark.parametrize("first", ["yse", "", "  ", "nope", "always", "y no", "No yes", "да"])
@pytest.mark.parametrize(("second", "status"), [("yes", "completed"), ("no", "denied")])
def test_an_answer_that_is_neither_yes_nor_no_is_asked_again(
    scene: Scene, first: str, second: str, status: str
) -> None:
    scene.workspace.write("g.yaml", GATED % "")
    terminal = Terminal(scene, "recipe", "run", "g.yaml", "--json", "-q")
    terminal.read_until("Approve stage 'build'?")
    terminal.type(first)
    terminal.read_until("Please answer yes or no.")
    terminal.read_until("Approve stage 'build'?")
    terminal.type(second)
    assert terminal.end().json["status"] == status


def test_bytes_that_are_no_text_are_no_answer(scene: Scene) -> None:
    scene.workspace.env["PYTHONIOENCODING"] = "utf-8:strict"  # as most languages have it
    scene.workspace.write("g.yaml", GATED % "")
    terminal = Terminal(scene, "recipe", "run", "g.yaml", "--json", "-q")
    terminal.read_until("Approve stage 'build'?")
    terminal.type("\udcff")
    terminal.read_until("Please answer yes or no.")
    terminal.read_until("Approve stage 'build'?")
    terminal.type("y na\udcefve")
    result = terminal.end().json
    assert (result["status"], result["context"]["b"]) == ("completed", "said na\ufffdve")


def test_half_a_line_holds_nothing_up(scene: Scene) -> None:
    scene.workspace.write("g.yaml", GATED % ", timeout: 1, default: deny")
    terminal = Terminal(scene, "recipe", "run", "g.yaml", "--json", "-q")
    terminal.read_until("Approve stage 'build'?")
    terminal.type("ye\x04", end="")  # Ctrl-D hands over what is typed so far
    assert terminal.end().json["status"] == "denied"


def test_the_rest_of_what_was_pasted_is_no_answer_to_the_next_question(scene: Scene) -> None:
    scene.workspace.write("g.yaml", GATED % "")
    terminal = Terminal(scene, "recipe", "run", "g.yaml", "--json", "-q")
    terminal.read_until("Approve stage 'build'?")
    terminal.type("see the plan below\ny\ny")
    terminal.read_until("Please answer yes or no.")
    terminal.read_until("Approve stage 'build'?")
    terminal.type("n")
    assert terminal.end().json["status"] == "denied"


def test_the_end_of_the_input_is_no_answer_and_the_run_waits(scene: Scene) -> None:
    scene.workspace.write("g.yaml", GATED % "")
    terminal = Terminal(scene, "recipe", "run", "g.yaml", "--json", "-q")
    terminal.read_until("Approve stage 'build'?")
    terminal.type("\x04", end="")
    assert terminal.end().json["status"] == "waiting"
    assert scene.workspace.run("runs", "approve").exit_code == 0


def test_what_was_typed_before_the_question_is_no_answer_to_it(scene: Scene) -> None:
    scene.workspace.write(
        "g.yaml", (GATED % "").replace("touch built", "'touch begun; until [ -e go ]; do sleep 0.05; done'")
    )
    terminal = Terminal(scene, "recipe", "run", "g.yaml", "--json", "-q")
    wait_until("the step has begun", lambda: scene.has("begun"))
    terminal.type("y")
    scene.workspace.write("go", "")
    terminal.read_until("Approve stage 'build'?")
    terminal.type("n")
    assert terminal.end().json["status"] == "denied"
    assert not scene.has("shipped")


def test_a_prompt_hides_nothing(scene: Scene) -> None:
    shown, _ = ask(scene, "n", "", "--set", "who=A\x1b[8mnn")
    assert "Ship it, A\\x1b[8mnn?" in shown


@pytest.mark.parametrize("approval", ["", "{}", "{prompt: Sure?}", "{timeout: 0}"])
def test_approval_is_a_gate_by_itself(scene: Scene, approval: str) -> None:
    text = GATED.replace('{required: true, prompt: "Ship it, {{who}}?"%s}', approval)
    scene.workspace.write("g.yaml", text)
    answer = scene.workspace.run("recipe", "run", "g.yaml", "--json")
    assert answer.json["status"] == "waiting"
    assert not scene.has("shipped")


def test_a_person_at_a_plain_terminal_is_asked_too(scene: Scene) -> None:
    scene.workspace.env["TERM"] = "dumb"
    shown, result = ask(scene, "y")
    assert "\x1b[" not in shown
    assert (result.exit_code, result.json["status"]) == (0, "completed")


def test_a_gate_before_the_stage_comes_first(scene: Scene) -> None:
    ask(scene, "n", ", when: before")
    assert not scene.has("built")


def test_without_a_terminal_the_run_waits(scene: Scene) -> None:
    scene.workspace.write("g.yaml", GATED % "")
    answer = scene.workspace.run("recipe", "run", "g.yaml", "--json")
    assert (answer.exit_code, answer.json["status"], answer.json["never_reached"]) == (1, "waiting", ["b"])
    assert "--yes" in answer.json["error"]
    text = scene.workspace.run("recipe", "run", "g.yaml", "-q")
    assert (text.stdout, "Recipe 'gated': WAITING" in text.stderr) == ("", True)


def test_yes_on_the_command_line_approves_every_gate(scene: Scene) -> None:
    scene.workspace.write("g.yaml", GATED % "")
    assert scene.workspace.run("recipe", "run", "g.yaml", "--yes").exit_code == 0
    assert scene.has("shipped")


@pytest.mark.parametrize(("default", "code"), [("approve", 0), ("deny", 1)])
def test_a_person_who_does_not_answer_in_time(scene: Scene, default: str, code: int) -> None:
    scene.workspace.write("g.yaml", GATED % f", timeout: 0.2, default: {default}")
    terminal = Terminal(scene, "recipe", "run", "g.yaml", "--json")
    assert terminal.end().exit_code == code
    assert scene.has("shipped") == (code == 0)


def test_a_stage_that_is_not_wanted_is_skipped_with_its_gate(scene: Scene) -> None:
    text = (GATED % "").replace("  - name: build\n", "  - name: build\n    condition: \"{{who}} == 'Bob'\"\n")
    scene.workspace.write("g.yaml", text)
    result = scene.workspace.run("recipe", "run", "g.yaml", "--json").json
    assert [step["status"] for step in result["step_results"]] == ["skipped", "completed"]


def test_a_step_in_which_a_gate_waits_is_shown_as_waiting_and_goes_on_after_the_answer(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write("g.yaml", GATED % "")
    workspace.write(
        "r.yaml", "name: r\nsteps:\n  - {id: call, recipe: ./g.yaml}\n  - {id: c, command: touch end}\n"
    )
    first = workspace.run("recipe", "run", "r.yaml")
    assert "[waiting] call" in first.stdout
    assert "⏸ call" in first.stderr
    assert "✗" not in first.stderr
    (run,) = workspace.run("runs", "list", "--json").json
    shown = workspace.run("runs", "show", "--json").json
    assert [step["status"] for step in shown["steps"]] == ["waiting"]
    assert shown["steps"][0]["error"] == ""
    workspace.run("runs", "approve", run["run_id"])
    assert workspace.run("runs", "resume", run["run_id"]).exit_code == 0
    assert scene.has("end")


@pytest.mark.parametrize("loop", ["foreach: [x, y], ", "foreach: [x, y], parallel: true, "])
def test_so_is_a_round_in_which_a_gate_waits(scene: Scene, loop: str) -> None:
    scene.workspace.write("g.yaml", GATED % "")
    scene.workspace.write("r.yaml", f"name: r\nsteps:\n  - {{id: each, {loop}recipe: ./g.yaml}}\n")
    result = scene.workspace.run("recipe", "run", "r.yaml", "--json", "-q").json
    (step,) = result["step_results"]
    assert {step["status"], *(part["status"] for part in step["children"])} == {"waiting"}
    assert result["counts"]["failed"] == 0


def test_what_is_done_to_its_end_beside_a_gate_is_completed(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write("g.yaml", GATED % "")
    slow = "until [ -e built ]; do sleep 0.02; done; sleep 0.3; touch"
    workspace.write("slow.yaml", f"name: slow\nsteps: [{{id: s, command: '{slow} called'}}]\n")
    workspace.write(
        "r.yaml",
        "name: r\nsteps:\n"
        "  - {id: gated, recipe: ./g.yaml, parallel_group: p}\n"
        "  - {id: called, recipe: ./slow.yaml, parallel_group: p}\n"
        f"  - {{id: each, foreach: [x], parallel_group: p, steps: [{{id: e, command: '{slow} each'}}]}}\n"
        "  - {id: left, foreach: [x, y], as: i, parallel_group: p, command: '" + slow + " left-{{i}}'}\n",
    )
    result = workspace.run("recipe", "run", "r.yaml", "--json", "-q").json
    statuses = {step["step_id"]: step["status"] for step in result["step_results"]}
    assert statuses == {"gated": "waiting", "called": "completed", "each": "completed", "left": "waiting"}
    assert (scene.has("left-x"), scene.has("left-y")) == (True, False)
    workspace.run("runs", "deny")
    shown = workspace.run("runs", "show", "--json").json["steps"]
    assert {step["step_id"]: step["status"] for step in shown}["called"] == "completed"


def test_a_dry_run_tells_where_it_would_ask(scene: Scene) -> None:
    scene.workspace.write("g.yaml", GATED % "")
    told = scene.workspace.run("recipe", "run", "g.yaml", "--dry-run").stdout
    assert "[gate  ] build — would ask\n    Ship it, Ann?\n" in told
    assert told.index("] a —") < told.index("] build —") < told.index("] b —")
    assert (
        "build — would ask: --yes"
        in scene.workspace.run("recipe", "run", "g.yaml", "--dry-run", "--yes").stdout
    )
