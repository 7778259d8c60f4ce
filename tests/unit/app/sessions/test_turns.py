"""Turns that fail, hang, flood or are cancelled leave a session that goes on."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Sequence
from typing import Any

import pytest
from amplifier_core.llm_errors import RateLimitError, StreamError
from tests.support.ecosystem import House

from amplihack.sessions.diagnosis import diagnose_transcript
from amplihack.sessions.errors import SessionError, TurnCancelled
from amplihack.system.kernel import turn
from amplihack.system.kernel.session import LiveSession

TOOLS = """
import asyncio
from amplifier_core import ToolResult


class Hang:
    name, description, input_schema = "hang", "Waits for ever.", {"type": "object"}
    started, ended = 0, []

    async def execute(self, input_data):
        Hang.started += 1
        try:
            await asyncio.sleep(3600)
        finally:
            Hang.ended.append("ended")


class Stubborn:
    name, description, input_schema = "stubborn", "Does not let itself be cancelled.", {"type": "object"}
    free = False

    async def execute(self, input_data):
        while not Stubborn.free:
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                pass
        return ToolResult(success=True, output="at last")


class Raise:
    name, description, input_schema = "raise", "Raises.", {"type": "object"}

    async def execute(self, input_data):
        raise ZeroDivisionError("by the tool")


class Exit:
    name, description, input_schema = "exit", "Exits.", {"type": "object"}

    async def execute(self, input_data):
        raise SystemExit(3)


class Flood:
    name, description, input_schema = "flood", "Says a lot.", {"type": "object"}

    async def execute(self, input_data):
        return ToolResult(success=True, output="x" * 5_000_000)


async def mount(coordinator, config=None):
    for tool in (Hang(), Stubborn(), Raise(), Exit(), Flood()):
        await coordinator.mount("tools", tool, name=tool.name)
