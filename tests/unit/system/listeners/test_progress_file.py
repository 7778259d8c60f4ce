import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.system.listeners.script import SCRIPT, Clock, ended, finished, started

from amplihack.errors import AmplihackError
from amplihack.recipes.progress_format import Progress
from amplihack.recipes.progress_reading import validate_progress
from amplihack.system.listeners.progress_file import ProgressFile
from amplihack.system.listeners.workstream_file import WorkstreamFile


def progress_of(file: ProgressFile, now: float) -> Progress:
    """What a strict watcher sees."""
    return validate_progress(
        file.path.name, file.path.read_text("utf-8"), now=now, alive=lambda pid: pid == 7
    )


def test_each_transition_is_in_the_file_at_once(tmp_path: Path) -> None:
    clock = Clock()
    file = ProgressFile(tmp_path, "build", pid=7, now=clock)
    seen = []
    for event in SCRIPT:
        clock.now += 1
        file.hear(event)
        progress = progress_of(file, clock.now)
        seen.append((progress.step_name, progress.current_step, progress.status))
    assert list(dict.fromkeys(seen)) == [
        ("starting", 0, "running"),
        ("hello", 1, "running"),
        ("ask", 2, "running"),
        ("deploy", 3, "running"),
        ("deploy/upload", 3, "running"),
        ("deploy/check", 3, "running"),
        ("each", 4, "running"),
        ("skipped-step", 5, "running"),
        ("bad-step", 6, "running"),
        ("bad-step", 6, "failed"),
    ]
    assert progress_of(file, clock.now) == Progress(
        status="failed",
        step_name="bad-step",
        timestamp=clock.now,
        recipe_name="build",
        pid=7,
        current_step=6,
        total_steps=6,
        elapsed_seconds=len(SCRIPT),
    )


def test_the_file_is_private_and_alone_and_goes_with_the_run(tmp_path: Path) -> None:
    file = ProgressFile(tmp_path, "my-recipe/v2!", pid=7, now=Clock())
    file.hear(ended(success=True))
    assert [each.name for each in tmp_path.iterdir()] == ["amplihack-progress-v2_-7.json"]
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.path.read_text())["status"] == "completed"
    file.close()
    assert list(tmp_path.iterdir()) == []


def test_a_tick_keeps_a_long_step_fresh_and_leaves_a_finished_run_alone(tmp_path: Path) -> None:
    clock = Clock()
    file = ProgressFile(tmp_path, "build", pid=7, now=clock)
    file.hear(started("slow"))
    clock.now += 5
    file.tick()
    assert progress_of(file, clock.now).timestamp == clock.now
    file.hear(ended(success=True))
    end = clock.now
    clock.now += 5
    file.tick()
    assert progress_of(file, clock.now).timestamp == end


@pytest.mark.asyncio
async def test_changes_that_follow_each_other_closely_are_written_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    monkeypatch.setattr(
        "amplihack.system.listeners.progress_file.write_unsynced",
        lambda _path, value: written.append(value["step_name"]),
    )
    file = ProgressFile(tmp_path, "build", pid=7, now=Clock())
    for number in range(100):
        file.hear(started(f"s{number}", number=number))
        file.hear(finished(f"s{number}"))
    assert written[0] == "s0"
    assert len(written) < 50
    while written[-1] != "s99":
        await asyncio.sleep(0.01)
    file.close()


@pytest.mark.asyncio
async def test_a_write_that_fails_later_is_told_at_the_next_change(tmp_path: Path) -> None:
    escaped: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: escaped.append(context))
    place = tmp_path / "place"
    place.mkdir()
    file = ProgressFile(place, "build", pid=7, now=Clock())
    file.hear(started("a", number=1))
    file.hear(started("b", number=2))
    place.rename(tmp_path / "away")
    await asyncio.sleep(0.5)
    with pytest.raises(AmplihackError, match="cannot write"):
        file.hear(started("c", number=3))
    file.close()
    assert escaped == []


def test_of_steps_that_run_at_once_one_that_still_runs_is_shown(tmp_path: Path) -> None:
    file = ProgressFile(tmp_path, "build", pid=7, now=Clock())
    for event in (started("a", number=1), started("b", number=2), finished("b")):
        file.hear(event)
    assert progress_of(file, Clock().now).step_name == "a"


def test_a_link_that_someone_left_under_the_name_is_replaced_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    file = ProgressFile(tmp_path, "build", pid=7, now=Clock())
    file.path.symlink_to(victim)
    file.hear(started("a"))
    assert victim.read_text() == "untouched"
    assert not file.path.is_symlink()


def entries(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return found


def test_workstreams_share_a_file_and_each_keeps_its_own_entry(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    first, second = (WorkstreamFile(path, each, "build", pid=7, now=Clock(5.0)) for each in ("1", "2"))
    first.hear(started("a"))
    second.hear(started("b"))
    first.hear(ended(error="no luck"))
    assert entries(path) == [
        {
            "workstream_id": "1",
            "status": "failed",
            "timestamp": 5.0,
            "last_step": "a",
            "error_message": "no luck",
            "elapsed_seconds": 0.0,
        },
        {
            "workstream_id": "2",
            "status": "running",
            "timestamp": 5.0,
            "last_step": "b",
            "elapsed_seconds": 0.0,
        },
    ]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_workstream_that_has_ended_is_not_touched_by_a_tick(tmp_path: Path) -> None:
    path, clock = tmp_path / "progress.json", Clock(5.0)
    file = WorkstreamFile(path, "1", "build", pid=7, now=clock)
    file.hear(started("a"))
    clock.now = 10.0
    file.tick()
    file.hear(ended(success=True))
    clock.now = 15.0
    file.tick()
    assert [(each["status"], each["timestamp"]) for each in entries(path)] == [("completed", 10.0)]
