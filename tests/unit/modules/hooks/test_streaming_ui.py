from __future__ import annotations

import io
from typing import Any

import pytest
from tests.support.kernel_sessions import answering, opened, plan

pytestmark = pytest.mark.asyncio


async def screen(steps: list[Any], *, loop: str = "loop-streaming", **config: Any) -> str:
    stream = io.StringIO()
    given = plan(steps=steps, orchestrator=loop, hooks=[{"module": "hooks-streaming-ui", "config": config}])
    async with opened(given, tools=[answering("a", "x")], capabilities={"display.stream": stream}) as stage:
        await stage.say("go")
    return stream.getvalue()


STEPS = [
    {"text": "Looking.", "tools": [{"name": "a", "input": {"x": 1}}]},
    {"thinking": "Hm.", "text": "Done."},
]


async def test_text_and_tools_are_shown_in_order_and_once() -> None:
    shown = await screen(STEPS, show_token_usage=False)
    lines = shown.splitlines()
    assert lines[0] == "Looking."
    assert lines[1] == "→ a x=1"
    assert lines[2].startswith("✓ a ")
    assert lines[3:] == ["thinking: Hm.", "Done."]


async def test_without_streaming_the_text_is_shown_all_the_same() -> None:
    shown = await screen(STEPS, loop="loop-basic", show_token_usage=False)
    assert shown.count("Looking.") == 1
    assert shown.count("Done.") == 1


async def test_parts_can_be_switched_off() -> None:
    shown = await screen(STEPS, show_thinking=False, show_tools=False, show_token_usage=False)
    assert shown == "Looking.\nDone.\n"


async def test_the_tokens_of_a_turn_are_shown() -> None:
    usage = {"input_tokens": 10, "output_tokens": 5}
    shown = await screen([{"text": "Hi.", "usage": usage}])
    assert shown == "Hi.\n10 tokens in, 5 out\n"


async def test_what_a_model_says_never_controls_the_terminal() -> None:
    shown = await screen([{"text": "a\x1b]0;title\x07b\x1b[2Jc\u202ed\rx\ny"}], show_token_usage=False)
    assert shown == "a]0;titleb[2Jcdx\ny\n"
