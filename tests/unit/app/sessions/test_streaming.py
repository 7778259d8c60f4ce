"""A program hears what happens in a turn while it happens."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest
from amplifier_core import LLMError
from tests.support.ecosystem import House

from amplihack.sessions.happenings import Happening, Hearing

SHIPPED = """\
---
bundle: {name: shipped}
session: {orchestrator: loop-streaming, context: context-simple}
providers:
  - module: provider-scripted
    config:
      steps:
        - text: I look.
          tools: [{name: todo, input: {action: list}}]
          usage: {input_tokens: 3, output_tokens: 4}
        - {thinking: Hm., text: It is empty.}
        - {error: {message: the line is dead, type: NetworkError}}
tools: [{module: tool-todo}]
---
"""


@pytest.fixture
def shipped(house: House) -> House:
    house.file.write_text(SHIPPED)
    return house


async def heard(house: House, *prompts: str) -> list[list[Happening]]:
    async with (await house.prepare()).create_session() as session:
        return [[each async for each in session.stream(prompt)] for prompt in prompts]


def test_text_tools_and_usage_are_told_in_order_and_once(shipped: House) -> None:
    (events,) = asyncio.run(heard(shipped, "look"))
    kinds = [each.kind for each in events]
    assert kinds.index("text") < kinds.index("tool_start") < kinds.index("tool_end")
    assert kinds[-1] == "done"
    assert events[-1].text == "It is empty."
    said = "".join(each.text for each in events if each.kind == "text")
    assert said == "I look.It is empty."
    assert "".join(each.text for each in events if each.kind == "thinking") == "Hm."
    (ended,) = [each for each in events if each.kind == "tool_end"]
    assert (ended.tool, ended.ok) == ("todo", True)
    assert next(each.given["input_tokens"] for each in events if each.kind == "usage") == 3
    assert kinds.count("usage") == 2


def test_an_error_of_the_turn_arrives_after_what_was_told(shipped: House) -> None:
    async def story() -> None:
        async with (await shipped.prepare()).create_session() as session:
            await session.execute("look")
            with pytest.raises(LLMError, match="the line is dead"):
                async for _ in session.stream("and now"):
                    pass
            assert not [
                each for each in session.coordinator.hooks.list_handlers("tool:pre") if "stream" in each
            ]

    asyncio.run(story())


def test_a_loop_that_tells_nothing_is_heard_at_its_end(house: House) -> None:
    (events,) = asyncio.run(heard(house, "hello"))
    assert [(each.kind, each.text) for each in events if each.kind in ("text", "done")] == [
        ("text", "you said: hello"),
        ("done", "you said: hello"),
    ]


def test_whoever_stops_listening_ends_the_turn(house: House, tmp_path: Path) -> None:
    code = f"""
        import asyncio, pathlib
        class Endless:
            name, description, input_schema = "endless", "Never ends.", {{"type": "object"}}
            async def execute(self, input_data):
                try:
                    await asyncio.sleep(1000)
                finally:
                    pathlib.Path({str(tmp_path / "ended")!r}).touch()
        async def mount(coordinator, config=None):
            await coordinator.mount("tools", Endless(), name="endless")
    """
    house.add("tools", "tool-endless", code)

    async def story() -> None:
        async with (await house.prepare()).create_session() as session:
            async with aclosing(session.stream("call endless")) as events:
                async for each in events:
                    if each.kind == "tool_start":
                        break
            assert (tmp_path / "ended").exists()
            assert await session.execute("hello") == "you said: hello"

    asyncio.run(story())


def test_what_was_streamed_is_not_told_again() -> None:
    told: list[Happening] = []
    hear = Hearing(told.append)
    block = {"block": {"type": "text", "text": "Good"}, "block_index": 0, "total_blocks": 1}
    hear("llm:stream_block_delta", {"block_type": "text", "text": "Good"})
    hear("content_block:end", block)
    assert [each.text for each in told if each.kind == "text"] == ["Good"]
    hear("content_block:end", block)
    assert [each.text for each in told if each.kind == "text"] == ["Good", "Good"]
    for event in ("llm:response", "provider:response", "provider:response"):
        hear(event, {"usage": {"input_tokens": 1}})
    assert [each.kind for each in told].count("usage") == 2
