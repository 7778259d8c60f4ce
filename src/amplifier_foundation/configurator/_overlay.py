"""Add agents, context and skills to a running session, scope by scope."""

from __future__ import annotations

import logging
from typing import Any

from amplifier_foundation.configurator._types import Origin
from amplihack.sessions.overlay import (
    RUNTIME_CONTEXT_OVERLAY_CAPABILITY,
    RUNTIME_SKILL_OVERLAY_CAPABILITY,
    ScopedOverlay,
    TransitionResult,
)

__all__ = [
    "RUNTIME_CONTEXT_OVERLAY_CAPABILITY",
    "RUNTIME_SKILL_OVERLAY_CAPABILITY",
    "RuntimeOverlay",
    "TransitionResult",
]

_logger = logging.getLogger(__name__)


class RuntimeOverlay(ScopedOverlay):
    """With a bundle, its origins tell which scope an item came with."""

    def __init__(
        self, coordinator: Any, *, success_event: str, failure_event: str, bundle: Any = None
    ) -> None:
        super().__init__(
            coordinator,
            success_event=success_event,
            failure_event=failure_event,
            origins=(lambda: bundle.origins) if bundle is not None else None,
            origin=lambda scope: Origin(scope, None),
            warn=_logger.warning,
        )
