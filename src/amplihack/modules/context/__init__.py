"""Keep the conversation of a session, and show the model as much of it as fits: `context-simple`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core import HookResult

from amplihack.modules.context.conversation import ContextSettings, Conversation
from amplihack.modules.notices import tell
from amplihack.modules.settings import ModuleSettings

__amplifier_module_type__ = "context"

_NAME = "context-simple"


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Any:
    """Mount the context. It learns how far its estimate is off from what providers report."""
    settings = ModuleSettings(coordinator, _NAME, config)
    chosen = ContextSettings(
        most_tokens=settings.count("max_tokens", 200_000),
        threshold=_share(settings, "compact_threshold", 0.92),
        target=_share(settings, "target_usage", 0.5),
        enabled=settings.flag("auto_compact", default=True),
    )
    settings.done()
    conversation = Conversation(chosen, coordinator.hooks.emit)
    await coordinator.mount("context", conversation)
    handlers = {"provider:response": conversation.on_response, "context:compaction": Told(coordinator).hear}
    ends = [
        coordinator.hooks.register(event, handler, priority=900, name=f"{_NAME}-{event}")
        for event, handler in handlers.items()
    ]

    def close() -> None:
        for end in ends:
            end()

    return close


class Told:
    """Tells the user that the model no longer sees everything: once, and again when it gets worse."""

    def __init__(self, coordinator: Any) -> None:
        self._coordinator = coordinator
        self._worst = (False, 0)

    async def hear(self, event: str, data: Mapping[str, Any]) -> Any:
        del event
        state = (not data["fits"], data["level"])
        if state > self._worst:
            self._worst = state
            tell(self._coordinator, _NAME, _summary(data))
        return HookResult()


def _summary(facts: Mapping[str, Any]) -> str:
    sizes = f"about {facts['before_tokens']:,} tokens, the model is shown {facts['after_tokens']:,}"
    if facts["fits"]:
        return f"the conversation is longer than its budget: of {sizes}"
    return f"the conversation does not fit its budget, although it is cut: of {sizes}; a new session helps"


def _share(settings: ModuleSettings, name: str, default: float) -> float:
    share = settings.number(name, default) or default
    if share > 1:
        settings.wrong(f"{name!r} must be a share of the window, such as {default:g}, not {share:g}")
    return share
