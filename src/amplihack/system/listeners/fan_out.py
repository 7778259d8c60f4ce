"""Give the engine one journal, with many listeners behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Protocol

from amplihack.errors import AmplihackError
from amplihack.recipes.events import (
    Event,
    IterationFinished,
    LinesPrinted,
    OutputStored,
    Recorded,
    RunFinished,
    StepFinished,
    Warned,
)
from amplihack.recipes.model import Recipe
from amplihack.recipes.results import RunResult
from amplihack.recipes.secrets import Redactor
from amplihack.recipes.values import MISSING, Value
from amplihack.records import replace
from amplihack.system.listeners.listener import Listener

TICK = 5.0  # seconds
_BREAKS = (AmplihackError, OSError, ValueError)  # ValueError: a stream that was closed under us


class Memory(Protocol):
    """Keeps the events of a run, to go on from them later."""

    def keep(self, event: Recorded, *, withheld: str = "") -> None:
        """Keep an event; `withheld` names the step whose result is not in it, because it holds a secret."""
        ...

    def settle(self) -> None:
        """Put on the disk what has ended, before anybody hears of it who may act on it."""
        ...

    def process(self, identity: str, pid: int) -> None:
        """Note the process of a step, for whoever must end it after we are gone."""
        ...

    def lines(self, event: LinesPrinted) -> None: ...

    def history(self) -> Iterable[Recorded]: ...

    def close(self) -> None: ...


class FanOut:
    """Masks secrets in each event once, then passes it to every listener, in order.

    A listener that breaks is dropped and reported once. `result` adds it to the warnings of the run; the
    other listeners and the run continue. `memory` gets each event first, masked as well, and is told where
    that has taken something away. If `memory` breaks, so does the run.
    """

    def __init__(
        self,
        listeners: Iterable[Listener],
        redactor: Redactor,
        *,
        report: Callable[[str], None],
        memory: Memory | None = None,
    ) -> None:
        self._listeners = list(listeners)
        # Who wants events of a kind, and whether one of them outlives us.
        self._audiences: dict[type[Event], tuple[tuple[Listener, ...], bool]] = {}
        self._redactor = redactor
        self._report = report
        self._memory = memory
        self._result: RunResult | None = None
        self.problems: list[str] = []

    def add(self, listener: Listener) -> None:
        self._listeners.append(listener)
        self._audiences.clear()

    def know(self, recipe: Recipe) -> None:
        """Learn what a recipe calls secret, before it runs."""
        self._redactor.know(recipe)

    def record(self, event: Event) -> None:
        """Mask an event, keep it, and tell those who want its kind. A listener that raises is dropped."""
        # `type(…) is`, here and wherever every event passes: `isinstance` takes ten times as long to say no.
        audience, outlives = self._audiences.get(type(event)) or self._audience(type(event))
        if type(event) is LinesPrinted:
            if self._memory is not None:
                self._memory.lines(event)
            if not audience:  # nobody wants to pay for masking them
                return
        elif not audience and self._memory is None and type(event) is not RunFinished:
            self._redactor.notice(event)
            return
        masked = self._redactor.redact_event(event)
        if self._memory is not None and type(masked) is not LinesPrinted:
            # Not guarded: a run whose history cannot be stored must not continue.
            self._memory.keep(masked, withheld="" if masked is event else _withheld(event, masked))
            if outlives:
                self._memory.settle()
        is_last = type(masked) is RunFinished
        if type(masked) is RunFinished:
            self._result = masked.result
        for listener in audience:
            try:  # the result names the listeners that broke so far
                listener.hear(RunFinished(self.result()) if is_last else masked)
            except _BREAKS as error:
                self._drop(listener, error)
        for what in self._redactor.weak():
            self.problems.append(what)
            self._each(lambda each, what=what: each.hear(Warned("", what)))  # type: ignore[misc]  # a default

    def _audience(self, kind: type[Event]) -> tuple[tuple[Listener, ...], bool]:
        wanting = tuple(each for each in self._listeners if each.wants(kind))
        found = self._audiences[kind] = wanting, any(each.outlives for each in wanting)
        return found

    def hears_lines(self) -> bool:
        return bool((self._audiences.get(LinesPrinted) or self._audience(LinesPrinted))[0])

    def remember(self, memory: Memory) -> None:
        """Keep every event from now on in this memory."""
        self._memory = memory

    def mask(self, text: str) -> str:
        return self._redactor.redact_text(text)

    def secrets(self) -> dict[str, str]:
        """Return the secrets that variables hold, by name."""
        return self._redactor.named()

    def keepable(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """Return the variables that hold no secret."""
        masked = self._redactor.redact_value(values)
        shown = masked if isinstance(masked, Mapping) else {}
        return {name: value for name, value in values.items() if shown.get(name, MISSING) == value}

    def process_started(self, identity: str, pid: int) -> None:
        if self._memory is not None:
            self._memory.process(identity, pid)

    def mask_lines(self, event: LinesPrinted) -> LinesPrinted:
        masked = self._redactor.redact_event(event)
        return masked if isinstance(masked, LinesPrinted) else event

    def result(self) -> RunResult:
        """Return the masked result of the run, with broken listeners as warnings."""
        if self._result is None:
            raise AmplihackError("the run ended before it began")
        return replace(self._result, warnings=(*self._result.warnings, *self.problems))

    def history(self) -> Iterable[Recorded]:
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
        self._audiences.clear()
        memory, self._memory = self._memory, None
        if memory is not None:
            memory.close()

    def _each(self, action: Callable[[Listener], None]) -> None:
        for listener in tuple(self._listeners):
            try:
                action(listener)
            except _BREAKS as error:
                self._drop(listener, error)

    def _drop(self, listener: Listener, error: Exception) -> None:
        self._listeners.remove(listener)
        self._audiences.clear()
        with suppress(*_BREAKS):  # the same trouble again; it is being reported
            listener.close()
        what = error.what if isinstance(error, AmplihackError) else _words(error)
        self.problems.append(f"{listener.name} stopped: {what}")
        with suppress(*_BREAKS):  # stderr may be what broke; the result still tells
            self._report(self.problems[-1])


def _withheld(event: Event, masked: Event) -> str:
    """Return the step whose result was changed by masking; empty if none was."""
    match event, masked:
        case OutputStored(), OutputStored():
            same = event.values == masked.values and event.ledger == masked.ledger
            return "" if same else event.identity
        case (StepFinished(result=result), StepFinished(result=shown)) | (
            IterationFinished(result=result),
            IterationFinished(result=shown),
        ):
            same = result is shown or (result.output == shown.output and result.error == shown.error)
            return "" if same else result.identity
        case _:
            return ""


def _words(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
