"""Pass a child session's cost to its parent; a failure is logged."""

from __future__ import annotations

import logging

from amplihack.sessions import costs
from amplihack.sessions.costs import CostReader, CostTaker, sum_cost_usd

__all__ = ["bridge_child_cost", "sum_cost_usd"]

_logger = logging.getLogger(__name__)


async def bridge_child_cost(
    child_coordinator: CostReader, parent_coordinator: CostTaker, child_session_id: str
) -> None:
    """Let the parent report what the child has cost so far; never raises."""
    await costs.bridge_child_cost(
        child_coordinator, parent_coordinator, child_session_id, warn=_logger.warning
    )
