from __future__ import annotations

import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import amplihack
from amplihack.errors import AmplihackError
from amplihack.system.files import read_bytes
from amplihack.system.replace import write_atomic


def test_writing_replaces_the_content_and_keeps_it_private(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_text("old")
    file.chmod(0o644)
    write_atomic(file, b"new")
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


def test_a_shared_file_gets_the_mode_asked_for(tmp_path: Path) -> None:
    write_atomic(tmp_path / "shared", b"new", mode=0o644)
    assert stat.S_IMODE((tmp_path / "shared").stat().st_mode) == 0o644


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "taken"
    target.mkdir()
    (target / "kept").write_text("kept")
    with pytest.raises(AmplihackError, match=r"^IO error: cannot write"):
        write_atomic(target, b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
    assert (target / "kept").read_text() == "kept"


def test_writing_into_a_directory_that_is_missing_says_so(tmp_path: Path) -> None:
    with pytest.raises(AmplihackError, match="No such file or directory"):
        write_atomic(tmp_path / "missing" / "a", b"new")


def test_readers_never_see_a_part_of_a_file_that_is_being_replaced(tmp_path: Path) -> None:
    file = tmp_path / "shared"
    contents = {bytes([letter]) * 200_000 for letter in b"ab"}
    write_atomic(file, b"a" * 200_000)

    def write() -> None:
        for number in range(30):
            write_atomic(file, bytes([b"ab"[number % 2]]) * 200_000)

    writer = threading.Thread(target=write)
    writer.start()
    seen: set[bytes] = set()
    while writer.is_alive():
        seen.add(read_bytes(file))
    writer.join()
    assert seen <= contents


def test_a_writer_that_is_killed_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "state"
    file.write_text("old")
    script = (
        "import os, signal, sys; from pathlib import Path; from amplihack.system import replace\n"
        "replace.os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)\n"
        "replace.write_atomic(Path(sys.argv[1]), b'new')\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(file)], check=False)
    assert ended.returncode == -9
    assert file.read_text() == "old"


def test_there_is_one_home_for_replacing_a_file() -> None:
    root = Path(amplihack.__file__).parent
    files = [*root.rglob("*.py"), *(root.parent / "amplifier_foundation").rglob("*.py")]
    assert not [file.name for file in files if "mkstemp" in file.read_text("utf-8")]
    makers = {file.name for file in files if "make_file(" in file.read_text("utf-8")}
    assert makers == {"replace.py", "temporary.py"}  # the one that uses it, and its home
