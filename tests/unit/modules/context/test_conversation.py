from __future__ import annotations

from typing import Any

import pytest
from tests.support.kernel_sessions import answering, opened, plan

from amplihack.modules.context.conversation import ContextSettings, Conversation
from amplihack.sessions.tokens import estimate_tokens

pytestmark = pytest.mark.asyncio


class Heard:
    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        self.events.append((event, data))


class Window:
    """A provider with a window of this many tokens."""

    def __init__(self, window: int) -> None:
        self.defaults = {"context_window": window, "max_output_tokens": 1_000}

    def get_info(self) -> Any:
        return self


async def filled(heard: Heard, **settings: Any) -> Conversation:
    conversation = Conversation(ContextSettings(**settings), heard.emit)
    for number in range(20):
        await conversation.add_message({"role": "user", "content": f"{number} " + "word " * 400})
        await conversation.add_message({"role": "assistant", "content": "yes " * 400})
    return conversation


async def test_a_request_stays_below_the_window_and_what_was_said_stays_whole() -> None:
    heard = Heard()
    conversation = await filled(heard)
    sent = await conversation.get_messages_for_request(provider=Window(8_000))
    assert estimate_tokens(sent) <= 3_000  # half of what is left besides the answer
    assert len(await conversation.get_messages()) == 40
    assert [event for event, _ in heard.events] == [
        "context:pre_compact", "context:compaction", "context:post_compact",
    ]  # fmt: skip
    facts = heard.events[1][1]
    assert facts["before_messages"] == 40
    assert facts["after_tokens"] < facts["before_tokens"]


async def test_nothing_is_lost_while_it_fits() -> None:
    heard = Heard()
    conversation = await filled(heard)
    assert len(await conversation.get_messages_for_request(provider=Window(200_000))) == 40
    assert heard.events == []


async def test_compaction_can_be_switched_off() -> None:
    conversation = await filled(Heard(), enabled=False)
    assert len(await conversation.get_messages_for_request(provider=Window(2_000))) == 40


async def test_the_count_of_the_provider_corrects_the_estimate() -> None:
    heard = Heard()
    conversation = await filled(heard)
    sent = estimate_tokens(await conversation.get_messages_for_request(provider=Window(200_000)))
    await conversation.on_response("provider:response", {"usage": {"input_tokens": sent * 3}})
    again = await conversation.get_messages_for_request(token_budget=sent * 2)
    assert heard.events  # by our own estimate it would have fitted
    assert estimate_tokens(again) * 3 <= sent * 2


async def test_nobody_can_change_the_conversation_through_what_it_hands_out() -> None:
    conversation = Conversation(ContextSettings(), Heard().emit)
    mine = {"role": "user", "content": [{"type": "text", "text": "a"}]}
    await conversation.add_message(mine)
    mine["content"][0]["text"] = "b"  # type: ignore[index]
    (await conversation.get_messages())[0]["content"][0]["text"] = "c"
    (await conversation.get_messages_for_request())[0]["content"][0]["text"] = "d"
    assert (await conversation.get_messages())[0]["content"][0]["text"] == "a"


async def test_the_system_text_comes_fresh_and_stored_ones_are_left_out_but_those_of_hooks() -> None:
    conversation = Conversation(ContextSettings(), Heard().emit)
    texts = iter(["first", "second"])

    async def factory() -> str:
        return next(texts)

    await conversation.set_system_prompt_factory(factory)
    await conversation.add_message({"role": "system", "content": "old"})
    await conversation.add_message({"role": "system", "content": "hook", "metadata": {"source": "hook"}})
    for expected in ("first", "second"):
        sent = [each["content"] for each in await conversation.get_messages_for_request()]
        assert sent == [expected, "hook"]


async def test_a_result_of_five_megabytes_does_not_raise_the_next_request_above_the_budget() -> None:
    steps = [{"tools": [{"name": "a"}]}, {"text": "ok"}]
    given = plan(steps=steps, provider={"context_window": 20_000})
    async with opened(given, tools=[answering("a", "x" * 5_000_000)]) as stage:
        assert await stage.say("go") == "ok"
        facts = stage.recorder.of("context:compaction")[0]
        assert facts["fits"] is True
        usage = stage.recorder.of("llm:response")[1]["usage"]
        assert usage["input_tokens"] < 20_000


async def test_the_user_is_told_once_and_again_when_not_even_the_rest_fits() -> None:
    async with opened(plan(steps=[{"text": "ok"}] * 5, context={"max_tokens": 1_000})) as stage:
        for prompt in ("short", "word " * 400, "a word " * 300, "short again", "word " * 3_000):
            await stage.say(prompt)
        told = [line for line in stage.shown.lines if "context-simple" in line]
    assert told[0].startswith("warning context-simple: the conversation is longer than its budget: of about ")
    assert "does not fit its budget, although it is cut" in told[-1]
    assert len(told) == len(set(told))
