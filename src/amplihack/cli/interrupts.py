"""Handle Ctrl-C while a result is being written."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from amplihack.cli.show import flush_out


@contextmanager
def telling_the_result() -> Iterator[None]:
    """Let a result be written completely. A second Ctrl-C still ends it."""
    asked: list[int] = []

    def hear(number: int, _frame: FrameType | None) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield
        flush_out()
    finally:
        signal.signal(signal.SIGINT, before)
