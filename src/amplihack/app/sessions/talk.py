"""Talk with an open session, as commands do: ask, go on with a turn, cancel, close."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from amplihack.app.sessions.going_on import to_go_on
from amplihack.app.sessions.prepared import Prepared
from amplihack.errors import AmplihackError, Problem
from amplihack.records import Record
from amplihack.sessions.errors import TurnFailed
from amplihack.sessions.model_choice import ChosenModel
from amplihack.sessions.usage import TokenUsage
from amplihack.system.kernel.session import LiveSession

_FIXES: Final = {
    "AuthenticationError": "check the key of the provider",
    "AccessDeniedError": "check what the key of the provider may do",
    "NotFoundError": "check the name of the model (--model provider/model) and the address of the service",
    "RateLimitError": "wait, and ask again: `amplihack session resume` goes on with a session",
    "NetworkError": "check the network, and the address of the service",
    "InvalidRequestError": "correct what the message names",
    "ContextLengthError": "ask for less at once, begin a new session (/compact or /clear in a chat), or "
    "choose a model with a larger window",
    "QuotaExceededError": "look at the account of the provider: its credit or its limit is used up",
}


class TurnAnswer(Record, kw_only=True):
    """The answer of one turn, and what the turn used. The cost is None where no price is known.

    `unfinished` tells why the turn ended before the model was done: a limit of steps, a budget, a hook.
    """

    text: str
    usage: TokenUsage
    cost_usd: Decimal | None = None
    unfinished: str = ""


class Talk:
    """An open session, as commands use it."""

    def __init__(self, session: LiveSession, prepared: Prepared, model: ChosenModel) -> None:
        self.session, self.model = session, model.label
        self._prepared, self.has_tools = prepared, model.uses_tools
        self._ending: dict[str, Any] = {}
        session.coordinator.hooks.register("orchestrator:complete", self._hear_end, name="amplihack:ending")

    @property
    def session_id(self) -> str:
        return self.session.session_id

    @property
    def bundle(self) -> str:
        return self._prepared.name

    @property
    def working_dir(self) -> Path:
        return Path(str(self.session.coordinator.get_capability("session.working_dir")))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Return what is worth telling before the first prompt, besides what `host.display` has heard.

        Notes about a bundle are for its author, who asks `bundle validate` for them.
        """
        told = tuple(each for each in self._prepared.problems if each.severity != "note")
        if self.has_tools:
            return told
        what = f"{self.model} is too small to use tools, so that it answers without them"
        fix = "ask a larger model: `amplihack model list`, or --model"
        return (*told, Problem(what, None, fix, "note", "no-tools"))

    @property
    def usage(self) -> TokenUsage:
        """Return what was used until now, before it was resumed included."""
        return self.session.usage

    async def cost_usd(self) -> Decimal | None:
        found = await self.session.cost_usd()
        return found if isinstance(found, Decimal) else None

    async def ask(self, prompt: str, *, attached: str = "") -> TurnAnswer:
        """Run one turn. Raises TurnFailed, or TurnCancelled after `cancel(immediate=True)`.

        Files that the prompt mentions (`@notes.md`) come with it; `attached` is given to the model as it is.
        """
        whole = await asyncio.to_thread(self._prepared.with_mentioned, prompt, self.working_dir)
        return await self._turn("\n\n".join(part for part in (whole, attached) if part))

    async def go_on(self, prompt: str) -> TurnAnswer:
        """Go on with a turn that had stopped before its calls had results; `prompt` is what had begun it."""
        text, goes_on = await to_go_on(self.session, prompt)
        return await self._turn(text, goes_on=goes_on)

    async def _turn(self, prompt: str, *, goes_on: bool = False) -> TurnAnswer:
        before, spent = self.usage, await self.cost_usd()
        self._ending.clear()
        try:
            text = await self.session.execute(prompt, goes_on=goes_on)
        except AmplihackError:
            raise
        except Exception as error:
            raise failed_turn(error) from error
        now = await self.cost_usd()
        cost = None if now is None else now - (spent or Decimal())
        return TurnAnswer(
            text=text, usage=self.usage.minus(before), cost_usd=cost, unfinished=_unfinished(self._ending)
        )

    async def _hear_end(self, _event: str, data: dict[str, Any]) -> Any:
        self._ending.update(data)

    async def cancel(self, immediate: bool = False) -> bool:
        """End the running turn: after the tools that run now, or at once with them."""
        return await self.session.cancel(immediate)

    async def close(self) -> None:
        await self.session.cleanup()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _unfinished(ending: Mapping[str, Any]) -> str:
    if ending.get("status") != "incomplete":
        return ""
    metadata = ending.get("metadata")
    reason = metadata.get("reason") if isinstance(metadata, Mapping) else None
    return str(reason or f"the limit of {ending.get('turn_count', 0) - 1} steps was reached")


def failed_turn(error: Exception) -> TurnFailed:
    """Return the failure of a turn in our words."""
    name, own = type(error).__name__, getattr(error, "fix", "")
    return TurnFailed(
        f"{name}: {getattr(error, 'what', error)}",
        fix=_FIXES.get(name) or own or "ask again, or choose another model with --model",
        transient=bool(getattr(error, "retryable", False)),
        rate_limited=name == "RateLimitError",
        retry_after=getattr(error, "retry_after", None),
    )
