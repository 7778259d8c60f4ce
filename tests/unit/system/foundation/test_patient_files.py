from __future__ import annotations

import errno
import stat
from pathlib import Path, PosixPath

import pytest

from amplihack.system.foundation.patient_files import read_with_retry, write_with_backup, write_with_retry


class Flaky(PosixPath):
    """A path whose reading fails a few times, as in a folder that is being synced."""

    failures: list[OSError]

    def read_text(self, *_: object, **__: object) -> str:
        if self.failures:
            raise self.failures.pop(0)
        return "content"


def flaky(*failures: OSError) -> Flaky:
    Flaky.failures = list(failures)
    return Flaky("/synced/file")


def io_error() -> OSError:
    return OSError(errno.EIO, "Input/output error")


@pytest.mark.asyncio
async def test_reading_is_tried_again_after_an_io_error_and_said_once() -> None:
    told: list[str] = []
    assert (
        await read_with_retry(flaky(io_error(), io_error()), initial_delay=0, warn=told.append) == "content"
    )
    assert len(told) == 1
    assert "cloud sync" in told[0]


@pytest.mark.asyncio
async def test_a_file_that_fails_to_the_last_try_raises_its_error() -> None:
    with pytest.raises(OSError, match="Input/output"):
        await read_with_retry(flaky(io_error(), io_error(), io_error()), initial_delay=0)


@pytest.mark.asyncio
async def test_other_errors_are_not_worth_waiting_for() -> None:
    told: list[str] = []
    with pytest.raises(PermissionError):
        await read_with_retry(flaky(PermissionError(errno.EACCES, "no")), warn=told.append)
    assert told == []


@pytest.mark.asyncio
async def test_writing_makes_the_directory_and_replaces_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b.txt"
    await write_with_retry(file, "eins")
    await write_with_retry(file, "größer")
    assert await read_with_retry(file) == "größer"
    assert [path.name for path in file.parent.iterdir()] == ["b.txt"]


def test_a_backup_keeps_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "new" / "x.txt"
    write_with_backup(file, "one")
    assert [path.name for path in file.parent.iterdir()] == ["x.txt"]
    file.chmod(0o640)
    write_with_backup(file, "two", backup_suffix=".bak")
    assert file.read_text() == "two"
    assert (tmp_path / "new" / "x.txt.bak").read_text() == "one"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_backup_that_cannot_be_made_stops_nothing(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_text("one")
    (tmp_path / "x.txt.backup").mkdir()
    (tmp_path / "x.txt.backup" / "x.txt").mkdir()
    write_with_backup(file, "two")
    assert file.read_text() == "two"


def test_bytes_and_encodings_are_written_as_asked(tmp_path: Path) -> None:
    file = tmp_path / "x.bin"
    write_with_backup(file, b"\x00\xff", mode="wb")
    assert file.read_bytes() == b"\x00\xff"
    write_with_backup(file, "ü", encoding="latin-1")
    assert file.read_bytes() == b"\xfc"


def test_a_failure_is_an_oserror_and_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "x"
    (target / "in").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        write_with_backup(target, "text")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
