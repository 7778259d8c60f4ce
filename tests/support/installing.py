"""Modules that need installs, and what a test sees of installing them."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.ecosystem import TOOL, House

NEEDY = TOOL.replace("from typing import Any", "from typing import Any\nimport house_dep", 1)


def without_uv() -> str:
    """Return a search path on which there is no uv: tests of pip must not find one."""
    parts = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(part for part in parts if not (Path(part) / "uv").exists())


def needing(house: House, *requirements: str, name: str = "tool-needy", code: str = NEEDY) -> None:
    quoted = ", ".join(f'"{each}"' for each in requirements)
    house.add("tools", name, code)
    file = house.directory / "modules" / name / "pyproject.toml"
    file.write_text(file.read_text().replace("dependencies = []", f"dependencies = [{quoted}]"))


def prepared(house: House, **options: Any) -> list[tuple[str, str]]:
    """Prepare and open a session; returns what the progress display heard."""
    heard: list[tuple[str, str]] = []

    async def story() -> None:
        ready = await house.prepare(
            strict=True, progress_callback=lambda *each: heard.append(each), **options
        )
        async with ready.create_session() as session:
            assert session.load_failures == ()

    asyncio.run(story())
    return heard


def fake_uv(place: Path, monkeypatch: pytest.MonkeyPatch, script: str = "exit 0") -> Path:
    """Put a uv first on the path that notes how it was called; returns the notes."""
    notes = place / "uv-calls"
    program = place / "bin" / "uv"
    program.parent.mkdir()
    note = f'"{sys.executable}" -c "import json,sys; print(json.dumps(sys.argv[1:]))" "$@" >> {notes}'
    program.write_text(f"#!/bin/sh\n{note}\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return notes
