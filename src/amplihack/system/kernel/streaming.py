"""Tell a program what happens in a turn while it happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from itertools import count
from typing import Any

from amplihack.sessions.happenings import HEARD, LAST, Happening, Hearing

_numbers = count()


async def streamed(
    coordinator: Any, execute: Callable[[str], Awaitable[str]], prompt: str
) -> AsyncGenerator[Happening, None]:
    """Run a turn and yield what happens; the last event is `done`, with the answer. Raises what it raises.

    Whoever stops listening ends the turn.
    """
    from amplifier_core import HookResult

    waiting: asyncio.Queue[Happening | None] = asyncio.Queue()
    hearing = Hearing(waiting.put_nowait)
    is_told = False  # something of the answer

    async def hear(event: str, data: dict[str, Any]) -> Any:
        hearing(event, data)
        return HookResult(action="continue")

    name = f"amplihack:stream-{next(_numbers)}"
    ends = [coordinator.hooks.register(each, hear, priority=LAST, name=f"{name}-{each}") for each in HEARD]
    display = coordinator.display_system
    coordinator.display_system = _Overheard(display, waiting.put_nowait)
    turn = asyncio.ensure_future(execute(prompt))
    turn.add_done_callback(lambda _: waiting.put_nowait(None))
    try:
        while (happening := await waiting.get()) is not None:
            is_told = is_told or happening.kind == "text"
            yield happening
        answer = await turn
        if answer and not is_told:
            yield Happening(kind="text", text=answer)
        yield Happening(kind="done", text=answer)
    finally:
        coordinator.display_system = display
        for end in ends:
            end()
        if not turn.done():
            turn.cancel()
            await asyncio.wait({turn})


class _Overheard:
    """Stands before the display of a host, and tells of what is shown there."""

    def __init__(self, display: Any, tell: Callable[[Happening], None]) -> None:
        self._display, self._tell = display, tell

    def __getattr__(self, name: str) -> Any:
        return getattr(self._display, name)

    def show_message(self, message: str, level: str, source: str = "") -> None:
        self._tell(Happening(kind="notice", text=message, given={"level": level, "source": source}))
        if self._display is not None:
            self._display.show_message(message, level, source)
