"""Every report of a run tells the same: progress, text, JSON, events, audit log, kept run, page, Python."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.workspace import Workspace

from amplihack import RecipeRunner
from amplihack.recipes.results import StepResult

CHILDREN = {
    "fine.yaml": "name: fine\nsteps: [{id: i, command: echo in}]\n",
    "prose.yaml": "name: prose\nsteps: [{id: i, foreach: [1], command: echo in, parse_json: true}]\n",
    "broken.yaml": (
        "name: broken\nsteps: [{id: i, command: ls}, {id: j, command: exit 3}, {id: k, command: ls}]\n"
    ),
    "soft.yaml": "name: soft\nsteps: [{id: i, command: exit 3, continue_on_error: true}]\n",
}
PROSE, SOFT = "parse_json: true", "continue_on_error: true"
SHAPES = {
    "plain": "{id: a, command: 'echo {{nope}}'}, {id: b, command: echo, condition: '1 == 2'}",
    "hard": "{id: a, command: exit 3}, {id: b, command: echo}, {id: f, command: echo, finally: true}",
    "left": "{id: a, command: exit 3, on_error: skip_remaining}, {id: b, command: echo}",
    "rounds": f"{{id: a, foreach: ['{{}}', x], command: 'echo {{{{item}}}}', {PROSE}}}",
    "at-once": f"{{id: a, foreach: [0, 1], parallel: true, command: 'test {{{{item}}}} = 1', {SOFT}}}",
    "stopped": "{id: a, foreach: [1, 0, 1], command: 'test {{item}} = 1'}, {id: b, command: echo}",
    "none": "{id: a, foreach: [], command: echo}, {id: b, while_condition: '1 == 2', command: echo}",
    "body": f"{{id: a, foreach: [1, 2], steps: [{{id: p, command: echo x, {PROSE}}}]}}",
    "lost-body": f"{{id: a, foreach: [1, 2], {SOFT}, steps: [{{id: p, command: exit 3}}]}}",
    "limit": "{id: a, while_condition: 'true', max_while_iterations: 2, command: echo}",
    "group": f"{{id: a, parallel_group: g, command: exit 3, {SOFT}}}, "
    f"{{id: b, parallel_group: g, command: echo x, {PROSE}}}",
    "calls": "{id: a, recipe: fine.yaml}, {id: b, recipe: prose.yaml}, {id: c, recipe: soft.yaml}",
    "lost-call": f"{{id: a, recipe: broken.yaml, {SOFT}}}, {{id: b, recipe: broken.yaml}}",
    "called-rounds": f"{{id: a, foreach: [prose, broken], recipe: '{{{{item}}}}.yaml', {SOFT}}}",
    "retry": "{id: a, command: exit 3, retry: {max_attempts: 2, initial_delay: 0}}",
}
ICONS = {"✓": "completed", "⊘": "skipped", "✗": "failed", "⚠": "degraded"}


def every(steps: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for step in steps:
        yield step
        yield from every(step.get("children") or [])


def every_row(rows: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for row in rows:
        if "id" in row:
            yield row["id"], row["status"]
        yield from every_row(row.get("rows") or row.get("children") or [])


def every_result(results: tuple[StepResult, ...]) -> Iterator[tuple[str, str]]:
    for result in results:
        yield result.identity, result.status
        yield from every_result(result.children)


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("shape", SHAPES)
def test_every_report_of_a_run_tells_the_same(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, shape: str
) -> None:
    for name, text in CHILDREN.items():
        workspace.write(name, text)
    workspace.write("r.yaml", f"name: r\nsteps: [{SHAPES[shape]}]\n")
    answer = workspace.run("recipe", "run", "r.yaml", "--json", "--events", "events", "--audit-dir", "audit")
    result, run = answer.json, answer.json["run_id"]
    told = {step["identity"]: step["status"] for step in every(result["step_results"])}
    steps = {name: status for name, status in told.items() if not name.endswith("]")}
    results = every(result["step_results"])
    warned = [f"{each['identity']}: {text}" for each in results for text in each["warnings"]]
    assert sorted(result["warnings"]) == sorted(warned)

    events = list(lines_of(workspace.path / "events"))
    ends = [each for each in events if each["event"] in ("step_finished", "iteration_finished")]
    assert {each["identity"]: each["status"] for each in ends} == told
    over = events[-1]
    assert [over[key] for key in ("event", "status", "counts", "warnings")] == [
        "run_finished", result["status"], result["counts"], result["warnings"],
    ]  # fmt: skip

    logged = [line for path in (workspace.path / "audit").iterdir() for line in lines_of(path)]
    assert {line["identity"]: line["status"].lower() for line in logged} == steps

    shown = re.findall(r"^ *([✓⊘✗⚠]) ([\w-]+) \([0-9.]+s\)", answer.stderr, re.MULTILINE)
    ids = [(status, name.rpartition("/")[2]) for name, status in steps.items()]
    assert sorted((ICONS[icon], name) for icon, name in shown) == sorted(ids)

    kept = workspace.run("runs", "show", run, "--json").json
    assert {step["identity"]: step["status"] for step in every(kept["steps"])} == told
    listed = next(each for each in workspace.run("runs", "list", "--json").json if each["run_id"] == run)
    assert {kept["status"], listed["status"]} == {result["status"]}
    assert [kept[key] for key in ("counts", "never_reached")] == [result["counts"], result["never_reached"]]

    workspace.run("runs", "show", run, "--html", "run.html")
    page = re.search(r'id="run">(.*?)</script>', (workspace.path / "run.html").read_text(), re.DOTALL)
    assert page is not None
    drawn = json.loads(page[1])
    assert (drawn["status"], dict(every_row(drawn["rows"]))) == (result["status"], told)
    assert drawn["never_reached"] == result["never_reached"]

    text = workspace.run("recipe", "run", "r.yaml").stdout
    assert re.findall(r"^  \[(\w+)\] ([\w-]+)", text, re.MULTILINE) == [
        (step["status"], step["step_id"]) for step in result["step_results"]
    ]
    remarks = {"degraded": "degraded: ", "failed_allowed": "failed, ", "never_reached": "never "}
    for count, words in remarks.items():
        number = re.search(rf"^  (\d+) {words}", text, re.MULTILINE)
        assert (int(number[1]) if number else 0) == result["counts"][count]

    monkeypatch.chdir(workspace.path)
    python = RecipeRunner().execute(Path("r.yaml"))
    assert dict(every_result(python.step_results)) == told
    assert (python.status, python.to_json()["counts"], list(python.warnings)) == (
        result["status"], result["counts"], result["warnings"],
    )  # fmt: skip


def test_every_report_tells_of_a_step_that_was_cut_off(workspace: Workspace) -> None:
    workspace.write("slow.yaml", "name: slow\nsteps: [{id: i, command: sleep 60}]\n")
    workspace.write("r.yaml", "name: r\nsteps: [{id: a, recipe: slow.yaml, timeout: 1s}]\n")
    answer = workspace.run("recipe", "run", "r.yaml", "--json", "--audit-dir", "audit")
    assert {key: answer.json["counts"][key] for key in ("failed", "interrupted")} == {
        "failed": 1,
        "interrupted": 1,
    }
    kept = workspace.run("runs", "show", "--json").json["steps"]
    logged = [line for path in (workspace.path / "audit").iterdir() for line in lines_of(path)]
    for steps in (answer.json["step_results"], kept, logged):
        (found,) = [each for each in every(steps) if each["identity"] == "a/i"]
        assert (found["status"].lower(), found["error"]) == ("interrupted", "interrupted before it was done")
