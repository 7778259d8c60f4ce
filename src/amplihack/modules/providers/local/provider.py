"""Provide a local model: what it is asked, and what its words mean."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

from amplifier_core import (
    ChatResponse,
    ConfigurationError,
    ContextLengthError,
    LLMError,
    ModelInfo,
    ProviderInfo,
    Usage,
)

from amplihack.errors import AmplihackError
from amplihack.modules.failures import failure
from amplihack.modules.notices import tell
from amplihack.modules.providers.local.engine import Chunk, Engine, engine_for
from amplihack.modules.providers.local.protocol import Answer, FinalText, Protocol
from amplihack.modules.providers.model_events import ModelCall, ModelEvents
from amplihack.records import Record
from amplihack.system.home import Home, this_process
from amplihack.system.local_models.weights import LoadedFile, chosen_weights

_USUAL_WINDOW = 4_096
# Without it a small model says one sentence until its limit. Only what is long and was said just now counts:
# repeating a name, a line of code or the prompt is fine.
_AGAINST_CIRCLES = {"dry_multiplier": 0.8, "dry_allowed_length": 12, "dry_penalty_last_n": 512}


class LocalSettings(Record, kw_only=True):
    model: str  # a name of the catalogue, or the path of a GGUF file; empty: the best that is here
    window: int
    most_tokens: int
    threads: int  # 0: one less than there are cores
    temperature: Any


class LocalProvider:
    def __init__(self, coordinator: Any, settings: LocalSettings, *, name: str) -> None:
        self.name, self.priority = name, 100
        self._settings, self._coordinator = settings, coordinator
        self._events = ModelEvents(coordinator, name, settings.model or "local")

    @property
    def default_model(self) -> str:
        return self._settings.model

    def get_info(self) -> Any:
        defaults = {
            "model": self._settings.model,
            "context_window": self._window,
            "max_output_tokens": min(self._settings.most_tokens, self._window // 2),
        }
        return ProviderInfo(
            id=self.name,
            display_name="Local model",
            capabilities=["tools", "streaming", "local", "json_mode"],
            defaults=defaults,
        )

    @property
    def _window(self) -> int:
        return self._settings.window or _USUAL_WINDOW

    async def list_models(self) -> list[Any]:
        """Return the models whose weights are here."""
        from amplihack.system.local_models.store import models_here  # deferred: few ask

        return [
            ModelInfo(
                id=model.name,
                display_name=model.name,
                context_window=model.window,
                max_output_tokens=self._settings.most_tokens,
                capabilities=["tools", "local", "json_mode"],
            )
            for model in models_here(_home())
        ]

    async def complete(self, request: Any, **ignored: Any) -> Any:
        del ignored
        weights = self._weights(request.model)
        self._events.model = weights.name
        async with self._events.call(request.messages) as call:
            engine = await self._engine(weights)
            protocol = Protocol.of(request)
            body = {
                "messages": protocol.messages,
                "max_tokens": min(request.max_output_tokens or self._settings.most_tokens, self._window // 2),
                "temperature": self._settings.temperature
                if request.temperature is None
                else request.temperature,
                "cache_prompt": True,
            }
            if protocol.schema is None:
                body |= _AGAINST_CIRCLES
            else:
                body["response_format"] = {
                    "type": "json_schema",
                    "json_schema": {"name": "answer", "schema": protocol.schema},
                }
            text, last = await self._generate(engine, body, call, protocol, stream=bool(request.stream))
            call.usage = _usage(last)
        answer = protocol.read(text, cut=last.cut)
        return self._response(answer, call.usage)

    def parse_tool_calls(self, response: Any) -> list[Any]:
        return list(response.tool_calls or ())

    def _weights(self, model: str | None) -> LoadedFile:
        try:
            return chosen_weights(_home(), model or self._settings.model)
        except AmplihackError as error:
            raise failure(ConfigurationError, error.what, fix=error.fix, provider=self.name) from error

    async def _engine(self, weights: LoadedFile) -> Engine:
        try:
            return await engine_for(weights, window=self._window, threads=self._settings.threads)
        except AmplihackError as error:
            raise failure(ConfigurationError, error.what, fix=error.fix, provider=self.name) from error

    async def _generate(
        self, engine: Engine, body: dict[str, Any], call: ModelCall, protocol: Protocol, *, stream: bool
    ) -> tuple[str, Chunk]:
        """Return the whole text and the last word about it, and tell of the text as it comes."""
        shown, parts, last = FinalText(wrapped=protocol.wraps_text), [], Chunk()
        if stream:
            await call.block_start(0, "text")
        async for chunk in engine.generate(body):
            if chunk.error:
                raise self._failed(chunk)
            parts.append(chunk.text)
            last = chunk.after(last)
            if stream and (new := shown.feed(chunk.text)):
                await call.delta(0, "text", new)
        if stream:
            await call.block_end(0, "text")
        return "".join(parts), last

    def _failed(self, chunk: Chunk) -> Exception:
        if "exceed_context_size" in chunk.error or "context size" in chunk.error:
            fix = "set a larger context_window in the config of provider-local, or ask for less"
            return failure(ContextLengthError, chunk.error, fix=fix, provider=self.name)
        return failure(LLMError, f"the local model failed: {chunk.error}", fix="", provider=self.name)

    def _response(self, answer: Answer, usage: Any) -> Any:
        content: list[dict[str, Any]] = []
        calls: list[dict[str, Any]] = []
        if answer.tool:
            call = {"id": f"call_{uuid.uuid4().hex[:12]}", "name": answer.tool, "arguments": answer.arguments}
            calls.append(call)
            content.append(
                {"type": "tool_call", "id": call["id"], "name": answer.tool, "input": answer.arguments}
            )
        else:
            content.append({"type": "text", "text": answer.text})
        if answer.cut:  # small models often find no end of their own: it is told, and no failure of the turn
            tell(
                self._coordinator, "provider-local", "the answer was cut at its limit of tokens (max_tokens)"
            )
        reason = "tool_use" if calls else "end_turn"
        return ChatResponse(content=content, tool_calls=calls or None, usage=usage, finish_reason=reason)


def _usage(last: Chunk) -> Any:
    return Usage(
        input_tokens=last.input_tokens,
        output_tokens=last.output_tokens,
        total_tokens=last.input_tokens + last.output_tokens,
        cost_usd=Decimal(),
    )


def _home() -> Home:
    return Home.from_environment(*this_process())
