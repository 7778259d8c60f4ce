from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

import pytest

from amplihack.errors import InputError, NotFound
from amplihack.system import files
from amplihack.system.files import inside, read_bytes, read_text, remove_tree, short_hash


@contextmanager
def without_privileges() -> Iterator[None]:
    """Even for root, who may otherwise read everything."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_file_is_read_up_to_exactly_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"x" * 10)
    assert read_bytes(file, limit=10) == b"x" * 10


def test_a_file_over_the_limit_is_refused_with_its_size(tmp_path: Path) -> None:
    file = tmp_path / "big.yaml"
    file.write_bytes(b"x" * 1_000_001)
    with pytest.raises(InputError) as caught:
        read_bytes(file)
    assert caught.value.what == "Recipe file too large (1000001 bytes). Maximum allowed: 1000000 bytes"
    assert caught.value.where is not None
    assert caught.value.where.file == str(file)


def test_a_file_that_hides_its_size_is_still_held_to_the_limit() -> None:
    endless = Path("/proc/kallsyms")
    if not endless.exists():
        pytest.skip("needs Linux")
    with pytest.raises(InputError, match=r"too large \(1001 bytes\)"):
        read_bytes(endless, limit=1000)


@pytest.mark.parametrize("name", ["missing.yaml", "file.yaml/inside.yaml", "x" * 300, "loop.yaml"])
def test_what_does_not_exist_is_not_found_by_its_path(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.yaml").write_text("name: a")
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    with pytest.raises(NotFound) as caught:
        read_bytes(tmp_path / name)
    link = " is a link that leads nowhere" if name == "loop.yaml" else ""
    assert caught.value.what == f"Recipe file not found: {tmp_path / name}{link}"
    assert caught.value.exit_code == 3


def test_a_nul_in_a_path_is_not_found() -> None:
    with pytest.raises(NotFound, match="Recipe file not found"):
        read_bytes(Path("a\0b"))


def test_a_directory_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=f"^Recipe file not found: {tmp_path} is a directory$"):
        read_bytes(tmp_path)


def test_a_pipe_without_a_writer_is_refused_and_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(NotFound, match="is a pipe"):
        read_bytes(tmp_path / "pipe.yaml")


def test_a_device_is_refused() -> None:
    with pytest.raises(NotFound, match="/dev/zero is a device"):
        read_bytes(Path("/dev/zero"))


def test_a_file_without_permission_is_an_io_error(tmp_path: Path) -> None:
    file = tmp_path / "secret.yaml"
    file.write_text("name: a")
    file.chmod(0)
    with without_privileges(), pytest.raises(InputError, match=r"^IO error: cannot read .*Permission denied"):
        read_bytes(file)


def test_text_that_is_not_utf8_names_the_byte_and_the_line(tmp_path: Path) -> None:
    file = tmp_path / "agent.md"
    file.write_bytes(b"one\ntwo \xff\n")
    with pytest.raises(InputError, match=r"^IO error: .* byte 0xff") as caught:
        read_text(file)
    assert caught.value.where is not None
    assert caught.value.where.line == 2


def test_a_byte_order_mark_is_not_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbfhello")
    assert read_text(tmp_path / "a.md") == "hello"


def test_a_file_that_changes_while_it_is_read_is_not_taken_for_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("name: a\n")

    class Changing(FileIO):
        def read(self, size: int | None = -1, /) -> bytes:
            file.write_text("name: somebody-else\n")
            return super().read(size) or b""

    monkeypatch.setattr(files, "FileIO", Changing)
    with pytest.raises(InputError, match="changed while it was being read"):
        read_bytes(file)


def test_a_link_out_of_a_directory_is_not_inside_it(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").write_text("x")
    (tmp_path / "in" / "link").symlink_to("../out")
    (tmp_path / "in" / "file").write_text("x")
    (tmp_path / "alias").symlink_to("in")
    assert not inside(tmp_path / "in" / "link", tmp_path / "in")
    assert inside(tmp_path / "in" / "file", tmp_path / "alias")


def test_the_short_hash_is_the_start_of_the_sha256() -> None:
    assert short_hash(b"abc") == "ba7816bf8f01cfea"


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("new", "place"):
        (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / name / "inner" / "which").write_text(name)
    return tmp_path / "new", tmp_path / "place"


def test_read_only_directories_are_removed_too(two: tuple[Path, Path]) -> None:
    new, _ = two
    (new / "inner" / "which").chmod(0o400)
    (new / "inner").chmod(0o500)
    new.chmod(0o500)
    remove_tree(new)
    assert not new.exists()
    remove_tree(new)


def test_links_are_removed_and_not_followed(two: tuple[Path, Path], tmp_path: Path) -> None:
    new, place = two
    (new / "link").symlink_to(place)
    remove_tree(new)
    (tmp_path / "link").symlink_to(place)
    remove_tree(tmp_path / "link")
    assert (place / "inner" / "which").read_text() == "place"
