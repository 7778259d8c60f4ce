from __future__ import annotations

import os
from pathlib import Path

from amplihack.bundles.ports import FileText
from amplihack.system.bundle_files import BundleFiles


def test_an_answer_holds_for_the_whole_load(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("one")
    files = BundleFiles()
    assert files.is_file(str(file))
    first = files.read(str(file))
    file.unlink()
    assert files.is_file(str(file))
    assert files.read(str(file)) == first
    assert BundleFiles().read(str(file)) == "not_found"


def test_what_is_no_text_of_a_usable_size_is_unsupported(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "large").write_bytes(b"x" * (1024 * 1024 + 1))
    os.mkfifo(tmp_path / "pipe")
    names = ("binary", "large", "pipe", ".")
    assert [BundleFiles().read(str(tmp_path / name)) for name in names] == ["unsupported"] * 4


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbfwords")
    text = BundleFiles().read(str(tmp_path / "a.md"))
    assert isinstance(text, FileText)
    assert text.content == "words"


def test_a_directory_lists_its_directories_and_files(tmp_path: Path) -> None:
    (tmp_path / "B").mkdir()
    (tmp_path / "a").mkdir()
    (tmp_path / "c.md").write_text("")
    found = BundleFiles().list(str(tmp_path))
    assert (found.directories, found.files, found.denied) == (("a", "B"), ("c.md",), False)
    assert BundleFiles().list(str(tmp_path / "nowhere")).files == ()


def test_a_stamp_changes_with_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a"
    assert BundleFiles().stamp(str(file)) is None
    file.write_text("1")
    before = BundleFiles().stamp(str(file))
    file.write_text("12")
    assert BundleFiles().stamp(str(file)) != before
    assert BundleFiles().stamp("a\0b") is None


def test_a_name_that_no_file_can_have_is_not_found(tmp_path: Path) -> None:
    for name in ("x" * 300, "a\0b", "x/" * 3000):
        assert BundleFiles().read(f"{tmp_path}/{name}") == "not_found"
        assert not BundleFiles().is_file(f"{tmp_path}/{name}")
        assert BundleFiles().real(f"{tmp_path}/{name}") is None
