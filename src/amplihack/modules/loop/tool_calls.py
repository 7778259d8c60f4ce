"""Run the tools that a model calls: side by side, each with an outcome, whatever happens to it."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from amplifier_core import ToolResult

from amplihack.documents.suggest import closest
from amplihack.modules.loop.events import Events
from amplihack.modules.loop.interruption import PATIENCE, Interruption, end
from amplihack.modules.loop.stored import as_json, as_result, failed, names

CANCELLED = "The tool was not run to its end: the user interrupted the turn."
# A hook that was to look at the result did not get to it, so it may hold what nobody should see.
UNREAD = "The tool ran to its end; what it returned was lost, because the user interrupted the turn."


class ToolCalls:
    """Runs the calls of one turn."""

    def __init__(
        self,
        tools: Mapping[str, Any],
        events: Events,
        interruption: Interruption,
        *,
        state: dict[str, Any],
        parallel: int,
        seconds: float | None,
    ) -> None:
        self._tools, self._events, self._interruption = tools, events, interruption
        self._state, self._seconds = state, seconds
        self._room = asyncio.Semaphore(parallel)
        self._ran: set[str] = set()  # the calls whose tools have ended
        self.after: list[tuple[str, Any]] = []  # what hooks want once the results are stored

    async def run(self, calls: Sequence[Any]) -> list[ToolResult]:
        """Return one result for each call, in their order, also for those that had to end at once."""
        group = uuid.uuid4().hex
        tasks = [asyncio.ensure_future(self._run_one(call, group)) for call in calls]
        try:
            await self._interruption.wait(set(tasks))
        except asyncio.CancelledError:
            self._interruption.now()
        await self._interruption.finish(
            end(tasks), PATIENCE
        )  # processes of theirs get the time that they need
        return [self._result_of(call, task) for call, task in zip(calls, tasks, strict=True)]

    async def _run_one(self, call: Any, group: str) -> ToolResult:
        async with self._room:
            if self._interruption.asked:
                return failed(CANCELLED)
            self._interruption.tool_started(call.id, call.name)
            try:
                return await self._with_events(call, group)
            finally:
                self._interruption.tool_ended(call.id)

    async def _with_events(self, call: Any, group: str) -> ToolResult:
        facts = {"tool_name": call.name, "tool_call_id": call.id, "parallel_group_id": group}
        wanted: Any = as_json(call.arguments or {})
        began = time.monotonic()
        if impossible := self._impossible(call):  # nobody is asked whether it may run
            result = await self._failure(call, *impossible)
        else:
            said = await self._events.ask("tool:pre", **facts, tool_input=wanted)
            arguments, began = wanted, time.monotonic()
            wanted = self._replaced("tool_inputs", call.id, said.data.get("tool_input"), arguments)
            if said.denied:
                result = failed(f"Denied: {said.reason}")
            else:
                result = await self._attempt(call, wanted if isinstance(wanted, dict) else arguments)
                self._ran.add(call.id)
        shown = result.safe_hook_presentation()
        after = await self._events.emit(
            "tool:post",
            {
                **facts,
                "tool_input": wanted,
                "result": shown,
                "duration_ms": round((time.monotonic() - began) * 1000),
            },
        )
        self.after.append(("tool:post", after))
        changed = getattr(after, "data", None)
        said_result = changed.get("result") if isinstance(changed, dict) else None
        final = self._replaced("tool_results", call.id, said_result, as_json(shown))
        return result if final == as_json(shown) else as_result(final)

    def _replaced(self, key: str, call_id: str, said: Any, given: Any) -> Any:
        """Return what hooks made of a value, one after the other.

        The kernel drops it if one of them says more; then what the first of ours has kept counts.
        """
        kept = self._state.get(key)
        left = kept.pop(call_id, None) if isinstance(kept, dict) else None
        if said is not None and said != given:
            return said
        return given if left is None else as_json(left)

    async def _attempt(self, call: Any, arguments: dict[str, Any]) -> ToolResult:
        """Run the tool. A failure of any kind is a result that the model can read."""
        limit = asyncio.timeout(self._seconds)
        try:
            async with limit:
                return as_result(await self._tools[call.name].execute(arguments))
        except asyncio.CancelledError:
            if _is_being_cancelled():
                raise
            return await self._failure(call, "CancelledError", f"{call.name} failed: it cancelled itself")
        except (Exception, SystemExit) as error:  # noqa: BLE001 - foreign code; that it fails is an answer
            late = f"{call.name} did not end within {self._seconds:g} seconds" if limit.expired() else ""
            said = str(error) or type(error).__name__
            ends = " and wanted to end the program" if isinstance(error, SystemExit) else ""
            return await self._failure(
                call, type(error).__name__, late or f"{call.name} failed{ends}: {said}"
            )

    def _impossible(self, call: Any) -> tuple[str, str] | None:
        """Return what keeps a call from running at all, and its kind."""
        unread = getattr(call, "invalid_arguments", None)
        if unread is not None:
            return "InvalidToolCall", f"the arguments are no JSON object: {unread!s:.200}"
        if call.name not in self._tools:
            return "UnknownTool", self._unknown(call.name)
        return None

    def _unknown(self, name: str) -> str:
        meant = closest(name, self._tools)
        hint = f" Did you mean {meant!r}?" if meant else ""
        return f"There is no tool {name!r}.{hint} The tools are: {names(self._tools)}."

    async def _failure(self, call: Any, kind: str, message: str) -> ToolResult:
        await self._events.tell(
            "tool:error", tool_name=call.name, tool_call_id=call.id, error={"type": kind, "msg": message}
        )
        return failed(message)

    def _result_of(self, call: Any, task: asyncio.Future[ToolResult]) -> ToolResult:
        if not task.done() or task.cancelled():
            return failed(UNREAD if call.id in self._ran else CANCELLED)
        error = task.exception()
        return task.result() if error is None else failed(f"the tool could not be run: {error}")


def _is_being_cancelled() -> bool:
    """Tell whether somebody cancels what runs here, and it did not just raise as if."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
