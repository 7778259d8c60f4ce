"""The recipes that every runner of this language ships, run for real."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.workspace import Workspace

CORPUS = Path(__file__).parents[2] / "corpus"
LETTERS = {"completed": "C", "skipped": "S", "failed": "F", "degraded": "D"}


def run(workspace: Workspace, name: str, *flags: str, exit_code: int = 0) -> Any:
    answer = workspace.run("recipe", "run", str(CORPUS / "shipped" / f"{name}.yaml"), "--json", *flags)
    assert answer.exit_code == exit_code, answer.stderr
    return answer.json


def letters(result: Any) -> str:
    return "".join(LETTERS[step["status"]] for step in result["step_results"])


@pytest.mark.parametrize(
    ("name", "statuses", "values"),
    [
        ("hello-world", "C", {"greeting": "Hello from a recipe"}),
        ("variables", "CCC", {"hello_message": "Howdy, Developer!", "size": 17}),
        ("conditions", "CCCCSC", {"fourth": "either"}),
        ("multi-step-pipeline", "CCCCC", {"counted": "Line count: 5", "distinct": 4}),
        (
            "parse-json",
            "CCCC",
            {"result": {"name": "widget", "count": 42}, "used": "widget=42", "built": "built 2.1.0"},
        ),
        ("error-handling", "CFCC", {"finished": "finished"}),
        ("parallel-groups", "CCCCC", {"verified": "left\nright\nLR"}),
        ("extends", "CC", {"log_level": "debug", "setup_result": "set up billing at debug"}),
        ("recursion-limits", "CCC", {"third": "three"}),
        ("timeouts", "CCC", {"third": "unlimited"}),
        ("all-condition-operators", "C" * 11, {}),
        ("all-functions", "C" * 7, {}),
        ("all-methods", "C" * 13, {}),
        ("output-chaining", "CCCCC", {"step5_out": "ABCDE"}),
        (
            "nested-context",
            "CCCCC",
            {
                "host_line": "host=localhost",
                "app_line": "app=test",
                "whole": {"host": "localhost", "port": 5432},
                "connect_line": "connecting to localhost:5432 for app test",
            },
        ),
        (
            "json-extraction-strategies",
            "CCC",
            {
                "first": {"way": "direct"},
                "second": {"way": "fence"},
                "third": {"way": "balanced", "in": {"deep": [1]}},
            },
        ),
        (
            "empty-and-edge-cases",
            "SSSCCCCC",
            {"brackets": "leftright", "blank": "   ", "words": "grüße ✓ 日本"},
        ),
        ("ci-pipeline", "CCCCSCC", {"summary_line": "LINT PASS / TESTS PASS"}),
        (
            "large-context",
            "C" * 25,
            {
                "final_out": (
                    "final:chain:alpha:alpha-bravo+charlie-delta|chain:echo:echo-foxtrot+golf-hotel"
                    "|chain:india:india-juliet+kilo-lima|chain:mike:mike-november+oscar-papa"
                )
            },
        ),
    ],
)
def test_a_shipped_recipe_does_what_it_says(
    workspace: Workspace, name: str, statuses: str, values: dict[str, object]
) -> None:
    result = run(workspace, name)
    assert letters(result) == statuses
    assert {key: result["context"][key] for key in values} == values


def test_working_directories_follow_their_template(workspace: Workspace) -> None:
    context = run(workspace, "working-directories")["context"]
    assert context["alpha"].endswith("/places/alpha")
    assert context["beta"].endswith("/places/beta")


def test_hooks_write_their_log(workspace: Workspace) -> None:
    result = run(workspace, "hooks")
    assert letters(result) == "CFSC"
    assert result["context"]["log"].split("\n") == [
        "pre one bash",
        "post one completed",
        "pre two bash",
        "error two failed",
        "pre four bash",
    ]


def test_tags_choose_the_steps_that_run(workspace: Workspace) -> None:
    assert letters(run(workspace, "tags", "--include-tags", "fast")) == "CCSSC"
    assert letters(run(workspace, "tags", "--exclude-tags", "slow,quality")) == "SCSSC"


def test_the_second_failure_ends_the_chain(workspace: Workspace) -> None:
    result = run(workspace, "continue-on-error-chain", exit_code=1)
    assert (letters(result), result["success"], result["never_reached"]) == ("CFCF", False, ["unreached"])


def test_kinds_are_inferred_and_each_does_its_work(workspace: Workspace) -> None:
    workspace.write("answers.yaml", "- {match: hello, reply: Hi there}\n- {match: goodbye, reply: Bye}\n")
    result = run(workspace, "step-type-inference", "--agent", "scripted:answers.yaml")
    assert [step["type"] for step in result["step_results"]] == [
        "bash",
        "bash",
        "agent",
        "agent",
        "recipe",
        "bash",
    ]
    assert (result["context"]["third"], result["context"]["sixth"]) == ("Hi there", "ABCDE")


DRY = """\
import contextlib, io, sys
from amplihack.cli.main import main
given = ["--set", "task_description=x", "--set", "repo_path=.", "--context-file", "given.yaml"]
for file in sys.argv[1:]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main(["recipe", "run", file, "--dry-run", "--json", "-q", *given])
    if code:
        print(file, code, said.getvalue()[-400:])
"""


def test_every_recipe_of_the_corpus_can_be_run_dry(workspace: Workspace) -> None:
    """In one process for all of them: the start of a command costs more than the dry run itself."""
    files = sorted(str(path) for path in CORPUS.glob("*/*.yaml"))
    assert len(files) > 40
    (workspace.path / ".git").mkdir()
    workspace.write("given.yaml", "base_branch: main\nenvironment: dev\ndocument: x\nstate_file: x\n")
    done = subprocess.run(
        [sys.executable, "-c", DRY, *files],
        cwd=workspace.path,
        env=workspace.env,
        capture_output=True,
        check=True,
    )
    assert done.stdout == b""
