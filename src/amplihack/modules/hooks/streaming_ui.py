"""Show a session as it happens: text as it streams, tools in a line each: `hooks-streaming-ui`."""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TextIO, TypeAlias

from amplifier_core import HookResult

from amplihack.modules.settings import ModuleSettings
from amplihack.records import Record
from amplihack.system.colour import use_colours
from amplihack.system.home import this_process
from amplihack.system.terminal_text import for_terminal

__amplifier_module_type__ = "hook"

Handler: TypeAlias = Callable[[str, Mapping[str, Any]], Awaitable[Any]]

_NAME = "hooks-streaming-ui"
_LONGEST = 100


class DisplaySettings(Record, kw_only=True):
    thinking: bool
    tools: bool
    usage: bool


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Any:
    """Mount the display. It writes to `display.stream` of the host, or to stderr.

    A host that shows sessions itself offers `display.listener`: it is called with each event and its data,
    and nothing is written.
    """
    also = {"show_thinking_stream": "show_thinking"}
    settings = ModuleSettings(coordinator, _NAME, config, also=also, groups=("ui",))
    chosen = DisplaySettings(
        thinking=settings.flag("show_thinking", default=True),
        tools=settings.flag("show_tools", default=True),
        usage=settings.flag("show_token_usage", default=True),
    )
    settings.done()
    display = StreamingDisplay(coordinator, chosen)
    handlers: dict[str, Handler] = {
        "llm:stream_block_start": display.on_block_start,
        "llm:stream_block_delta": display.on_delta,
        "llm:stream_block_end": display.on_block_end,
        "llm:stream_aborted": display.on_aborted,
        "content_block:end": display.on_block,
        "tool:pre": display.on_tool,
        "tool:post": display.on_result,
        "provider:retry": display.on_retry,
        "execution:end": display.on_end,
    }
    listener = coordinator.get_capability("display.listener")
    if callable(listener):
        handlers = dict.fromkeys(handlers, _handed_on(listener))
    ends = [
        coordinator.hooks.register(event, handler, priority=100, name=f"{_NAME}-{event}")
        for event, handler in handlers.items()
    ]

    def close() -> None:
        for end in ends:
            end()

    return close


def _handed_on(listener: Callable[[str, Mapping[str, Any]], None]) -> Handler:
    async def hand_on(event: str, data: Mapping[str, Any]) -> Any:
        listener(event, data)
        return HookResult()

    return hand_on


class StreamingDisplay:
    def __init__(self, coordinator: Any, settings: DisplaySettings) -> None:
        self._coordinator, self._settings = coordinator, settings
        self._streamed = False  # text of the current answer is on the screen already
        self._at_start = True
        self._tokens = [0, 0]

    async def on_block_start(self, event: str, data: Mapping[str, Any]) -> Any:
        del event
        if data.get("block_type") == "thinking" and self._settings.thinking:
            self._write("thinking: ", data, dim=True)
        return HookResult()

    async def on_delta(self, event: str, data: Mapping[str, Any]) -> Any:
        del event
        thinking = data.get("block_type") == "thinking"
        if not thinking or self._settings.thinking:
            self._streamed = self._streamed or not thinking
            self._write(str(data.get("text", "")), data, dim=thinking)
        return HookResult()

    async def on_block_end(self, event: str, data: Mapping[str, Any]) -> Any:
        del event
        self._new_line(data)
        return HookResult()

    async def on_aborted(self, event: str, data: Mapping[str, Any]) -> Any:
        del event
        self._new_line(data)
        self._line("the answer broke off", data, dim=True)
        self._streamed = False
        return HookResult()

    async def on_block(self, event: str, data: Mapping[str, Any]) -> Any:
        """Show the text of a provider that does not stream."""
        del event
        block = data.get("block")
        usage = data.get("usage")
        if isinstance(block, Mapping) and block.get("type") == "text" and not self._streamed:
            self._write(str(block.get("text", "")), data)
            self._new_line(data)
        if isinstance(usage, Mapping) and data.get("block_index") == 0:
            self._tokens[0] += usage.get("input_tokens") or 0
            self._tokens[1] += usage.get("output_tokens") or 0
        if data.get("block_index") == (data.get("total_blocks") or 0) - 1:
            self._streamed = False
        return HookResult()

    async def on_tool(self, event: str, data: Mapping[str, Any]) -> Any:
        del event
        if self._settings.tools:
            self._line(f"→ {data.get('tool_name')} {_brief(data.get('tool_input'))}", data, dim=True)
        return HookResult()

    async def on_result(self, event: str, data: Mapping[str, Any]) -> Any:
        del event
        result = data.get("result")
        if self._settings.tools and isinstance(result, Mapping):
            mark = "✓" if result.get("success") else "✗"
            said = "" if result.get("success") else f": {_brief(result.get('output'))}"
            self._line(
                f"{mark} {data.get('tool_name')} {data.get('duration_ms', 0)} ms{said}", data, dim=True
            )
        return HookResult()

    async def on_retry(self, event: str, data: Mapping[str, Any]) -> Any:
        del event
        error = data.get("error")
        why = error.get("msg") if isinstance(error, Mapping) else error
        self._line(
            f"{data.get('provider')} is asked again in {data.get('delay', 0):.1f} s: {_brief(why)}", data
        )
        return HookResult()

    async def on_end(self, event: str, data: Mapping[str, Any]) -> Any:
        del event
        self._new_line(data)
        if self._settings.usage and any(self._tokens):
            self._line(f"{self._tokens[0]} tokens in, {self._tokens[1]} out", data, dim=True)
        self._tokens = [0, 0]
        return HookResult()

    def _stream(self) -> TextIO:
        found = self._coordinator.get_capability("display.stream")
        stream: TextIO = sys.stderr if found is None else found
        return stream

    def _line(self, text: str, data: Mapping[str, Any], *, dim: bool = False) -> None:
        self._new_line(data)
        self._write(text.replace("\n", " "), data, dim=dim)
        self._new_line(data)

    def _new_line(self, data: Mapping[str, Any]) -> None:
        if not self._at_start:
            self._write("\n", data)

    def _write(self, text: str, data: Mapping[str, Any], *, dim: bool = False) -> None:
        """Write text. What a model or a tool says never controls the terminal."""
        clean = for_terminal(text)
        if not clean:
            return
        stream, margin = self._stream(), "  " if data.get("parent_id") else ""
        if margin:
            clean = (margin if self._at_start else "") + re.sub(r"\n(?=.)", f"\n{margin}", clean)
        self._at_start = clean.endswith("\n")
        environment, _ = this_process()
        if dim and use_colours("auto", environment, is_terminal=stream.isatty()):
            clean = f"\x1b[2m{clean}\x1b[0m"
        stream.write(clean)
        stream.flush()


def _brief(value: Any) -> str:
    if isinstance(value, Mapping):
        value = ", ".join(f"{name}={each}" for name, each in value.items())
    line = " ".join(str(value or "").split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
