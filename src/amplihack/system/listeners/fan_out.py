"""Give the engine one journal, with many listeners behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress

from amplihack.errors import AmplihackError
from amplihack.recipes.events import Event, LinesPrinted, RunFinished
from amplihack.recipes.model import Recipe
from amplihack.recipes.ports import Journal
from amplihack.recipes.results import RunResult
from amplihack.recipes.secrets import Redactor
from amplihack.records import replace
from amplihack.system.listeners.listener import Listener

TICK = 5.0  # seconds
_BREAKS = (AmplihackError, OSError, ValueError)  # ValueError: a stream that was closed under us


class FanOut:
    """Masks secrets in each event once, then passes it to every listener, in order.

    A listener that breaks is dropped and reported once. `result` adds it to the warnings of the run; the
    other listeners and the run continue. `memory` gets each event first and unmasked, because a run cannot be
    resumed from masked values. If `memory` breaks, so does the run.
    """

    def __init__(
        self,
        listeners: Iterable[Listener],
        redactor: Redactor,
        *,
        report: Callable[[str], None],
        memory: Journal | None = None,
    ) -> None:
        self._listeners = list(listeners)
        self._redactor = redactor
        self._report = report
        self._memory = memory
        self._result: RunResult | None = None
        self.problems: list[str] = []

    def add(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def know(self, recipe: Recipe) -> None:
        """Learn what a recipe calls secret, before it runs."""
        self._redactor.know(recipe)

    def record(self, event: Event) -> None:
        if self._memory is not None:
            # Not guarded: a run whose history cannot be stored must not continue.
            self._memory.record(event)
        listeners = self._listeners
        if isinstance(event, LinesPrinted):
            listeners = [each for each in listeners if each.wants_lines]
            if not listeners:  # nobody wants to pay for masking them
                return
        masked = self._redactor.redact_event(event)
        if isinstance(masked, RunFinished):
            self._result = masked.result
        for listener in tuple(listeners):
            self._guard(listener, lambda each: each.hear(self._told(masked)))

    def _told(self, event: Event) -> Event:
        """Return the event for the next listener: a result names the listeners that broke so far."""
        return RunFinished(self.result()) if isinstance(event, RunFinished) else event

    def result(self) -> RunResult:
        """Return the masked result of the run, with broken listeners as warnings."""
        if self._result is None:
            raise AmplihackError("the run ended before it began")
        return replace(self._result, warnings=(*self._result.warnings, *self.problems))

    def history(self) -> Iterable[Event]:
        return self._memory.history() if self._memory is not None else ()

    def tick(self) -> None:
        self._each(lambda listener: listener.tick())

    def pause(self) -> None:
        """Make every listener leave the terminal to a person."""
        self._each(lambda listener: listener.pause())

    def resume(self) -> None:
        self._each(lambda listener: listener.resume())

    @asynccontextmanager
    async def ticking(self, every: float = TICK) -> AsyncIterator[None]:
        """Call `tick` regularly while the body runs."""
        task = asyncio.create_task(self._tick_forever(every))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _tick_forever(self, every: float) -> None:
        while True:
            await asyncio.sleep(every)
            self.tick()

    def close(self) -> None:
        """Let every listener finish. Calling it again does nothing."""
        self._each(lambda listener: listener.close())
        self._listeners.clear()

    def _each(self, action: Callable[[Listener], None]) -> None:
        for listener in tuple(self._listeners):
            self._guard(listener, action)

    def _guard(self, listener: Listener, action: Callable[[Listener], None]) -> None:
        try:
            action(listener)
        except _BREAKS as error:
            self._drop(listener, error)

    def _drop(self, listener: Listener, error: Exception) -> None:
        self._listeners.remove(listener)
        with suppress(*_BREAKS):  # the same trouble again; it is being reported
            listener.close()
        what = error.what if isinstance(error, AmplihackError) else _words(error)
        self.problems.append(f"{listener.name} stopped: {what}")
        with suppress(*_BREAKS):  # stderr may be what broke; the result still tells
            self._report(self.problems[-1])


def _words(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
