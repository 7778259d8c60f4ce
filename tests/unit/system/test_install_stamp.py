from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from amplihack.system.install_stamp import StampRefused, read_stamp, write_stamp


def told(tmp_path: Path) -> tuple[str | None, list[str]]:
    said: list[str] = []
    return read_stamp(tmp_path, said.append), said


def test_a_stamp_is_one_line_without_a_newline_for_its_owner_alone(tmp_path: Path) -> None:
    previous = os.umask(0)
    try:
        write_stamp(tmp_path, "0.8.111")
    finally:
        os.umask(previous)
    path = tmp_path / ".installed-version"
    assert path.read_bytes() == b"0.8.111"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert told(tmp_path) == ("0.8.111", [])
    assert [each.name for each in tmp_path.rglob("*") if each.is_file()] == [".installed-version"]


def test_writing_corrects_the_mode_of_an_old_stamp(tmp_path: Path) -> None:
    path = tmp_path / ".installed-version"
    path.write_text("0.1.0")
    path.chmod(0o666)
    write_stamp(tmp_path, "0.2.0")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("0.2.0", 0o600)


def test_a_missing_stamp_is_no_prior_install(tmp_path: Path) -> None:
    assert told(tmp_path) == (None, [])
    assert told(tmp_path / "no" / "home") == (None, [])


@pytest.mark.parametrize("data", [b"nonsense", b"\xff\xfe", b"1.2.3" * 100, b""])
def test_a_malformed_stamp_is_no_prior_install_and_is_told_once(tmp_path: Path, data: bytes) -> None:
    (tmp_path / ".installed-version").write_bytes(data)
    stamp, said = told(tmp_path)
    assert stamp is None
    assert len(said) == 1
    assert said[0].startswith("amplihack: ignoring malformed install stamp at ")
    assert said[0].isprintable()


@pytest.mark.parametrize("kind", ["link", "dangling", "directory", "pipe"])
def test_what_is_no_regular_file_is_neither_read_nor_replaced(tmp_path: Path, kind: str) -> None:
    precious = tmp_path / "precious"
    precious.write_text("0.1.0")
    path = tmp_path / ".installed-version"
    match kind:
        case "link":
            path.symlink_to(precious)
        case "dangling":
            path.symlink_to(tmp_path / "made")
        case "directory":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
    before = path.lstat().st_ino
    with pytest.raises(StampRefused, match="installed-version") as raised:
        told(tmp_path)
    assert "delete it" in raised.value.fix
    with pytest.raises(StampRefused):
        write_stamp(tmp_path, "0.2.0")
    assert precious.read_text() == "0.1.0"
    assert path.lstat().st_ino == before
    assert not (tmp_path / "made").exists()


def test_a_temporary_file_that_was_planted_is_left_alone(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / ".installed-version.tmp").symlink_to(precious)
    write_stamp(tmp_path, "0.2.0")
    assert precious.read_text() == "mine"
