"""Starting a child: what it gets, what it does not get, and what is told when it cannot start."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from amplihack.system import child
from amplihack.system.child import entries, start_child, wait_for

ENV = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


@pytest.fixture(params=["quick", "popen", "changed"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The quick way, a Python without it, and one that has given it other parameters."""

    def changed(*_: object) -> int:
        raise TypeError("fork_exec expected 24 arguments")

    if request.param != "quick":
        monkeypatch.setattr(child, "_fork_exec", None if request.param == "popen" else changed)
    return str(request.param)


@pytest.fixture
def null() -> Iterator[int]:
    with Path(os.devnull).open("rb") as file:
        yield file.fileno()


def run(
    script: str, null: int, env: dict[str, str] | None = None, cwd: Path | None = None
) -> tuple[int, bytes]:
    reading, writing = os.pipe()
    with closing(os.fdopen(reading, "rb")) as output:
        try:
            pid = start_child(("/bin/bash", "-c", script), entries(env or ENV), (null, writing, writing), cwd)
        finally:
            os.close(writing)
        said = output.read()
    return wait_for(pid), said


def test_a_child_leads_a_session_in_its_directory_with_its_variables(
    way: str, null: int, tmp_path: Path
) -> None:
    script = (
        'read -r _ _ _ _ group session _ < /proc/$$/stat; echo "$PWD $V $(( $$ == session && $$ == group ))"'
    )
    code, said = run(script, null, {**ENV, "V": "a=b \udcff ü"}, tmp_path)
    assert (code, said) == (0, os.fsencode(f"{tmp_path} a=b \udcff ü 1\n"))


def test_a_child_inherits_no_other_descriptor(way: str, null: int) -> None:
    inherited = os.dup(null)
    os.set_inheritable(inherited, True)
    try:
        code, said = run("for f in /proc/$$/fd/*; do echo ${f##*/}; done", null)
    finally:
        os.close(inherited)
    assert code == 0
    assert set(said.split()) - {b"255"} <= {b"0", b"1", b"2", b"3"}  # 3 and 255 are of the shell itself


def test_a_child_hears_signals_that_python_ignores(way: str, null: int) -> None:
    code, _ = run("kill -PIPE $$; exit 3", null)
    assert code == -13


def test_no_descriptor_is_left_open(way: str, null: int) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    run("exit 0", null)
    with pytest.raises(FileNotFoundError):
        start_child(("/no/such/program",), entries(ENV), (null, null, null))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize(
    ("program", "cwd", "wrong"),
    [("/no/such/program", None, "/no/such/program"), ("/bin/true", "/no/such/place", "/no/such/place")],
)
def test_what_does_not_exist_is_named(way: str, null: int, program: str, cwd: str | None, wrong: str) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        start_child((program,), entries(ENV), (null, null, null), Path(cwd) if cwd else None)
    assert (caught.value.errno, str(caught.value.filename)) == (errno.ENOENT, wrong)


def test_a_file_that_is_no_program_is_told(way: str, null: int, tmp_path: Path) -> None:
    (file := tmp_path / "file").write_text("x")
    with pytest.raises(PermissionError):
        start_child((str(file),), entries(ENV), (null, null, null))


@pytest.mark.parametrize("env", [{"A=B": "c"}, {"A": "\ud800"}, {"A": "b\0c"}])
def test_what_no_variable_can_be_is_refused(way: str, null: int, env: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"=|surrogate|null"):
        start_child(("/bin/true",), entries(env), (null, null, null))
