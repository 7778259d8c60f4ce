"""Functions are called when descriptors can be read."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from pathlib import Path

import pytest

from amplihack.system.readiness import Readiness

pytestmark = pytest.mark.asyncio


def descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


async def test_a_function_is_called_until_its_descriptor_is_removed() -> None:
    before = descriptors()
    ready, heard = Readiness(), list[bytes]()
    reading, writing = os.pipe()
    arrived = asyncio.Event()

    def read() -> None:
        heard.append(os.read(reading, 100))
        arrived.set()

    ready.add(reading, read)
    for word in (b"one", b"two"):
        arrived.clear()
        os.write(writing, word)
        await arrived.wait()
    ready.remove(reading)
    os.write(writing, b"three")
    await asyncio.sleep(0.02)
    assert heard == [b"one", b"two"]
    ready.close()
    for each in (reading, writing):
        os.close(each)
    assert descriptors() == before


async def test_a_call_may_remove_a_descriptor_that_is_ready_too() -> None:
    ready, heard = Readiness(), list[int]()
    pipes = [os.pipe(), os.pipe()]

    def first_comes(index: int) -> None:
        heard.append(index)
        for reading, _ in pipes:
            ready.remove(reading)

    for index, (reading, writing) in enumerate(pipes):
        ready.add(reading, partial(first_comes, index))
        os.write(writing, b"x")
    await asyncio.sleep(0.02)
    assert len(heard) == 1
    ready.close()
    for each in (end for pipe in pipes for end in pipe):
        os.close(each)


async def test_closing_waits_for_the_last_descriptor() -> None:
    before = descriptors()
    ready = Readiness()
    reading, writing = os.pipe()
    arrived = asyncio.Event()
    ready.add(reading, arrived.set)
    ready.close()
    os.write(writing, b"x")
    await arrived.wait()
    ready.remove(reading)
    for each in (reading, writing):
        os.close(each)
    assert descriptors() == before
