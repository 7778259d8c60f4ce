"""`amplihack claude|copilot|codex`: the tool runs in our place, and nothing of it is changed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.support.distribution import make_program
from tests.support.workspace import Workspace

TOOLS = ("claude", "copilot", "codex")
FAKE = f"""\
#!/bin/sh
'''exec' "{sys.executable}" "$0" "$@"
' '''
import json, os, signal, sys, time
with open("told.json", "w") as file:
    json.dump({{"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd()}}, file)
for word in sys.argv[1:]:
    if word.startswith("exit="):
        sys.exit(int(word[5:]))
    if word.startswith("die="):
        os.kill(os.getpid(), int(word[4:]))
    if word.startswith("wait="):
        wanted = [int(number) for number in word[5:].split(",")]
        for number in wanted:
            signal.signal(number, lambda got, _: (open("got", "a").write(f"{{got}} "), sys.exit(7)))
        open("ready", "w").close()
        time.sleep(60)
print("from the tool")
"""


@pytest.fixture
def place(workspace: Workspace) -> Workspace:
    for name in TOOLS:
        workspace.write(f"bin/{name}", FAKE).chmod(0o755)
    make_program(workspace.path / "site", "0.1.0", mark="one")
    workspace.env["PYTHONPATH"] = str(workspace.path / "site")
    workspace.env["PATH"] = f"{workspace.path / 'bin'}:{workspace.env['PATH']}"
    return workspace


def told(place: Workspace) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place.path / "told.json").read_text())
    return found


@pytest.mark.parametrize("name", TOOLS)
def test_the_tool_gets_every_word_as_it_is_and_our_environment(place: Workspace, name: str) -> None:
    words = ("--print", "a b", "--json", "", "--", "--help", "$HOME")
    done = place.run(name, *words)
    assert (done.exit_code, done.stdout) == (0, "from the tool\n")
    found = told(place)
    assert tuple(found["argv"]) == words
    env = found["env"]
    assert env["AMPLIHACK_AGENT_BINARY"] == name
    assert env["AMPLIHACK_HOME"] == str(place.path / "home" / ".amplihack")
    assert (env["AMPLIHACK_SESSION_DEPTH"], env["AMPLIHACK_MAX_DEPTH"]) == ("1", "6")
    assert env["AMPLIHACK_VERSION"] == "0.1.0"
    generations = os.listdir(place.path / "home" / ".amplihack" / "generations")  # noqa: PTH208
    assert [env["AMPLIHACK_ACTIVE_GENERATION"]] == generations
    assert found["cwd"] == str(place.path)


def test_a_leading_double_dash_is_ours_and_help_alone_asks_us(place: Workspace) -> None:
    place.run("claude", "--", "--help")
    assert told(place)["argv"] == ["--help"]
    (place.path / "told.json").unlink()
    assert place.run("claude", "--help").stdout.startswith("usage: amplihack claude")
    assert not (place.path / "told.json").exists()


def test_no_flag_is_added_that_widens_permissions_and_no_file_of_the_tool_is_written(
    place: Workspace,
) -> None:
    for name in TOOLS:
        place.write(f"home/.{name}/settings.json", '{"permissions": {}}')
    before = snapshot(place)
    for name in TOOLS:
        place.run(name)
        assert told(place)["argv"] == []
    assert snapshot(place) == before


def snapshot(place: Workspace) -> dict[str, bytes]:
    """Everything in the home but what is ours."""
    home = place.path / "home"
    files = (file for file in home.rglob("*") if file.is_file() and ".amplihack" not in file.parts)
    return {str(file): file.read_bytes() for file in files}


@pytest.mark.parametrize("code", [0, 1, 3, 42, 255])
def test_its_exit_code_is_ours(place: Workspace, code: int) -> None:
    assert place.run("codex", f"exit={code}").exit_code == code


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGHUP])
def test_a_tool_that_a_signal_ends_is_never_a_success(place: Workspace, number: int) -> None:
    assert place.run("claude", f"die={int(number)}").exit_code == 128 + number


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
def test_signals_are_passed_on_and_the_tool_decides(place: Workspace, number: int) -> None:
    started = subprocess.Popen(
        [sys.executable, "-m", "amplihack", "claude", f"wait={int(number)}"], cwd=place.path, env=place.env
    )
    try:
        until(place.path / "ready", started)
        started.send_signal(number)
        assert started.wait(30) == 7
    finally:
        started.kill()
        started.wait()
    assert (place.path / "got").read_text() == f"{int(number)} "


def test_a_key_reaches_the_tool_once(place: Workspace) -> None:
    """Ctrl-C in a terminal goes to the whole group: passing it on as well would be a second one."""
    import pty

    ours, theirs = pty.openpty()
    started = subprocess.Popen(
        [
            sys.executable, "-c",
            "import fcntl, os, sys, termios\n"
            "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
            "os.execv(sys.executable, [sys.executable, '-m', 'amplihack', 'claude', 'wait=2'])\n",
        ],
        cwd=place.path, env=place.env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    try:
        until(place.path / "ready", started)
        os.write(ours, b"\x03")
        assert started.wait(30) == 7
    finally:
        started.kill()
        started.wait()
        os.close(ours)
    assert (place.path / "got").read_text() == "2 "


def until(file: Path, process: subprocess.Popen[bytes]) -> None:
    for _ in range(1500):
        if file.exists():
            return
        assert process.poll() is None
        time.sleep(0.02)
    raise AssertionError(f"{file} does not appear")


def test_agents_that_start_agents_end_at_the_limit(place: Workspace) -> None:
    limits = {"AMPLIHACK_SESSION_DEPTH": "2", "AMPLIHACK_MAX_DEPTH": "2"}
    done = place.run("claude", env={**limits, "AMPLIHACK_SKIP_AUTO_INSTALL": "1"})
    assert done.exit_code == 1
    assert "nested too deeply" in done.stderr
    assert not (place.path / "told.json").exists()
    assert place.run("claude", env={**limits, "AMPLIHACK_SESSION_DEPTH": "1"}).exit_code == 0
    assert told(place)["env"]["AMPLIHACK_SESSION_DEPTH"] == "2"


def test_a_tool_that_is_not_installed_is_told_with_how_to_get_it(place: Workspace) -> None:
    done = place.run("copilot", env={"PATH": "/usr/bin:/bin"})
    assert done.exit_code == 4
    assert "copilot is not on the PATH" in done.stderr
    assert "fix:" in done.stderr


def test_a_recipe_inside_a_host_keeps_its_generation_and_installs_nothing(place: Workspace) -> None:
    nested = f'#!/bin/sh\n"{sys.executable}" -m amplihack install; echo $? > code\n'
    place.write("bin/claude", nested).chmod(0o755)
    assert place.run("claude").exit_code == 0
    assert (place.path / "code").read_text() == "1\n"


def test_the_bypass_of_the_documents_works_for_hosts(place: Workspace) -> None:
    done = place.run("claude", "--print", "run tests", env={"AMPLIHACK_SKIP_AUTO_INSTALL": "1"})
    assert done.exit_code == 0
    assert done.stderr.count("AMPLIHACK_SKIP_AUTO_INSTALL set; skipping re-stage") == 1
    assert told(place)["argv"] == ["--print", "run tests"]
