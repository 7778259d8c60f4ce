"""What is kept of runs can be damaged: it is told, nothing is destroyed, and what can be read is shown."""

from __future__ import annotations

import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from tests.support.running import Scene
from tests.support.workspace import Workspace

from amplihack.errors import AmplihackError
from amplihack.recipes.run_history import RunHistory
from amplihack.system.run_store.store import RunStore

STEPS = """\
name: kept
steps:
  - {id: one, command: 'echo one >> done.txt; echo small'}
  - {id: big, command: 'echo big >> done.txt; head -c 50000 /dev/zero | tr "\\0" x'}
  - {id: list, command: 'echo list >> done.txt; seq 60000 | paste -sd, | sed "s/^/[/; s/$/]/"'}
  - {id: last, command: 'echo last >> done.txt; echo "{{one}}"; test -e fixed'}
"""


@pytest.fixture
def kept(workspace: Workspace) -> Workspace:
    """A place with two runs: one that has completed, and one that has failed."""
    workspace.write("kept.yaml", STEPS)
    workspace.write("fixed", "")
    assert workspace.run("recipe", "run", "kept.yaml").exit_code == 0
    (workspace.path / "fixed").unlink()
    assert workspace.run("recipe", "run", "kept.yaml").exit_code == 1
    return workspace


def store(workspace: Workspace) -> RunStore:
    return RunStore(workspace.path / "home" / ".amplihack")


def values(workspace: Workspace) -> list[Path]:
    """The value files of the last run, the largest last."""
    here = store(workspace)
    found = (here.directory(here.find("last").run_id) / "values").iterdir()
    return sorted(found, key=lambda path: path.stat().st_size)


# values -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", [0, -1])
@pytest.mark.parametrize("how", ["missing", "changed", "cut"])
def test_all_but_a_lost_value_is_shown(kept: Workspace, which: int, how: str) -> None:
    value = values(kept)[which]
    data = value.read_bytes()
    value.unlink() if how == "missing" else value.write_bytes(
        b"?" + data[1:] if how == "changed" else data[:9]
    )
    shown = kept.run("runs", "show")
    assert (shown.exit_code, str(value) in shown.stderr) == (1, True)
    assert "✓ one" in shown.stdout
    assert "│ small" in shown.stdout
    assert "✗ last" in shown.stdout
    answer = kept.run("runs", "show", "--json")
    assert answer.exit_code == 1
    assert [step["step_id"] for step in answer.json["steps"]] == ["one", "big", "list", "last"]
    assert answer.json["steps"][-1]["status"] == "failed"
    assert any(str(value) in what for what in answer.json["damage"])
    page = kept.run("runs", "show", "--html", "page.html")
    assert (page.exit_code, value.name in (kept.path / "page.html").read_text()) == (1, True)
    tail = kept.run("runs", "tail")
    assert (tail.exit_code, "last" in tail.stdout) == (1, True)
    assert str(value) in kept.run("runs", "diff").stderr


def test_a_run_without_its_value_is_not_resumed_until_it_is_back(kept: Workspace) -> None:
    value = values(kept)[0]
    aside = shutil.move(value, kept.path / "aside")
    kept.write("fixed", "")
    for words in (("runs", "resume"), ("runs", "fork", "--from", "last")):
        refused = kept.run(*words)
        assert (refused.exit_code, str(value) in refused.stderr) == (1, True)
    assert len(kept.run("runs", "list", "--json").json) == 2
    shutil.move(aside, value)
    assert kept.run("runs", "resume").exit_code == 0
    assert (kept.path / "done.txt").read_text().split()[4:] == ["one", "big", "list", "last", "last"]


def test_one_damaged_record_does_not_hide_the_others(kept: Workspace) -> None:

    with sqlite3.connect(store(kept).database) as connection:
        connection.execute(
            "UPDATE events SET data = '[' WHERE kind = 'StepStarted' AND data LIKE '%\"big\"%' AND run = 2"
        )
        connection.execute("UPDATE runs SET ended = 'never' WHERE number = 1")
    connection.close()
    shown = kept.run("runs", "show")
    assert (shown.exit_code, "cannot be read: StepStarted" in shown.stderr) == (1, True)
    assert "✗ last" in shown.stdout
    listed = kept.run("runs", "list", "--json")
    assert listed.exit_code == 1
    assert [run["status"] for run in listed.json] == ["failed"]


