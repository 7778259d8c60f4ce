"""Sessions on the real kernel, with modules of ours found as the kernel finds them: by entry point."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from amplifier_core import AmplifierSession, HookResult, ToolResult
from amplifier_core.events import ALL_EVENTS

STREAMING = [
    "llm:stream_block_start",
    "llm:stream_block_delta",
    "llm:stream_block_end",
    "llm:stream_aborted",
    "orchestrator:steering_injected",
]


class Recorder:
    """Keeps every event of a session, in order."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def hear(self, event: str, data: dict[str, Any]) -> Any:
        self.events.append((event, data))
        return HookResult()

    def names(self) -> list[str]:
        return [event for event, _ in self.events]

    def of(self, name: str) -> list[dict[str, Any]]:
        return [data for event, data in self.events if event == name]


class Shown:
    """A display that keeps what it shows."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def show_message(self, message: str, level: str, source: str = "") -> None:
        self.lines.append(f"{level} {source}: {message}")


class Stage:
    """An open session and what is around it."""

    def __init__(self, session: Any, recorder: Recorder, shown: Shown) -> None:
        self.session, self.coordinator = session, session.coordinator
        self.recorder, self.shown = recorder, shown

    async def say(self, prompt: str) -> str:
        answer: str = await self.session.execute(prompt)
        return answer

    async def messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self.coordinator.get("context").get_messages()
        return found

    @property
    def cancellation(self) -> Any:
        return self.coordinator.cancellation


class Lambda:
    """A tool made from a function."""

    def __init__(self, name: str, run: Callable[[dict[str, Any]], Awaitable[Any]]) -> None:
        self.name, self.description, self._run = name, f"{name} for tests", run
        self.input_schema = {"type": "object", "properties": {}}

    async def execute(self, arguments: dict[str, Any]) -> Any:
        return await self._run(arguments)


def answering(name: str, output: Any) -> Lambda:
    async def run(_: dict[str, Any]) -> Any:
        return ToolResult(success=True, output=output)

    return Lambda(name, run)


def plan(
    *,
    steps: Sequence[Any] = (),
    loop: Mapping[str, Any] | None = None,
    context: Mapping[str, Any] | None = None,
    provider: Mapping[str, Any] | None = None,
    tools: Sequence[Mapping[str, Any]] = (),
    hooks: Sequence[Mapping[str, Any]] = (),
    orchestrator: str = "loop-streaming",
) -> dict[str, Any]:
    scripted = {"module": "provider-scripted", "config": {"steps": list(steps), **(provider or {})}}
    return {
        "session": {
            "orchestrator": {"module": orchestrator, "config": dict(loop or {})},
            "context": {"module": "context-simple", "config": dict(context or {})},
        },
        "providers": [scripted],
        "tools": list(tools),
        "hooks": list(hooks),
    }


@asynccontextmanager
async def opened(
    mount_plan: Mapping[str, Any],
    *,
    tools: Sequence[Any] = (),
    working_dir: Path | None = None,
    capabilities: Mapping[str, Any] | None = None,
    approval: Any = None,
) -> AsyncIterator[Stage]:
    """Open a session with this plan, and these tools besides. A module that does not load fails the test."""
    shown, recorder = Shown(), Recorder()
    session = AmplifierSession(dict(mount_plan), approval_system=approval, display_system=shown)
    if working_dir is not None:
        session.coordinator.register_capability("session.working_dir", str(working_dir))
    for name, value in (capabilities or {}).items():
        session.coordinator.register_capability(name, value)
    for event in (*ALL_EVENTS, *STREAMING):
        session.coordinator.hooks.register(event, recorder.hear, priority=990, name=f"recorder-{event}")
    try:
        await session.initialize()
        if failed := [each["error"] for each in recorder.of("module:load_failed")]:
            raise AssertionError(f"not loaded: {failed}")
        for tool in tools:
            await session.coordinator.mount("tools", tool, name=tool.name)
        yield Stage(session, recorder, shown)
    finally:
        await session.cleanup()