"""


@pytest.fixture
def wild(house: House) -> House:
    house.add("tools", "tool-wild", TOOLS)
    return house


async def healthy(session: LiveSession) -> list[str]:
    """Return the roles of a conversation that every provider would take."""
    messages = await session.messages()
    assert diagnose_transcript(messages)["status"] == "healthy"
    return [each["role"] for each in messages]


def test_the_error_of_a_provider_keeps_its_type_and_its_fields(house: House) -> None:
    async def story() -> None:
        async with (await house.prepare()).create_session() as session:
            with pytest.raises(RateLimitError, match="slow down") as caught:
                await session.execute("fail")
            assert caught.value.retry_after == 3.0
            with pytest.raises(StreamError, match="broke off"):
                await session.execute("die in mid-stream")
            assert await session.execute("go on") == "you said: go on"

    asyncio.run(story())


def test_a_tool_that_raises_fails_its_turn_and_not_the_session(wild: House) -> None:
    async def story() -> None:
        async with (await wild.prepare()).create_session() as session:
            with pytest.raises(ZeroDivisionError, match="by the tool"):
                await session.execute("call raise")
            with pytest.raises(SessionError, match=r"SystemExit\(3\)"):
                await session.execute("call exit")
            assert await session.execute("go on") == "you said: go on"
            assert "tool" in await healthy(session)

    asyncio.run(story())


def test_an_immediate_cancel_ends_the_tool_and_answers_its_call(wild: House) -> None:
    async def story() -> None:
        async with (await wild.prepare()).create_session() as session:
            running = asyncio.ensure_future(session.execute("call hang"))
            await _until(lambda: _tool(session, "hang").started == 1)
            assert await session.cancel(immediate=True)
            with pytest.raises(TurnCancelled):
                await running
            assert _tool(session, "hang").ended == ["ended"]
            assert await healthy(session) == ["user", "assistant", "tool", "assistant"]
            assert await session.execute("go on") == "you said: go on"

    asyncio.run(story())


def test_cancelling_whoever_waits_ends_the_turn_first(wild: House) -> None:
    async def story() -> None:
        async with (await wild.prepare()).create_session() as session:
            running = asyncio.ensure_future(session.execute("call hang"))
            await _until(lambda: _tool(session, "hang").started == 1)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert _tool(session, "hang").ended == ["ended"]
            assert await session.execute("go on") == "you said: go on"

    asyncio.run(story())


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("by", ["whoever waits", "the session"])
def test_a_turn_that_is_cancelled_before_it_began_asks_nobody_and_leaves_nothing_behind(
    wild: House, steps: int, by: str
) -> None:
    """Whatever the kernel has begun is awaited: what is not would be told when it is thrown away."""

    async def story() -> None:
        async with (await wild.prepare()).create_session() as session:
            began = asyncio.Event()

            async def slowly(event: str, data: dict[str, Any]) -> None:
                began.set()
                for _ in range(steps):
                    await asyncio.sleep(0)

            session.coordinator.hooks.register("session:start", slowly)
            running = asyncio.ensure_future(session.execute("call hang"))
            await began.wait()
            if by == "the session":
                assert await session.cancel(immediate=True)
                with pytest.raises(TurnCancelled, match=r"^the turn was cancelled$"):
                    await running
            else:
                running.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await running
            assert _tool(session, "hang").started == 0
            gc.collect()
            assert await session.execute("go on") == "you said: go on"

    asyncio.run(story())


def test_a_deadline_of_the_caller_ends_the_turn(wild: House) -> None:
    async def story() -> None:
        async with (await wild.prepare()).create_session() as session:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await session.execute("call hang")
            assert _tool(session, "hang").ended == ["ended"]

    asyncio.run(story())


def test_a_graceful_cancel_lets_the_loop_stop_by_itself(wild: House) -> None:
    async def story() -> None:
        async with (await wild.prepare()).create_session() as session:
            running = asyncio.ensure_future(session.execute("call stubborn"))
            await asyncio.sleep(0.1)
            assert not await session.cancel()
            type(_tool(session, "stubborn")).free = True
            assert await running == "stopped"
            assert await healthy(session) == ["user", "assistant", "tool", "assistant"]

    asyncio.run(story())


def test_a_tool_that_does_not_stop_is_told_and_no_turn_is_laid_over_it(
    wild: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn, "_PATIENCE", 0.2)

    async def story() -> None:
        async with (await wild.prepare()).create_session() as session:
            running = asyncio.ensure_future(session.execute("call stubborn"))
            await asyncio.sleep(0.1)
            assert not await session.cancel(immediate=True)
            type(_tool(session, "stubborn")).free = True
            with pytest.raises(TurnCancelled):
                await running
            await asyncio.sleep(0.05)
            assert await session.execute("go on") == "you said: go on"
            assert await healthy(session)

    asyncio.run(story())


def test_the_next_turn_is_refused_while_the_last_one_runs_on(
    wild: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn, "_PATIENCE", 0.2)

    async def story() -> None:
        async with (await wild.prepare()).create_session() as session:
            running = asyncio.ensure_future(session.execute("call stubborn"))
            await asyncio.sleep(0.1)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            with pytest.raises(SessionError, match="has not ended"):
                await session.execute("go on")
            type(_tool(session, "stubborn")).free = True
            await asyncio.sleep(0.1)
            assert await session.execute("go on") == "you said: go on"

    asyncio.run(story())


def test_two_turns_at_once_run_one_after_the_other(house: House) -> None:
    async def story() -> None:
        async with (await house.prepare()).create_session() as session:
            answers = await asyncio.gather(*(session.execute(f"number {each}") for each in range(5)))
            assert answers == [f"you said: number {each}" for each in range(5)]
            assert await healthy(session) == ["user", "assistant"] * 5

    asyncio.run(story())


def test_a_tool_that_floods_is_only_long(wild: House) -> None:
    async def story() -> None:
        async with (await wild.prepare()).create_session() as session:
            assert len(await session.execute("call flood")) > 5_000_000

    asyncio.run(story())


def test_closing_a_session_ends_its_turn(wild: House) -> None:
    async def story() -> None:
        session = await (await wild.prepare()).create_session()
        running = asyncio.ensure_future(session.execute("call hang"))
        await _until(lambda: _tool(session, "hang").started == 1)
        await session.cleanup()
        with pytest.raises(TurnCancelled):
            await running
        assert _tool_ended(session) == ["ended"]

    asyncio.run(story())


# approvals -------------------------------------------------------------------------------------------------

ASKING = """
from amplifier_core import HookResult


