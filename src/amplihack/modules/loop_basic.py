"""Run turns without streaming: `loop-basic`, and `loop-events`, which differs from it in nothing here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplihack.modules import loop

__amplifier_module_type__ = "orchestrator"


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Any:
    return await loop.mount(coordinator, {"stream": False, **(config or {})})
