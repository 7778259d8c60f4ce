"""Run the turns of a session: ask the model, run the tools that it calls, until it answers.

`loop-streaming`; `loop-basic` is the same without streaming.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from amplifier_core import ToolCall

from amplihack.modules.loop.turn import LoopSettings, Turn, TurnParts
from amplihack.modules.settings import ModuleSettings
from amplihack.sessions.messages import FINISH_CALLS

__amplifier_module_type__ = "orchestrator"

_EFFORTS = ("none", "minimal", "low", "medium", "high")


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    settings = ModuleSettings(coordinator, "loop-streaming", config)
    chosen = LoopSettings(
        stream=settings.flag("stream", default=True),
        most_steps=_most_steps(settings),
        most_repeats=settings.count("max_repeats", 5, least=0),
        parallel_tools=settings.count("max_parallel_tools", 8),
        tool_seconds=settings.seconds("tool_timeout", None),
        fallback=settings.flag("fallback", default=False),
        thinking=settings.flag("extended_thinking", default=False),
        effort=settings.choice("reasoning_effort", "", _EFFORTS),
        most_output_tokens=settings.count("max_output_tokens", 0, least=0),
        response_format=settings.anything("response_format"),
    )
    settings.done()
    loop = LoopOrchestrator(chosen)
    await coordinator.mount("orchestrator", loop)
    coordinator.register_capability("session.steer", loop.steer)
    coordinator.register_capability(FINISH_CALLS, loop.finish_calls)
    coordinator.register_contributor(
        "observability.events", "loop-streaming", lambda: ["orchestrator:steering_injected"]
    )


def _most_steps(settings: ModuleSettings) -> int:
    """Return the limit; -1 asks for none, as bundles of the ecosystem write it."""
    limit = settings.count("max_iterations", 100, least=-1)
    if limit == 0:
        settings.wrong("'max_iterations' must be at least 1, or -1 for no limit")
    return limit


class LoopOrchestrator:
    """The orchestrator of one session. It holds nothing of a turn, so turns cannot meet in it."""

    def __init__(self, settings: LoopSettings) -> None:
        self._settings = settings
        self._steering: deque[str] = deque()
        self._open: list[ToolCall] | None = None

    async def execute(
        self,
        prompt: str,
        context: Any,
        providers: Mapping[str, Any],
        tools: Mapping[str, Any],
        hooks: Any,
        coordinator: Any = None,
        **ignored: Any,
    ) -> str:
        """Run one turn and return the answer."""
        del ignored  # the kernel may come to pass more
        parts = TurnParts(
            context=context, providers=providers, tools=tools, hooks=hooks, coordinator=coordinator
        )
        left, self._open = self._open, None
        return await Turn(self._settings, parts, self._steering).run(prompt, left)

    def finish_calls(self, calls: Sequence[tuple[str, str, Any]]) -> None:
        """Let the next turn begin with calls that have no result yet, in place of its prompt.

        Without any, the model is asked at once: for what comes after the results that are there.
        """
        self._open = [
            ToolCall(id=call, name=name, arguments=given if isinstance(given, dict) else {})
            for call, name, given in calls
        ]

    def steer(self, text: str) -> None:
        """Queue a message of the user for the next step of the running turn."""
        self._steering.append(text)
