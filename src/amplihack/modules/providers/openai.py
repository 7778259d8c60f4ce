"""Ask models of OpenAI, or of any service that speaks its chat completions: `provider-openai`.

`provider-chat-completions` is the same for a service of your own: it needs a `base_url`, and no key.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any

from amplihack.modules.providers.anthropic import read_arguments
from amplihack.modules.providers.api import ApiProvider, Spoken, read_settings, require_package
from amplihack.modules.providers.api_errors import cut_off
from amplihack.modules.providers.chat_messages import chat_messages, format_of_chat, tools_of_chat
from amplihack.modules.providers.model_events import ModelCall
from amplihack.modules.settings import ModuleSettings
from amplihack.records import replace
from amplihack.sessions.calls import Message

__amplifier_module_type__ = "provider"

_BLOCKS = {"text": 0, "thinking": 1_000}  # where they stand among the blocks of an answer; calls are between
_FINISH = {"stop": "end_turn", "tool_calls": "tool_use", "length": "length"}


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Any:
    return await mount_chat(coordinator, config, module="provider-openai", own_service=False)


async def mount_chat(
    coordinator: Any, config: Mapping[str, Any] | None, *, module: str, own_service: bool
) -> Any:
    require_package("openai", "openai")
    settings = ModuleSettings(coordinator, module, config)
    chosen = read_settings(
        settings,
        name="chat-completions" if own_service else "openai",
        model="" if own_service else "gpt-5",
        key_variable="OPENAI_API_KEY",
        needs_key=not own_service,
        window=32_768 if own_service else 128_000,
    )
    if own_service and not (chosen.base_url and chosen.model):
        settings.wrong("'base_url' and 'default_model' are needed: where the service is, and which model")
    priority = settings.count("priority", 100, least=0)
    settings.done()
    provider = ChatProvider(coordinator, chosen, own_service=own_service)
    provider.priority = priority
    await coordinator.mount("providers", provider, name=provider.name)
    return provider.close


class ChatProvider(ApiProvider):
    package = "openai"
    display_name = "OpenAI"

    def __init__(self, coordinator: Any, settings: Any, *, own_service: bool) -> None:
        super().__init__(coordinator, settings)
        self._own_service = own_service

    def connect(self) -> Any:
        from openai import AsyncOpenAI  # deferred: takes up to a second, and many sessions ask others

        return AsyncOpenAI(
            api_key=self.settings.api_key or "none",
            base_url=self.settings.base_url or None,
            timeout=self.settings.seconds,
            max_retries=0,
        )

    def body(self, request: Any, messages: list[Message], options: Mapping[str, Any]) -> dict[str, Any]:
        del options
        limit = "max_tokens" if self._own_service else "max_completion_tokens"
        body: dict[str, Any] = {
            "model": request.model or self.settings.model,
            "messages": chat_messages(messages),
            limit: request.max_output_tokens or self.settings.most_tokens,
            **tools_of_chat(request),
            **format_of_chat(request.response_format),
        }
        if request.temperature is not None:
            body["extra_body"] = {"temperature": request.temperature}  # in front of that of the settings
        if request.reasoning_effort:
            body["reasoning_effort"] = request.reasoning_effort
        if request.stop:
            body["stop"] = request.stop
        return body

    async def speak(self, body: dict[str, Any], call: ModelCall, *, stream: bool) -> Spoken:
        heard = _Heard(call, stream=stream)
        asked = self.client().chat.completions.create(
            stream=True, stream_options={"include_usage": True}, **body
        )
        async with await asked as chunks:
            async for chunk in chunks:
                await heard.hear(chunk)
        if not heard.finish:
            raise cut_off(self.name, body["model"], answered=call.answered)
        await heard.end()
        return heard.spoken()


def _named(delta: Any, *names: str) -> Any:
    """Return a field that the SDK may not know: services of one's own have more than it does."""
    return next((found for name in names if (found := getattr(delta, name, None))), None)


