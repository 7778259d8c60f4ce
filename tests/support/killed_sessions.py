"""Talk in forked processes, and kill each of them at another thing that it does to the disk.

Called with a bundle and the directory of sessions; the session `cut-<n>-` is the one that was killed at its
n-th change. Prints how many there were.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from amplihack.app.sessions.prepared import Prepared, prepare_bundle

CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.truncate", "shutil.copyfile")
WHOLE = 7  # the exit code of a talk that came to its end


class Points:
    """Counts changes, and kills this process at the last one."""

    def __init__(self, last: int, root: str) -> None:
        self.count, self.last, self.root = 0, last, root

    def reach(self, before: Callable[[], object] = lambda: None) -> None:
        self.count += 1
        if self.count == self.last:
            before()
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        written = os.write

        def write(file: int, data: bytes) -> int:
            if str(Path(f"/proc/self/fd/{file}").readlink()).startswith(self.root):
                self.reach()
                self.reach(lambda: written(file, data[: len(data) // 2]))
            return written(file, data)

        def hear(event: str, given: tuple[Any, ...]) -> None:
            made = event == "open" and isinstance(given[2], int) and given[2] & os.O_CREAT
            if (made or event in CHANGES) and str(given[0]).startswith(self.root):
                self.reach()

        os.write = write  # type: ignore[assignment] # the process is thrown away
        sys.addaudithook(hear)


async def talk(prepared: Prepared, name: str) -> None:
    async with prepared.create_session(name) as session:
        await session.execute("call echo one")
        await session.execute("two")
        await session.coordinator.get("context").set_messages((await session.messages())[:4])
        await session.execute("three")


def cut(prepared: Prepared, last: int, root: str) -> int:
    """Talk in a process that is killed at a change; returns its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        Points(last, root).watch()
        asyncio.run(talk(prepared, f"cut-{last}-"))
        os._exit(WHOLE)
    finally:
        os._exit(1)


def main(bundle: str, root: str) -> None:
    prepared = asyncio.run(prepare_bundle(bundle))
    import amplifier_core  # noqa: F401 - once for all of them

    last = 1
    while (code := cut(prepared, last, root)) == -signal.SIGKILL:
        last += 1
    sys.stdout.write(f"{last - 1} {code == WHOLE}\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
