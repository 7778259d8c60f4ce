"""Upgrade this program with the tool that installed it, then let the new program stage its own bundle.

Everything that is needed after the upgrade is loaded before it: the files under a running program change.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from amplihack.errors import AmplihackError, NothingToUse
from amplihack.install.decide import is_nested
from amplihack.install.errors import InstallFailed
from amplihack.install.method import InstallMethod, method_of, newest_version
from amplihack.records import Record
from amplihack.system.foreground import run_in_foreground
from amplihack.system.installed_program import entry_point, look_around
from amplihack.system.processes import Command, Finished, run_process
from amplihack.version import __version__

_PATIENCE = 600.0  # seconds for a tool that asks its index
_QUICK = 30.0  # seconds for the new program to tell its version


class UpdateRequest(Record, kw_only=True):
    """For whom to update; `say` takes lines for people."""

    environment: Mapping[str, str]
    cwd: Path
    say: Callable[[str], None]


class UpdateState(Record, kw_only=True):
    """What is installed, and what could be. `latest` is None where nobody can be asked."""

    method: InstallMethod
    current: str
    latest: str | None

    @property
    def is_newer(self) -> bool:
        return self.latest not in (None, self.current)


async def look_for_update(request: UpdateRequest) -> UpdateState:
    """Return whether there is a newer version. Only the tool that installed the program is asked.

    Raises AmplihackError if it cannot tell.
    """
    method = method_of(look_around(request.environment))
    if not method.newest:
        return UpdateState(method=method, current=__version__, latest=None)
    done = await _run(request, method.newest, _PATIENCE)
    if not done.ok:
        what = f"{method.newest[0]} does not tell which version is the newest ({done.status})"
        raise AmplihackError(
            f"{what}: {_end(done)}", fix="check the network, and the index that it is set to"
        )
    answer = done.stdout.text(None).strip() or done.stderr.text(None)  # uv tells on stderr
    return UpdateState(method=method, current=__version__, latest=newest_version(answer, __version__))


def require_command(state: UpdateState) -> None:
    """Raise NothingToUse where the program must not, or cannot, upgrade itself."""
    if not state.method.upgrade:
        what = f"amplihack {state.current} came by {state.method.kind}, and is not upgraded from here"
        raise NothingToUse(what, fix=state.method.advice)


def upgrade(request: UpdateRequest, state: UpdateState) -> None:
    """Run the tool that installed the program. Raises AmplihackError if it fails."""
    if is_nested(request.environment):
        what = "a process inside a run must not change what the run works with"
        raise InstallFailed(what, fix="do it outside of the run: `amplihack update`")
    request.say(f"$ {' '.join(state.method.upgrade)}")
    code = run_in_foreground(state.method.upgrade, request.environment, all_to_stderr=True)
    if code:
        what = f"the upgrade failed with exit code {code}; amplihack {state.current} is as it was"
        raise AmplihackError(what, fix=f"see what it says, or run it yourself: {state.method.advice}")


async def new_version(request: UpdateRequest, state: UpdateState) -> str:
    """Return the version that the command is now. Raises AmplihackError if it is not the expected one."""
    done = await _run(request, (str(entry_point()), "version", "--json"), _QUICK)
    try:
        found = str(json.loads(done.stdout.text(None))["version"])
    except (ValueError, KeyError, TypeError):
        what = f"the new {entry_point()} does not tell its version ({done.status})"
        raise AmplihackError(what, fix=f"install it again: {state.method.advice}") from None
    if state.is_newer and found != state.latest:
        what = f"{entry_point()} is version {found} now, and {state.latest} was expected"
        raise AmplihackError(what, fix=f"upgrade it yourself: {state.method.advice}")
    return found


def stage_new(request: UpdateRequest) -> int:
    """Run the new program, which stages the bundle of its own version. Returns its exit code."""
    command = (str(entry_point()), "install", "--force-refresh")
    return run_in_foreground(command, request.environment, all_to_stderr=True)


async def _run(request: UpdateRequest, argv: tuple[str, ...], patience: float) -> Finished:
    return await run_process(
        Command(argv=argv, cwd=request.cwd, env=request.environment, timeout=patience, grace=0.5)
    )


def _end(done: Finished) -> str:
    return " ".join(done.stderr.text(None).split())[-300:]
