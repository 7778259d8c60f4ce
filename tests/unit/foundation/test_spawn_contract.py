"""What programs of the ecosystem rely on when they spawn, seen with a stand-in for the kernel's session."""

from __future__ import annotations

import asyncio
from typing import Any
from unittest.mock import AsyncMock, MagicMock, patch

import pytest
from amplifier_core import HookRegistry

from amplifier_foundation import Bundle
from amplifier_foundation.bundle import PreparedBundle


def stand_in(completion: dict[str, Any] | None = None) -> MagicMock:
    """Return a session as the tests of the ecosystem make them: hooks are real, all else is pretended."""
    session = MagicMock(name="session")
    session.session_id, session.parent_id = "child-id", "parent-id"
    session.coordinator.hooks = HookRegistry()
    session.coordinator.mount = AsyncMock()
    session.coordinator.get = MagicMock(return_value=None)
    session.coordinator.collect_contributions = AsyncMock(return_value=[])
    session.initialize, session.cleanup = AsyncMock(), AsyncMock()

    async def execute(_: str) -> str:
        if completion is not None:
            await session.coordinator.hooks.emit("orchestrator:complete", completion)
        return "the answer"

    session.execute = execute
    return session


def spawn(session: MagicMock, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Spawn with the stand-in; returns the answer and what the kernel's session was made with."""
    bundle = Bundle(name="parent", session={"orchestrator": "loop", "context": {"module": "c"}})
    prepared = PreparedBundle(mount_plan=bundle.to_mount_plan(), resolver=MagicMock(), bundle=bundle)
    with patch("amplifier_core.AmplifierSession", return_value=session) as made:
        answer = asyncio.run(prepared.spawn(Bundle(name="child"), "do it", **options))
    return answer, {"plan": made.call_args.args[0], **made.call_args.kwargs}


def test_the_answer_has_the_five_keys_and_what_the_loop_reported() -> None:
    completion = {"status": "incomplete", "turn_count": 7, "metadata": {"x": 1}}
    answer, _ = spawn(stand_in(completion))
    assert answer == {"output": "the answer", "session_id": "child-id", **completion}


def test_without_a_report_the_defaults_hold_and_the_listener_is_gone() -> None:
    session = stand_in()
    answer, _ = spawn(session)
    assert (answer["status"], answer["turn_count"], answer["metadata"]) == ("success", 1, {})
    assert "_spawn_completion_capture" not in str(session.coordinator.hooks.list_handlers())
    session.cleanup.assert_awaited()


def test_the_loops_settings_are_in_both_places_and_the_id_is_given() -> None:
    _, made = spawn(stand_in(), orchestrator_config={"a": 1}, session_id="mine")
    assert made["plan"]["orchestrator"]["config"] == {"a": 1}
    assert made["plan"]["session"]["orchestrator"]["config"] == {"a": 1}
    assert made["session_id"] == "mine"


def test_an_id_names_the_child_when_none_is_given() -> None:
    _, made = spawn(stand_in())
    assert made["session_id"].endswith("_child")


def test_a_child_that_fails_is_cleaned_up() -> None:
    session = stand_in()
    session.execute = AsyncMock(side_effect=RuntimeError("no"))
    with pytest.raises(Exception, match="no"):
        spawn(session)
    session.cleanup.assert_awaited()
