"""Run a search in a directory that the settings allow."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from amplihack.modules.tools.tool import ToolFailed, working_dir
from amplihack.records import Record
from amplihack.system.fence import Fence
from amplihack.system.home import this_process
from amplihack.system.processes import Command, Finished, run_process

_WORKER = Path(__file__).with_name("worker.py")
_MOST_OUTPUT = 4_000_000


class SearchRoot(Record):
    """Where to search: everything below a directory, or one file in it."""

    base: Path
    only: str = ""


class SearchPlaces(Record, kw_only=True):
    coordinator: Any
    allowed: tuple[str, ...]
    denied: tuple[str, ...]
    seconds: float

    async def root(self, text: str) -> SearchRoot:
        """Return what to search, with all links followed. Raises an AmplihackError."""
        here = working_dir(self.coordinator)
        fence = Fence(
            allowed=tuple(here / each for each in self.allowed),
            denied=self._denied(),
            setting="allowed_read_paths",
        )
        path = here / text
        kind = await asyncio.to_thread(fence.kind, path)
        if not kind:
            raise ToolFailed(f"{path} does not exist", fix="check the path")
        if kind == "other":  # reading a pipe or a device may never end
            raise ToolFailed(f"{path} is neither a file nor a directory", fix="check the path")
        real = await asyncio.to_thread(fence.real, path)
        return SearchRoot(real) if kind == "directory" else SearchRoot(real.parent, real.name)

    def allowed_of(self, paths: Iterable[Path]) -> list[Path]:
        """Return those of the found paths that may be shown."""
        denied = self._denied()
        return [path for path in paths if not any(path.is_relative_to(each) for each in denied)]

    def _denied(self) -> tuple[Path, ...]:
        here = working_dir(self.coordinator)
        return tuple((here / each).resolve() for each in self.denied)

    def shown(self, path: Path) -> str:
        """Return a path as the session sees it: relative if it is below its directory."""
        here = working_dir(self.coordinator).resolve()
        return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)

    async def work(self, job: Mapping[str, Any], root: SearchRoot) -> Finished:
        """Search without ripgrep, in a process of its own: a pattern may take forever, and a thread too."""
        argv = (sys.executable, "-I", str(_WORKER))
        return await self.run(argv, root, json.dumps(job).encode())

    async def run(self, argv: tuple[str, ...], root: SearchRoot, stdin: bytes | None = None) -> Finished:
        environment, _ = this_process()
        finished = await run_process(
            Command(
                argv=argv,
                cwd=root.base,
                env=environment,
                stdin=stdin,
                timeout=self.seconds,
                output_limit=_MOST_OUTPUT,
            )
        )
        if finished.timed_out:
            raise ToolFailed(
                f"the search did not end within {self.seconds:g} seconds",
                fix="search in a smaller directory, or for a simpler pattern",
            )
        return finished
