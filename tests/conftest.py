"""What every test can rely on: no test reaches the real home directory or the user's own settings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.golden import Golden
from tests.support.workspace import Workspace

_OURS = ("AMPLIHACK_", "RECIPE_RUNNER_", "RECIPE_VAR_")


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
