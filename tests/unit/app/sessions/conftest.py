"""One process holds one copy of a module package: each test starts without any, and leaves none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.ecosystem import House
from tests.support.installing import without_uv
from tests.support.packages import write_wheel


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


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place where packages can be had from."""
    directory = tmp_path / "wheels"
    directory.mkdir()
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(directory)}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
        monkeypatch.setenv(f"UV_{name}", value)
    monkeypatch.setenv("PATH", without_uv())
    write_wheel(directory, "house-dep")
    return directory
