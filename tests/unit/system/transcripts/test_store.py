from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from amplihack.system.transcripts.store import (
    backup,
    load_metadata,
    load_transcript,
    load_transcript_with_lines,
    read_jsonl,
    write_jsonl,
    write_metadata,
    write_transcript,
)

ENTRIES = [{"role": "user", "content": "héllo 日本語"}, {"role": "assistant", "content": "a\u2028b"}]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    write_transcript(tmp_path, ENTRIES)
    assert load_transcript(tmp_path) == ENTRIES
    assert "héllo 日本語" in (tmp_path / "transcript.jsonl").read_text(encoding="utf-8")


def test_lines_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(b'{"a": 1}\n\nnot json\n\xff\xfe\n[1]\n{"b": 2}\n{"half": ')
    assert list(read_jsonl(file)) == [{"a": 1}, {"b": 2}]


def test_a_file_is_read_as_it_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        next(read_jsonl(tmp_path / "missing.jsonl"))


def test_writing_nothing_gives_an_empty_file(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "x.jsonl", [])
    assert (tmp_path / "x.jsonl").read_bytes() == b""


def test_a_new_transcript_is_private_and_an_old_one_keeps_its_permissions(tmp_path: Path) -> None:
    write_transcript(tmp_path, ENTRIES)
    file = tmp_path / "transcript.jsonl"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o640)
    write_transcript(tmp_path, ENTRIES)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_writing_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    write_transcript(tmp_path, ENTRIES)

    def entries() -> Iterator[dict[str, Any]]:
        yield {"role": "user"}
        raise RuntimeError("the model went away")

    with pytest.raises(RuntimeError):
        write_transcript(tmp_path, entries())
    assert load_transcript(tmp_path) == ENTRIES
    assert os.listdir(tmp_path) == ["transcript.jsonl"]  # noqa: PTH208 - names, not paths


def test_line_numbers_count_blank_lines(tmp_path: Path) -> None:
    (tmp_path / "transcript.jsonl").write_text('{"role": "user"}\n\n{"role": "assistant"}\n')
    assert [entry["line_num"] for entry in load_transcript_with_lines(tmp_path)] == [1, 3]


@pytest.mark.parametrize("bad", ["NOT JSON", "[1]"])
def test_with_line_numbers_a_bad_line_is_an_error_that_names_it(tmp_path: Path, bad: str) -> None:
    (tmp_path / "transcript.jsonl").write_text(f'{{"role": "user"}}\n{bad}\n')
    with pytest.raises(ValueError, match="line 2"):
        load_transcript_with_lines(tmp_path)


def test_metadata_are_readable_for_people_too(tmp_path: Path) -> None:
    write_metadata(tmp_path, {"session_id": "x", "name": "größer"})
    assert load_metadata(tmp_path) == {"session_id": "x", "name": "größer"}
    assert (tmp_path / "metadata.json").read_text().splitlines()[1] == '  "session_id": "x",'


@pytest.mark.parametrize("text", ["{", "[]", ""])
def test_metadata_that_are_no_object_are_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "metadata.json").write_text(text)
    with pytest.raises(ValueError, match=r"metadata\.json"):
        load_metadata(tmp_path)


def test_a_backup_is_named_by_label_and_time_and_never_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "transcript.jsonl"
    now = datetime(2026, 1, 5, 10, 0, 0, tzinfo=UTC)
    assert backup(file, "repair", now=now) is None
    copies = []
    for text in ("one", "two"):
        file.write_text(text)
        copies.append(backup(file, "repair", now=now))
    names = [copy.name for copy in copies if copy]
    assert names == [
        "transcript.jsonl.bak-repair-20260105100000",
        "transcript.jsonl.bak-repair-20260105100001",
    ]
    assert [copy.read_text() for copy in copies if copy] == ["one", "two"]
