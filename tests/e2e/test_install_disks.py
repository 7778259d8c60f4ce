"""Homes on real file systems of their own: another disk, a full one, one that nobody can write to."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.distribution import use
from tests.support.workspace import Workspace


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, with a blank and a letter of another alphabet in its path."""
    place = tmp_path / "Platte Ω"
    place.mkdir()
    if os.getuid() != 0 or mount("-t", "tmpfs", "-o", "size=64m", "tmpfs", str(place)):
        pytest.skip("only an administrator may mount a file system")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def mount(*words: str) -> int:
    return subprocess.run(["mount", *words], capture_output=True, check=False).returncode


@pytest.fixture
def program(workspace: Workspace, disk: Path) -> Workspace:
    workspace.env["AMPLIHACK_HOME"] = str(disk / "home")
    return use(workspace, "0.1.0")


def staged(disk: Path) -> str:
    return (disk / "home" / "amplifier-bundle" / "bundle.md").read_text()


def test_a_home_on_another_file_system_installs_updates_rolls_back_and_uninstalls(
    program: Workspace, disk: Path
) -> None:
    assert program.run("install").exit_code == 0
    assert use(program, "0.2.0").run("recipe", "list").stderr.endswith("re-staged for v0.2.0\n")
    assert "0.2.0" in staged(disk)
    assert program.run("install", "--rollback").exit_code == 0
    assert "0.1.0" in staged(disk)
    assert program.run("doctor").exit_code == 0
    assert program.run("uninstall", "--purge").exit_code == 0
    assert not (disk / "home").exists()


def test_a_disk_without_room_for_more_files_is_told_and_the_old_tree_stays(
    program: Workspace, disk: Path
) -> None:
    assert program.run("install").exit_code == 0
    used = sum(1 for _ in disk.rglob("*"))
    assert mount("-o", f"remount,nr_inodes={used + 6}", str(disk)) == 0
    use(program, "0.2.0")
    done = program.run("install")
    assert done.exit_code == 1
    assert "No space left on device" in done.stderr
    assert "what was staged before is unchanged" in done.stderr
    assert "free some space" in done.stderr
    heal = program.run("recipe", "list")
    assert (heal.exit_code, heal.stdout) == (1, "")
    assert "self-heal failed" in heal.stderr
    assert "0.1.0" in staged(disk)
    assert (disk / "home" / ".installed-version").read_text() == "0.1.0"
    assert [path.name for path in (disk / "home" / "generations").glob(".*")] == []
    assert mount("-o", "remount,nr_inodes=10000", str(disk)) == 0
    assert program.run("recipe", "list").exit_code == 0
    assert "0.2.0" in staged(disk)


def test_a_disk_with_too_few_bytes_is_told_before_anything_is_copied(program: Workspace, disk: Path) -> None:
    assert program.run("install").exit_code == 0
    (disk / "other").write_bytes(b"x" * 52_000_000)
    done = use(program, "0.2.0").run("install")
    assert done.exit_code == 1
    assert "not enough space" in done.stderr
    assert "0.1.0" in staged(disk)


def test_a_read_only_home_is_told_and_the_bundle_of_the_program_is_used(
    program: Workspace, disk: Path
) -> None:
    assert program.run("install").exit_code == 0
    assert mount("-o", "remount,ro", str(disk)) == 0
    assert program.run("recipe", "list").stderr == ""
    use(program, "0.2.0")
    done = program.run("recipe", "list")
    assert done.exit_code == 0
    assert "is read-only; using the bundle of this program as it is" in done.stderr
    for words in (("install",), ("uninstall",)):
        done = program.run(*words)
        assert done.exit_code == 1
        assert "Read-only file system" in done.stderr
    assert "0.1.0" in staged(disk)
