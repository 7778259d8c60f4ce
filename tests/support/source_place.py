"""A cache, an environment and proof that fetching leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.git_server import Repository
from tests.support.marked import marked

from amplihack.system.sources import FetchLimits, Sources

QUICK = FetchLimits(pauses=(0.01, 0.01))


class Place:
    def __init__(self, folder: Path) -> None:
        self.folder, self.cache, self.temporary = folder, folder / "cache", folder / "tmp"
        self.home = folder / "home"
        self.mark = f"amplihack-test-{uuid.uuid4().hex}"
        self.temporary.mkdir()
        self.home.mkdir()
        # What git is given of an environment is little; a proxy that is never used carries our mark into it.
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "no_proxy": f"127.0.0.1,{self.mark}",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.warnings: list[str] = []

    def repository(self, name: str = "demo") -> Repository:
        return Repository(self.folder / "repositories" / name)

    def sources(
        self, *, limits: FetchLimits = QUICK, more: Mapping[str, str] | None = None, **options: Any
    ) -> Sources:
        return Sources(
            self.cache,
            environment={**self.environment, **(more or {})},
            limits=limits,
            warn=self.warnings.append,
            **options,
        )

    def kept(self) -> list[str]:
        """The names of what is published in the cache."""
        return sorted(path.name for path in self.cache.glob("[!.]*")) if self.cache.exists() else []

    def incoming(self) -> list[str]:
        return sorted(path.name for path in (self.cache / ".incoming").glob("*"))

    def alive(self) -> list[str]:
        """Our living processes, found by the mark in their environment."""
        return list(marked(self.mark).values())

    def bytes_on_disk(self) -> bytes:
        """All that was ever written here, to look for what must not have been."""
        return b"\n".join(path.read_bytes() for path in self.cache.rglob("*") if path.is_file())


@contextmanager
def clean_place(folder: Path) -> Iterator[Place]:
    place = Place(folder)
    yield place
    assert place.alive() == []
    assert place.incoming() == []
    assert list(place.temporary.iterdir()) == []
    assert [entry.name for entry in place.sources().entries() if entry.in_use] == []


async def until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.01)
