"""Run one turn: what the user says, the steps of the model and its tools, the answer."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from amplihack.modules.loop.events import Events
from amplihack.modules.loop.half_said import HalfSaid
from amplihack.modules.loop.interruption import Interruption, TurnInterrupted
from amplihack.modules.loop.model_call import Ask, ModelCalls, TurnDenied
from amplihack.modules.loop.stored import (
    as_json,
    assistant_message,
    cut_short,
    failed,
    text_of_response,
    tool_message,
    user_message,
)
from amplihack.modules.loop.tool_calls import CANCELLED, ToolCalls
from amplihack.modules.notices import tell
from amplihack.records import Record, field
from amplihack.sessions.calls import REMINDER
from amplihack.sessions.messages import closing_message

_NAME = "loop-streaming"
_LAST_STEP = user_message(
    f"{REMINDER}>A limit is reached and no more tools can be called. "
    "Answer now: say what is done, what was found and what is left.</system-reminder>"
)


class LoopSettings(Record, kw_only=True):
    stream: bool
    most_steps: int  # -1: no limit
    most_repeats: int = 0  # of the same calls with the same results; 0: no limit
    parallel_tools: int
    tool_seconds: float | None
    fallback: bool
    thinking: bool
    effort: str
    most_output_tokens: int
    response_format: Any = None


class TurnParts(Record, kw_only=True):
    """What the kernel hands to a turn."""

    context: Any
    providers: Mapping[str, Any]
    tools: Mapping[str, Any]
    hooks: Any
    coordinator: Any


class _Outcome(Record):
    text: str
    status: str  # of `execution:end`
    completion: str  # of `orchestrator:complete`
    reason: str = field(default="")


class Repeats:
    """Counts how often the same calls had the same results, one step after the other."""

    def __init__(self) -> None:
        self.count = 0
        self._last: Any = None

    def note(self, calls: Sequence[Any], results: Sequence[Any]) -> None:
        """Note a step. A model that goes round in circles does it a hundred times, and each is paid."""
        now = [
            (call.name, as_json(call.arguments or {}), as_json(result.safe_hook_presentation()))
            for call, result in zip(calls, results, strict=True)
        ]
        self.count = self.count + 1 if now and now == self._last else 1
        self._last = now


class Turn:
    def __init__(self, settings: LoopSettings, parts: TurnParts, steering: deque[str]) -> None:
        self._settings, self._parts, self._steering = settings, parts, steering
        self._events = Events(parts.hooks, parts.coordinator)
        self._interruption = Interruption(parts.coordinator)
        self._state: dict[str, Any] = {} if parts.coordinator is None else parts.coordinator.session_state
        self._steps = 0
        self._has_begun = False  # whether anything of it is in the conversation
        self._unanswered: list[Any] = []  # calls that have no result yet
        self._half_said = HalfSaid()
        self._same = Repeats()
        self._models = ModelCalls(
            parts.context,
            parts.providers,
            self._events,
            self._interruption,
            coordinator=parts.coordinator,
            fallback=settings.fallback,
        )
        self._tools = ToolCalls(
            parts.tools,
            self._events,
            self._interruption,
            state=self._state,
            parallel=settings.parallel_tools,
            seconds=settings.tool_seconds,
        )

    async def run(self, prompt: str, left: Sequence[Any] | None = None) -> str:
        """Return the answer. `left` are calls that have no result yet, to begin with instead of the prompt.

        An error is kept in `session_state`: the kernel passes on its text only.
        """
        self._state["turn_task"] = asyncio.current_task()
        self._state.pop("last_error", None)
        outcome = _Outcome("", "error", "incomplete")
        self._half_said.listen(self._parts.hooks)
        try:
            outcome = await self._until_the_end(prompt, left)
        except Exception as error:
            self._state["last_error"] = error
            await self._interruption.finish(self._answer_open_calls("the turn failed before it could run"))
            raise
        finally:
            self._half_said.close()
            await self._interruption.finish(self._close(prompt, outcome))
            self._state.pop("turn_task", None)
        return outcome.text

    async def _until_the_end(self, prompt: str, left: Sequence[Any] | None) -> _Outcome:
        try:
            return await self._answer(prompt, left)
        except TurnDenied as refusal:
            text = f"Stopped: {refusal}"
            await self._parts.context.add_message({"role": "assistant", "content": text})
            return _Outcome(text, "completed", "incomplete", str(refusal))
        except TurnInterrupted:
            pass
        except asyncio.CancelledError:
            self._interruption.now()
        return await self._interrupted()

    async def _answer(self, prompt: str, left: Sequence[Any] | None) -> _Outcome:
        await self._events.tell("execution:start", prompt=prompt)
        if left is not None:
            self._has_begun = True
            self._unanswered = list(left)
            if left:
                await self._run_tools(left)
        elif refused := await self._submit(prompt):
            return _Outcome(f"Not sent: {refused}", "completed", "incomplete", refused)
        for self._steps in count(1):
            self._interruption.check()
            await self._take_steering()
            last = self._limit_reached()
            provider, response = await self._models.ask(self._ask(last=bool(last)))
            calls = [] if last else list(provider.parse_tool_calls(response) or ())
            self._unanswered = calls
            self._half_said.clear()
            await self._add(assistant_message(response, calls))
            if not calls and not self._steering:
                why = last or cut_short(response)
                return _Outcome(
                    text_of_response(response), "completed", "incomplete" if why else "success", why
                )
            await self._run_tools(calls)
        raise AssertionError("counting never ends")

    async def _submit(self, prompt: str) -> str:
        """Add what the user says; return why not, where a hook denies it."""
        said = await self._events.ask("prompt:submit", prompt=prompt)
        if said.denied:
            return said.reason or "a hook denied it"
        changed = said.data.get("prompt")
        self._has_begun = True
        await self._add(user_message(changed if isinstance(changed, str) else prompt))
        return ""

    def _limit_reached(self) -> str:
        """Return why the model must answer now, without tools; empty as long as it need not."""
        chosen = self._settings
        if 0 <= chosen.most_steps < self._steps:
            why, setting = f"the limit of {chosen.most_steps} steps is reached", "max_iterations"
        elif chosen.most_repeats and self._same.count >= chosen.most_repeats:
            why, setting = f"the model made the same calls {self._same.count} times in a row", "max_repeats"
        else:
            return ""
        what = f"{why}: it is asked to answer without tools ({setting} in the config of the loop)"
        tell(self._parts.coordinator, _NAME, what)
        return why

    def _ask(self, *, last: bool) -> Ask:
        chosen = self._settings
        return Ask(
            number=self._steps,
            tools={} if last else self._parts.tools,
            extra=(_LAST_STEP,) if last else (),
            stream=chosen.stream,
            thinking=chosen.thinking,
            effort=chosen.effort,
            most_output_tokens=chosen.most_output_tokens,
            response_format=self._state.get("response_format") or chosen.response_format,
        )

    async def _run_tools(self, calls: Sequence[Any]) -> None:
        """Run the calls and store a result for each, even if the turn ends meanwhile."""
        self._interruption.check()
        results = await self._tools.run(calls)
        self._same.note(calls, results)
        await self._interruption.finish(self._store(calls, results))
        after, self._tools.after = self._tools.after, []
        for event, result in after:
            await self._events.settle(event, result)

    async def _store(self, calls: Sequence[Any], results: Sequence[Any]) -> None:
        for call, result in zip(calls, results, strict=True):
            await self._parts.context.add_message(tool_message(call, result))
        self._unanswered = []

    async def _answer_open_calls(self, why: str) -> None:
        await self._store(self._unanswered, [failed(why) for _ in self._unanswered])

    async def _take_steering(self) -> None:
        while self._steering:
            text = self._steering.popleft()
            await self._add(user_message(text))
            await self._events.tell("orchestrator:steering_injected", text=text)

    async def _interrupted(self) -> _Outcome:
        await self._interruption.finish(self._note_interruption())
        return _Outcome("", "cancelled", "cancelled")

    async def _note_interruption(self) -> None:
        await self._events.tell("cancel:requested", state=self._interruption.state, turn_count=self._steps)
        await self._answer_open_calls(CANCELLED)
        if self._has_begun:  # else there is nothing to close, and no conversation begins with an answer
            await self._parts.context.add_message(closing_message(self._half_said.text))

    async def _add(self, message: dict[str, Any]) -> None:
        """Store a message whole: a cancellation waits until it is stored."""
        await self._interruption.finish(self._parts.context.add_message(message))

    async def _close(self, prompt: str, outcome: _Outcome) -> None:
        if outcome.status == "completed":
            await self._events.tell(
                "prompt:complete", prompt=prompt, response=outcome.text, length=len(outcome.text)
            )
        await self._events.tell("execution:end", response=outcome.text, status=outcome.status)
        metadata = {"reason": outcome.reason} if outcome.reason else {}
        await self._events.tell(
            "orchestrator:complete",
            orchestrator=_NAME,
            turn_count=self._steps,
            status=outcome.completion,
            metadata=metadata,
        )
