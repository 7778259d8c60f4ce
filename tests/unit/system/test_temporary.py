"""Temporary files go where `tempfile` would put them, and nobody else can look into them."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from amplihack.system.temporary import make_directory, make_file, temporary_place


@pytest.fixture(autouse=True)
def _nothing_chosen_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", ["TMPDIR", "TEMP", "TMP"])
@pytest.mark.parametrize(
    "written", ["{}/here", "{}/here/", "{}/here/../here", "{}/missing", "{}/file", "here", ""]
)
def test_the_place_is_the_one_that_tempfile_chooses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, written: str
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "file").chmod(0o700)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(name, written.format(tmp_path))
    place = temporary_place()
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert place == Path(tempfile.gettempdir())


def test_a_program_may_have_chosen_another_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert temporary_place() == tmp_path


def test_what_is_made_is_new_and_private(tmp_path: Path) -> None:
    first, second = make_directory("a-", tmp_path), make_directory("a-", tmp_path)
    assert first != second
    descriptor, file = make_file("f-", tmp_path)
    try:
        assert not os.get_inheritable(descriptor)
    finally:
        os.close(descriptor)
    assert [stat.S_IMODE(each.stat().st_mode) for each in (first, file)] == [0o700, 0o600]
    assert file.name.startswith("f-")
    with pytest.raises(FileNotFoundError):
        make_file("f-", tmp_path / "missing")
