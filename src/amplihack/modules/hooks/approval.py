"""Ask before a tool does what the rules do not allow: `hooks-approval`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from amplifier_core import ApprovalRequest, HookResult

from amplihack.modules.approval_rules import MODES, ApprovalRule, decide, shown, subject_of
from amplihack.modules.notices import tell
from amplihack.modules.settings import ModuleSettings
from amplihack.sessions.answers import ALLOW_ALWAYS, ALLOW_ONCE, DENY

__amplifier_module_type__ = "hook"

_NAME = "hooks-approval"
_THEIR_ACTIONS = {"auto_approve": "allow", "auto_deny": "deny", "require_approval": "ask"}
_OPTIONS = [ALLOW_ONCE, ALLOW_ALWAYS, DENY]


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Any:
    """Mount the hook. A host that wants to ask in its own way registers a provider."""
    settings = ModuleSettings(coordinator, _NAME, config)
    mode = settings.choice("mode", "ask", MODES)
    rules = [_rule(settings, number, each) for number, each in enumerate(settings.entries("rules"), 1)]
    seconds = settings.seconds("timeout", 300.0)
    settings.choice("default_action", "deny", ("deny",))  # of others; no answer is always a no here
    settings.done()
    hook = ApprovalHook(coordinator, mode, [rule for rule in rules if rule is not None], seconds)
    coordinator.register_capability("approval.register_provider", hook.register)
    return coordinator.hooks.register("tool:pre", hook.on_tool, priority=-10, name=_NAME)


def _rule(settings: ModuleSettings, number: int, written: Mapping[str, Any]) -> ApprovalRule | None:
    known, given = {"tool", "match", "action"}, _in_our_words(written)
    texts = all(isinstance(value, str) for value in given.values())
    if not texts or given.keys() - known or given.get("action") not in ("allow", "deny", "ask"):
        settings.wrong(f"rule {number} must be {{tool, match, action: allow, deny or ask}}")
        return None
    return ApprovalRule(given.get("tool", "*"), given.get("match", "*"), given["action"])


def _in_our_words(rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rule of the ecosystem as one of ours: `{pattern, action: auto_approve}` is about commands."""
    made = dict(rule)
    if "pattern" in made and "match" not in made:
        made["match"] = made.pop("pattern")
        if made.get("action") == "auto_approve":
            made.setdefault("tool", "bash")
    if made.get("require_approval") is True and "action" not in made:
        made["action"] = "ask"
    for name in ("require_approval", "risk_level", "description"):  # what is left of them changes nothing
        made.pop(name, None)
    action = made.get("action")
    return {**made, "action": _THEIR_ACTIONS.get(action, action)} if isinstance(action, str) else made


class ApprovalHook:
    def __init__(self, coordinator: Any, mode: str, rules: list[ApprovalRule], seconds: float | None) -> None:
        self._coordinator, self._mode, self._rules, self._seconds = coordinator, mode, rules, seconds
        self._provider: Any = None
        self._always: set[tuple[str, str]] = set()
        self._one_at_a_time = asyncio.Lock()

    def register(self, provider: Any) -> None:
        self._provider = provider

    async def on_tool(self, event: str, data: Mapping[str, Any]) -> Any:
        del event
        tool = str(data.get("tool_name", ""))
        given = data.get("tool_input")
        arguments = given if isinstance(given, Mapping) else {}
        decision = decide(self._mode, self._rules, tool, arguments)
        if decision.action == "allow":
            return HookResult()
        if decision.action == "deny":
            return HookResult(action="deny", reason=decision.reason)
        return await self._ask(tool, subject_of(tool, arguments))

    async def _ask(self, tool: str, subject: str) -> Any:
        if self._provider is None:
            return HookResult(
                action="ask_user",
                approval_prompt=f"Allow {tool}: {shown(subject)}?",
                approval_options=_OPTIONS,
                approval_timeout=self._seconds or 300.0,
                approval_default="deny",
                reason="the user did not allow it",
            )
        async with self._one_at_a_time:  # several tools at once must not ask at once
            if (tool, subject) in self._always:
                return HookResult()
            return await self._ask_provider(tool, subject)

    async def _ask_provider(self, tool: str, subject: str) -> Any:
        """Ask the host. No answer in time, or one that fails, is a no."""
        request = ApprovalRequest(
            tool_name=tool, action=shown(subject), details={}, risk_level="medium", timeout=self._seconds
        )
        await self._tell("required", tool, subject)
        try:
            async with asyncio.timeout(self._seconds):
                response = await self._provider.request_approval(request)
        except TimeoutError:
            return await self._denied(tool, subject, "nobody answered in time")
        except Exception as error:  # noqa: BLE001 - a host that cannot ask must not let anything through
            tell(self._coordinator, _NAME, f"the approval of {tool} could not be asked for: {error}")
            return await self._denied(tool, subject, "nobody could be asked")
        if not response.approved:
            return await self._denied(tool, subject, response.reason or "the user did not allow it")
        if response.remember:
            self._always.add((tool, subject))
        await self._tell("granted", tool, subject)
        return HookResult()

    async def _denied(self, tool: str, subject: str, reason: str) -> Any:
        await self._tell("denied", tool, subject, reason=reason)
        return HookResult(action="deny", reason=reason)

    async def _tell(self, event: str, tool: str, subject: str, **more: str) -> None:
        data = {"tool_name": tool, "action": shown(subject), **more}
        await self._coordinator.hooks.emit(f"approval:{event}", data)
