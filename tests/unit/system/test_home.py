from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from amplihack.errors import UsageError
from amplihack.system.home import Home, this_process

CWD = Path("/here/place")


def test_the_root_lies_in_the_users_home_unless_said_otherwise() -> None:
    home = Home.from_environment({"HOME": "/home/ann"}, CWD)
    assert home == Home(Path("/home/ann/.amplihack"), Path("/home/ann"), CWD)
    assert home.staged_bundle == Path("/home/ann/.amplihack/amplifier-bundle")


@pytest.mark.parametrize(
    ("chosen", "root"),
    [
        ("/opt/ours", "/opt/ours"),
        ("~/ours", "/home/ann/ours"),
        ("~", "/home/ann"),
        ("../ours", "/here/ours"),
        ("~bob/ours", "/here/place/~bob/ours"),
        ("", "/home/ann/.amplihack"),
    ],
)
def test_the_variable_moves_the_root(chosen: str, root: str) -> None:
    home = Home.from_environment({"HOME": "/home/ann", "AMPLIHACK_HOME": chosen}, CWD)
    assert home.root == Path(root)


@pytest.mark.parametrize("environment", [{}, {"HOME": ""}])
def test_without_a_home_variable_the_account_decides(environment: dict[str, str]) -> None:
    assert str(Home.from_environment(environment, CWD).user) == pwd.getpwuid(os.getuid()).pw_dir


def test_a_user_without_an_account_is_told_to_set_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 2_000_000_011)
    with pytest.raises(UsageError, match="no home directory") as caught:
        Home.from_environment({}, CWD)
    assert "HOME" in caught.value.fix


@pytest.mark.parametrize(
    ("typed", "path"), [("a/../b", "/here/place/b"), ("~/b", "/home/ann/b"), ("/b", "/b")]
)
def test_a_typed_path_becomes_absolute(typed: str, path: str) -> None:
    assert Home.from_environment({"HOME": "/home/ann"}, CWD).path(typed) == Path(path)


def test_a_deleted_current_directory_is_an_error_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="no longer exists"):
        this_process()
