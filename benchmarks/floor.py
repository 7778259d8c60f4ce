"""Start bash N times with what a step cannot do without, and nothing else: `floor.py N [DATABASE]`.

Each process leads its own session, inherits no descriptor and prints into pipes; an event loop hears its
output and its exit. With a database, a row of it is on the disk before the next begins, as a kept step is.
There is no recipe, no variable, no result. What a step costs above this is our own code.
"""

from __future__ import annotations

import asyncio
import os
import sys
from functools import partial


async def one(loop: asyncio.AbstractEventLoop) -> bytes:
    """Run one process to its end, and return what it printed."""
    stdin, stdout, stderr = os.open(os.devnull, os.O_RDONLY), os.pipe(), os.pipe()
    streams = (stdin, stdout[1], stderr[1])
    actions = [(os.POSIX_SPAWN_DUP2, each, number) for number, each in enumerate(streams)]
    others = [int(each) for each in os.listdir("/proc/self/fd")]  # noqa: PTH208 - a page of numbers
    actions += [(os.POSIX_SPAWN_CLOSE, each) for each in others if each > 2]  # type: ignore[misc]  # shorter tuples
    argv = ["/bin/bash", "-c", "echo 1"]
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=actions, setsid=True)  # noqa: ASYNC221 - vfork
    for each in streams:
        os.close(each)
    exited = os.pidfd_open(pid)
    waiting, ended, output = {stdout[0], stderr[0], exited}, loop.create_future(), bytearray()

    def ready(descriptor: int) -> None:
        data = os.read(descriptor, 65_536) if descriptor != exited else b""
        output.extend(data)
        if data:
            return
        loop.remove_reader(descriptor)
        os.close(descriptor)
        waiting.remove(descriptor)
        if not waiting:
            ended.set_result(None)

    for each in tuple(waiting):
        loop.add_reader(each, partial(ready, each))
    await ended
    os.waitpid(pid, 0)  # noqa: ASYNC222 - it has exited
    return bytes(output)


async def main(count: int, database: str | None) -> None:
    loop, connection = asyncio.get_running_loop(), None
    if database is not None:
        import sqlite3

        connection = sqlite3.connect(database, isolation_level=None)
        connection.executescript("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS rows (text)")
        connection.execute("PRAGMA synchronous = FULL")
    for _ in range(count):
        output = await one(loop)
        if connection is not None:
            connection.execute("INSERT INTO rows VALUES (?)", (output.decode() + 500 * "x",))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
