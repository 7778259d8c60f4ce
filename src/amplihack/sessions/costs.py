"""Sum up the costs of sessions, and pass a child's sum to its parent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Protocol

COST_CHANNEL = "session.cost"
SPENDING = "cost.family"  # the capability by which a session and its agents count together


class CostReader(Protocol):
    """The part of a session's coordinator that reports costs."""

    async def collect_contributions(self, channel: str, /) -> Any: ...


class CostTaker(Protocol):
    """The part of a session's coordinator that accepts costs."""

    def register_contributor(self, channel: str, name: str, callback: Callable[[], Any], /) -> Any: ...


def sum_cost_usd(contributions: Iterable[Any] | None) -> Decimal | None:
    """Return the sum of all `cost_usd`; None if there is no figure, which is not the same as 0."""
    costs = [cost for item in contributions or () if (cost := cost_of(item)) is not None]
    return sum(costs, Decimal()) if costs else None


async def bridge_child_cost(
    child_coordinator: CostReader,
    parent_coordinator: CostTaker,
    child_session_id: str,
    *,
    warn: Callable[[str], None] | None = None,
) -> None:
    """Let the parent report what the child has cost so far. A failure goes to `warn`, never raised."""
    try:
        total = sum_cost_usd(await child_coordinator.collect_contributions(COST_CHANNEL))
        if total is not None:
            name = f"delegate:{child_session_id}"
            parent_coordinator.register_contributor(COST_CHANNEL, name, lambda: {"cost_usd": total})
    except Exception as error:  # noqa: BLE001 - a child that did its work must not fail over its bill
        if warn is not None:
            warn(f"the cost of {child_session_id} is not known to its parent: {error}")


def cost_of(item: Any) -> Decimal | None:
    """Return the `cost_usd` of a mapping, or None if there is no finite figure."""
    value = item.get("cost_usd") if isinstance(item, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, Decimal | str | int | float):
        return None
    try:
        cost = Decimal(str(value))
    except InvalidOperation:
        return None
    return cost if cost.is_finite() else None
