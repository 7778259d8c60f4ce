"""What a process printed: the same answers in memory and on disk."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from amplihack.system.spool import IN_MEMORY, Captured


def captured(data: bytes, *, limit: int = 10_000_000, piece: int = 65_536) -> Captured:
    result = Captured(limit)
    for start in range(0, len(data), piece):
        result.add(data[start : start + piece])
    return result


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


@pytest.mark.parametrize("size", [0, 1, IN_MEMORY, IN_MEMORY + 1, 3 * IN_MEMORY + 17])
def test_every_byte_is_kept_in_order_at_any_size(size: int) -> None:
    data = os.urandom(size)
    kept = captured(data)
    assert kept.size == size
    assert kept.read(0, size) == data
    assert kept.read(size // 2, 10) == data[size // 2 :][:10]


@pytest.mark.parametrize("filler", [0, IN_MEMORY], ids=["memory", "disk"])
def test_head_and_tail_are_cut_between_characters(filler: int) -> None:
    kept = captured("🦀🦀".encode() + b"." * filler + "🦀🦀".encode())
    assert kept.text(5) == "🦀"
    assert kept.text(3) == ""
    assert kept.tail(5) == "🦀"
    assert kept.tail(3) == ""
    assert kept.tail(8) == "🦀🦀"


def test_text_stops_at_the_limit_and_says_so() -> None:
    kept = captured(b"x" * 500_000, limit=400_000)
    assert len(kept.text()) == 400_000
    assert kept.lost == 100_000
    assert captured(b"x" * 400_000, limit=400_000).lost == 0


def test_bytes_that_are_not_utf8_become_replacement_characters() -> None:
    assert captured(b"a\xffb\xc3").text() == "a\ufffdb\ufffd"


def test_the_file_of_a_large_output_is_closed_with_the_last_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = open_files()
    kept = captured(b"x" * (IN_MEMORY + 1))
    assert open_files() == before + 1
    assert list(tmp_path.iterdir()) == []
    del kept
    gc.collect()
    assert open_files() == before


@pytest.mark.parametrize(
    ("data", "places"),
    [(b"plain", 0), (b"\xef\xbf\xbd", 0), (b"a\xffb\xfe", 2), (b"\xef\xbf\xbd \xff", 1), (b"\xe4\xb8", 1)],
)
@pytest.mark.parametrize("size", [0, IN_MEMORY])
def test_places_that_are_no_text_are_counted_and_printed_signs_are_not(
    data: bytes, places: int, size: int
) -> None:
    kept = captured(b" " * size + data)
    assert kept.broken(kept.text()) == places
