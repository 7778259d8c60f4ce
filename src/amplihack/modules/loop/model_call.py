"""Ask a model: choose the provider, build the request, and help once where that can help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amplifier_core import (
    ChatRequest,
    ConfigurationError,
    ContextLengthError,
    LLMError,
    Message,
    ResponseFormatJson,
    ResponseFormatJsonSchema,
    ToolSpec,
)

from amplihack.modules.failures import failure
from amplihack.modules.loop.events import Events
from amplihack.modules.loop.interruption import Interruption
from amplihack.modules.loop.stored import as_json, plain, schema_of
from amplihack.modules.notices import tell
from amplihack.records import Record
from amplihack.sessions.calls import Message as StoredMessage
from amplihack.sessions.tokens import estimate_tokens

_NO_PRIORITY = 100


class TurnDenied(Exception):
    """Raised when a hook does not let the model be asked."""


class Ask(Record, kw_only=True):
    """One question to the model."""

    number: int
    tools: Mapping[str, Any]
    extra: Sequence[StoredMessage] = ()
    stream: bool
    thinking: bool
    effort: str
    most_output_tokens: int
    response_format: Any


def in_order(providers: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the providers, the preferred one first: the lowest priority, then the order of mounting."""
    return sorted(providers.items(), key=lambda each: _priority(each[1]))


def _priority(provider: Any) -> float:
    own = getattr(provider, "priority", None)
    config = getattr(provider, "config", None)
    if own is None and isinstance(config, Mapping):
        own = config.get("priority")
    return own if isinstance(own, int | float) else _NO_PRIORITY


class ModelCalls:
    """Asks the models of one turn."""

    def __init__(
        self,
        context: Any,
        providers: Mapping[str, Any],
        events: Events,
        interruption: Interruption,
        *,
        coordinator: Any,
        fallback: bool,
    ) -> None:
        self._context, self._events, self._interruption = context, events, interruption
        self._providers = in_order(providers)
        self._coordinator, self._fallback = coordinator, fallback

    async def ask(self, ask: Ask) -> tuple[Any, Any]:
        """Return the provider and its response. Raises what the last provider raised."""
        if not self._providers:
            raise failure(
                ConfigurationError,
                "no provider is mounted: there is no model to ask",
                fix="add one under `providers:` of the bundle or in settings.yaml",
            )
        for name, provider in self._providers[:-1] if self._fallback else ():
            try:
                return provider, await self._ask_one(name, provider, ask)
            except LLMError as error:
                tell(
                    self._coordinator, "loop-streaming", f"{name} failed, the next provider is asked: {error}"
                )
        name, provider = self._providers[-1] if self._fallback else self._providers[0]
        return provider, await self._ask_one(name, provider, ask)

    async def _ask_one(self, name: str, provider: Any, ask: Ask) -> Any:
        facts = {"provider": name, "model": _model_of(provider)}
        said = await self._events.ask("provider:request", **facts, iteration=ask.number)
        if said.denied:
            raise TurnDenied(said.reason)
        try:
            response = await self._complete(provider, ask)
        except LLMError as error:
            await self._events.tell(
                "provider:error",
                **facts,
                error={"type": type(error).__name__, "msg": str(error)},
                retryable=error.retryable,
                status_code=error.status_code,
            )
            raise
        await self._report(facts, provider, response)
        return response

    async def _complete(self, provider: Any, ask: Ask) -> Any:
        """Ask, and once more with half as much when the provider says that it is too long."""
        messages = await self._messages(provider, ask, None)
        try:
            return await self._send(provider, ask, messages)
        except ContextLengthError:
            smaller = max(500, estimate_tokens(messages) // 2)
            return await self._send(provider, ask, await self._messages(provider, ask, smaller))

    async def _messages(self, provider: Any, ask: Ask, budget: int | None) -> list[StoredMessage]:
        stored = await self._context.get_messages_for_request(token_budget=budget, provider=provider)
        return [*stored, *self._events.ephemeral, *ask.extra]

    async def _send(self, provider: Any, ask: Ask, messages: Sequence[StoredMessage]) -> Any:
        request = ChatRequest(
            messages=[Message(**_sendable(message)) for message in messages],
            tools=[_spec(tool) for tool in ask.tools.values()] or None,
            stream=ask.stream,
            reasoning_effort=ask.effort or None,
            max_output_tokens=ask.most_output_tokens or None,
            response_format=response_format(ask.response_format),
        )
        options = {"extended_thinking": True} if ask.thinking else {}
        return await self._interruption.guard(provider.complete(request, **options))

    async def _report(self, facts: Mapping[str, Any], provider: Any, response: Any) -> None:
        self._events.ephemeral.clear()
        usage = None if response.usage is None else plain(response.usage)
        blocks = [plain(block) for block in response.content or ()]
        for index, block in enumerate(blocks):
            place = {"block_index": index, "total_blocks": len(blocks)}
            await self._events.tell("content_block:start", block_type=block.get("type", "text"), **place)
            await self._events.tell("content_block:end", block=block, usage=usage, **place)
        calls = len(provider.parse_tool_calls(response) or ())
        await self._events.tell("provider:response", **facts, usage=usage, tool_calls=calls)


def response_format(wanted: Any) -> Any:
    """Return the kernel's form of a wanted format: `json`, or a mapping with a JSON Schema."""
    if not wanted or wanted == "text":
        return None
    if wanted == "json":
        return ResponseFormatJson()
    if isinstance(wanted, Mapping):
        if wanted.get("type") == "text":
            return None
        if wanted.get("type") == "json":
            return ResponseFormatJson()
        schema = wanted.get("json_schema") or wanted.get("schema") or wanted
        return ResponseFormatJsonSchema(json_schema=as_json(schema), strict=True)
    raise failure(
        ConfigurationError, f"response_format is {wanted!r:.80}", fix="make it 'json' or a JSON Schema"
    )


def _model_of(provider: Any) -> str:
    return str(getattr(provider, "default_model", "") or "")


def _spec(tool: Any) -> Any:
    native = getattr(tool, "native_tool_spec", None)
    extra = native if isinstance(native, Mapping) else {}
    return ToolSpec(
        **{
            "name": tool.name,
            "description": getattr(tool, "description", "") or "",
            "parameters": schema_of(tool),
            **extra,
        }
    )


def _sendable(message: StoredMessage) -> dict[str, Any]:
    return {key: value for key, value in message.items() if value is not None}
