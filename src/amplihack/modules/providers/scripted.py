"""Answer from a script, for tests, demos and replays: `provider-scripted`, also as `provider-mock`.

`steps` are given one after the other, and rules with `when` in front of them whenever they fit:

    config:
      steps:
        - tools: [{name: read_file, input: {file_path: notes.md}}]
        - text: Done.
      rules:
        - {when: hello, text: "Hello!"}     # a pattern that the last message of the user contains
      at_end: repeat                        # after the last step: repeat it, `error` (the default), or `echo`

Each answer carries a mark of the steps up to it, so that the script goes on after the last one that a resumed
conversation holds. A script whose beginning was changed meanwhile is another one, and begins.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from typing import Any

import amplifier_core as kernel
from amplifier_core import ChatResponse, InvalidRequestError, ModelInfo, ProviderInfo, Usage

from amplihack.documents.suggest import closest
from amplihack.modules.failures import failure
from amplihack.modules.providers.model_events import ModelEvents
from amplihack.modules.settings import ModuleSettings
from amplihack.records import Record
from amplihack.sessions.calls import calls_of, is_real_user_message, text_of
from amplihack.sessions.tokens import estimate_tokens, text_tokens

__amplifier_module_type__ = "provider"

_SHAPES = {
    "text": "a text",
    "thinking": "a text",
    "tools": "a list of {name, input}",
    "error": "a text or {type, message}",
    "delay": "a number of seconds",
    "pause": "a number of seconds",
    "usage": "a mapping",
    "expect": "a pattern",
    "when": "a pattern",
}
_MODEL = "scripted-1"
_MARK = "scripted"  # in the metadata of an answer
_PIECE = 32  # characters in one piece of a streamed text


class ScriptedStep(Record, kw_only=True):
    """What the model says at one point."""

    text: str = ""
    thinking: str = ""
    tools: tuple[Mapping[str, Any], ...] = ()
    error: Mapping[str, Any] | None = None
    delay: float = 0.0
    pause: float = 0.0  # after each piece of a streamed text
    usage: Mapping[str, Any] | None = None
    expect: str = ""
    when: str = ""


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    settings = ModuleSettings(coordinator, "provider-scripted", config)
    steps = [_step(settings, each) for each in settings.entries("steps")]
    steps += [ScriptedStep(text=text) for text in settings.texts("responses")]
    rules = [_step(settings, each) for each in settings.entries("rules")]
    if any(not rule.when for rule in rules):
        settings.wrong("each of 'rules' needs 'when'")
    provider = ScriptedProvider(
        coordinator,
        steps,
        rules,
        name=settings.text("name", "scripted"),
        at_end=settings.choice("at_end", "error" if steps else "echo", ("error", "repeat", "echo")),
        window=settings.count("context_window", 200_000),
    )
    provider.priority = settings.count("priority", 100, least=0)
    settings.done()
    await coordinator.mount("providers", provider, name=provider.name)


def _step(settings: ModuleSettings, given: Mapping[str, Any]) -> ScriptedStep:
    for name in given.keys() - _SHAPES.keys():
        meant = closest(name, _SHAPES)
        settings.wrong(
            f"a step has the unknown field {name!r}" + (f" (did you mean {meant!r}?)" if meant else "")
        )
    known = {key: value for key, value in given.items() if key in _SHAPES and value is not None}
    if isinstance(known.get("error"), str):
        known["error"] = {"message": known["error"]}
    for name, value in known.items():
        if not _fits(name, value):
            settings.wrong(f"{name!r} must be {_SHAPES[name]}, not {value!r:.80}")
            return ScriptedStep()
    return ScriptedStep(**{**known, "tools": tuple(known.get("tools", ()))})


def _fits(name: str, value: object) -> bool:
    match name:
        case "tools":
            return isinstance(value, list) and all(
                isinstance(each, dict) and "name" in each for each in value
            )
        case "error" | "usage":
            return isinstance(value, dict)
        case "delay" | "pause":
            return isinstance(value, int | float) and value >= 0
        case _:
            return isinstance(value, str)


class ScriptedProvider:
    """A model that says what it is told to. Calls get ids in order, so that runs are alike."""

    default_model = _MODEL

    def __init__(
        self,
        coordinator: Any,
        steps: list[ScriptedStep],
        rules: list[ScriptedStep],
        *,
        name: str = "scripted",
        at_end: str = "error",
        window: int = 200_000,
    ) -> None:
        self.name, self.priority = name, 100
        self._steps, self._rules, self._at_end, self._window = steps, rules, at_end, window
        self._events = ModelEvents(coordinator, name, _MODEL)
        self._marks = _marks(steps)
        self._next = self._calls = 0

    def get_info(self) -> Any:
        defaults = {"model": _MODEL, "context_window": self._window, "max_output_tokens": 4_096}
        return ProviderInfo(
            id=self.name, display_name="Scripted", capabilities=["tools", "streaming"], defaults=defaults
        )

    async def list_models(self) -> list[Any]:
        return [
            ModelInfo(
                id=_MODEL, display_name="Scripted", context_window=self._window, max_output_tokens=4_096
            )
        ]

    async def complete(self, request: Any, **ignored: Any) -> Any:
        del ignored
        messages = [message.model_dump(exclude_none=True) for message in request.messages]
        self._go_on(messages)
        step, mark = self._choose(messages)
        async with self._events.call(messages) as call:
            await asyncio.sleep(step.delay)
            if step.error:
                raise _error(step.error, self.name)
            content = self._content(step)
            if request.stream:
                await self._stream(call, content, step.pause)
            call.usage = _usage(step, messages)
        calls = [
            {"id": block["id"], "name": block["name"], "arguments": block["input"]}
            for block in content
            if block["type"] == "tool_call"
        ]
        reason = "tool_use" if calls else "end_turn"
        return ChatResponse(
            content=content,
            tool_calls=calls or None,
            usage=call.usage,
            finish_reason=reason,
            metadata={_MARK: mark} if mark else None,
        )

    def parse_tool_calls(self, response: Any) -> list[Any]:
        return list(response.tool_calls or ())

    def _go_on(self, messages: list[dict[str, Any]]) -> None:
        """Go on behind what an earlier process has answered, with ids that it has not given."""
        given = {_mark_of(each) for each in messages}
        known = [index for index, mark in enumerate(self._marks, 1) if mark in given]
        self._next = max(self._next, *known[-1:], 0)
        if not self._calls:
            self._calls = sum(len(calls_of(each)) for each in messages)

    def _choose(self, messages: list[dict[str, Any]]) -> tuple[ScriptedStep, str]:
        """Return what is said now, and its mark; rules have none."""
        said = next((text_of(each) for each in reversed(messages) if is_real_user_message(each)), "")
        for rule in self._rules:
            if re.search(rule.when, said, re.IGNORECASE):
                return rule, ""
        index, self._next = self._next, self._next + 1
        step = self._in_order(index, said)
        last = text_of(messages[-1]) if messages else ""
        if step.expect and not re.search(step.expect, last):
            what = f"the script expected {step.expect!r} in the last message, which is: {last:.300}"
            raise failure(InvalidRequestError, what, fix="correct the script", provider=self.name)
        return step, self._marks[index] if index < len(self._marks) else ""

    def _in_order(self, index: int, said: str) -> ScriptedStep:
        if index < len(self._steps):
            return self._steps[index]
        if self._at_end == "repeat" and self._steps:
            return self._steps[-1]
        if self._at_end == "echo":
            return ScriptedStep(text=said)
        what = f"the script of {self.name} has {len(self._steps)} steps, and this is question {index + 1}"
        fix = "add a step, or set at_end: repeat"
        raise failure(InvalidRequestError, what, fix=fix, provider=self.name)

    def _content(self, step: ScriptedStep) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = []
        if step.thinking:
            blocks.append({"type": "thinking", "thinking": step.thinking, "signature": "scripted"})
        if step.text or not step.tools:
            blocks.append({"type": "text", "text": step.text})
        for tool in step.tools:
            self._calls += 1
            blocks.append(
                {
                    "type": "tool_call",
                    "id": str(tool.get("id") or f"call_{self._calls}"),
                    "name": str(tool.get("name", "")),
                    "input": dict(tool.get("input") or {}),
                }
            )
        return blocks

    async def _stream(self, call: Any, content: list[dict[str, Any]], pause: float) -> None:
        for index, block in enumerate(content):
            kind = "tool_use" if block["type"] == "tool_call" else block["type"]
            await call.block_start(index, kind, name=block.get("name"))
            text = block.get("text") or block.get("thinking") or ""
            for start in range(0, len(text), _PIECE):
                await call.delta(index, kind, text[start : start + _PIECE])
                await asyncio.sleep(pause)
            await call.block_end(index, kind)


def _marks(steps: Sequence[ScriptedStep]) -> list[str]:
    """Return a mark for each step, which tells it and all before it."""
    found: list[str] = []
    for step in steps:
        said = json.dumps([found[-1:], step.text, step.thinking, step.tools, step.error], default=str)
        found.append(sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16])
    return found


def _mark_of(message: Mapping[str, Any]) -> Any:
    metadata = message.get("metadata")
    return metadata.get(_MARK) if isinstance(metadata, Mapping) else None


def _usage(step: ScriptedStep, messages: list[dict[str, Any]]) -> Any:
    given = dict(step.usage or {})
    input_tokens = int(given.pop("input_tokens", estimate_tokens(messages)))
    output_tokens = int(given.pop("output_tokens", text_tokens(step.text + step.thinking) + 1))
    cost = given.pop("cost_usd", None)
    try:
        exact = None if cost is None else Decimal(str(cost))
    except InvalidOperation:
        what = f"cost_usd in the script is no number: {cost!r}"
        raise failure(InvalidRequestError, what, fix="write it as text, such as '0.01'") from None
    return Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        total_tokens=input_tokens + output_tokens,
        cost_usd=exact,
        **given,
    )


def _error(given: Mapping[str, Any], provider: str) -> Exception:
    """Return the kernel's error of this `type`, such as RateLimitError; LLMError if it names none."""
    found = getattr(kernel, str(given.get("type", "LLMError")), None)
    kind = found if isinstance(found, type) and issubclass(found, kernel.LLMError) else kernel.LLMError
    options = {key: given[key] for key in ("retryable", "retry_after", "status_code") if key in given}
    error: Exception = kind(str(given.get("message", "scripted failure")), provider=provider, **options)
    return error