# the database -----------------------------------------------------------------------------------------------


def read_all(here: RunStore) -> list[str]:
    """Everything that readers ask for. Raises what they would see."""
    damage: list[AmplihackError] = []
    listing = here.listing()
    for run in listing.runs:
        events = ((at, event) for _, at, event in here.events(run, damage=damage))
        RunHistory(events, alive=False, damage=damage).to_json()
        here.recipes(run)
    return [run.run_id for run in listing.runs]


@pytest.mark.parametrize("seed", range(2))
def test_random_bytes_anywhere_are_told_and_change_nothing(kept: Workspace, seed: int) -> None:
    here, random = store(kept), Random(seed)
    whole, known, unharmed = here.database.read_bytes(), read_all(here), 0
    for _ in range(40):
        damaged, place = bytearray(whole), random.randrange(len(whole))
        length = random.choice((1, 8, 4096))
        damaged[place : place + length] = random.randbytes(len(damaged[place : place + length]))
        here.database.write_bytes(damaged)
        try:
            unharmed += read_all(here) == known
        except AmplihackError as error:
            assert error.fix, error.what
        assert here.database.read_bytes() == damaged
    assert unharmed > 10


def test_a_database_that_is_cut_anywhere_is_told_and_left_alone(kept: Workspace) -> None:
    here = store(kept)
    whole, told = here.database.read_bytes(), 0
    for length in range(0, len(whole), max(1, len(whole) // 60)):
        here.database.write_bytes(whole[:length])
        problem = here.listing().problem
        told += problem is not None
        try:
            read_all(here)
        except AmplihackError as error:
            assert error.fix, error.what
        assert here.database.read_bytes() == whole[:length]
    assert told > 1


def test_a_write_ahead_log_that_was_cut_loses_its_end_and_nothing_else(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write(
        "kept.yaml",
        STEPS.replace(
            "echo last >>", "echo last >> begun; while [ ! -e go ]; do sleep 0.02; done; echo last >>"
        ),
    )
    started = scene.start("recipe", "run", "kept.yaml")
    started.wait_for("begun")
    started.interrupt(number=signal.SIGKILL)
    started.end()
    workspace.write("go", "")
    workspace.write("fixed", "")
    here, log = store(workspace), Path(f"{store(workspace).database}-wal")
    saved = workspace.path / "saved"
    shutil.copytree(here.root, saved)
    size = log.stat().st_size
    assert size > 0
    for kept_bytes in range(size // 8, size, size // 8):
        shutil.rmtree(here.root)
        shutil.copytree(saved, here.root)
        with log.open("r+b") as file:
            file.truncate(kept_bytes)
        listing = here.listing()
        # Where not even the run is left, that is told: it is no empty history.
        assert bool(listing.runs) == (listing.problem is listing.lost is None)
        for run in listing.runs:
            answer = workspace.run("runs", "resume", run.run_id, "--json")
            assert (answer.exit_code, answer.json["context"]["last"]) == (0, "small")


def test_a_database_whose_write_ahead_log_is_gone_is_no_empty_history(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write("a.yaml", "name: a\nsteps:\n  - {id: s, command: 'touch begun; sleep 1000'}\n")
    started = scene.start("recipe", "run", "a.yaml")
    started.wait_for("begun")
    started.interrupt(number=signal.SIGKILL)
    started.end()
    database = store(workspace).database
    before = database.read_bytes()
    log, aside = Path(f"{database}-wal"), workspace.path / "aside"
    log.rename(aside)
    Path(f"{database}-shm").unlink()
    for words in (("runs", "list"), ("recipe", "run", "a.yaml"), ("runs", "resume")):
        answer = workspace.run(*words)
        assert (answer.exit_code, "is empty, though 1 run left values" in answer.stderr) == (1, True), answer
    assert database.read_bytes() == before
    for name in ("-wal", "-shm"):
        Path(f"{database}{name}").unlink(missing_ok=True)
    aside.rename(log)
    assert workspace.run("runs", "list", "--json").json[0]["status"] == "interrupted"


def test_runs_that_an_older_copy_of_the_database_does_not_have_are_named(kept: Workspace) -> None:
    here = store(kept)
    older = here.database.read_bytes()
    assert kept.run("recipe", "run", "kept.yaml").exit_code == 1
    lost = here.find("last").run_id
    assert kept.run("runs", "list").exit_code == 0
    here.database.write_bytes(older)
    answer = kept.run("runs", "list", "--json")
    assert (answer.exit_code, len(answer.json), lost in answer.stderr) == (1, 2, True)
    assert kept.run("runs", "prune", "--keep", "0").stdout == "removed 2 runs\n"
    assert here.directory(lost).exists()


@pytest.fixture
def scene(workspace: Workspace) -> Scene:
    return Scene(workspace)


# the disk ---------------------------------------------------------------------------------------------------

FILLING = """\
name: fill
steps:
  - {id: one, command: 'echo one >> done.txt; echo 1'}
  - id: each
    foreach: [1, 2, 3, 4, 5, 6, 7, 8]
    command: 'echo each-{{item}} >> done.txt; head -c SIZE /dev/urandom | base64 -w0'
    collect: all
  - {id: last, command: 'echo last >> done.txt; echo done'}
"""


class Disk:
    """A small disk of its own."""

    def __init__(self, path: Path, size: str) -> None:
        self.path = path
        path.mkdir()
        self.mounted = self._mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs")

    def again(self, options: str) -> None:
        assert self._mount("-o", f"remount,{options}")

    def _mount(self, *words: str) -> bool:
        try:
            return (
                subprocess.run(["mount", *words, self.path], capture_output=True, check=False).returncode == 0
            )
        except OSError:
            return False


@pytest.fixture
def disk(workspace: Workspace) -> Iterator[Disk]:
    disk = Disk(workspace.path / "disk", "400k")
    if not disk.mounted:
        pytest.skip("only root may mount a small disk")
    workspace.env["AMPLIHACK_HOME"] = str(disk.path / "root")
    yield disk
    subprocess.run(["umount", disk.path], check=True)


@pytest.mark.parametrize("size", ["80000", "9000"])  # in files of their own, and in the database
def test_a_full_disk_ends_the_run_and_it_goes_on_where_it_was(
    workspace: Workspace, disk: Disk, size: str
) -> None:
    if size == "9000":
        disk.again("size=140k")
    workspace.write("fill.yaml", FILLING.replace("SIZE", size))
    answer = workspace.run("recipe", "run", "fill.yaml")
    assert (answer.exit_code, "the disk is full" in answer.stderr) == (1, True), answer
    assert "`amplihack runs resume`" in answer.stderr
    assert workspace.run("runs", "list", "--json").json[0]["status"] == "interrupted"
    before = (workspace.path / "done.txt").read_text().split()
    disk.again("size=8m")
    assert workspace.run("runs", "resume", "--json").json["context"]["last"] == "done"
    done = (workspace.path / "done.txt").read_text().split()
    assert done == [*before, *["one", *(f"each-{n}" for n in range(1, 9)), "last"][len(before) - 1 :]]


def test_a_disk_without_any_room_shows_runs_and_prune_makes_room(workspace: Workspace, disk: Disk) -> None:
    disk.again("size=4m")
    workspace.write("kept.yaml", STEPS)
    assert workspace.run("recipe", "run", "kept.yaml").exit_code == 1
    filler = disk.path / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 4096):
            pass
    assert [run["status"] for run in workspace.run("runs", "list", "--json").json] == ["failed"]
    assert "✗ last" in workspace.run("runs", "show").stdout
    for words in (("runs", "resume"), ("runs", "fork", "--from", "big"), ("recipe", "run", "kept.yaml")):
        answer = workspace.run(*words)
        assert (answer.exit_code, "the disk is full" in answer.stderr) == (1, True), answer
    assert len((workspace.path / "done.txt").read_text().split()) == 4
    assert workspace.run("runs", "prune", "--keep", "0").stdout == "removed 1 run\n"
    assert workspace.run("runs", "list", "--json").json == []
    assert list((disk.path / "root" / "runs").iterdir()) == []


def test_a_read_only_disk_shows_runs_and_refuses_new_ones(workspace: Workspace, disk: Disk) -> None:
    workspace.write("a.yaml", "name: a\nsteps:\n  - {id: s, command: 'echo s >> done.txt; false'}\n")
    workspace.run("recipe", "run", "a.yaml")
    disk.again("ro")
    assert workspace.run("runs", "list", "--json").json[0]["status"] == "failed"
    assert "✗ s" in workspace.run("runs", "show").stdout
    for words in (("recipe", "run", "a.yaml"), ("runs", "resume"), ("runs", "prune", "--keep", "0")):
        answer = workspace.run(*words)
        assert (answer.exit_code, "Read-only" in answer.stderr or "cannot write" in answer.stderr) == (
            1,
            True,
        )
        assert "fix:" in answer.stderr
    assert (workspace.path / "done.txt").read_text().split() == ["s"]
    disk.again("rw")
    assert workspace.run("runs", "prune", "--keep", "0").stdout == "removed 1 run\n"


def test_a_run_that_was_cut_off_is_listed_from_a_read_only_disk(workspace: Workspace, disk: Disk) -> None:
    scene = Scene(workspace)
    workspace.write("a.yaml", "name: a\nsteps:\n  - {id: s, command: 'touch begun; sleep 100'}\n")
    started = scene.start("recipe", "run", "a.yaml")
    started.wait_for("begun")
    started.interrupt(number=signal.SIGKILL)
    started.end()
    disk.again("ro")
    assert [run["status"] for run in workspace.run("runs", "list", "--json").json] == ["interrupted"]
    assert "✗ s [interrupted]" in workspace.run("runs", "show").stdout


def test_a_log_that_nobody_can_put_into_its_database_is_read_too(workspace: Workspace, disk: Disk) -> None:
    scene = Scene(workspace)
    workspace.write("a.yaml", "name: a\nsteps:\n  - {id: s, command: 'touch begun; sleep 100'}\n")
    started = scene.start("recipe", "run", "a.yaml")
    started.wait_for("begun")
    started.interrupt(number=signal.SIGKILL)
    started.end()
    (disk.path / "root" / "runs.sqlite3-shm").unlink()  # as in a backup: it is made anew where that can be
    disk.again("ro")
    assert [run["status"] for run in workspace.run("runs", "list", "--json").json] == ["interrupted"]


def test_a_value_that_is_larger_than_files_may_be_is_told(workspace: Workspace) -> None:
    workspace.write("fill.yaml", FILLING.replace("SIZE", "900000"))
    words = ["-m", "amplihack", "recipe", "run", "fill.yaml"]

    done = subprocess.run(
        [sys.executable, *words],
        cwd=workspace.path,
        env=workspace.env,
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000)),
    )
    assert done.returncode == 1
    assert b"File too large" in done.stderr
    assert b"Traceback" not in done.stderr
    answer = workspace.run("runs", "resume", "--json")
    assert answer.json["context"]["last"] == "done", answer


@pytest.mark.parametrize("change", ["texts SET text='{'", "texts SET text='[]'", "runs SET started=-1e300"])
def test_a_damaged_row_is_told_by_every_command(kept: Workspace, change: str) -> None:
    with sqlite3.connect(store(kept).database) as connection:
        connection.execute(f"UPDATE {change}")
    for words in ("list", "list --json", "show last", "show last --json", "diff last last", "resume last"):
        answer = kept.run("runs", *words.split())
        assert answer.exit_code in (0, 1, 2), answer.stderr
        assert "Traceback" not in answer.stderr


def test_a_gate_that_waits_beyond_all_calendars_is_shown(workspace: Workspace) -> None:
    gate = "{prompt: sure, timeout: 999999999999999}"
    workspace.write(
        "g.yaml", f"name: g\nstages: [{{name: s, approval: {gate}, steps: [{{id: a, command: ls}}]}}]\n"
    )
    workspace.run("recipe", "run", "g.yaml")
    shown = workspace.run("runs", "show", "--json")
    assert (shown.exit_code, '"expires": null' in shown.stdout) == (0, True)
    assert "until an unknown time" in workspace.run("runs", "show").stdout
