"""Run git so that only our arguments decide what it does: no prompts, no hooks, no user configuration."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from amplihack.errors import AmplihackError, NothingToUse
from amplihack.patterns import pattern
from amplihack.records import Record

TIMEOUT = 30.0
_PASSED_ON = (
    "PATH", "HOME", "TMPDIR", "http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTPS_PROXY", "NO_PROXY",
    "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
)  # fmt: skip
_SET = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}
# A repository can name programs for git to run, such as hooks and monitors. These settings turn them off.
_SETTINGS = (
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_URL = pattern(r"[a-zA-Z][\w+.-]*://[^\s'\"]+")


def safe_argv(
    command: str, *arguments: str, protocols: Sequence[str] = ("http", "https"), helpers: bool = False
) -> tuple[str, ...]:
    """Return a git command line that uses these protocols only; `helpers` keeps credential helpers."""
    settings = [*_SETTINGS, *(f"protocol.{name}.allow=always" for name in protocols)]
    if not helpers:
        settings.append("credential.helper=")
    options = [part for setting in settings for part in ("-c", setting)]
    return ("git", "--no-pager", *options, command, *arguments)


def safe_environment(environment: Mapping[str, str], *more: str) -> dict[str, str]:
    """Return the environment for git: how to reach the network, and the variables in `more`."""
    kept = {name: environment[name] for name in (*_PASSED_ON, *more) if name in environment}
    return {**kept, **_SET}


class GitFailed(AmplihackError):
    """Raised when git failed or took too long. URLs are removed from its message."""


class Git(Record):
    """Runs git in one directory."""

    directory: Path
    environment: Mapping[str, str]
    timeout: float = TIMEOUT

    def run(self, command: str, *arguments: str) -> str:
        """Return what the command prints. Raises GitFailed, or NothingToUse if git is not installed."""
        code, output, errors = self._finish(command, arguments)
        if code != 0:
            raise GitFailed(f"git {command} failed (exit {code}): {_last_line(errors)}")
        return output

    def succeeds(self, command: str, *arguments: str) -> bool:
        """Tell whether the command exits with 0, for commands that answer by their exit code."""
        return self._finish(command, arguments)[0] == 0

    def _finish(self, command: str, arguments: Sequence[str]) -> tuple[int, str, str]:
        process = self._start(command, arguments)
        try:
            output, errors = process.communicate(timeout=self.timeout)
        except subprocess.TimeoutExpired as error:
            _end(process)
            raise GitFailed(
                f"git {command} did not finish within {self.timeout:g} seconds", fix="check the network"
            ) from error
        except BaseException:
            _end(process)
            raise
        return process.returncode, output.decode("utf-8", "replace"), errors.decode("utf-8", "replace")

    def _start(self, command: str, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603 - a fixed program; arguments are checked by the callers
                safe_argv(command, *arguments),
                cwd=self.directory,
                env=safe_environment(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # its helpers form a group with it and end with it
            )
        except FileNotFoundError as error:
            if not self.directory.is_dir():
                raise GitFailed(f"{self.directory} is not a directory", fix="check the path") from error
            raise NothingToUse("git is not installed", fix="install git") from error
        except OSError as error:
            raise GitFailed(f"git cannot be started: {error.strerror}") from error


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill git and its helpers, which would otherwise keep the pipes open."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _last_line(errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return _URL.sub("<url>", lines[-1]) if lines else "it gave no reason"
