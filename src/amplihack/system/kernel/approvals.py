"""Ask for approvals as the kernel wants them asked: with a time limit, a memory and events."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import Any, TypeAlias

from amplihack.sessions.answers import ALLOW_ALWAYS, ALLOW_ONCE, DENY

Emit: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[Any]]
_CONSENT = frozenset(
    {"allow", "approve", "approved", "accept", "yes", "y", "ok", "okay", "continue", "proceed"}
)
_REFUSAL = frozenset({"no", "not", "never", "deny", "nothing", "none"})


class ApprovalMemory:
    """What was always allowed, for a session and its children: the same prompt, to the letter."""

    def __init__(self) -> None:
        self._allowed: set[str] = set()

    def remember(self, prompt: str) -> None:
        self._allowed.add(prompt)

    def allows(self, prompt: str) -> bool:
        return prompt in self._allowed


class ApprovalDesk:
    """Stands between the kernel and the host's own approval system.

    The kernel takes only three words for a consent, and leaves the time limit, the memory of "always" and
    the `approval:*` events to its host.
    """

    def __init__(self, host: Any, emit: Emit, memory: ApprovalMemory) -> None:
        self.host, self.memory = host, memory
        self._emit = emit

    def __getattr__(self, name: str) -> Any:
        return getattr(self.host, name)

    async def request_approval(
        self,
        prompt: str,
        options: Sequence[str],
        timeout: float,  # noqa: ASYNC109 - the kernel calls it so
        default: str,
    ) -> str:
        """Return the chosen option, in words that the kernel understands."""
        from amplifier_core.approval import ApprovalTimeoutError

        asked = {"prompt": prompt, "options": list(options), "timeout": timeout, "default": default}
        if self.memory.allows(prompt):
            await self._emit("approval:granted", {**asked, "answer": ALLOW_ALWAYS, "remembered": True})
            return ALLOW_ALWAYS
        await self._emit("approval:required", asked)
        try:
            async with asyncio.timeout(timeout if timeout and timeout > 0 else None):
                said = self.host.request_approval(prompt, list(options), timeout, default)
                chosen = await said if isawaitable(said) else said
        except (TimeoutError, ApprovalTimeoutError) as error:
            ended = "approval:granted" if default == "allow" else "approval:denied"
            await self._emit(ended, {**asked, "reason": f"no answer within {timeout:g} s"})
            raise ApprovalTimeoutError(f"no answer within {timeout:g} s") from error
        return await self._answered(prompt, str(chosen), asked)

    async def _answered(self, prompt: str, chosen: str, asked: dict[str, Any]) -> str:
        words = chosen.lower().replace(",", " ").split()
        if not words or words[0] not in _CONSENT or _REFUSAL.intersection(words):
            await self._emit("approval:denied", {**asked, "answer": chosen})
            return DENY  # of any other word the kernel warns, and denies all the same
        await self._emit("approval:granted", {**asked, "answer": chosen})
        if "always" in words:
            self.memory.remember(prompt)
            return ALLOW_ALWAYS
        return ALLOW_ONCE
