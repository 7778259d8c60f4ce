"""Ask a person to approve a stage, if there is a terminal."""

from __future__ import annotations

import asyncio
import os
import sys
import termios
from collections.abc import Callable
from contextlib import suppress

from amplihack.recipes.agent_port import Decision
from amplihack.records import replace
from amplihack.system.home import login_name
from amplihack.system.terminal_text import spelled_out

_ANSWERS = {"y": True, "yes": True, "n": False, "no": False}


def person_is_there() -> bool:
    """Tell whether somebody can be asked: what is asked is read on stderr, and answered on stdin."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


class Nobody:
    """Answers None, because there is no terminal to ask on."""

    async def decide(self, question: str, prompt: str) -> Decision | None:  # noqa: ARG002 - the port's words
        return None


class PersonAtTerminal:
    """Asks on the terminal, between `before` and `after`, so that live progress makes room."""

    def __init__(self, before: Callable[[], None], after: Callable[[], None]) -> None:
        self._before, self._after = before, after

    async def decide(self, question: str, prompt: str) -> Decision | None:
        self._before()
        try:
            forget_typed()
            sys.stderr.write(f"\n{spelled_out(prompt.strip())}\n\n")
            while True:
                sys.stderr.write(f"{spelled_out(question)} [y/n, or n and a reason] ")
                sys.stderr.flush()
                line = await read_line()
                if not line:  # the end of the input is no answer: nobody is there any more
                    sys.stderr.write("\n")
                    return None
                decision = _decision(line)
                if decision is not None:
                    return replace(decision, by=login_name())
                forget_typed()  # the rest of a pasted text; what follows our words is an answer to them
                sys.stderr.write("Please answer yes or no.\n")
        finally:
            self._after()


def forget_typed() -> None:
    """Forget what was typed before a question was seen: it is no answer to it."""
    with suppress(OSError, termios.error, ValueError):  # no terminal, or one that is gone
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


async def read_line() -> str:
    """Read one line from the terminal. Cancelling it leaves no thread waiting.

    It is waited for piece by piece: Ctrl-D hands over half a line, and must not hold up the event loop.
    """
    descriptor, typed = sys.stdin.fileno(), b""
    while not typed.endswith(b"\n") and (piece := await _piece(descriptor)):
        typed += piece
    return typed.decode(sys.stdin.encoding, "replace")


async def _piece(descriptor: int) -> bytes:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, _resolve, ready)
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)
    try:
        return os.read(descriptor, 65_536)
    except OSError:  # the terminal is gone, which is the end of the input
        return b""


def _resolve(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _decision(answer: str) -> Decision | None:
    """Return what an answer says; None if it is neither yes nor no, as Enter alone: a denial is final."""
    word, _, rest = answer.strip().partition(" ")
    approved = _ANSWERS.get(word.lower())
    second = _ANSWERS.get(rest.partition(" ")[0].lower(), approved)
    return None if approved is None or second != approved else Decision(approved, rest.strip())
