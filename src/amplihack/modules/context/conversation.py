"""Hold the messages of a session. Compaction is a view: what was said stays as it was said."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from amplifier_core import HookResult

from amplihack.records import Record
from amplihack.sessions.calls import Message
from amplihack.sessions.compaction import View, compact
from amplihack.sessions.tokens import estimate_tokens

Emit: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[Any]]

_MARGIN = 1_000  # tokens for tools' descriptions and whatever the provider adds
_ANSWER = 4_096  # tokens for an answer, where the provider does not say
_LEAST_BUDGET = 500
_FURTHEST_OFF = (0.5, 4.0)  # how far a provider's count may correct the estimate


class ContextSettings(Record):
    most_tokens: int = 200_000
    threshold: float = 0.92  # compaction begins when this share of the budget is used
    target: float = 0.5  # and goes down to this share
    enabled: bool = True


class Conversation:
    """The messages of one session, in order."""

    def __init__(self, settings: ContextSettings, emit: Emit) -> None:
        self._settings, self._emit = settings, emit
        self._messages: list[Message] = []
        self._system: Callable[[], Awaitable[str]] | None = None
        self._correction = 1.0
        self._sent = 0  # the estimate of what was sent last

    async def add_message(self, message: Mapping[str, Any]) -> None:
        self._messages.append(_owned(message))

    async def get_messages(self) -> list[Message]:
        return copy.deepcopy(self._messages)

    async def set_messages(self, messages: list[Message]) -> None:
        self._messages = [_owned(message) for message in messages]

    async def clear(self) -> None:
        self._messages = []

    async def set_system_prompt_factory(self, factory: Callable[[], Awaitable[str]]) -> None:
        """Take the system text from here on each request; stored system texts are then left out."""
        self._system = factory

    async def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any = None
    ) -> list[Message]:
        """Return what to send: everything, or the most of it that fits the budget."""
        messages = await self._with_system()
        budget = int((token_budget or self._budget(provider)) / self._correction)
        view = View(messages, 0, fits=True)
        if self._settings.enabled and estimate_tokens(messages) > budget * self._settings.threshold:
            view = await self._compacted(messages, budget)
        self._sent = estimate_tokens(view.messages)
        return copy.deepcopy(view.messages)

    async def on_response(self, event: str, data: Mapping[str, Any]) -> Any:
        """Correct the estimate by what the provider counted."""
        del event
        usage = data.get("usage")
        counted = usage.get("input_tokens") if isinstance(usage, Mapping) else None
        if isinstance(counted, int) and counted > 0 and self._sent > _MARGIN:
            least, most = _FURTHEST_OFF
            self._correction = min(most, max(least, counted / self._sent))
        return HookResult()

    async def _with_system(self) -> list[Message]:
        if self._system is None:
            return self._messages
        text = await self._system()
        kept = [message for message in self._messages if message.get("role") != "system" or _of_hook(message)]
        return [{"role": "system", "content": text}, *kept] if text else kept

    def _budget(self, provider: Any) -> int:
        window, answer = _window_of(provider)
        most = self._settings.most_tokens
        available = min(most, window - answer - _MARGIN) if window else most
        return max(_LEAST_BUDGET, available)

    async def _compacted(self, messages: list[Message], budget: int) -> View:
        await self._emit("context:pre_compact", {"messages": len(messages), "budget": budget})
        view = compact(messages, int(budget * self._settings.target))
        if not view.fits:  # the most is lost already: what is left may still be within the whole budget
            view = View(view.messages, view.level, fits=estimate_tokens(view.messages) <= budget)
        facts = {
            "before_tokens": int(estimate_tokens(messages) * self._correction),
            "after_tokens": int(estimate_tokens(view.messages) * self._correction),
            "before_messages": len(messages),
            "after_messages": len(view.messages),
            "level": view.level,
            "fits": view.fits,
        }
        await self._emit("context:compaction", facts)
        await self._emit("context:post_compact", facts)
        return view


def _owned(message: Mapping[str, Any]) -> Message:
    """Return a copy that nobody else can change. Content is never null."""
    owned = copy.deepcopy(dict(message))
    if owned.get("content") is None:
        owned["content"] = ""
    return owned


def _of_hook(message: Message) -> bool:
    metadata = message.get("metadata")
    return isinstance(metadata, dict) and metadata.get("source") == "hook"


def _window_of(provider: Any) -> tuple[int, int]:
    """Return the provider's context window and the most of it that an answer takes; 0 if unknown."""
    describe = getattr(provider, "get_info", None)
    defaults = getattr(describe(), "defaults", None) if callable(describe) else None
    if not isinstance(defaults, Mapping):
        return 0, 0
    window, answer = defaults.get("context_window"), defaults.get("max_output_tokens")
    return (window if isinstance(window, int) else 0), (answer if isinstance(answer, int) else _ANSWER)