async def mount(coordinator, config=None):
    async def ask(event, data):
        options = (config or {}).get("options", ["Allow once", "Allow always", "Deny"])
        return HookResult(action="ask_user", approval_prompt="Run the tool?", approval_options=options,
                          approval_timeout=(config or {}).get("timeout", 5.0))

    coordinator.hooks.register("tool:pre", ask, name="hooks-asking")
"""


class Host:
    """Answers as it was told to, and counts how often it was asked."""

    def __init__(self, *answers: str | float) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def request_approval(
        self,
        prompt: str,
        options: Sequence[str],
        timeout: float,  # noqa: ASYNC109 - the kernel calls it so
        default: str,
    ) -> str:
        assert prompt == "Run the tool?"
        assert options
        assert timeout
        assert default == "deny"
        self.asked += 1
        answer = self.answers.pop(0)
        if isinstance(answer, float):
            await asyncio.sleep(answer)
            return "Allow once"
        return answer


def asked(house: House, host: Host | None, times: int, **config: Any) -> tuple[list[str], list[str]]:
    """Return what became of the calls, and the approval events."""
    house.add("hooks", "hooks-asking", ASKING, config=config)
    events: list[str] = []

    async def story() -> list[str]:
        async with (await house.prepare()).create_session(approval_system=host) as session:

            async def hear(event: str, _: dict[str, Any]) -> None:
                events.append(event)

            for event in ("approval:required", "approval:granted", "approval:denied"):
                session.coordinator.hooks.register(event, hear)
            return [await session.execute("call echo x") for _ in range(times)]

    return asyncio.run(story()), events


def test_an_answer_in_words_of_its_own_is_a_consent(house: House) -> None:
    answers, events = asked(house, Host("Approve"), 1, options=["Approve", "Reject"])
    assert "x in" in answers[0]
    assert events == ["approval:required", "approval:granted"]


def test_a_host_need_not_be_awaited(house: House) -> None:
    class AtOnce(Host):
        def request_approval(self, *_: Any) -> str:  # type: ignore[override] # what a simple program writes
            return "Allow once"

    answers, _ = asked(house, AtOnce(), 1)
    assert "x in" in answers[0]


def test_always_is_remembered_for_the_session(house: House) -> None:
    host = Host("Allow always")
    answers, events = asked(house, host, 3)
    assert all("x in" in each for each in answers)
    assert host.asked == 1
    assert events == ["approval:required", *["approval:granted"] * 3]


def test_no_is_a_no(house: House) -> None:
    answers, events = asked(house, Host("Deny"), 1)
    assert "denied" in answers[0]
    assert events == ["approval:required", "approval:denied"]


@pytest.mark.parametrize("said", ["No", "not now", "", "allow never", "don't allow", "Reject"])
def test_whatever_is_no_consent_is_a_no_without_a_word_of_the_kernel(
    house: House, capfd: pytest.CaptureFixture[str], said: str
) -> None:
    answers, events = asked(house, Host(said), 1)
    assert "denied" in answers[0]
    assert events == ["approval:required", "approval:denied"]
    assert "unexpected decision" not in "".join(capfd.readouterr())


def test_nobody_who_answers_in_time_is_the_default(house: House) -> None:
    answers, events = asked(house, Host(30.0), 1, timeout=0.1)
    assert "denied" in answers[0]
    assert events == ["approval:required", "approval:denied"]


def test_without_anybody_to_ask_the_answer_is_no(house: House) -> None:
    answers, events = asked(house, None, 1)
    assert "denied" in answers[0]
    assert events == []


def _tool(session: LiveSession, name: str) -> Any:
    return session.coordinator.get("tools")[name]


def _tool_ended(session: LiveSession) -> list[str]:
    import amplifier_module_tool_wild as wild  # type: ignore[import-not-found] # made by the test

    found: list[str] = wild.Hang.ended
    assert session is not None
    return found


async def _until(condition: Any) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


# hooks that hang --------------------------------------------------------------------------------------------

HANGING = """
import asyncio
from amplifier_core import HookResult
async def mount(coordinator, config=None):
    state = coordinator.session_state
    async def hang(event, data):
        if state.get("hang") == event:
            state.pop("hang")
            state["hangs"].set()
            await asyncio.sleep(1000)
        return HookResult(action="continue")
    for event in (config or {})["events"]:
        coordinator.hooks.register(event, hang, name=f"hang-{event}")
