"""One process holds one copy of a module package: each test starts without any, and leaves none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.ecosystem import House


@pytest.fixture(autouse=True)
def no_module_packages() -> Iterator[None]:
    path = list(sys.path)
    yield
    sys.path[:] = path
    for name in [each for each in sys.modules if each.startswith(("amplifier_module_", "house_"))]:
        del sys.modules[name]


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """A bundle with a module of each kind, and a directory to work in."""
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path / "home"))
    return House(tmp_path / "house")
