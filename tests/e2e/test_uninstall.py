"""`amplihack uninstall`: everything that is ours goes, nothing else does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.distribution import make_program
from tests.support.workspace import Workspace

ROOT = Path(__file__).parents[2]


@pytest.fixture
def program(workspace: Workspace) -> Workspace:
    make_program(workspace.path / "site", "0.1.0", mark="one")
    workspace.env["PYTHONPATH"] = str(workspace.path / "site")
    workspace.write("home/.bashrc", "mine")
    return workspace


def snapshot(directory: Path) -> dict[str, tuple[str, int, bytes]]:
    return {
        str(path.relative_to(directory)): (
            str(path.readlink()) if path.is_symlink() else "",
            path.lstat().st_mode,
            path.read_bytes() if path.is_file() and not path.is_symlink() else b"",
        )
        for path in directory.rglob("*")
    }


def root(workspace: Workspace) -> Path:
    return workspace.path / "home" / ".amplihack"


def test_a_purge_leaves_the_home_as_it_was_before_the_install(program: Workspace) -> None:
    before = snapshot(program.path / "home")
    program.run("install")
    program.run("recipe", "list")
    done = program.run("uninstall", "--purge")
    assert done.exit_code == 0
    assert snapshot(program.path / "home") == before


def test_what_is_not_ours_stays_as_it_was(program: Workspace) -> None:
    program.write("home/.amplihack/settings.yaml", "bundle: {}\n")
    program.write("home/.amplihack/bundles/mine.md", "x")
    before = snapshot(program.path / "home")
    program.run("install")
    assert program.run("uninstall").exit_code == 0
    after = snapshot(program.path / "home")
    assert {name for name in after if name not in before} == {
        ".amplihack/install",
        ".amplihack/install/uninstalled",
    }
    assert {name: after.get(name) for name in before} == before


def test_the_next_command_does_not_bring_it_back_and_says_how_to(program: Workspace) -> None:
    program.run("install")
    program.run("uninstall")
    done = program.run("recipe", "list")
    assert done.exit_code == 0
    assert (
        done.stderr
        == "amplihack: the framework bundle was uninstalled; `amplihack install` stages it again\n"
    )
    assert not (root(program) / "amplifier-bundle").exists()
    assert program.run("install").exit_code == 0
    assert program.run("recipe", "list").stderr == ""


def test_a_file_that_was_edited_is_kept_and_reported(program: Workspace) -> None:
    program.run("install")
    (root(program) / "amplifier-bundle" / "bundle.md").write_text("mine")
    done = program.run("uninstall", "--json")
    assert [Path(path).read_text() for path in done.json["kept"]] == ["mine"]
    assert not (root(program) / "generations").exists()


def test_a_dry_run_removes_nothing(program: Workspace) -> None:
    program.run("install")
    before = snapshot(program.path / "home")
    done = program.run("uninstall", "--dry-run")
    assert "would remove" in done.stdout
    assert snapshot(program.path / "home") == before


def test_nothing_to_uninstall(program: Workspace) -> None:
    before = snapshot(program.path / "home")
    done = program.run("uninstall")
    assert (done.exit_code, done.stdout) == (0, "Nothing to uninstall.\n")
    assert snapshot(program.path / "home") == before


@pytest.mark.parametrize("path", ["/etc/passwd", "../../../../precious", "no/../../../x"])
def test_a_list_of_files_that_leads_out_stops_everything_before_the_first_deletion(
    program: Workspace, path: str
) -> None:
    precious = program.write("precious", "mine")
    program.run("install")
    identity = root(program) / "amplifier-bundle" / "BUNDLE.json"
    said = json.loads(identity.read_text())
    said["files"][0]["path"] = path
    identity.write_text(json.dumps(said))
    before = {name: each for name, each in snapshot(root(program)).items() if name != ".install.lock"}
    done = program.run("uninstall")
    assert done.exit_code == 1
    assert "nothing is removed" in done.stderr
    after = {name: each for name, each in snapshot(root(program)).items() if name != ".install.lock"}
    assert after == before
    assert precious.read_text() == "mine"


def test_a_directory_that_became_a_link_does_not_lead_deletions_elsewhere(program: Workspace) -> None:
    program.run("install")
    context = root(program) / "amplifier-bundle" / "context"
    elsewhere = program.path / "elsewhere"
    context.rename(elsewhere)
    context.symlink_to(elsewhere)
    done = program.run("uninstall")
    assert done.exit_code == 0
    assert (elsewhere / "Straße und Weg.md").is_file()


@pytest.mark.parametrize("kind", ["kill", "EIO"])
def test_an_uninstall_that_is_struck_anywhere_can_be_completed(program: Workspace, kind: str) -> None:
    start = program.path / "start"
    start.mkdir()
    assert program.run("install", env={"HOME": str(start)}).exit_code == 0
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.install_faults", str(program.path), "5", kind, "uninstall"],
        cwd=ROOT,
        env={**program.env, "PYTHONPATH": f"{program.env['PYTHONPATH']}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout)["points"] > 5
