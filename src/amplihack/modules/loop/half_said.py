"""Hear an answer while it streams, so that what was said of it is kept when the turn is interrupted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from amplifier_core import HookResult

_NAME = "loop-half-said"
_LATE = 890  # after those who change or hide what is said


class HalfSaid:
    """The text of the answer that the model is giving now; of its thoughts, nothing."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._ends: list[Callable[[], Any]] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def clear(self) -> None:
        """Forget it: the answer is stored as a whole."""
        self._pieces.clear()

    def listen(self, hooks: Any) -> None:
        heard = {"llm:request": self._begin, "llm:stream_block_delta": self._hear}
        self._ends = [
            hooks.register(event, handler, priority=_LATE, name=f"{_NAME}-{event}")
            for event, handler in heard.items()
        ]

    def close(self) -> None:
        for end in self._ends:
            end()
        self._ends = []

    async def _begin(self, event: str, data: Mapping[str, Any]) -> Any:
        """Forget what an earlier attempt said: a stream that broke off is asked for anew."""
        del event, data
        self.clear()
        return HookResult()

    async def _hear(self, event: str, data: Mapping[str, Any]) -> Any:
        del event
        if data.get("block_type") == "text":
            self._pieces.append(str(data.get("text", "")))
        return HookResult()