"""
EVENTS = [
    "session:start", "prompt:submit", "execution:start", "provider:request", "llm:request",
    "llm:stream_block_delta", "llm:response", "provider:response", "content_block:end", "tool:pre",
    "tool:post", "prompt:complete", "execution:end", "orchestrator:complete", "cancel:requested",
]  # fmt: skip
SHIPPED = """\
---
bundle: {{name: shipped}}
session: {{orchestrator: loop-streaming, context: context-simple}}
providers: [{{module: provider-scripted, config: {{at_end: repeat, steps: {steps}}}}}]
tools: [{{module: tool-todo}}]
hooks: [{{module: hooks-hanging, source: ./modules/hooks-hanging, config: {{events: {events}}}}}]
---
"""


# Cancelled before the loop has begun, the kernel leaves coroutines that it never started.
@pytest.mark.filterwarnings("ignore:.*was never awaited")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("event", EVENTS)
def test_a_turn_in_which_a_hook_hangs_can_be_cancelled_and_another_begins(
    house: House, monkeypatch: pytest.MonkeyPatch, event: str
) -> None:
    monkeypatch.setattr("amplihack.modules.loop.interruption._LAST_WORDS", 0.2)
    monkeypatch.setattr("amplihack.system.kernel.session._AROUND", 0.2)
    house.add("hooks", "hooks-hanging", HANGING)
    steps = [{"text": "I look.", "tools": [{"name": "todo", "input": {"action": "list"}}]}, {"text": "done"}]
    house.file.write_text(SHIPPED.format(steps=json.dumps(steps), events=json.dumps(EVENTS)))

    async def story() -> None:
        async with (await house.prepare(strict=True)).create_session() as session:
            state = session.coordinator.session_state
            state["hang"] = "tool:pre" if event == "cancel:requested" else event
            state["hangs"] = asyncio.Event()
            turn = asyncio.ensure_future(session.execute("go"))
            async with asyncio.timeout(30):
                await state["hangs"].wait()
                if event == "cancel:requested":
                    state["hang"] = event
                assert await session.cancel(immediate=True)
                with pytest.raises(TurnCancelled):
                    await turn
            said = await session.messages()
            assert diagnose_transcript(said)["status"] == "healthy"
            assert [each["role"] for each in said[:1]] in ([], ["user"])
            assert await session.execute("again") == "done"

    asyncio.run(story())


@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("raise SystemExit(3)", r"wanted to end the program: SystemExit\(3\)"),
        ("raise asyncio.CancelledError", "cancelled its own call"),
    ],
)
def test_a_provider_that_exits_or_cancels_itself_fails_its_turn_and_nothing_else(
    house: House, does: str, told: str
) -> None:
    """An answer of nothing would look like one, and an exit would be the host's."""
    house.change("{module: loop-plain, source: ./modules/loop-plain}", "{module: loop-streaming}")
    house.change("{module: context-memory, source: ./modules/context-memory}", "{module: context-simple}")
    file = house.directory / "modules/provider-scripted/amplifier_module_provider_scripted/__init__.py"
    known = 'if words[0] == "fail":'
    odd = f'if words[0] == "odd":\n            {does}\n        {known}'
    file.write_text(file.read_text().replace(known, odd))

    async def story() -> None:
        async with (await house.prepare(strict=True)).create_session() as session:
            with pytest.raises(SessionError, match=told):
                await session.execute("odd")
            assert await session.execute("hello") == "you said: hello"

    asyncio.run(story())
