"""Runs that an earlier version has kept can still be listed, shown and resumed.

`tests/journals/<schema version>` holds one for each version of the schema that was ever released. They never
change: a new version gets a directory of its own, made from a run of `main.yaml` that has waited, was
approved and failed.
"""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from tests.support.workspace import Workspace

from amplihack.system.run_store.schema import VERSION

JOURNALS = sorted((Path(__file__).parents[1] / "journals").iterdir())


def test_there_is_a_journal_of_each_version() -> None:
    assert [each.name for each in JOURNALS] == [str(number + 1) for number in range(VERSION)]


@pytest.mark.parametrize("journal", JOURNALS, ids=lambda path: path.name)
def test_an_old_journal_is_shown_and_resumed(workspace: Workspace, journal: Path) -> None:
    _lay_out(workspace, journal)
    (run,) = workspace.run("runs", "list", "--json").json
    assert (run["recipe"], run["status"]) == ("old", "failed")
    shown = workspace.run("runs", "show", "--json").json
    assert [step["status"] for step in shown["steps"]] == [*["completed"] * 5, "failed"]
    assert [step["identity"] for step in shown["steps"][3]["children"]] == ["call/inner", "call/each"]
    assert shown["steps"][4]["output"] == "x" * 20_000
    (gate,) = shown["gates"]
    assert (gate["decision"], gate["message"], gate["by"]) == ("approved", "ok", "somebody")
    workspace.write("fixed", "")
    answer = workspace.run("runs", "resume", "--json", "--set", "token=sesame-street")
    assert answer.exit_code == 0, answer
    context = answer.json["context"]
    assert (context["flaky"], context["end"]) == ("ok [1,2]", "hello world inside")
    assert context["large"] == "x" * 20_000
    with sqlite3.connect(workspace.path / "home" / ".amplihack" / "runs.sqlite3") as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == VERSION
    connection.close()


def _lay_out(workspace: Workspace, journal: Path) -> None:
    for name in ("main.yaml", "child.yaml"):
        shutil.copy(journal / name, workspace.path)
    root = workspace.path / "home" / ".amplihack"
    root.mkdir()
    script = (journal / "runs.sql").read_text("utf-8").replace("@HERE@", str(workspace.path))
    with sqlite3.connect(root / "runs.sqlite3") as connection:
        connection.executescript(script)
        (run_id,) = connection.execute("SELECT run_id FROM runs").fetchone()
    connection.close()
    shutil.copytree(journal / "values", root / "runs" / run_id / "values")
