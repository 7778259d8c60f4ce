from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

import amplihack
from amplihack.system.locks import (
    LockError,
    is_locked,
    lock_directory,
    locked,
    locked_async,
    try_lock,
    try_lock_directory,
)

HOLD = """
import fcntl, sys
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def hold(path: Path) -> subprocess.Popen[bytes]:
    """Another process that holds the lock until its input ends."""
    command = [sys.executable, "-c", HOLD, str(path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def test_a_lock_that_is_held_is_not_given_to_another(tmp_path: Path) -> None:
    path = tmp_path / "new" / "lock"
    with locked(path):
        assert try_lock(path) is None
        assert try_lock(path, shared=True) is None
    lock = try_lock(path)
    assert lock is not None
    lock.release()
    lock.release()


def test_looking_at_a_lock_makes_no_file_and_needs_no_right_to_write(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_locked(path)
    assert not path.exists()
    lock = try_lock(path)
    assert lock is not None
    path.chmod(0o400)
    assert is_locked(path)
    lock.release()
    assert not is_locked(path)


def test_many_may_share_a_lock_and_keep_one_out_who_wants_it_alone(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path, shared=True), locked(path, shared=True):
        assert try_lock(path) is None


def test_a_lock_ends_with_the_process_that_held_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with hold(path) as process:
        assert try_lock(path) is None
        process.kill()
        process.wait()
        with locked(path, patience=60):
            assert try_lock(path) is None


def test_a_lock_that_is_held_too_long_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path), pytest.raises(LockError, match="another process holds"), locked(path, patience=0):
        pytest.fail("it was given twice")


@pytest.mark.asyncio
async def test_waiting_leaves_the_event_loop_free(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    order: list[str] = []

    async def second() -> None:
        async with locked_async(path):
            order.append("second")

    async with locked_async(path):
        waiting = asyncio.create_task(second())
        await asyncio.sleep(0.03)
        order.append("first")
    await waiting
    assert order == ["first", "second"]


@pytest.mark.asyncio
async def test_patience_ends_in_the_event_loop_too(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    async with locked_async(path):
        with pytest.raises(LockError, match="another process holds"):
            async with locked_async(path, patience=0.01):
                pytest.fail("it was given twice")


@pytest.mark.asyncio
async def test_one_who_waited_for_a_lock_that_was_removed_gets_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = try_lock(path)
    assert lock is not None

    async def second() -> None:
        async with locked_async(path):
            assert path.exists()
            assert try_lock(path) is None

    waiting = asyncio.create_task(second())
    await asyncio.sleep(0.03)
    lock.remove()
    await waiting


def test_a_lock_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LockError, match="cannot make the lock"):
        try_lock(tmp_path / "file" / "lock")
    with pytest.raises(LockError, match="cannot make the lock"):
        try_lock(tmp_path)


def test_the_lock_on_a_directory_goes_with_it(tmp_path: Path) -> None:
    place, elsewhere = tmp_path / "place", tmp_path / "elsewhere"
    place.mkdir()
    lock = lock_directory(place, shared=True)
    assert try_lock_directory(place) is None
    place.rename(elsewhere)
    assert not lock.is_current()
    assert try_lock_directory(elsewhere) is None
    lock.release()
    assert not lock.is_current()
    assert try_lock_directory(elsewhere) is not None
    with pytest.raises(FileNotFoundError):
        lock_directory(place)
    assert list(elsewhere.iterdir()) == []


def test_a_link_is_not_followed_to_make_a_lock(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "victim")
    with pytest.raises(LockError, match="cannot make the lock"):
        try_lock(tmp_path / "lock")
    assert not (tmp_path / "victim").exists()


def test_there_is_one_home_for_locks() -> None:
    root = Path(amplihack.__file__).parent
    files = [*root.rglob("*.py"), *(root.parent / "amplifier_foundation").rglob("*.py")]
    assert [file.name for file in files if "fcntl" in file.read_text("utf-8")] == ["locks.py"]
