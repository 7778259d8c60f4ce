"""Small answers about the machine that a run needs: the time, directories, git, a person at a terminal."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from amplihack.recipes.ports import Decision
from amplihack.system.processes import Command, run_process

_GIT_LIMIT = 60.0


class SystemClock:
    def now(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        if seconds > 0:
            await asyncio.sleep(seconds)

    def token(self) -> str:
        return f"AH_{secrets.token_hex(12)}"


class Disk:
    """Answers about paths; `home` is what `~` means."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def resolve(self, base: str, path: str) -> str:
        if path == "~" or path.startswith("~/"):
            path = f"{self._home}{path[1:]}"
        return os.path.normpath(Path(base) / path)

    def exists(self, path: str) -> bool:
        return os.path.exists(path)  # noqa: PTH110 - a path with NUL is False, not an error

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(path)  # noqa: PTH112 - as above

    def is_git_repository(self, path: str) -> bool:
        place = Path(path)
        return any((each / ".git").exists() for each in (place, *place.parents)) or (place / "HEAD").is_file()


class GitWorkTree:
    """Stages changes with the user's git, in a work tree and nowhere else."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = {**environment, "GIT_TERMINAL_PROMPT": "0"}

    async def stage_all(self, directory: str) -> int | None:
        if (await self._git(directory, "rev-parse", "--is-inside-work-tree")).strip() != "true":
            return None
        await self._git(directory, "add", "-A")
        return len((await self._git(directory, "diff", "--cached", "--name-only", "-z")).split("\0")) - 1

    async def _git(self, directory: str, *words: str) -> str:
        """What git prints, or nothing when it fails: staging is a courtesy and never fails a step."""
        finished = await run_process(
            Command(argv=("git", *words), cwd=Path(directory), env=self._environment, timeout=_GIT_LIMIT)
        )
        return finished.stdout.text() if finished.ok else ""


class Nobody:
    """There is no terminal, so nobody can be asked."""

    async def decide(self, stage: str, prompt: str) -> Decision | None:  # noqa: ARG002 - the port's words
        return None


class PersonAtTerminal:
    """Asks on the terminal, between `before` and `after`, so that live progress makes room for it."""

    def __init__(self, before: Callable[[], None], after: Callable[[], None]) -> None:
        self._before, self._after = before, after

    async def decide(self, stage: str, prompt: str) -> Decision | None:
        self._before()
        try:
            sys.stderr.write(f"\n{prompt.strip()}\n\n")
            while True:
                sys.stderr.write(f"Approve stage '{stage}'? [y/N, or n and a reason] ")
                sys.stderr.flush()
                decision = _decision(await _line())
                if decision is not None:
                    return decision
                sys.stderr.write("Please answer yes or no.\n")
        finally:
            self._after()


async def _line() -> str:
    """One line from the terminal; cancelling it leaves nothing waiting behind."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    descriptor = sys.stdin.fileno()
    loop.add_reader(descriptor, _resolve, ready)
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)
    return sys.stdin.readline()


def _resolve(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _decision(answer: str) -> Decision | None:
    """Return what an answer says; None if it is neither yes nor no. Nothing at all is the default, a no."""
    word, _, rest = answer.strip().partition(" ")
    match word.lower():
        case "y" | "yes":
            return Decision(True, rest.strip())
        case "" | "n" | "no":
            return Decision(False, rest.strip())
        case _:
            return None
