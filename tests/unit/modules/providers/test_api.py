"""Providers over real HTTP and with the real SDKs, against a server on 127.0.0.1."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from typing import Any

import pytest
from amplifier_core import (
    AuthenticationError,
    ChatRequest,
    ContextLengthError,
    InvalidRequestError,
    Message,
    NetworkError,
    ProviderUnavailableError,
    QuotaExceededError,
    RateLimitError,
    StreamError,
)
from tests.support.kernel_sessions import answering, opened, plan
from tests.support.model_server import BreakOff, Garble, ModelServer, Refuse, Say, Stream, Turn, UseTool

from amplihack.sessions.spending import spent
from amplihack.sessions.usage import usage_of

pytestmark = pytest.mark.asyncio

SERVICES = ["provider-anthropic", "provider-openai", "provider-chat-completions"]
FREE = {"input_per_million": "3", "output_per_million": "15", "cache_read_per_million": "0.3"}


@pytest.fixture(autouse=True)
def no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def on_service(
    service: str, server: ModelServer, config: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    url = server.url if service == "provider-anthropic" else f"{server.url}/v1"
    chosen = {"api_key": "dummy", "base_url": url, "default_model": "test-model", "max_retry_delay": 0.05}
    module = {"module": service, "config": {**chosen, **(config or {})}}
    return {**plan(**more), "providers": [module]}


@pytest.mark.parametrize("service", SERVICES)
async def test_an_answer_streams_and_is_counted(service: str) -> None:
    with ModelServer(Say("Hello from the wire.")) as server:
        async with opened(on_service(service, server, {"pricing": FREE})) as stage:
            assert await stage.say("hi") == "Hello from the wire."
            streamed = "".join(each["text"] for each in stage.recorder.of("llm:stream_block_delta"))
            assert streamed == "Hello from the wire."
            usage = stage.recorder.of("llm:response")[0]["usage"]
            assert usage["output_tokens"] == 7
            cost = await stage.coordinator.collect_contributions("session.cost")
            # 11 new tokens, and for one of them 3 from its cache
            assert cost == [{"cost_usd": "0.0001389" if service == "provider-anthropic" else "0.000138"}]
        assert server.last.body["model"] == "test-model"


@pytest.mark.parametrize("service", SERVICES)
async def test_a_tool_call_and_its_result_go_over_the_wire(service: str) -> None:
    with ModelServer(UseTool("clock", {"zone": "UTC"}), Say("It is noon.")) as server:
        async with opened(on_service(service, server), tools=[answering("clock", "12:00")]) as stage:
            assert await stage.say("What time is it?") == "It is noon."
            assert stage.recorder.of("tool:pre")[0]["tool_input"] == {"zone": "UTC"}
        first, second = server.asked
        assert "clock for tests" in first.text
        sent = second.body["messages"]
        if service == "provider-anthropic":
            assert [block["type"] for block in sent[1]["content"]] == ["tool_use"]
            assert sent[2]["content"][0]["type"] == "tool_result"
            assert sent[2]["content"][0]["content"] == "12:00"
        else:
            assert json.loads(sent[1]["tool_calls"][0]["function"]["arguments"]) == {"zone": "UTC"}
            assert sent[2] == {"role": "tool", "tool_call_id": "call_1", "content": "12:00"}


@pytest.mark.parametrize("service", SERVICES)
async def test_arguments_that_are_no_json_are_told_to_the_model(service: str) -> None:
    with ModelServer(UseTool("clock", {}, raw='{"zone": '), Say("Sorry.")) as server:
        async with opened(on_service(service, server), tools=[answering("clock", "12:00")]) as stage:
            assert await stage.say("go") == "Sorry."
            results = [each["content"] for each in await stage.messages() if each["role"] == "tool"]
            assert "the arguments are no JSON object" in results[0]


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(
    "trouble",
    [
        Refuse(429, "slow down", {"retry-after": "0"}),
        Refuse(529, "overloaded", {"retry-after-ms": "1"}),
        Refuse(503, "down"),
        BreakOff("half an answer that never ends"),
        Garble(),
    ],
    ids=["rate limit", "overloaded", "unavailable", "cut stream", "malformed"],
)
async def test_what_passes_is_tried_again(service: str, trouble: Turn) -> None:
    with ModelServer(trouble, Say("At last.")) as server:
        async with opened(on_service(service, server)) as stage:
            assert await stage.say("go") == "At last."
            assert len(stage.recorder.of("provider:retry")) == 1
            assert [each["status"] for each in stage.recorder.of("llm:response")] == ["error", "ok"]
        assert len(server.asked) == 2


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(
    ("trouble", "kind", "asked"),
    [
        (Refuse(401, "bad key"), AuthenticationError, 1),
        (Refuse(400, "prompt is too long: maximum context"), ContextLengthError, 2),
        (Refuse(400, "bad request"), InvalidRequestError, 1),
        (Refuse(429, "slow down", {"retry-after": "0"}), RateLimitError, 3),
        (Refuse(529, "overloaded"), ProviderUnavailableError, 3),
        (BreakOff("half an answer that never ends"), StreamError, 3),
        (Garble(), StreamError, 3),
    ],
    ids=["key", "too long", "wrong", "rate limit", "overloaded", "cut stream", "malformed"],
)
async def test_what_stays_is_an_error_of_its_own_kind(
    service: str, trouble: Turn, kind: type, asked: int
) -> None:
    with ModelServer(trouble) as server:
        async with opened(on_service(service, server, {"max_retries": 2})) as stage:
            with pytest.raises(RuntimeError):
                await stage.say("go")
            error: Exception = stage.coordinator.session_state["last_error"]
            assert type(error).__name__ == kind.__name__
            assert error.__cause__ is not None or isinstance(error, StreamError)
        assert len(server.asked) == asked


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "prompt is too long: 300000 tokens > 200000 maximum", ContextLengthError),
        (400, "input length and `max_tokens` exceed context limit: 1 + 2 > 3", ContextLengthError),
        (400, "This model's maximum context length is 8192 tokens.", ContextLengthError),
        (400, "Your input exceeds the context window of this model.", ContextLengthError),
        (400, "the request exceeds the available context size", ContextLengthError),
        (422, "Please reduce the length of the messages.", ContextLengthError),
        (413, "Request exceeds the maximum size", ContextLengthError),
        (400, "Your credit balance is too low", QuotaExceededError),
        (402, "Payment required", QuotaExceededError),
        (429, "You exceeded your current quota, please check your plan", QuotaExceededError),
        (400, "max_tokens: 9 > 8, which is the maximum allowed", InvalidRequestError),
    ],
)
async def test_the_words_of_services_are_understood(
    service: str, status: int, message: str, kind: type
) -> None:
    with ModelServer(Refuse(status, message)) as server:
        async with opened(on_service(service, server, {"max_retries": 2})) as stage:
            with pytest.raises(RuntimeError):
                await stage.say("go")
            assert type(stage.coordinator.session_state["last_error"]).__name__ == kind.__name__
        assert len(server.asked) == (2 if kind is ContextLengthError else 1)


@pytest.mark.parametrize("service", SERVICES)
async def test_a_cut_stream_is_told_as_one_and_not_as_a_service_that_is_not_there(service: str) -> None:
    with ModelServer(BreakOff("half an answer that never ends")) as server:
        async with opened(on_service(service, server, {"max_retries": 0})) as stage:
            with pytest.raises(RuntimeError, match="broke off"):
                await stage.say("go")


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("api_error", ProviderUnavailableError),
        ("overloaded_error", ProviderUnavailableError),
        ("rate_limit_error", RateLimitError),
        ("invalid_request_error", InvalidRequestError),
    ],
)
async def test_an_error_in_the_middle_of_a_stream_is_what_the_service_calls_it(
    kind: str, error: type
) -> None:
    broken = Stream((("error", {"type": "error", "error": {"type": kind, "message": "no"}}),))
    with ModelServer(broken, Say("At last.")) as server:
        async with opened(on_service("provider-anthropic", server)) as stage:
            if error is InvalidRequestError:
                with pytest.raises(RuntimeError):
                    await stage.say("go")
                assert isinstance(stage.coordinator.session_state["last_error"], error)
            else:
                assert await stage.say("go") == "At last."
                assert stage.recorder.of("provider:retry")[0]["error"]["type"] == error.__name__


@pytest.mark.parametrize(
    ("service", "stop", "why"),
    [
        ("provider-anthropic", "max_tokens", "limit of tokens"),
        ("provider-anthropic", "refusal", "refused"),
        ("provider-openai", "length", "limit of tokens"),
        ("provider-chat-completions", "content_filter", "filter"),
    ],
)
async def test_an_answer_that_was_cut_short_is_no_success(service: str, stop: str, why: str) -> None:
    with ModelServer(Say("This is only half of", stop=stop)) as server:
        async with opened(on_service(service, server)) as stage:
            assert await stage.say("go") == "This is only half of"
            (ending,) = stage.recorder.of("orchestrator:complete")
            assert ending["status"] == "incomplete"
            assert why in ending["metadata"]["reason"]


async def test_calls_that_a_service_gives_one_number_are_told_apart_by_their_ids() -> None:
    def piece(call: str | None, name: str | None, arguments: str) -> tuple[str, dict[str, Any]]:
        function = {"name": name, "arguments": arguments}
        calls = [{"index": 0, "id": call, "type": "function", "function": function}]
        return _chunk({"tool_calls": calls})

    pieces = (piece("a", "clock", '{"zone"'), piece(None, None, ': "UTC"}'), piece("b", "clock", "{}"))
    both = Stream((*pieces, _chunk({}, "tool_calls")))
    with ModelServer(both, Say("Noon.")) as server:
        tools = [answering("clock", "12:00")]
        async with opened(on_service("provider-openai", server), tools=tools) as stage:
            assert await stage.say("go") == "Noon."
            given = {each["tool_call_id"]: each["tool_input"] for each in stage.recorder.of("tool:pre")}
            assert given == {"a": {"zone": "UTC"}, "b": {}}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> tuple[str, dict[str, Any]]:
    frame = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "test-model"}
    return "delta", {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


async def test_a_service_may_say_with_a_date_how_long_to_wait() -> None:
    then = format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True)
    with ModelServer(Refuse(429, "slow down", {"retry-after": then})) as server:
        async with opened(on_service("provider-openai", server)) as stage:
            with pytest.raises(RuntimeError):
                await stage.say("go")
            error = stage.coordinator.session_state["last_error"]
            assert 3600 < error.retry_after <= 7200
        assert len(server.asked) == 1


async def test_what_is_told_of_a_wait_is_the_wait_that_the_service_asks_for() -> None:
    with ModelServer(Refuse(429, "slow down", {"retry-after": "0.04"}), Say("At last.")) as server:
        async with opened(on_service("provider-openai", server, {"max_retry_delay": 0.05})) as stage:
            await stage.say("go")
            assert stage.recorder.of("provider:retry")[0]["delay"] >= 0.04


async def test_what_an_answer_took_that_broke_off_is_counted_as_far_as_it_was_told() -> None:
    with ModelServer(BreakOff("half an answer that never ends"), Say("At last.")) as server:
        async with opened(on_service("provider-anthropic", server, {"pricing": FREE})) as stage:
            assert await stage.say("go") == "At last."
            broken, whole = [each["usage"] for each in stage.recorder.of("llm:response")]
            assert (broken["input_tokens"], broken["output_tokens"]) == (14, 1)
            assert (whole["input_tokens"], whole["output_tokens"]) == (14, 7)
            (cost,) = await stage.coordinator.collect_contributions("session.cost")
            assert Decimal(cost["cost_usd"]) == Decimal(broken["cost_usd"]) + Decimal(whole["cost_usd"])


@pytest.mark.parametrize("turn", [BreakOff("half an answer"), Say("Whole.", counted=False)])
async def test_what_nobody_has_told_is_unknown_and_never_nothing(turn: Turn) -> None:
    with ModelServer(turn, Say("At last.")) as server:
        given = on_service("provider-openai", server, {"pricing": FREE})
        async with opened(given) as stage:
            await stage.say("go")
            unknown = stage.recorder.of("llm:response")[0]
            assert (unknown["usage"], unknown["usage_unknown"]) == (None, True)
            used = usage_of(unknown)
            assert (used.uncounted, used.to_dict()["input_tokens"], used.cost_usd) == (1, None, None)
            if isinstance(turn, BreakOff):  # and was asked again
                whole = stage.recorder.of("llm:response")[1]
                assert "usage_unknown" not in whole
                both = used.plus(usage_of(whole))
                assert spent(both).startswith("2 calls of models, at least 11 tokens in, 7 out, cost at le")
            else:
                assert spent(used) == "1 call of models, tokens unknown, cost unknown"


async def test_what_was_refused_is_not_paid_for() -> None:
    with ModelServer(Refuse(429, "slow down"), Say("Now.")) as server:
        async with opened(on_service("provider-openai", server)) as stage:
            await stage.say("go")
            refused = stage.recorder.of("llm:response")[0]
            assert usage_of(refused).uncounted == 0


@pytest.mark.parametrize("service", SERVICES)
async def test_a_wait_that_the_service_asks_for_is_told(service: str) -> None:
    with ModelServer(Refuse(429, "slow down", {"retry-after": "0.02"}), Say("ok")) as server:
        async with opened(on_service(service, server)) as stage:
            await stage.say("go")
            assert stage.recorder.of("provider:retry")[0]["error"]["type"] == "RateLimitError"


@pytest.mark.parametrize("service", SERVICES)
async def test_a_wait_that_is_too_long_is_told_and_not_waited_for(service: str) -> None:
    with ModelServer(Refuse(429, "slow down", {"retry-after": "3600"}), Say("ok")) as server:
        async with opened(on_service(service, server)) as stage:
            with pytest.raises(RuntimeError, match="it asks to wait 3600 s"):
                await stage.say("go")
            error = stage.coordinator.session_state["last_error"]
            assert (type(error).__name__, error.retry_after) == ("RateLimitError", 3600)
        assert len(server.asked) == 1


@pytest.mark.parametrize("service", SERVICES)
async def test_a_page_of_a_browser_is_no_answer(service: str) -> None:
    with ModelServer(Garble("<html>Welcome</html>")) as server:
        async with opened(on_service(service, server)) as stage:
            with pytest.raises(RuntimeError, match="no answer of a model; check base_url"):
                await stage.say("go")


@pytest.mark.parametrize("service", SERVICES)
async def test_an_address_that_is_none_is_refused_when_mounted(
    service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {"api_key": "dummy", "default_model": "m", "base_url": "localhost:8000"}
    with pytest.raises(AssertionError, match="must begin with http:// or https://, not 'localhost:8000'"):
        async with opened({**plan(), "providers": [{"module": service, "config": config}]}):
            pass
    if service == "provider-anthropic":
        monkeypatch.setenv("ANTHROPIC_BASE_URL", "nonsense")
        with pytest.raises(AssertionError, match="not 'nonsense'"):
            async with opened({**plan(), "providers": [{"module": service, "config": {"api_key": "dummy"}}]}):
                pass


@pytest.mark.parametrize("service", SERVICES)
async def test_a_service_that_is_not_there_is_told(service: str) -> None:
    with ModelServer(Say("x")) as server:
        gone = on_service(service, server, {"max_retries": 0})
    async with opened(gone) as stage:
        with pytest.raises(RuntimeError, match="cannot be reached"):
            await stage.say("go")
        assert isinstance(stage.coordinator.session_state["last_error"], NetworkError)


@pytest.mark.parametrize("service", SERVICES)
async def test_a_temperature_and_words_of_the_users_own_go_over_the_wire(service: str) -> None:
    with ModelServer(Say("Cool.")) as server:
        config = {"temperature": 0, "extra_body": {"options": {"num_ctx": 8192}}}
        async with opened(on_service(service, server, config)) as stage:
            await stage.say("hi")
            provider = stage.coordinator.get("providers")[service.removeprefix("provider-")]
            message = Message(role="user", content="hi")
            await provider.complete(ChatRequest(messages=[message], temperature=0.5))
        first, second = server.asked
        assert first.body["temperature"] == 0
        assert second.body["temperature"] == 0.5
        assert first.body["options"] == {"num_ctx": 8192}


@pytest.mark.parametrize("service", SERVICES)
async def test_an_answer_that_keeps_to_a_schema_is_asked_for(service: str) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    turn: Turn = UseTool("answer", {"n": 3}) if service == "provider-anthropic" else Say('{"n": 3}')
    with ModelServer(turn) as server:
        async with opened(on_service(service, server, loop={"response_format": schema})) as stage:
            assert json.loads(await stage.say("go")) == {"n": 3}
        assert '"n": {"type": "integer"}' in server.last.text


@pytest.mark.parametrize("service", SERVICES)
async def test_a_broken_conversation_is_mended_in_the_copy_that_is_sent(service: str) -> None:
    with ModelServer(Say("ok")) as server:
        async with opened(on_service(service, server)) as stage:
            call = {"id": "c1", "tool": "bash", "arguments": {"command": "ls"}}
            broken = [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "", "tool_calls": [call]},
            ]
            await stage.coordinator.get("context").set_messages(broken)
            assert await stage.say("go on") == "ok"
            assert stage.recorder.of("provider:tool_sequence_repaired")
            assert len(await stage.messages()) == 4  # what is stored stays
        assert "was lost" in server.last.text


@pytest.mark.parametrize(
    ("service", "variable"), [(SERVICES[0], "ANTHROPIC_API_KEY"), (SERVICES[1], "OPENAI_API_KEY")]
)
async def test_without_a_key_the_variable_is_named(service: str, variable: str) -> None:
    with pytest.raises(AssertionError, match=f"has no key; set {variable}"):
        async with opened({**plan(), "providers": [{"module": service, "config": {}}]}):
            pass


async def test_a_service_of_ones_own_needs_its_address_and_no_key() -> None:
    with pytest.raises(AssertionError, match="base_url"):
        async with opened({**plan(), "providers": [{"module": "provider-chat-completions", "config": {}}]}):
            pass


def chat_stream(*deltas: dict[str, Any], finish: str = "stop") -> Stream:
    frame = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "test-model"}
    choices: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    return Stream(tuple(("delta", {**frame, "choices": [choice]}) for choice in choices))


async def test_what_services_of_ones_own_say_in_their_own_way_is_understood() -> None:
    function = {"name": "clock", "arguments": {"zone": "UTC"}}
    call = {"index": 0, "id": "", "type": "function", "function": function}
    turns = (
        chat_stream({"tool_calls": [call]}),  # arguments that are no text, no id, and another word at the end
        chat_stream({"tool_calls": [call]}, finish="tool_calls"),
        chat_stream({"reasoning_content": "Let me see."}, {"content": [{"type": "text", "text": "Noon."}]}),
    )
    with ModelServer(*turns) as server:
        wanted = on_service("provider-chat-completions", server)
        async with opened(wanted, tools=[answering("clock", "12:00")]) as stage:
            assert await stage.say("What time is it?") == "Noon."
            assert [each["tool_input"] for each in stage.recorder.of("tool:pre")] == [{"zone": "UTC"}] * 2
            ids = [each["tool_call_id"] for each in await stage.messages() if each["role"] == "tool"]
            assert len(set(ids)) == 2
            streamed = stage.recorder.of("llm:stream_block_delta")
            assert [each["text"] for each in streamed if each["block_type"] == "thinking"] == ["Let me see."]


async def test_a_refusal_is_shown_and_is_no_success() -> None:
    with ModelServer(chat_stream({"refusal": "I will not."})) as server:
        async with opened(on_service("provider-openai", server)) as stage:
            assert await stage.say("Do it.") == "I will not."
            (end,) = stage.recorder.of("orchestrator:complete")
            assert (end["status"], end["metadata"]["reason"]) == ("incomplete", "the model refused to answer")
