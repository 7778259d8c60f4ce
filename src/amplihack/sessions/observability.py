"""Tell the logging hooks of a mount plan which events to listen for."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

FOUNDATION_OBSERVABILITY_EVENTS = ("session:config", "mentions:resolved")
LISTENING_HOOKS = frozenset({"hooks-logging", "hook-context-intelligence"})


def inject_additional_events(
    mount_plan: dict[str, Any], events: Iterable[str], target_modules: Collection[str] | None = None
) -> None:
    """Add events to what the plan's logging hooks listen for, in place: each once, the user's first."""
    targets = LISTENING_HOOKS if target_modules is None else target_modules
    wanted = list(events)
    for hook in mount_plan.get("hooks") or ():
        if isinstance(hook, dict) and hook.get("module") in targets:
            config = hook.get("config") or {}
            known = config.get("additional_events") or []
            hook["config"] = {**config, "additional_events": list(dict.fromkeys([*known, *wanted]))}
