"""Stage changes in a git work tree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from amplihack.system.processes import Command, run_process

_GIT_LIMIT = 60.0


class GitWorkTree:
    """Stages changes with the user's git, in a work tree only."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = {**environment, "GIT_TERMINAL_PROMPT": "0"}

    async def stage_all(self, directory: str) -> int | None:
        if (await self._git(directory, "rev-parse", "--is-inside-work-tree")).strip() != "true":
            return None
        await self._git(directory, "add", "-A")
        return len((await self._git(directory, "diff", "--cached", "--name-only", "-z")).split("\0")) - 1

    async def _git(self, directory: str, *words: str) -> str:
        """Return what git prints, or nothing when it fails: staging is optional and never fails a step."""
        finished = await run_process(
            Command(argv=("git", *words), cwd=Path(directory), env=self._environment, timeout=_GIT_LIMIT)
        )
        return finished.stdout.text() if finished.ok else ""
