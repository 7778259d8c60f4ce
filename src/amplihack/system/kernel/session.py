"""Hold one open session: run turns, cancel them, close it. The kernel's gaps are closed here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from inspect import isawaitable
from types import TracebackType
from typing import Any, Self

from amplihack.errors import Problem
from amplihack.records import Record, field, replace
from amplihack.sessions.costs import COST_CHANNEL, sum_cost_usd
from amplihack.sessions.errors import ModuleFailure, SessionError, SessionNotStored, TurnCancelled
from amplihack.sessions.happenings import Happening
from amplihack.sessions.mending import mended
from amplihack.sessions.messages import count_turns, last_answer
from amplihack.sessions.usage import CHILD_COMPLETED, Tally, TokenUsage
from amplihack.system.kernel.closing import close_kernel
from amplihack.system.kernel.hook_switches import HookSwitches
from amplihack.system.kernel.mounter import ModuleMounter
from amplihack.system.kernel.streaming import streamed
from amplihack.system.kernel.turn import HeldTurn
from amplihack.system.session_store.log import SessionLog
from amplihack.system.undisturbed import undisturbed

_AROUND = 1.0  # seconds for what the kernel does before and after a loop


class SessionParts(Record, kw_only=True):
    """What an open session is made of."""

    kernel: Any = field(repr=False)
    mounter: ModuleMounter
    turn: HeldTurn
    tally: Tally
    log: SessionLog | None = None
    depth: int = 0
    agent: str = ""
    problems: tuple[Problem, ...] = ()
    on_close: tuple[Callable[[], Awaitable[None]], ...] = ()


class LiveSession:
    """An open session on the kernel. It runs one turn at a time; whoever comes meanwhile waits."""

    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts
        self._alone = asyncio.Lock()
        self._cancelled_by_us = False
        self._closed = False
        self._call: asyncio.Future[Any] | None = None  # of the kernel, while a turn runs
        self._children: list[LiveSession] = []  # at work

    # what programs know from the kernel's own session -----------------------------------------------------

    @property
    def session_id(self) -> str:
        return str(self._parts.kernel.session_id)

    @property
    def parent_id(self) -> str | None:
        found = self._parts.kernel.parent_id
        return str(found) if found is not None else None

    @property
    def coordinator(self) -> Any:
        return self._parts.kernel.coordinator

    @property
    def config(self) -> dict[str, Any]:
        found: dict[str, Any] = self._parts.kernel.config
        return found

    @property
    def initialized(self) -> bool:
        return bool(self._parts.kernel.initialized)

    @property
    def is_resumed(self) -> bool:
        return bool(self._parts.kernel.is_resumed)

    async def initialize(self) -> None:
        """Do nothing: the session is open. Programs written for the kernel's session call it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.cleanup()

    # what the kernel leaves open --------------------------------------------------------------------------

    @property
    def load_failures(self) -> tuple[ModuleFailure, ...]:
        """Return the modules that the session goes without."""
        return tuple(self._parts.mounter.failures)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Return everything that is worth telling before the first prompt."""
        told = (
            replace(each.problem, severity="warning", fix=each.fix) for each in self._parts.mounter.failures
        )
        return (*self._parts.problems, *told, *self._parts.mounter.problems)

    @property
    def depth(self) -> int:
        """Return how many sessions stand above this one."""
        return self._parts.depth

    @property
    def agent(self) -> str:
        return self._parts.agent

    @property
    def usage(self) -> TokenUsage:
        """Return what this session and its children used so far."""
        return self._parts.tally.total

    @property
    def model(self) -> str:
        """Return the model that was asked last; empty before the first answer."""
        return self._parts.tally.model

    @property
    def log(self) -> SessionLog | None:
        return self._parts.log

    def owner_of(self, name: str) -> str | None:
        """Return the module that mounted a tool, a provider or a hook."""
        return self._parts.mounter.owner_of(name)

    @property
    def hook_switches(self) -> HookSwitches:
        """Return what switches hooks off and on."""
        return self._parts.mounter.hooks

    async def cost_usd(self) -> Any:
        """Return what was spent, as the providers report it; None if no price is known."""
        reported = sum_cost_usd(await self.coordinator.collect_contributions(COST_CHANNEL))
        known = [each for each in (reported, self.usage.cost_usd) if each is not None]
        return max(known, default=None)  # both count the same; a provider may know only one of them

    async def messages(self) -> list[dict[str, Any]]:
        """Return the conversation; none if the context keeps it to itself."""
        read = getattr(self.coordinator.get("context"), "get_messages", None)
        found = read() if callable(read) else None
        if isawaitable(found):
            found = await found
        return [dict(each) for each in found if isinstance(each, dict)] if isinstance(found, list) else []

    async def execute(self, prompt: str, *, goes_on: bool = False) -> str:
        """Run one turn and return its answer. One that `goes_on` finds calls without results, and makes them.

        Raises whatever the turn raised, with its own type; TurnCancelled after `cancel(immediate=True)`. When
        the caller is cancelled, the turn and its tools are ended first.
        """
        async with self._alone:
            self._require_open()
            self._parts.turn.require_ended()
            if self._parts.log is not None:
                self._parts.log.failure = None  # there may be room again; what is missing is written anew
            if not goes_on:
                await self._mend()
            self._cancelled_by_us = False
            self._parts.turn.expect()
            self.coordinator.cancellation.reset()
            try:
                answer = await self._run(prompt)
            except SessionNotStored as error:
                error.answer = last_answer(await self.messages())
                raise
            finally:
                await undisturbed(self._settle())
        if self._parts.log is not None and self._parts.log.failure is not None:
            self._parts.log.failure.answer = answer
            raise self._parts.log.failure
        return answer

    def stream(self, prompt: str) -> AsyncGenerator[Happening, None]:
        """Run one turn like `execute`, and yield what happens; the last event is `done`, with the answer.

        Whoever stops listening ends the turn: use `contextlib.aclosing` where it may happen.
        """
        return streamed(self.coordinator, self.execute, prompt)

    async def cancel(self, immediate: bool = False) -> bool:
        """Cancel the running turn. Returns whether it has ended.

        Gracefully, the loop stops by itself after the tools that run now. Immediately, the loop and its tools
        are ended, and every call that has no result gets one that says so.
        """
        token = self.coordinator.cancellation
        _ = token.request_immediate() if immediate else token.request_graceful()
        if immediate and self._alone.locked():  # a turn runs, or is about to
            self._cancelled_by_us = True
        await token.trigger_callbacks()
        if not immediate:
            return not self._parts.turn.is_running
        ended = await self._parts.turn.stop()
        if ended and self._call is not None:
            await _let_go(self._call)  # a hook may hold up what the kernel does around the loop
        # Those that the turn had started have ended with it; a program may have started others beside it.
        others = await asyncio.gather(*(each.cancel(immediate=True) for each in self._children))
        return ended and all(others)

    @contextmanager
    def having(self, child: LiveSession) -> Iterator[None]:
        """Let a child be cancelled together with this session during the block."""
        self._children.append(child)
        try:
            yield
        finally:
            self._children.remove(child)

    async def cleanup(self) -> None:
        """Close the session: its modules clean up, its files are closed. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        await undisturbed(self._close())

    async def add_child_usage(self, session_id: str, agent: str, used: TokenUsage) -> None:
        """Count what a child used, and write it down."""
        self._parts.tally.add(used)
        if self._parts.log is not None:
            data = {"child_id": session_id, "agent": agent, "usage": used.to_dict(), "timestamp": _now()}
            await self._parts.log.record(CHILD_COMPLETED, data)

    # how a turn goes --------------------------------------------------------------------------------------

    async def _run(self, prompt: str) -> str:
        self._call = call = asyncio.ensure_future(self._parts.kernel.execute(prompt))
        try:
            await asyncio.wait({call})
        except asyncio.CancelledError:
            self.coordinator.cancellation.request_immediate()
            await undisturbed(self._end(call))
            raise
        if self._cancelled_by_us:
            raise _cancelled(call, ended=not self._parts.turn.is_running)
        error = call.exception()
        if error is None:
            return str(call.result())
        raise self._typed(error)

    async def _end(self, call: asyncio.Future[Any]) -> None:
        """End a turn that nobody waits for any more."""
        await self._parts.turn.stop()
        await _let_go(call)
        if call.done() and not call.cancelled():
            call.exception()  # nobody is left to hear of it

    def _typed(self, error: BaseException) -> BaseException:
        """Return what was really raised: the kernel makes a RuntimeError with a text of everything."""
        original = self._parts.turn.error
        if isinstance(original, asyncio.CancelledError):
            return TurnCancelled("the turn was cancelled from inside: its loop or a tool cancelled it")
        if original is not None:
            return original
        wrapped = SessionError(
            f"the turn failed: {error}", fix="check the loop and the providers of the bundle"
        )
        wrapped.__cause__ = error
        return wrapped

    async def _mend(self) -> None:
        """Repair a conversation that no provider would take: a call without its result, for one."""
        whole = mended(await self.messages())
        if whole is not None:
            await self.coordinator.get("context").set_messages(whole)

    async def _settle(self) -> None:
        """After a turn, whatever became of it: the conversation is whole, and so is what is on the disk."""
        if self._parts.turn.is_running:
            return
        try:
            await self._mend()
            if self._parts.log is not None:
                messages = await self.messages()
                await self._parts.log.settle(messages)
                asked = {"asked_model": self.model} if self.model else {}
                await self._parts.log.describe(
                    updated=_now(), turn_count=count_turns(messages), usage=self.usage.to_dict(), **asked
                )
        except SessionError:
            pass  # the log remembers it, and `execute` raises it

    async def _close(self) -> None:
        if self._parts.turn.is_running:
            await self.cancel(immediate=True)
        try:
            await close_kernel(self._parts.kernel, self._parts.mounter.tell)
        finally:
            self._parts.mounter.cleanup()
            for each in self._parts.on_close:
                await each()
            if self._parts.log is not None:
                self._parts.log.close()

    def _require_open(self) -> None:
        if self._closed:
            raise SessionError("the session is closed", fix="open another one, or resume this one")


async def _let_go(call: asyncio.Future[Any]) -> None:
    """Wait no longer for the kernel. What it does around a loop ends by itself, unless a hook hangs there.

    Cancelled, it may leave coroutines behind.
    """
    await asyncio.wait({call}, timeout=_AROUND)
    if not call.done():
        call.cancel()
        await asyncio.wait({call}, timeout=_AROUND)


def _cancelled(call: asyncio.Future[Any], *, ended: bool) -> TurnCancelled:
    failed = call.cancelled() or call.exception() is not None
    partial = "" if failed else str(call.result())
    if ended:
        return TurnCancelled("the turn was cancelled", fix="give another prompt to go on", partial=partial)
    what = "the turn was cancelled, and its loop or one of its tools does not stop"
    return TurnCancelled(what, fix="wait, or open the session again in a new process", partial=partial)


def _now() -> str:
    return datetime.now(UTC).isoformat()
