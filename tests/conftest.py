"""What every test can rely on: no test reaches the real home directory or the user's own settings."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.support.golden import Golden
from tests.support.workspace import Workspace

# Started in the background of a shell, or by `nohup`, all that tests start would be deaf to these signals.
# With a handler of our own it is not, and `nohup` keeps its promise for us.
for each, usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
    (signal.SIGHUP, lambda *_: None),
):
    if signal.getsignal(each) is signal.SIG_IGN:
        signal.signal(each, usual)

# The suite tries the same examples each time, so that a red run is always about the change at hand; `random`
# looks for new ones (`make fuzz`). Machines may be busy: neither deadlines nor slow generation say anything.
_SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
settings.register_profile("suite", derandomize=True, deadline=None, suppress_health_check=_SLOW)
settings.register_profile("random", deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

_OURS = ("AMPLIHACK_", "RECIPE_RUNNER_", "RECIPE_VAR_")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Some more than processors: half of the time, a test waits for a process or a clock."""
    processors = os.cpu_count() or 1
    return processors + min(processors, 4)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write tests/golden/ anew")


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home directory for the whole session, instead of the real one."""
    home = tmp_path_factory.mktemp("home")
    patch = pytest.MonkeyPatch()
    patch.setenv("HOME", str(home))
    for name in list(os.environ):
        if name.startswith(_OURS):
            patch.delenv(name)
    yield home
    patch.undo()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """An empty folder in which the real commands run."""
    return Workspace(tmp_path)


@pytest.fixture
def golden(workspace: Workspace, request: pytest.FixtureRequest) -> Golden:
    """Compares what a command printed with a file in tests/golden."""
    return Golden(workspace.path, bool(request.config.getoption("--update-golden")))
