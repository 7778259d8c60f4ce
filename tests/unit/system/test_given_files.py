"""What a command line names is read once: files, and pipes to their end."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from amplihack.errors import InputError, NotFound
from amplihack.system.given_files import given_bytes, given_text, is_stdin


def written_to(path: Path, *parts: bytes, pause: float = 0.0) -> threading.Thread:
    def write() -> None:
        with path.open("wb", buffering=0) as pipe:
            for part in parts:
                time.sleep(pause)
                pipe.write(part)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def test_a_pipe_is_read_to_its_end_however_slowly_it_comes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = written_to(pipe, b"one ", b"two ", b"three\n", pause=0.1)
    assert given_text(pipe, limit=100, kind="File") == "one two three\n"
    writer.join()


def test_a_pipe_with_nothing_in_it_is_an_empty_text(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = written_to(pipe)
    assert given_bytes(pipe, limit=100, kind="File") == b""
    writer.join()


def test_a_pipe_without_a_writer_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    timer = threading.Timer(2.5, written_to, (pipe, b"late"))
    timer.start()
    assert given_bytes(pipe, limit=100, kind="File") == b"late"
    assert "waiting for" in capsys.readouterr().err


def test_a_pipe_that_has_no_end_is_refused_at_the_limit(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    os.write(writing, b"x" * 5000)
    with pytest.raises(InputError, match="more than 1000 bytes"):
        given_bytes(Path(f"/dev/fd/{reading}"), limit=1000, kind="File")
    os.close(reading)
    os.close(writing)


def test_files_and_what_is_missing_are_as_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"\xef\xbb\xbfas it is\n")
    assert given_text(tmp_path / "text", limit=100, kind="File") == "as it is\n"
    for wrong in (tmp_path / "none", tmp_path, Path("/dev/null")):
        with pytest.raises(NotFound, match="File not found"):
            given_bytes(wrong, limit=100, kind="File")


def test_stdin_has_several_names() -> None:
    assert all(map(is_stdin, ("-", "/dev/stdin", "/dev/fd/0")))
    assert not any(map(is_stdin, ("./-", "stdin", "/dev/fd/63")))
