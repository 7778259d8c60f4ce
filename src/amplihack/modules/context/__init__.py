"""Keep the conversation of a session, and show the model as much of it as fits: `context-simple`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplihack.modules.context.conversation import ContextSettings, Conversation
from amplihack.modules.settings import ModuleSettings

__amplifier_module_type__ = "context"


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Any:
    """Mount the context. It learns how far its estimate is off from what providers report."""
    settings = ModuleSettings(coordinator, "context-simple", config)
    chosen = ContextSettings(
        most_tokens=settings.count("max_tokens", 200_000),
        threshold=_share(settings, "compact_threshold", 0.92),
        target=_share(settings, "target_usage", 0.5),
        enabled=settings.flag("auto_compact", default=True),
    )
    settings.done()
    conversation = Conversation(chosen, coordinator.hooks.emit)
    await coordinator.mount("context", conversation)
    return coordinator.hooks.register(
        "provider:response", conversation.on_response, priority=900, name="context-simple"
    )


def _share(settings: ModuleSettings, name: str, default: float) -> float:
    share = settings.number(name, default) or default
    if share > 1:
        settings.wrong(f"{name!r} must be a share of the window, such as {default:g}, not {share:g}")
    return share
