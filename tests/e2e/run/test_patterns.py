"""Longer recipes in the manner of the published ones: gates on what was printed, counted and judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.workspace import Workspace

SHIPPED = Path(__file__).parents[2] / "corpus" / "shipped"
PATTERNS = SHIPPED / "patterns"
BUILD = SHIPPED / "build-recipe-runner.yaml"
STEPS = {
    "quality-audit": 8, "investigation": 7, "code-review": 7, "migration": 8, "multi-agent-consensus": 7,
    "self-improvement": 7, "deploy-pipeline": 7, "build-recipe-runner": 20,
}  # fmt: skip
LETTERS = {"completed": "C", "skipped": "S", "failed": "F", "degraded": "D"}


def file_of(name: str) -> str:
    return str(BUILD if name == BUILD.stem else PATTERNS / f"{name}.yaml")


def run(workspace: Workspace, name: str, answers: str, *flags: str) -> Any:
    workspace.write("answers.yaml", answers)
    words = ("--json", "-q", "--agent", "scripted:answers.yaml", *flags)
    answer = workspace.run("recipe", "run", file_of(name), *words)
    assert answer.exit_code == 0, answer.stdout + answer.stderr
    return answer.json


def letters(result: Any) -> str:
    return "".join(LETTERS[step["status"]] for step in result["step_results"])


def script(workspace: Workspace, name: str, text: str) -> None:
    workspace.write(name, f"#!/bin/bash\n{text}\n").chmod(0o755)


def test_every_pattern_is_tried_here() -> None:
    assert {path.stem for path in PATTERNS.iterdir()} | {BUILD.stem} == set(STEPS)


def test_every_pattern_is_valid_without_a_word_of_warning(workspace: Workspace) -> None:
    answer = workspace.run("recipe", "validate", "--json", "--strict", *map(file_of, STEPS))
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert {each["name"]: (each["valid"], each["steps"], each["problems"]) for each in answer.json} == {
        name: (True, count, []) for name, count in STEPS.items()
    }


@pytest.mark.parametrize("name", STEPS)
def test_a_pattern_is_explained_and_can_be_run_dry(workspace: Workspace, name: str) -> None:
    explained = workspace.run("recipe", "explain", file_of(name))
    dry = workspace.run("recipe", "run", file_of(name), "--dry-run", "--json", "-q")
    assert (explained.exit_code, dry.exit_code, dry.stderr) == (0, 0, "")
    assert f"Steps ({STEPS[name]}):" in explained.stdout
    assert all(step["step_id"] in explained.stdout for step in dry.json["step_results"])
    assert (dry.json["success"], dry.json["warnings"], letters(dry.json)) == (True, [], "S" * STEPS[name])
    assert sorted(path.name for path in workspace.path.iterdir()) == ["home"]


AUDIT = """\
- {match: Assess 1 findings in 2 files of src., reply: {severity: low, fixable: 0}}
- {match: Assess 3 findings in 2 files of src., reply: {severity: high, fixable: %s}}
- {match: 'Fix %s findings in src. Severity: high.', reply: mended}
"""


@pytest.mark.parametrize(
    ("findings", "fixable", "statuses", "verdict"),
    [
        (1, 0, "CCCCSSCS", "PASS ok=true 1 of 2"),
        (3, 2, "CCCSCCSC", "FAIL left=1"),
        (3, 3, "CCCSCCCS", "PASS"),
    ],
)
def test_a_quality_audit_compares_its_counts(
    workspace: Workspace, findings: int, fixable: int, statuses: str, verdict: str
) -> None:
    workspace.write("src/a.txt", "TODO\n" * findings)
    workspace.write("src/b.txt", "done\n")
    result = run(workspace, "quality-audit", AUDIT % (fixable, fixable))
    assert (letters(result), result["context"]["verdict"].strip()) == (statuses, verdict)
    assert (result["context"]["file_count"], result["context"]["finding_count"]) == (2, findings)


@pytest.mark.parametrize(
    ("change", "statuses", "outcome", "left"),
    [("plus", "CCCCCCS", "kept gain=1", "plus\nplus\n"), ("minus", "CCCCCSC", "reverted", "plus\n")],
)
def test_an_improvement_is_kept_only_if_the_score_rises(
    workspace: Workspace, change: str, statuses: str, outcome: str, left: str
) -> None:
    script(workspace, "score.sh", "grep -c plus program.txt")
    workspace.write("program.txt", "plus\n")
    answers = f"- {{match: 'The score is 1, the goal is 5.', reply: {{change: {change}, expected: 2}}}}\n"
    result = run(workspace, "self-improvement", answers)
    assert (letters(result), result["context"]["outcome"]) == (statuses, outcome)
    assert (workspace.path / "program.txt").read_text() == left


@pytest.mark.parametrize(
    ("go", "health", "statuses", "outcome"),
    [
        ("true", "true", "CCCCCSS", "release 7 serves staging"),
        ("true", "false", "CCCCSCS", "deployed=true staging 6"),
        ("false", "true", "CCSSSSC", "held friday"),
    ],
)
def test_a_deployment_follows_the_judgement_and_the_health(
    workspace: Workspace, go: str, health: str, statuses: str, outcome: str
) -> None:
    script(workspace, "build", 'echo "build=ok $*"')
    script(workspace, "my deploy", 'echo "deployed=true $*"')
    script(workspace, "health", health)
    answers = f"- {{match: 'The build said: build=ok --release 7', reply: {{go: {go}, reason: friday}}}}\n"
    result = run(workspace, "deploy-pipeline", answers, "--set", "deploy_command=./my deploy")
    assert (letters(result), result["context"]["outcome"]) == (statuses, outcome)


@pytest.mark.parametrize(
    ("risk", "statuses", "outcome"),
    [
        ("low", "CCCCCCCS", "migrated 2 of 2 in 1 batches"),
        ("high", "CCCSSSSC", "rolled back"),
    ],
)
def test_a_migration_ends_whole_or_not_at_all(
    workspace: Workspace, risk: str, statuses: str, outcome: str
) -> None:
    for name in ("a", "b"):
        workspace.write(f"old/{name}.txt", "a legacy word\n")
    answers = f"- {{match: Plan moving 2 files, reply: {{batches: 1, risk: {risk}}}}}\n"
    result = run(workspace, "migration", answers)
    assert (letters(result), result["context"]["outcome"]) == (statuses, outcome)
    moved = sorted(path.read_text() for path in (workspace.path / "new").glob("*"))
    assert moved == (["a current word\n"] * 2 if risk == "low" else [])


PANEL = """\
- {match: Argue for, reply: {vote: 'yes', why: simple}}
- {match: Argue against, reply: {vote: 'no', why: costly}}
- {match: Who runs it, reply: {vote: '%s', why: sleep}}
- {match: 'Decide between simple, costly and sleep.', reply: refused by the judge}
"""


@pytest.mark.parametrize(
    ("vote", "statuses", "record"),
    [("yes", "CCCCCSC", "short by 0, accepted"), ("no", "CCCCSCC", "short by 1, refused by the judge")],
)
def test_a_panel_that_does_not_agree_goes_to_the_judge(
    workspace: Workspace, vote: str, statuses: str, record: str
) -> None:
    result = run(workspace, "multi-agent-consensus", PANEL % vote)
    assert letters(result) == statuses
    assert result["context"]["record"] == f"Keep one queue per tenant: {record}"


BUILDER = """\
- {match: List the parts, reply: {parts: [parser, conditions, engine], count: 3}}
- {match: 'Design these parts: ["parser', reply: one file each}
- {match: '/Write the (\\w+)\\. one file each/', reply: 'code of \\1'}
- {match: 'Review 3 parts; the trial said LINT PASS / TESTS PASS.', reply: {verdict: ship, notes: []}}
"""


def test_the_builder_runs_its_groups_its_hooks_and_the_recipe_beside_it(workspace: Workspace) -> None:
    result = run(workspace, "build-recipe-runner", BUILDER, "--exclude-tags", "slow")
    assert letters(result) == "CCCCCCCCCCCCCSCCSSCC"
    assert result["context"]["enough"] == "enough=true spare=0"
    assert result["context"]["announcement"] == "built 3 parts in python"
    assert (workspace.path / "runner/parts/engine").read_text() == "code of engine\n"
    log = (workspace.path / "build.log").read_text().splitlines()
    assert {"begin write-parser", "end write-engine completed", "end announce completed"} <= set(log)
    assert (workspace.path / "runner.tar").exists()
