"""Ask models of Anthropic, or of a service that speaks the Messages API: `provider-anthropic`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from amplihack.modules.providers.anthropic_messages import (
    ANSWER,
    answered,
    system_blocks,
    thinking_of,
    tools_of,
    turns,
    wanted_schema,
)
from amplihack.modules.providers.api import ApiProvider, Spoken, read_settings, require_package
from amplihack.modules.providers.api_errors import cut_off
from amplihack.modules.providers.model_events import ModelCall
from amplihack.modules.settings import ModuleSettings
from amplihack.records import replace
from amplihack.sessions.calls import Message

__amplifier_module_type__ = "provider"

_KINDS = {"tool_use": "tool_use", "thinking": "thinking", "redacted_thinking": "thinking"}


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Any:
    require_package("anthropic", "anthropic")
    settings = ModuleSettings(coordinator, "provider-anthropic", config)
    chosen = read_settings(
        settings,
        name="anthropic",
        model="claude-sonnet-4-5",
        key_variable="ANTHROPIC_API_KEY",
        needs_key=True,
        window=200_000,
    )
    priority = settings.count("priority", 100, least=0)
    settings.done()
    provider = AnthropicProvider(coordinator, chosen)
    provider.priority = priority
    await coordinator.mount("providers", provider, name=provider.name)
    return provider.close


class AnthropicProvider(ApiProvider):
    package = "anthropic"
    display_name = "Anthropic"

    def connect(self) -> Any:
        from anthropic import AsyncAnthropic  # deferred: takes half a second, and many sessions ask others

        return AsyncAnthropic(
            api_key=self.settings.api_key,
            base_url=self.settings.base_url or None,
            timeout=self.settings.seconds,
            max_retries=0,
        )

    def body(self, request: Any, messages: list[Message], options: Mapping[str, Any]) -> dict[str, Any]:
        most = request.max_output_tokens or self.settings.most_tokens
        body: dict[str, Any] = {
            "model": request.model or self.settings.model,
            "max_tokens": most,
            "messages": turns(messages),
            **tools_of(request),
            **thinking_of(request, options, most),
        }
        if system := system_blocks(messages):
            body["system"] = system
        if request.temperature is not None and "thinking" not in body:
            body["extra_body"] = {"temperature": request.temperature}  # the SDK has no word for it
        if request.stop:
            body["stop_sequences"] = request.stop
        self._schema = wanted_schema(request.response_format)
        return body

    async def speak(self, body: dict[str, Any], call: ModelCall, *, stream: bool) -> Spoken:
        heard = _Heard(call, stream=stream)
        async with await self.client().messages.create(stream=True, **body) as events:
            async for event in events:
                await heard.hear(event)
        if not heard.finish:
            raise cut_off(self.name, body["model"], answered=call.answered)
        return heard.spoken(self._schema_of(body))

    def _schema_of(self, body: Mapping[str, Any]) -> dict[str, Any] | None:
        found = [tool for tool in body.get("tools", ()) if tool["name"] == ANSWER]
        return self._schema if found else None


class _Heard:
    """Gathers the blocks of one answer as they stream."""

    def __init__(self, call: ModelCall, *, stream: bool) -> None:
        self._call, self._stream = call, stream
        self._blocks: dict[int, dict[str, Any]] = {}
        self._usage: dict[str, int] = {}
        self.finish = ""

    async def hear(self, event: Any) -> None:
        match event.type:
            case "message_start":
                self._call.answered = True
                self._count(event.message.usage)
            case "content_block_start":
                await self._start(event.index, event.content_block.model_dump())
            case "content_block_delta":
                await self._delta(event.index, event.delta)
            case "content_block_stop" if self._stream:
                await self._call.block_end(event.index, self._kind(event.index))
            case "message_delta":
                self.finish = event.delta.stop_reason or self.finish
                self._count(event.usage)

    def _count(self, usage: Any) -> None:
        given = usage.model_dump()
        names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        self._usage.update({name: given[name] for name in names if given.get(name) is not None})
        self._call.counted = self._counted()

    def _counted(self) -> Spoken:
        read = self._usage.get("cache_read_input_tokens", 0)
        write = self._usage.get("cache_creation_input_tokens", 0)
        return Spoken(
            input_tokens=self._usage.get("input_tokens", 0) + read + write,
            output_tokens=self._usage.get("output_tokens", 0),
            cache_read=read,
            cache_write=write,
        )

    def _kind(self, index: int) -> str:
        return _KINDS.get(self._blocks[index]["type"], "text")

    async def _start(self, index: int, block: dict[str, Any]) -> None:
        self._blocks[index] = {**block, "json": ""}
        if self._stream:
            await self._call.block_start(index, self._kind(index), name=block.get("name"))

    async def _delta(self, index: int, delta: Any) -> None:
        block, text = self._blocks[index], ""
        match delta.type:
            case "text_delta":
                text = delta.text
                block["text"] = block.get("text", "") + text
            case "thinking_delta":
                text = delta.thinking
                block["thinking"] = block.get("thinking", "") + text
            case "signature_delta":
                block["signature"] = delta.signature
            case "input_json_delta":
                block["json"] += delta.partial_json
        if text and self._stream:
            await self._call.delta(index, self._kind(index), text)

    def spoken(self, schema: Mapping[str, Any] | None) -> Spoken:
        content: list[dict[str, Any]] = []
        calls: list[dict[str, Any]] = []
        for _, block in sorted(self._blocks.items()):
            match block["type"]:
                case "text":
                    content.append({"type": "text", "text": block["text"]})
                case "thinking":
                    kept = {key: block.get(key) for key in ("type", "thinking", "signature")}
                    content.append(kept)
                case "redacted_thinking":
                    content.append({"type": "redacted_thinking", "data": block["data"]})
                case "tool_use":
                    self._tool(block, schema, content, calls)
        finish = "tool_use" if calls else self.finish
        return replace(self._counted(), content=content, calls=calls, finish=finish)

    def _tool(
        self,
        block: Mapping[str, Any],
        schema: Mapping[str, Any] | None,
        content: list[dict[str, Any]],
        calls: list[dict[str, Any]],
    ) -> None:
        arguments, unread = read_arguments(block["json"], block.get("input"))
        if schema is not None and block["name"] == ANSWER:
            content[:] = [each for each in content if each["type"] != "text"]
            content.append({"type": "text", "text": answered(arguments, schema)})
            return
        calls.append({"id": block["id"], "name": block["name"], "arguments": arguments, **unread})
        content.append({"type": "tool_call", "id": block["id"], "name": block["name"], "input": arguments})


def read_arguments(text: str, given: Any = None) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the arguments of a call; what is no JSON object goes along, for the model to be told."""
    if not text.strip():
        return (given if isinstance(given, dict) else {}), {}
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    return (found, {}) if isinstance(found, dict) else ({}, {"invalid_arguments": text})
