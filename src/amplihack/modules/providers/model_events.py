"""Tell of a call of a model: its beginning and end, its text as it streams, its cost."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any

from amplihack.sessions.costs import COST_CHANNEL
from amplihack.sessions.usage import USAGE_UNKNOWN

_FLUSH_CHARACTERS = 32
_LAST_WORD = re.compile(r"[\x21-\x7e]+$")  # of languages without spaces, nothing waits
_LONGEST_WORD = 512  # characters that wait for their end
_FLUSH_SECONDS = 0.04


class ModelEvents:
    """The calls of one provider instance. Their costs are contributed to the session's."""

    def __init__(self, coordinator: Any, provider: str, model: str) -> None:
        self._hooks, self._provider, self.model = coordinator.hooks, provider, model
        self._spent: Decimal | None = None
        self._unpriced = False
        coordinator.register_contributor(COST_CHANNEL, f"provider:{provider}", self._cost)

    @asynccontextmanager
    async def call(self, messages: Sequence[Any]) -> AsyncIterator[ModelCall]:
        """Tell of one call. Set `usage` on it before the block ends."""
        call = ModelCall(self._hooks)
        facts = {"provider": self._provider, "model": self.model, "request_id": call.request_id}
        began = time.monotonic()
        status = "error"
        try:  # from here on: whoever has heard of a call hears of its end, also if it is cancelled at once
            await self._hooks.emit("llm:request", {**facts, "message_count": len(messages)})
            began = time.monotonic()
            yield call
            await call.flush()
            status = "ok"
        except BaseException as error:
            await call.abort(error)
            raise
        finally:
            usage = None if call.usage is None else call.usage.model_dump(mode="json", exclude_none=True)
            duration = round((time.monotonic() - began) * 1000)
            unknown = call.answered and (usage is None or status == "error")
            self._add(call.usage, unknown=unknown)
            told = {USAGE_UNKNOWN: True} if unknown else {}
            await self._hooks.emit(
                "llm:response", {**facts, "status": status, "duration_ms": duration, "usage": usage, **told}
            )

    async def retrying(self, attempt: int, delay: float, error: Exception) -> None:
        """Tell that a service is asked again, and when: not before the time that it asks for."""
        await self._hooks.emit(
            "provider:retry",
            {
                "provider": self._provider,
                "model": self.model,
                "attempt": attempt,
                "delay": max(delay, getattr(error, "retry_after", None) or 0.0),
                "error": {"type": type(error).__name__, "msg": str(error)},
            },
        )

    async def repaired(self, count: int) -> None:
        """Tell that calls and results did not pair, and that the copy that is sent was mended."""
        await self._hooks.emit(
            "provider:tool_sequence_repaired", {"provider": self._provider, "repair_count": count}
        )

    def _add(self, usage: Any, *, unknown: bool) -> None:
        if usage is None:
            self._unpriced = self._unpriced or unknown
        elif usage.cost_usd is None:
            self._unpriced = True
        else:
            self._spent = (self._spent or Decimal()) + usage.cost_usd

    def _cost(self) -> dict[str, str | None] | None:
        """Return what this provider has cost: None if nothing was asked, a null if no price is known."""
        if self._spent is not None:
            return {"cost_usd": str(self._spent)}
        return {"cost_usd": None} if self._unpriced else None


class ModelCall:
    """One call and its stream. Pieces of text are gathered: an event for each would cost too much."""

    def __init__(self, hooks: Any) -> None:
        self._hooks = hooks
        self.request_id = uuid.uuid4().hex
        self.usage: Any = None
        self.answered = False  # whether an answer has begun, which is paid for however it ends
        self.counted: Any = None  # what a service has told of its usage before the end of its answer
        self._open: dict[int, str] = {}
        self._waiting: list[str] = []
        self._place = (0, "text")
        self._sequence = 0
        self._flushed = time.monotonic()

    async def block_start(self, index: int, kind: str, *, name: str | None = None) -> None:
        await self.flush()
        self._open[index] = kind
        named = {"name": name} if name else {}
        await self._emit("llm:stream_block_start", index, kind, **named)

    async def delta(self, index: int, kind: str, text: str) -> None:
        if (index, kind) != self._place:
            await self.flush()
            self._place = (index, kind)
        self._waiting.append(text)
        waited = time.monotonic() - self._flushed
        if waited >= _FLUSH_SECONDS or sum(map(len, self._waiting)) >= _FLUSH_CHARACTERS:
            await self._send(self._whole_words())

    async def block_end(self, index: int, kind: str) -> None:
        await self.flush()
        self._open.pop(index, None)
        await self._emit("llm:stream_block_end", index, kind)

    async def flush(self) -> None:
        """Send the text that waits."""
        text, self._waiting = "".join(self._waiting), []
        await self._send(text)

    def _whole_words(self) -> str:
        """Take the text that waits, but a word that may go on: half a secret does not look like one."""
        text = "".join(self._waiting)
        word = _LAST_WORD.search(text)
        held = word.group() if word and len(word.group()) <= _LONGEST_WORD else ""
        self._waiting = [held] if held else []
        return text.removesuffix(held)

    async def _send(self, text: str) -> None:
        self._flushed = time.monotonic()
        if text:
            self._sequence += 1
            index, kind = self._place
            await self._emit("llm:stream_block_delta", index, kind, sequence=self._sequence, text=text)

    async def abort(self, error: BaseException) -> None:
        """Tell that the stream broke off, if one was open."""
        if self._open:
            await self.flush()
            index, kind = next(iter(self._open.items()))
            self._open.clear()
            message = {"type": type(error).__name__, "msg": str(error)}
            await self._emit("llm:stream_aborted", index, kind, error=message)

    async def _emit(self, event: str, index: int, kind: str, **more: Any) -> None:
        place = {"request_id": self.request_id, "block_index": index, "block_type": kind}
        await self._hooks.emit(event, {**place, **more})
