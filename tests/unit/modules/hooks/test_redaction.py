from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from amplifier_core import HookResult, ToolResult
from tests.support.kernel_sessions import Lambda, answering, opened, plan

from amplihack.modules.redaction import TextRedactor

SECRETS = [
    "sk-" + "a1" * 12,
    "ghp_" + "0a" * 15,
    "AKIA" + "EXAMPLE7" * 2,
    "xoxb-1234567890-abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow==\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_what_looks_like_a_secret_is_hidden_wherever_it_is(secret: str) -> None:
    given = {"a": [f"before {secret} after"], "b": {"c": secret}}
    found = TextRedactor().redact(given)
    assert secret not in json.dumps(found)
    assert found["a"] == ["before *** after"]


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("API_KEY=abcdef123", "API_KEY=***"),
        ('"password": "hunter22"', '"password": "***"'),
        ("Authorization: Bearer abcdefghijklmnop1234", "Authorization: Bearer ***"),
        ("https://user:pass@host/x", "https://***@host/x"),
        ("max_tokens: 4096000", "max_tokens: 4096000"),
        ("token = ${TOKEN_NAME}", "token = ${TOKEN_NAME}"),
        ("the secretary said: nothing", "the secretary said: nothing"),
        ("plain text", "plain text"),
    ],
)
def test_what_is_called_a_secret_is_hidden_and_other_words_stay(text: str, hidden: str) -> None:
    assert TextRedactor().redact(text) == hidden


def test_allowed_ones_stay_and_patterns_of_ones_own_count() -> None:
    kept = TextRedactor(allowed=[SECRETS[2]], patterns=[r"internal-\d+"])
    assert kept.redact(f"{SECRETS[2]} internal-42") == f"{SECRETS[2]} ***"


def test_a_long_text_of_tricky_beginnings_takes_no_time() -> None:
    TextRedactor().redact("sk-" * 100_000 + "eyJ" * 100_000 + "api_key" * 50_000 + "-----BEGIN " * 20_000)


def with_secret_result(**config: Any) -> dict[str, Any]:
    steps = [{"tools": [{"name": "a"}]}, {"text": "ok"}]
    return plan(steps=steps, hooks=[{"module": "hooks-redaction", "config": config}])


@pytest.mark.asyncio
async def test_the_model_reads_what_a_tool_gave_unless_told_otherwise() -> None:
    for config, content in (({}, SECRETS[0]), ({"redact_model_input": True}, "***")):
        async with opened(with_secret_result(**config), tools=[answering("a", SECRETS[0])]) as stage:
            assert await stage.say("go") == "ok"
            results = [each["content"] for each in await stage.messages() if each["role"] == "tool"]
            assert results == [content]


@pytest.mark.asyncio
@pytest.mark.parametrize("says", ["inject_context", "ask_user"])
async def test_what_it_changed_holds_though_another_hook_says_more(says: str) -> None:
    got: list[Any] = []

    async def run(given: dict[str, Any]) -> ToolResult:
        got.append(given)
        return ToolResult(success=True, output=SECRETS[0])

    class Consent:
        async def request_approval(self, *_: Any) -> str:
            return "allow"

    async def say(_: str, __: dict[str, Any]) -> Any:
        return HookResult(action=says, context_injection="by the way", ephemeral=True, approval_prompt="ok?")

    steps = [{"tools": [{"name": "a", "input": {"key": SECRETS[1]}}]}, {"text": "ok"}]
    hooks = [{"module": "hooks-redaction", "config": {"redact_model_input": True}}]
    async with opened(plan(steps=steps, hooks=hooks), tools=[Lambda("a", run)], approval=Consent()) as stage:
        for event in ("tool:pre", "tool:post"):
            stage.coordinator.hooks.register(event, say, priority=50, name=f"says-{event}")
        assert await stage.say("go") == "ok"
        results = [each["content"] for each in await stage.messages() if each["role"] == "tool"]
    assert results == ["***"]
    assert got == [{"key": "***"}]


@pytest.mark.asyncio
async def test_what_a_later_hook_makes_of_it_holds() -> None:
    async def shorten(_: str, data: dict[str, Any]) -> Any:
        result = {**data["result"], "output": f"{data['result']['output']} and more"}
        return HookResult(action="modify", data={**data, "result": result})

    config = {"redact_model_input": True}
    async with opened(with_secret_result(**config), tools=[answering("a", SECRETS[0])]) as stage:
        stage.coordinator.hooks.register("tool:post", shorten, priority=50, name="later")
        assert await stage.say("go") == "ok"
        results = [each["content"] for each in await stage.messages() if each["role"] == "tool"]
        assert results == ["*** and more"]
        assert stage.coordinator.session_state["tool_results"] == {}


@pytest.mark.asyncio
async def test_other_modules_can_ask_for_redaction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_API_KEY", "plainkey12345")
    async with opened(with_secret_result()) as stage:
        redact = stage.coordinator.get_capability("redaction.redact")
        assert redact({"x": SECRETS[1]}) == {"x": "***"}
        assert "plainkey12345" not in redact("the value of MODEL_API_KEY is plainkey12345")


@pytest.mark.asyncio
async def test_a_wrong_pattern_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="cannot be read"):
        async with opened(with_secret_result(patterns=["("])):
            pass


@pytest.mark.asyncio
async def test_a_secret_that_streams_in_pieces_is_hidden_whole() -> None:
    secret = "sk-ant-api03-" + "Ab1" * 20
    said = f"Here it is: {secret}, and that was it. " + "More words follow here. " * 5
    hooks = [{"module": "hooks-redaction"}]
    async with opened(plan(steps=[{"text": said}], hooks=hooks)) as stage:
        await stage.say("tell me")
        pieces = [each["text"] for each in stage.recorder.of("llm:stream_block_delta")]
    assert len(pieces) > 2
    assert not any(secret[at : at + 8] in "".join(pieces) for at in range(len(secret) - 8))
    assert "that was it. More words" in "".join(pieces)


@pytest.mark.asyncio
async def test_a_placeholder_in_place_of_a_key_hides_no_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    said = "the next box, export x"
    service = {"base_url": "http://127.0.0.1:9/v1", "default_model": "m", "priority": 200}
    wanted = plan(steps=[{"text": said}], hooks=[{"module": "hooks-redaction"}])
    wanted["providers"].append({"module": "provider-openai", "config": service})
    async with opened(wanted) as stage:
        await stage.say("tell me")
        assert "".join(each["text"] for each in stage.recorder.of("llm:stream_block_delta")) == said