def _words(content: Any) -> str:
    """Return the text of a piece; some services send it in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


class _Heard:
    """Gathers the text and the calls of one answer as they stream."""

    def __init__(self, call: ModelCall, *, stream: bool) -> None:
        self._call, self._stream = call, stream
        self._texts: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._places: dict[int | None, int] = {}  # where the latest call is that a service gave a number
        self._open = ""  # the kind of the block that streams now
        self._refused = False
        self._usage: Any = None
        self.finish = ""

    async def hear(self, chunk: Any) -> None:
        self._call.answered = True
        self._usage = chunk.usage or self._usage
        if self._usage is not None:
            self._call.counted = self._counted()
        for choice in chunk.choices[:1]:
            self.finish = choice.finish_reason or self.finish
            if thought := _words(_named(choice.delta, "reasoning_content", "reasoning")):
                await self._say("thinking", thought)
            if refusal := _words(_named(choice.delta, "refusal")):
                self._refused = True
                await self._say("text", refusal)
            if text := _words(choice.delta.content):
                await self._say("text", text)
            for call in choice.delta.tool_calls or ():
                await self._tool(call)

    async def _say(self, kind: str, text: str) -> None:
        """Pass on a piece. Thoughts are shown and not kept: no service takes them back."""
        if kind == "text":
            self._texts.append(text)
        if self._stream:
            if self._open != kind:
                await self.end()
                await self._call.block_start(_BLOCKS[kind], kind)
                self._open = kind
            await self._call.delta(_BLOCKS[kind], kind, text)

    async def _tool(self, call: Any) -> None:
        place = self._place(call)
        known = self._calls.setdefault(place, {"id": "", "name": "", "arguments": ""})
        known["id"] = call.id or known["id"]
        function = call.function
        if function is not None:
            new = bool(function.name and not known["name"])
            known["name"] = known["name"] or function.name or ""
            given = function.arguments or ""
            known["arguments"] += given if isinstance(given, str) else json.dumps(given)
            if new and self._stream:
                await self._call.block_start(place + 1, "tool_use", name=known["name"])
                await self._call.block_end(place + 1, "tool_use")

    def _place(self, piece: Any) -> int:
        """Return which call a piece belongs to: some services number all of them 0, or none."""
        place = self._places.get(piece.index)
        begun = self._calls.get(-1 if place is None else place, {}).get("id")
        if place is None or (begun and piece.id and piece.id != begun):
            place = self._places[piece.index] = len(self._calls)
        return place

    async def end(self) -> None:
        if self._open:
            await self._call.block_end(_BLOCKS[self._open], self._open)
        self._open = ""

    def spoken(self) -> Spoken:
        content: list[dict[str, Any]] = []
        calls: list[dict[str, Any]] = []
        if text := "".join(self._texts):
            content.append({"type": "text", "text": text})
        for _, call in sorted(self._calls.items()):
            call_id = call["id"] or f"call_{uuid.uuid4().hex[:12]}"
            arguments, unread = read_arguments(call["arguments"])
            calls.append({"id": call_id, "name": call["name"], "arguments": arguments, **unread})
            content.append({"type": "tool_call", "id": call_id, "name": call["name"], "input": arguments})
        finish = "refusal" if self._refused else _FINISH.get(self.finish, self.finish)
        finish = "tool_use" if calls else finish
        return replace(self._counted(), content=content, calls=calls, finish=finish)

    def _counted(self) -> Spoken:
        """Return what the service told of its usage; many tell it at the end, some never."""
        usage = self._usage
        details = getattr(usage, "prompt_tokens_details", None)
        thought = getattr(usage, "completion_tokens_details", None)
        return Spoken(
            input_tokens=getattr(usage, "prompt_tokens", 0) or 0,
            output_tokens=getattr(usage, "completion_tokens", 0) or 0,
            cache_read=getattr(details, "cached_tokens", None),
            reasoning=getattr(thought, "reasoning_tokens", None),
        )
