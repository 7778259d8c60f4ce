"""A session on a model in this process: what is told without one, and what it says with one."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from amplifier_core import ConfigurationError
from tests.support.kernel_sessions import Stage, answering, opened, plan

pytestmark = pytest.mark.asyncio

MODELS = Path(__file__).parents[5] / ".models"
IS_HERE = find_spec("xllamacpp") is not None and (MODELS / "models" / "smollm2-135m.gguf").exists()


def with_model(test: Any) -> Any:
    return pytest.mark.local(
        pytest.mark.skipif(not IS_HERE, reason="`make test-local` fetches the model")(test)
    )


def on_local(**more: Any) -> dict[str, Any]:
    config = {"model": "smollm2-135m", "context_window": 2_048, "max_tokens": 60}
    given = plan(**more)
    return {**given, "providers": [{"module": "provider-local", "config": config}]}


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AMPLIHACK_HOME", str(MODELS))
    return MODELS


async def failing(stage: Stage) -> ConfigurationError:
    with pytest.raises(RuntimeError):
        await stage.say("hello")
    error = stage.coordinator.session_state["last_error"]
    assert isinstance(error, ConfigurationError)
    return error


async def test_without_the_weights_it_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMPLIHACK_HOME", str(tmp_path))
    async with opened(on_local()) as stage:
        assert "amplihack model pull smollm2-135m" in str(await failing(stage))


async def test_without_the_extra_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.gguf").write_bytes(b"GGUF")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    given = on_local()
    given["providers"][0]["config"]["model"] = str(tmp_path / "x.gguf")
    async with opened(given) as stage:
        assert "pip install 'amplihack[local]'" in str(await failing(stage))


@pytest.mark.skipif(find_spec("xllamacpp") is None, reason="the extra is not here")
async def test_a_file_that_holds_no_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"GGUF" + b"\0" * 100)
    given = on_local()
    given["providers"][0]["config"]["model"] = str(tmp_path / "x.gguf")
    async with opened(given) as stage:
        assert "cannot be loaded" in str(await failing(stage))


async def test_mounting_loads_neither_the_engine_nor_a_model() -> None:
    before = "xllamacpp" in sys.modules
    async with opened(on_local()):
        assert ("xllamacpp" in sys.modules) == before


@with_model
async def test_a_session_streams_an_answer(models: Path) -> None:
    async with opened(on_local()) as stage:
        answer = await stage.say("Say hello.")
        assert answer.strip()
        streamed = "".join(each["text"] for each in stage.recorder.of("llm:stream_block_delta"))
        assert streamed == answer
        usage = stage.recorder.of("llm:response")[0]["usage"]
        assert usage["input_tokens"] > 0
        assert usage["cost_usd"] == "0"


@with_model
async def test_a_session_calls_a_tool_and_answers(models: Path) -> None:
    """So small a model would rather talk: its first answer has to be a call. It writes the call itself."""
    done = {"type": "object", "properties": {"done": {"const": True}}, "required": ["done"]}
    given = on_local(loop={"max_iterations": 1, "response_format": done})
    async with opened(given, tools=[answering("clock", "It is noon.")]) as stage:
        provider = stage.coordinator.get("providers")["local"]
        complete = provider.complete

        async def with_a_call_first(request: Any, **options: Any) -> Any:
            first = not any(message.role == "tool" for message in request.messages)
            return await complete(
                request.model_copy(update={"tool_choice": "required"} if first else {}), **options
            )

        provider.complete = with_a_call_first
        answer = await stage.say("What time is it? Use the tool clock.")
        assert json.loads(answer) == {"done": True}
        assert [each["tool_name"] for each in stage.recorder.of("tool:pre")] == ["clock"]
        assert [each["content"] for each in await stage.messages() if each["role"] == "tool"] == [
            "It is noon."
        ]


@with_model
async def test_an_answer_keeps_to_its_json_schema(models: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"verdict": {"enum": ["approve", "reject"]}, "score": {"type": "integer"}},
        "required": ["verdict", "score"],
        "additionalProperties": False,
    }
    async with opened(on_local(loop={"response_format": schema})) as stage:
        found = json.loads(await stage.say("Is this good?"))
        assert found["verdict"] in ("approve", "reject")
        assert isinstance(found["score"], int)


@with_model
async def test_the_model_stays_loaded(models: Path) -> None:
    from amplihack.modules.providers.local import engine

    for _ in range(2):
        async with opened(on_local(loop={"max_output_tokens": 4})) as stage:
            await stage.say("Hi.")
    assert len(engine._loaded) == 1


@with_model
async def test_a_question_that_is_too_long_is_made_shorter(models: Path) -> None:
    async with opened(on_local(context={"auto_compact": False}, loop={"max_output_tokens": 4})) as stage:
        with pytest.raises(RuntimeError, match="context size"):
            await stage.say("word " * 4_000)


@with_model
async def test_an_answer_at_its_limit_is_told_and_no_failure(models: Path) -> None:
    given = on_local()
    given["providers"][0]["config"]["max_tokens"] = 3
    async with opened(given) as stage:
        assert await stage.say("Write a long story.")
        assert any("limit of tokens" in line for line in stage.shown.lines)
        assert stage.recorder.of("orchestrator:complete")[0]["status"] == "success"
