from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from amplihack.system.install_lock import holder, install_lock, is_locked
from amplihack.system.locks import LockError

HOLD = """
import sys
from pathlib import Path
from amplihack.system.install_lock import install_lock
with install_lock(Path(sys.argv[1]), doing="install", say=print, patience=None):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_lock_is_private_and_says_who_holds_it(tmp_path: Path) -> None:
    root = tmp_path / "home"
    with install_lock(root, doing="install", say=print, patience=1):
        path = root / ".install.lock"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        said = holder(root)
        assert (said["pid"], said["command"]) == (os.getpid(), "install")
        assert said["since"] > 0
        assert is_locked(root)
    assert not is_locked(root)
    assert path.exists()


def test_whoever_waits_is_told_for_whom_and_gives_up_in_time(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    said: list[str] = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "held\n"
        with (
            pytest.raises(LockError, match="another process holds"),
            install_lock(tmp_path, doing="heal", say=said.append, patience=2.5),
        ):
            pass
        other.stdin.close()
    assert said == [f"amplihack: waiting for another install (pid {other.pid})"]
    with install_lock(tmp_path, doing="heal", say=said.append, patience=0):
        pass


@pytest.mark.parametrize("kind", ["link", "directory", "pipe"])
def test_a_lock_that_is_no_regular_file_is_refused(tmp_path: Path, kind: str) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    path = tmp_path / ".install.lock"
    match kind:
        case "link":
            path.symlink_to(precious)
        case "directory":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
    with (
        pytest.raises(LockError, match="install lock") as raised,
        install_lock(tmp_path, doing="x", say=print, patience=0),
    ):
        pass
    assert "delete it" in raised.value.fix
    assert precious.read_text() == "mine"


def test_a_lock_file_with_nonsense_in_it_names_nobody(tmp_path: Path) -> None:
    (tmp_path / ".install.lock").write_bytes(b"[1, 2")
    assert holder(tmp_path) == {}
    (tmp_path / ".install.lock").write_bytes(b"[1, 2]")
    assert holder(tmp_path) == {}
