"""`runs show --html`: one file for a browser."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.support.workspace import Workspace

ROOT = Path(__file__).parents[2]


def data_of(page: str) -> Any:
    return json.loads(page.split('id="run">', 1)[1].split("</script>", 1)[0])


@pytest.fixture
def failed(workspace: Workspace) -> Workspace:
    workspace.write(
        "a.yaml", "name: a\nsteps:\n  - {id: good, command: echo hi}\n  - {id: bad, command: 'exit 3'}\n"
    )
    assert workspace.run("recipe", "run", "a.yaml").exit_code == 1
    return workspace


def test_the_page_holds_the_run_and_is_private(failed: Workspace) -> None:
    answer = failed.run("runs", "show", "--html", "run.html")
    assert (answer.exit_code, answer.stdout, answer.stderr) == (0, "", "wrote run.html\n")
    path = failed.path / "run.html"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    run = data_of(path.read_text("utf-8"))
    assert (run["recipe"], run["status"], run["rows"][run["first"]]["name"]) == ("a", "failed", "bad")
    assert run["texts"][run["rows"][0]["output"]] == "hi"


def test_the_page_goes_to_stdout_or_is_told_as_json(failed: Workspace) -> None:
    assert failed.run("runs", "show", "--html", "-").stdout.startswith("<!doctype html>")
    told = failed.run("runs", "show", "--html", "run.html", "--json")
    assert told.json["html"] == str(failed.path / "run.html")
    both = failed.run("runs", "show", "--html", "-", "--json")
    assert (both.exit_code, both.json["error"]["fix"]) == (2, "give --html a file")


def test_a_page_that_cannot_be_written_is_an_error(failed: Workspace) -> None:
    answer = failed.run("runs", "show", "--html", "missing/run.html")
    assert (answer.exit_code, "cannot write" in answer.stderr) == (1, True)
    assert failed.run("runs", "show", "nope", "--html", "run.html").exit_code == 3


def test_a_run_is_drawn_though_its_recipe_and_its_directory_are_gone(workspace: Workspace) -> None:
    place = workspace.path / "place"
    place.mkdir()
    workspace.write("place/a.yaml", "name: a\nsteps:\n  - {id: good, command: echo hi}\n")
    assert workspace.run("recipe", "run", "place/a.yaml", "-C", "place").exit_code == 0
    shutil.rmtree(place)
    answer = workspace.run("runs", "show", "--html", "-")
    run = data_of(answer.stdout)
    assert (answer.exit_code, run["rows"][0]["name"], run["notes"]) == (0, "good", [])


def test_a_secret_in_a_prompt_is_on_no_page(workspace: Workspace) -> None:
    workspace.write(
        "a.yaml",
        "name: a\nsecrets: [key]\nsteps:\n  - {id: ask, prompt: 'Use {{key}} now'}\n",
    )
    workspace.write("answers.yaml", "- match: Use\n  reply: done\n")
    agent = ("--agent", "scripted:answers.yaml")
    assert workspace.run("recipe", "run", "a.yaml", "--set", "key=hunter2hunter2", *agent).exit_code == 0
    page = workspace.run("runs", "show", "--html", "-").stdout
    assert "hunter2" not in page
    assert any("Use" in text and "now" in text for text in data_of(page)["texts"])


def test_the_wheel_carries_the_parts_of_the_page(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"amplihack/system/run_page/page.{kind}" for kind in ("html", "css", "js")} <= names
