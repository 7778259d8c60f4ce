"""Add up what a session costs, and stop it at a budget: `hooks-cost`."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from amplifier_core import HookResult

from amplihack.modules.notices import tell
from amplihack.modules.settings import ModuleSettings
from amplihack.records import Record
from amplihack.sessions.costs import COST_CHANNEL, SPENDING, cost_of, sum_cost_usd
from amplihack.sessions.usage import USAGE_UNKNOWN

__amplifier_module_type__ = "hook"

_NAME = "hooks-cost"
KEY = "cost"  # where hosts find the figures, in the state of the session


class SpendingLimit(Record, kw_only=True):
    dollars: Decimal | None
    warn_at: float  # the share of the budget after which the user is told
    tokens: int  # 0: no limit


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Any:
    settings = ModuleSettings(coordinator, _NAME, config)
    budget = SpendingLimit(
        dollars=_dollars(settings),
        warn_at=settings.number("warn_at", 0.8) or 0.8,
        tokens=settings.count("budget_tokens", 0, least=0),
    )
    settings.done()
    counter = CostCounter(coordinator, budget)
    hooks = coordinator.hooks
    ends = [
        hooks.register("llm:response", counter.on_response, priority=800, name=f"{_NAME}-response"),
        hooks.register("provider:request", counter.on_request, priority=-20, name=f"{_NAME}-request"),
        hooks.register("prompt:submit", counter.on_prompt, priority=800, name=f"{_NAME}-prompt"),
    ]

    def close() -> None:
        for end in ends:
            end()

    return close


def _dollars(settings: ModuleSettings) -> Decimal | None:
    given = settings.anything("budget_usd")
    try:
        found = None if given is None or isinstance(given, bool) else Decimal(str(given))
    except InvalidOperation:
        found = Decimal(-1)
    if found is not None and not (found.is_finite() and found > 0):
        settings.wrong(f"'budget_usd' must be an amount above 0, not {given!r}")
    return found


class FamilySpending:
    """What a session and its agents have spent together, as they spend it: a budget is for all of them."""

    def __init__(self) -> None:
        self.before = Decimal()  # by the session itself, before it was resumed
        self.spent = Decimal()
        self.unpriced = False

    @property
    def total(self) -> Decimal:
        return self.before + self.spent


class CostCounter:
    """The figures of one session; those of its children are contributed to the same channel."""

    def __init__(self, coordinator: Any, budget: SpendingLimit) -> None:
        self._coordinator, self._budget = coordinator, budget
        self._warned = False
        self._figures: dict[str, Any] = {
            "input_tokens": 0,
            "output_tokens": 0,
            "cache_read_tokens": 0,
            "requests": 0,
            "unpriced_requests": 0,
            "cost_usd": None,
            "turn_cost_usd": None,
        }
        self._before_turn = Decimal()
        coordinator.session_state[KEY] = self._figures
        family = coordinator.get_capability(SPENDING)
        self._is_first = not isinstance(family, FamilySpending)
        self._family = FamilySpending() if self._is_first else family
        coordinator.register_capability(SPENDING, self._family)

    async def on_prompt(self, event: str, data: Mapping[str, Any]) -> Any:
        del event, data
        self._before_turn = await self._spent() or Decimal()
        if self._is_first:
            self._family.before = max(Decimal(), self._before_turn - self._family.spent)
        self._figures["turn_cost_usd"] = None
        return HookResult()

    async def on_response(self, event: str, data: Mapping[str, Any]) -> Any:
        """Count a call. One without a price is counted as such, and never as free."""
        del event
        usage = data.get("usage")
        if isinstance(usage, Mapping) or data.get(USAGE_UNKNOWN):
            usage = usage or {}
            self._figures["requests"] += 1
            self._family.spent += cost_of(usage) or Decimal()
            if usage.get("cost_usd") is None:
                self._figures["unpriced_requests"] += 1
                self._family.unpriced = True
                self._warn_unpriced()
            for name in ("input_tokens", "output_tokens", "cache_read_tokens"):
                self._figures[name] += usage.get(name) or 0
        spent = await self._spent()
        if spent is not None:
            self._figures["cost_usd"] = str(spent)
            self._figures["turn_cost_usd"] = str(spent - self._before_turn)
            self._warn(spent)
        return HookResult()

    async def on_request(self, event: str, data: Mapping[str, Any]) -> Any:
        """Refuse to ask a model when the budget is spent."""
        del event, data
        limit, spent = self._budget.dollars, max(await self._spent() or Decimal(), self._family.total)
        if limit is not None and spent >= limit:
            return HookResult(action="deny", reason=f"the budget of ${limit} is spent (${spent})")
        if limit is not None and self._family.unpriced:
            return HookResult(action="deny", reason=self._unheld())
        used = self._figures["input_tokens"] + self._figures["output_tokens"]
        if self._budget.tokens and used >= self._budget.tokens:
            return HookResult(
                action="deny", reason=f"the budget of {self._budget.tokens} tokens is spent ({used})"
            )
        return HookResult()

    def _unheld(self) -> str:
        how = "give the provider its `pricing`, or limit tokens with `budget_tokens` of hooks-cost"
        return f"the budget of ${self._budget.dollars} cannot be held, as the price is not known: {how}"

    async def _spent(self) -> Decimal | None:
        return sum_cost_usd(await self._coordinator.collect_contributions(COST_CHANNEL))

    def _warn_unpriced(self) -> None:
        if self._budget.dollars is not None and not self._warned:
            self._warned = True
            tell(self._coordinator, _NAME, self._unheld())

    def _warn(self, spent: Decimal) -> None:
        limit = self._budget.dollars
        if limit is not None and not self._warned and spent >= limit * Decimal(str(self._budget.warn_at)):
            self._warned = True
            tell(self._coordinator, _NAME, f"${spent} of the budget of ${limit} are spent")
