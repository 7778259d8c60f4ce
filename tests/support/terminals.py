"""Programs in a terminal, driven by keys: in one that Python makes itself, and in tmux where it is there."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shlex
import shutil
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

ENTER, CTRL_C, CTRL_D, UP = "\r", "\x03", "\x04", "\x1b[A"
_PATIENCE = 60.0  # seconds until something that never happens is a failure
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[()].|[=>78])")


class Terminal(Protocol):
    """A program in a terminal."""

    pid: int

    def type(self, keys: str) -> None: ...
    def text(self) -> str:
        """Return everything that was shown so far, without escape sequences."""

    def ended(self) -> int | None:
        """Return the exit code, as a shell tells it, if the program has ended."""

    def close(self) -> None: ...


def until(terminal: Terminal, condition: Callable[[], object], what: str) -> None:
    """Wait until something is so. Fails with what the terminal shows."""
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} never happened; the terminal shows:\n{terminal.text()}")
        time.sleep(0.02)


def shows(terminal: Terminal, text: str, *, times: int = 1) -> None:
    """Wait until a text is there, so many times."""
    until(terminal, lambda: terminal.text().count(text) >= times, f"{text!r} × {times}")


def leaves(terminal: Terminal) -> int:
    """Wait for the end of the program, and return its exit code."""
    until(terminal, lambda: terminal.ended() is not None, "the end")
    code = terminal.ended()
    assert code is not None
    return code


def ends_with(terminal: Terminal, keys: str) -> int:
    """Press keys until the program ends, however slow the machine is, and return its exit code."""
    deadline = time.monotonic() + _PATIENCE
    while terminal.ended() is None:
        if time.monotonic() > deadline:
            raise AssertionError(f"it never ended; the terminal shows:\n{terminal.text()}")
        with suppress(OSError):  # it has just ended
            terminal.type(keys)
        time.sleep(0.3)
    return leaves(terminal)


class PtyTerminal:
    """A terminal of Python's own. It is there on every machine."""

    def __init__(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        self.pid, self._file = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(cwd)
                os.execve(argv[0], list(argv), {"TERM": "xterm", **env})  # noqa: S606 - without a shell
            finally:
                os._exit(127)
        fcntl.ioctl(self._file, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.raw = b""
        self._code: int | None = None

    def type(self, keys: str) -> None:
        os.write(self._file, keys.encode())

    def text(self) -> str:
        while self._file >= 0 and select.select([self._file], [], [], 0)[0]:
            try:
                data = os.read(self._file, 65_536)
            except OSError:  # Linux says so when the program has ended
                break
            if not data:
                break
            self.raw += data
        return _ESCAPES.sub("", self.raw.decode("utf-8", "replace")).replace("\r", "")

    def ended(self) -> int | None:
        self.text()  # who does not read what is written would keep it from ending
        if self._code is None:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(status)
                self._code = code if code >= 0 else 128 - code
        return self._code

    def echoes(self) -> bool:
        """Tell whether the terminal shows what is typed by itself, as it does for a shell."""
        return bool(termios.tcgetattr(self._file)[3] & termios.ECHO)

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self._file)
        self._file = -1

    def close(self) -> None:
        if self.ended() is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class TmuxTerminal:
    """A window of tmux, with a server of its own. A shell around the program tells how it ended."""

    def __init__(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        self._socket, config, pid = str(cwd / "tmux.sock"), cwd / "tmux.conf", cwd / "tmux.pid"
        config.write_text("set -g history-limit 5000\n")
        variables = [f"{name}={value}" for name, value in {**env, "TERM": "screen"}.items()]
        program = f"echo $$ > {shlex.quote(str(pid))}; exec {shlex.join(['env', '-i', *variables, *argv])}"
        around = f"trap : INT; sh -c {shlex.quote(program)}; echo [ended with $?]; sleep 1000"
        where = ("-x", "100", "-y", "30", "-c", str(cwd))
        self._tmux("-f", str(config), "new-session", "-d", *where, around)
        until(self, lambda: pid.exists() and pid.read_text().endswith("\n"), "the start")
        self.pid = int(pid.read_text())

    def type(self, keys: str) -> None:
        self._tmux("send-keys", "-l", keys)

    def text(self) -> str:
        return self._tmux("capture-pane", "-p", "-J", "-S", "-")

    def ended(self) -> int | None:
        found = re.search(r"\[ended with (\d+)\]", self.text())
        return int(found[1]) if found else None

    def close(self) -> None:
        with suppress(subprocess.CalledProcessError):  # it has ended already
            self._tmux("kill-server")

    def _tmux(self, *words: str) -> str:
        program = shutil.which("tmux")
        assert program
        done = subprocess.run(
            [program, "-S", self._socket, *words], capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout
