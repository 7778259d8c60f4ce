"""What we rely on in the kernel, and its validators on modules in the shape of the guide."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from amplifier_core import AmplifierSession, HookRegistry, HookResult
from amplifier_core.validation import (
    ContextValidator,
    HookValidator,
    OrchestratorValidator,
    ProviderValidator,
    ToolValidator,
)
from tests.support.ecosystem import MODULES, write_module

VALIDATORS = {
    "tool-echo": ToolValidator,
    "loop-plain": OrchestratorValidator,
    "context-memory": ContextValidator,
    "provider-scripted": ProviderValidator,
    "hooks-notes": HookValidator,
}
PLAN = {"session": {"orchestrator": {"module": "loop"}, "context": {"module": "context"}}}


@pytest.fixture(autouse=True)
def no_module_packages() -> Iterator[None]:
    yield
    for name in [each for each in sys.modules if each.startswith("amplifier_module_")]:
        del sys.modules[name]


@pytest.mark.parametrize("module", VALIDATORS)
def test_the_validators_of_the_kernel_pass_our_modules(
    tmp_path: Path, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = write_module(tmp_path, module, MODULES[module])
    monkeypatch.syspath_prepend(str(directory))
    package = directory / f"amplifier_module_{module.replace('-', '_')}"
    result = asyncio.run(VALIDATORS[module]().validate(package, config={}))
    assert result.passed, result.summary()


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({}, "Configuration is required"),
        ({"session": {"context": "c"}}, r"session\.orchestrator"),
        ({"session": {"orchestrator": "l"}}, r"session\.context"),
    ],
)
def test_plans_that_the_kernel_refuses(plan: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        AmplifierSession(plan)


def test_event_data_crosses_a_json_boundary() -> None:
    async def story() -> tuple[dict[str, Any], Any]:
        hooks, heard = HookRegistry(), {}

        async def hear(_: str, data: dict[str, Any]) -> HookResult:
            heard.update(data)
            return HookResult(action="modify", data={**data, "more": 1})

        hooks.register("x", hear)
        sent = {"list": (1, 2)}
        return heard, (await hooks.emit("x", sent), sent)

    heard, (result, sent) = asyncio.run(story())
    assert heard["list"] == [1, 2]
    assert result.action == "continue"
    assert result.data["more"] == 1
    assert "more" not in sent


def test_deny_wins_over_asking_and_asking_over_injecting() -> None:
    async def story(*actions: str) -> str:
        hooks = HookRegistry()
        for action in actions:

            async def answer(_: str, __: dict[str, Any], action: str = action) -> HookResult:
                return HookResult(action=action, context_injection="x", approval_prompt="?", reason="r")

            hooks.register("x", answer)
        return str((await hooks.emit("x", {})).action)

    assert asyncio.run(story("inject_context", "ask_user", "deny")) == "deny"
    assert asyncio.run(story("inject_context", "ask_user")) == "ask_user"
    assert asyncio.run(story("continue", "inject_context")) == "inject_context"


def test_the_cancellation_token_never_steps_back_and_children_follow() -> None:
    one, other = AmplifierSession(PLAN).coordinator, AmplifierSession(PLAN).coordinator
    one.cancellation.register_child(other.cancellation)
    assert one.cancellation.request_immediate()
    assert not one.cancellation.request_graceful()
    assert (one.cancellation.state, other.cancellation.is_cancelled) == ("immediate", True)
    one.cancellation.reset()
    assert one.cancellation.state == "none"


def test_the_loader_is_taken_from_the_coordinator() -> None:
    asked: list[str] = []

    class Loader:
        async def load(self, module_id: str, *_: Any, **__: Any) -> Any:
            asked.append(module_id)
            raise RuntimeError("no")

    async def story() -> None:
        session = AmplifierSession(PLAN)
        session.coordinator.loader = Loader()
        with pytest.raises(RuntimeError, match="Cannot initialize without orchestrator: no"):
            await session.initialize()

    asyncio.run(story())
    assert asked == ["loop"]
