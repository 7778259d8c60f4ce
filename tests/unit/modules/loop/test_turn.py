"""A turn on the real kernel: steps, tools, limits, hooks, and its end whatever happens."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from amplifier_core import HookResult, RateLimitError, ToolResult
from tests.support.kernel_sessions import Lambda, Stage, answering, opened, plan

from amplihack.modules.loop.tool_calls import CANCELLED, UNREAD
from amplihack.sessions.messages import closing_message

pytestmark = pytest.mark.asyncio

CALL_A: dict[str, Any] = {"name": "a", "input": {"x": 1}}
CALL_B: dict[str, Any] = {"name": "b"}


def roles(messages: list[dict[str, Any]]) -> list[str]:
    return [message["role"] for message in messages]


def contents(messages: list[dict[str, Any]], role: str) -> list[Any]:
    return [message["content"] for message in messages if message["role"] == role]


def assert_pairs(messages: list[dict[str, Any]]) -> None:
    """Every call has its result directly behind it, in the order of the calls."""
    index = 0
    while index < len(messages):
        calls = [call["id"] for call in messages[index].get("tool_calls", ())]
        behind = messages[index + 1 : index + 1 + len(calls)]
        assert [message.get("tool_call_id") for message in behind] == calls
        index += 1 + len(calls)


async def test_an_answer_without_tools() -> None:
    async with opened(plan(steps=[{"text": "Hello!"}])) as stage:
        assert await stage.say("hi") == "Hello!"
        asked, answered = await stage.messages()
        assert asked == {"role": "user", "content": "hi"}
        assert (answered["role"], answered["content"]) == ("assistant", "Hello!")


async def test_two_tools_run_side_by_side_and_their_results_keep_the_order() -> None:
    both = asyncio.Barrier(2)  # neither can go on alone

    async def slow(_: dict[str, Any]) -> ToolResult:
        await both.wait()
        await asyncio.sleep(0.05)
        return ToolResult(success=True, output="from a")

    async def quick(_: dict[str, Any]) -> ToolResult:
        await both.wait()
        return ToolResult(success=True, output={"from": "b"})

    steps = [{"text": "Looking.", "tools": [CALL_A, CALL_B]}, {"text": "Done."}]
    async with opened(plan(steps=steps), tools=[Lambda("a", slow), Lambda("b", quick)]) as stage:
        assert await stage.say("go") == "Done."
        messages = await stage.messages()
        assert roles(messages) == ["user", "assistant", "tool", "tool", "assistant"]
        assert contents(messages, "tool") == ["from a", '{"from": "b"}']
        assert messages[1]["tool_calls"] == [
            {"id": "call_1", "tool": "a", "arguments": {"x": 1}},
            {"id": "call_2", "tool": "b", "arguments": {}},
        ]
        assert_pairs(messages)
        groups = {data["parallel_group_id"] for data in stage.recorder.of("tool:pre")}
        assert len(groups) == 1


async def test_no_more_tools_run_at_once_than_allowed() -> None:
    running, most = 0, 0

    async def counted(_: dict[str, Any]) -> ToolResult:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return ToolResult(success=True, output="ok")

    steps = [{"tools": [{"name": "a"}] * 6}, {"text": "Done."}]
    async with opened(
        plan(steps=steps, loop={"max_parallel_tools": 2}), tools=[Lambda("a", counted)]
    ) as stage:
        assert await stage.say("go") == "Done."
    assert most == 2


async def test_the_events_of_a_turn_come_in_order() -> None:
    steps = [{"tools": [CALL_A]}, {"text": "Done."}]
    async with opened(plan(steps=steps), tools=[answering("a", "x")]) as stage:
        await stage.say("go")
        names = [
            name for name in stage.recorder.names() if not name.startswith(("session:", "content_block"))
        ]
        one_call = ["provider:request", "llm:request", "llm:response", "provider:response"]
        names = [name for name in names if not name.startswith("llm:stream")]
        assert names == [
            "execution:start", "prompt:submit", *one_call, "tool:pre", "tool:post", *one_call,
            "prompt:complete", "execution:end", "orchestrator:complete",
        ]  # fmt: skip
        assert stage.recorder.of("orchestrator:complete")[0]["status"] == "success"
        assert stage.recorder.of("tool:post")[0]["result"]["output"] == "x"


async def test_text_streams_in_pieces_that_make_the_answer() -> None:
    text = "word " * 50
    async with opened(plan(steps=[{"thinking": "Hm.", "text": text}])) as stage:
        await stage.say("go")
        deltas = stage.recorder.of("llm:stream_block_delta")
        assert "".join(each["text"] for each in deltas if each["block_type"] == "text") == text
        assert "".join(each["text"] for each in deltas if each["block_type"] == "thinking") == "Hm."
        assert [each["sequence"] for each in deltas] == list(range(1, len(deltas) + 1))


async def test_loop_basic_does_not_stream() -> None:
    async with opened(plan(steps=[{"text": "Hello!"}], orchestrator="loop-basic")) as stage:
        assert await stage.say("go") == "Hello!"
        assert stage.recorder.of("llm:stream_block_delta") == []


async def test_nobody_is_asked_about_a_call_that_cannot_run() -> None:
    steps = [{"tools": [{"name": "nope"}, {"name": "read_file"}]}, {"text": "ok"}]
    async with opened(plan(steps=steps), tools=[answering("read_file", "text")]) as stage:
        await stage.say("go")
        assert [each["tool_name"] for each in stage.recorder.of("tool:pre")] == ["read_file"]
        assert {each["tool_name"] for each in stage.recorder.of("tool:post")} == {"nope", "read_file"}
        assert [each["error"]["type"] for each in stage.recorder.of("tool:error")] == ["UnknownTool"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"name": "nope"}, "There is no tool 'nope'. The tools are: broken, read_file."),
        ({"name": "read-file"}, "Did you mean 'read_file'?"),
        ({"name": "broken"}, "broken failed: it broke"),
    ],
)
async def test_a_tool_that_cannot_run_is_a_result_that_the_model_reads(
    call: dict[str, Any], said: str
) -> None:
    async def broken(_: dict[str, Any]) -> ToolResult:
        raise ValueError("it broke")

    steps = [{"tools": [call]}, {"text": "Sorry."}]
    async with opened(
        plan(steps=steps), tools=[Lambda("broken", broken), answering("read_file", "")]
    ) as stage:
        assert await stage.say("go") == "Sorry."
        assert said in contents(await stage.messages(), "tool")[0]
        assert len(stage.recorder.of("tool:error")) == 1


async def test_a_tool_that_takes_too_long_ends() -> None:
    async def hang(_: dict[str, Any]) -> ToolResult:
        await asyncio.sleep(3600)
        raise AssertionError

    steps = [{"tools": [CALL_A]}, {"text": "Went on."}]
    async with opened(plan(steps=steps, loop={"tool_timeout": 0.05}), tools=[Lambda("a", hang)]) as stage:
        assert await stage.say("go") == "Went on."
        assert contents(await stage.messages(), "tool") == ["a did not end within 0.05 seconds"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SystemExit(3), "a failed and wanted to end the program: 3"),
        (asyncio.CancelledError(), "a failed: it cancelled itself"),
        (TimeoutError("the database did not answer"), "a failed: the database did not answer"),
        (ValueError(), "a failed: ValueError"),
    ],
)
async def test_whatever_a_tool_raises_is_an_answer(error: BaseException, said: str) -> None:
    async def broken(_: dict[str, Any]) -> ToolResult:
        raise error

    steps = [{"tools": [CALL_A]}, {"text": "Went on."}]
    async with opened(plan(steps=steps), tools=[Lambda("a", broken)]) as stage:
        assert await stage.say("go") == "Went on."
        assert contents(await stage.messages(), "tool") == [said]


@pytest.mark.parametrize("given", ["text", {"success": False, "error": {"message": "no"}}, {"k": 1}, None])
async def test_results_in_any_form_reach_the_model(given: Any) -> None:
    async def run(_: dict[str, Any]) -> Any:
        return given

    expected = {"text": "text", "None": "Success"}.get(str(given)) or ('{"k": 1}' if "k" in given else "no")
    async with opened(plan(steps=[{"tools": [CALL_A]}, {"text": "ok"}]), tools=[Lambda("a", run)]) as stage:
        await stage.say("go")
        assert contents(await stage.messages(), "tool") == [expected]


async def test_at_the_limit_of_steps_the_model_answers_without_tools() -> None:
    steps = [{"tools": [CALL_A]}, {"tools": [CALL_A]}, {"text": "So far.", "tools": [CALL_A]}]
    async with opened(plan(steps=steps, loop={"max_iterations": 2}), tools=[answering("a", "x")]) as stage:
        assert await stage.say("go") == "So far."
        assert_pairs(await stage.messages())
        assert stage.recorder.of("orchestrator:complete")[0]["status"] == "incomplete"
        assert any("limit of 2 steps" in line for line in stage.shown.lines)


async def test_a_provider_error_keeps_its_type_and_the_turn_still_ends_in_order() -> None:
    steps = [{"error": {"type": "RateLimitError", "message": "slow down", "retry_after": 3}}]
    async with opened(plan(steps=steps)) as stage:
        with pytest.raises(RuntimeError, match="slow down"):
            await stage.say("go")
        error = stage.coordinator.session_state["last_error"]
        assert isinstance(error, RateLimitError)
        assert stage.recorder.of("provider:error")[0]["retryable"] is True
        assert stage.recorder.of("execution:end")[0]["status"] == "error"


async def test_the_next_provider_answers_when_told_to_fall_back() -> None:
    first = {
        "module": "provider-scripted",
        "config": {"name": "first", "priority": 1, "steps": [{"error": "no"}]},
    }
    second = {"module": "provider-mock", "config": {"name": "second", "steps": [{"text": "I can."}]}}
    mount_plan = {**plan(loop={"fallback": True}), "providers": [first, second]}
    async with opened(mount_plan) as stage:
        assert await stage.say("go") == "I can."
        assert any("first failed" in line for line in stage.shown.lines)


async def test_a_request_that_is_too_long_is_made_shorter_and_sent_once_more() -> None:
    too_long = {"error": {"type": "ContextLengthError", "message": "too long"}}
    steps = [{"tools": [CALL_A]}, too_long, {"text": "Now it fits."}]
    async with opened(plan(steps=steps), tools=[answering("a", "y" * 100_000)]) as stage:
        assert await stage.say("go") == "Now it fits."
        assert stage.recorder.of("context:compaction")[0]["level"] > 0
        assert len(contents(await stage.messages(), "tool")[0]) == 100_000  # what is stored stays whole


# hooks ------------------------------------------------------------------------------------------------


def hook(stage: Stage, event: str, result: Any, *, priority: int = 0) -> None:
    async def answer(_: str, data: dict[str, Any]) -> Any:
        return result(data) if callable(result) else result

    stage.coordinator.hooks.register(event, answer, priority=priority, name=f"{event}-{priority}")


async def test_a_hook_may_refuse_a_tool() -> None:
    ran: list[Any] = []

    async def run(given: dict[str, Any]) -> Any:
        ran.append(given)

    async with opened(plan(steps=[{"tools": [CALL_A]}, {"text": "ok"}]), tools=[Lambda("a", run)]) as stage:
        hook(stage, "tool:pre", HookResult(action="deny", reason="not here"))
        assert await stage.say("go") == "ok"
        assert contents(await stage.messages(), "tool") == ["Denied: not here"]
    assert ran == []


async def test_a_hook_may_change_what_a_tool_gets_and_gives() -> None:
    got: list[Any] = []

    async def run(given: dict[str, Any]) -> ToolResult:
        got.append(given)
        return ToolResult(success=True, output="secret")

    def change(data: dict[str, Any]) -> Any:
        return HookResult(action="modify", data={**data, "tool_input": {"x": 2}})

    def hide(data: dict[str, Any]) -> Any:
        return HookResult(action="modify", data={**data, "result": {"success": True, "output": "***"}})

    async with opened(plan(steps=[{"tools": [CALL_A]}, {"text": "ok"}]), tools=[Lambda("a", run)]) as stage:
        hook(stage, "tool:pre", change)
        hook(stage, "tool:post", hide)
        assert await stage.say("go") == "ok"
        assert contents(await stage.messages(), "tool") == ["***"]
    assert got == [{"x": 2}]


async def test_a_change_that_another_hook_drowns_out_is_found_in_the_state_of_the_session() -> None:
    got: list[Any] = []

    async def run(given: dict[str, Any]) -> ToolResult:
        got.append(given)
        return ToolResult(success=True, output="secret")

    async with opened(plan(steps=[{"tools": [CALL_A]}, {"text": "ok"}]), tools=[Lambda("a", run)]) as stage:
        state = stage.coordinator.session_state
        state["tool_inputs"] = {"call_1": {"x": 3}}
        state["tool_results"] = {"call_1": {"success": True, "output": "***"}}
        note = HookResult(action="inject_context", context_injection="by the way", ephemeral=True)
        hook(stage, "tool:pre", note)
        hook(stage, "tool:post", note)
        assert await stage.say("go") == "ok"
        assert contents(await stage.messages(), "tool") == ["***"]
        assert state["tool_inputs"] == state["tool_results"] == {}
    assert got == [{"x": 3}]


async def test_text_injected_after_a_tool_stands_behind_its_result() -> None:
    steps = [{"tools": [CALL_A, CALL_B]}, {"text": "ok"}]
    async with opened(plan(steps=steps), tools=[answering("a", "x"), answering("b", "y")]) as stage:
        note = HookResult(
            action="inject_context", context_injection="lint: ok", context_injection_role="user"
        )
        hook(stage, "tool:post", note)
        assert await stage.say("go") == "ok"
        messages = await stage.messages()
        assert roles(messages) == ["user", "assistant", "tool", "tool", "user", "user", "assistant"]


async def test_ephemeral_text_is_in_the_next_request_only() -> None:
    steps = [{"expect": "now: 12"}, {"expect": "^again$", "text": "ok"}]
    async with opened(plan(steps=steps)) as stage:
        said = ["now: 12"]

        def once(_: dict[str, Any]) -> Any:
            if not said:
                return HookResult()
            return HookResult(
                action="inject_context",
                context_injection=said.pop(),
                context_injection_role="user",
                ephemeral=True,
            )

        hook(stage, "provider:request", once)
        await stage.say("hello")
        assert await stage.say("again") == "ok"
        assert "now: 12" not in str(await stage.messages())


async def test_a_refused_request_ends_the_turn_and_says_why() -> None:
    async with opened(plan(steps=[{"text": "never"}])) as stage:
        hook(stage, "provider:request", HookResult(action="deny", reason="the budget is spent"))
        assert await stage.say("go") == "Stopped: the budget is spent"
        assert stage.recorder.of("orchestrator:complete")[0]["status"] == "incomplete"


# interruption -----------------------------------------------------------------------------------------


async def until(condition: Any) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


class Hanging:
    """A tool that runs until it is ended, and keeps count."""

    def __init__(self) -> None:
        self.started, self.ended, self.release = 0, 0, asyncio.Event()

    async def run(self, _: dict[str, Any]) -> ToolResult:
        self.started += 1
        try:
            await self.release.wait()
        finally:
            self.ended += 1
        return ToolResult(success=True, output="finished")


async def test_a_graceful_end_lets_running_tools_finish_and_asks_no_more() -> None:
    hanging = Hanging()
    steps = [{"tools": [CALL_A, CALL_B]}, {"text": "never"}]
    async with opened(plan(steps=steps), tools=[Lambda("a", hanging.run), answering("b", "y")]) as stage:
        turn = asyncio.ensure_future(stage.say("go"))
        await until(lambda: hanging.started)
        assert "a" in stage.cancellation.running_tool_names
        stage.cancellation.request_graceful()
        await asyncio.sleep(0.2)
        assert not turn.done()
        hanging.release.set()
        assert await turn == ""
        messages = await stage.messages()
        assert contents(messages, "tool") == ["finished", "y"]
        assert messages[-1]["role"] == "assistant"
        assert_pairs(messages)
        assert stage.recorder.of("execution:end")[0]["status"] == "cancelled"
        assert len(stage.recorder.of("llm:request")) == 1


@pytest.mark.parametrize("way", ["token", "task"])
async def test_an_immediate_end_ends_the_tools_and_every_call_has_a_result(way: str) -> None:
    hanging = Hanging()
    steps = [{"tools": [CALL_B, CALL_A, CALL_A]}, {"text": "Next turn works."}]
    async with opened(plan(steps=steps), tools=[Lambda("a", hanging.run), answering("b", "y")]) as stage:
        turn = asyncio.ensure_future(stage.say("go"))
        await until(lambda: hanging.started == 2 and stage.recorder.of("tool:post"))
        if way == "token":
            stage.cancellation.request_immediate()
        else:
            stage.coordinator.session_state["turn_task"].cancel()
        assert await turn == ""
        assert hanging.ended == 2
        messages = await stage.messages()
        assert_pairs(messages)
        assert contents(messages, "tool")[0] in ("y", UNREAD)  # the hook after it may just have been heard
        assert contents(messages, "tool")[1:] == [CANCELLED, CANCELLED]
        stage.cancellation.reset()
        assert await stage.say("again") == "Next turn works."


async def test_a_call_that_is_cut_off_while_it_is_told_has_an_end() -> None:
    async with opened(plan(steps=[{"text": "late"}])) as stage:

        async def cut(_event: str, _data: dict[str, Any]) -> None:
            stage.coordinator.session_state["turn_task"].cancel()
            await asyncio.sleep(1)

        stage.coordinator.hooks.register("llm:request", cut, priority=900, name="cut")
        assert await stage.say("go") == ""
        assert [each["status"] for each in stage.recorder.of("llm:response")] == ["error"]


@pytest.mark.parametrize("way", ["token", "task"])
async def test_an_immediate_end_cuts_the_answer_of_the_model(way: str) -> None:
    async with opened(plan(steps=[{"delay": 3600, "text": "late"}, {"text": "Again."}])) as stage:
        turn = asyncio.ensure_future(stage.say("go"))
        await until(lambda: stage.recorder.of("llm:request"))
        if way == "token":
            stage.cancellation.request_immediate()
        else:
            stage.coordinator.session_state["turn_task"].cancel()
        assert await turn == ""
        assert stage.recorder.of("llm:response")[0]["status"] == "error"
        stage.cancellation.reset()
        assert await stage.say("again") == "Again."


@pytest.mark.parametrize("way", ["token", "task"])
async def test_what_was_said_before_an_interruption_is_kept_and_marked(way: str) -> None:
    said = "One sentence that everybody sees. And another one that nobody gets to see."
    steps = [{"thinking": "hm", "text": said, "pause": 0.05}, {"expect": "again", "text": "Again."}]
    async with opened(plan(steps=steps)) as stage:
        turn = asyncio.ensure_future(stage.say("go"))
        await until(lambda: any(each["block_type"] == "text" for each in deltas(stage)))
        if way == "token":
            stage.cancellation.request_immediate()
        else:
            stage.coordinator.session_state["turn_task"].cancel()
        assert await turn == ""
        shown = "".join(each["text"] for each in deltas(stage) if each["block_type"] == "text")
        assert 0 < len(shown) < len(said)
        last = (await stage.messages())[-1]
        assert last["content"] == f"{shown}\n\n[interrupted: the answer ends here]"
        assert last["metadata"] == {"interrupted": True}
        stage.cancellation.reset()
        assert await stage.say("again") == "Again."
        assert [each["role"] for each in await stage.messages()] == ["user", "assistant"] * 2


async def test_what_was_said_before_a_tool_is_not_said_again_when_the_tool_is_interrupted() -> None:
    hanging = Hanging()
    steps = [{"text": "I look.", "tools": [CALL_A]}]
    async with opened(plan(steps=steps), tools=[Lambda("a", hanging.run)]) as stage:
        turn = asyncio.ensure_future(stage.say("go"))
        await until(lambda: hanging.started)
        stage.cancellation.request_immediate()
        await turn
        assert (await stage.messages())[-1] == closing_message()


def deltas(stage: Stage) -> list[dict[str, Any]]:
    return stage.recorder.of("llm:stream_block_delta")


async def test_a_message_of_the_user_during_a_turn_is_heard_in_its_next_step() -> None:
    async with opened(
        plan(steps=[{"tools": [CALL_A]}, {"expect": "^use tabs$", "text": "Tabs it is."}])
    ) as stage:
        steer = stage.coordinator.get_capability("session.steer")

        async def run(_: dict[str, Any]) -> str:
            steer("use tabs")
            return "x"

        await stage.coordinator.mount("tools", Lambda("a", run), name="a")
        assert await stage.say("go") == "Tabs it is."
        assert stage.recorder.of("orchestrator:steering_injected")[0]["text"] == "use tabs"


# settings ---------------------------------------------------------------------------------------------


async def test_an_unknown_setting_is_told_with_what_was_meant() -> None:
    async with opened(plan(steps=[{"text": "x"}], loop={"max_iteratons": 3})) as stage:
        assert "did you mean 'max_iterations'?" in stage.shown.lines[0]


@pytest.mark.parametrize("wrong", [{"max_iterations": 0}, {"stream": "yes"}, {"tool_timeout": -1}])
async def test_a_wrong_setting_keeps_the_session_from_opening(wrong: dict[str, Any]) -> None:
    with pytest.raises(RuntimeError, match=next(iter(wrong))):
        async with opened(plan(loop=wrong)):
            pass
