"""Fit a mount plan to the program that opens it: who shows what happens, and how much is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from amplihack.errors import UsageError
from amplihack.records import Record

Plan: TypeAlias = dict[str, Any]

APPROVAL, DISPLAY, COST = "hooks-approval", "hooks-streaming-ui", "hooks-cost"


class HostWishes(Record, kw_only=True):
    """What the user asks for on top of the bundle. `allow` are `tool`, or `tool:pattern`, as rules say it."""

    approval: str | None = None  # a mode of hooks-approval
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    most_steps: int | None = None
    budget_usd: str | None = None


def require_session(plan: Mapping[str, Any], bundle: str) -> None:
    """Raise UsageError for a plan that no session can be opened with: it has no loop, or no context."""
    session = plan.get("session")
    said = session if isinstance(session, Mapping) else {}
    if missing := [f"session.{part}" for part in ("orchestrator", "context") if not said.get(part)]:
        fix = "include a bundle that has it, such as `includes: [{bundle: foundation}]`"
        raise UsageError(f"no session can be opened with bundle {bundle!r}: {missing[0]} is missing", fix=fix)


def fitted(plan: Mapping[str, Any], wishes: HostWishes, *, shows: bool) -> Plan:
    """Return a plan with the wishes in it. With `shows`, the host shows what happens and modules tell it."""
    made = dict(plan)
    if wishes.approval or wishes.allow or wishes.deny:
        made = _with_hook(made, APPROVAL, _approval(wishes, _config(made, APPROVAL)))
    if wishes.budget_usd is not None:
        made = _with_hook(made, COST, {"budget_usd": wishes.budget_usd})
    if wishes.most_steps is not None:
        made = _with_loop(made, {"max_iterations": wishes.most_steps})
    return _with_hook(made, DISPLAY, {}, ours=True) if shows else made


def rule_of(text: str, action: str) -> dict[str, str]:
    """Return the rule that `bash:git status*` means. Raises UsageError."""
    tool, colon, match = text.partition(":")
    if not tool.strip() or (colon and not match):
        raise UsageError(
            f"--{action} cannot be {text!r}", fix=f"such as --{action} write_file, or --{action} 'bash:git *'"
        )
    return {"tool": tool.strip(), "match": match or "*", "action": action}


def with_response_format(plan: Mapping[str, Any], schema: Any) -> Plan:
    """Return a plan whose loop asks for answers of that form: `json`, or a JSON Schema."""
    return _with_loop(dict(plan), {"response_format": schema})


def _approval(wishes: HostWishes, before: Mapping[str, Any]) -> dict[str, Any]:
    """Put the user's rules in front of the bundle's: the first that fits wins."""
    rules = [rule_of(each, "deny") for each in wishes.deny] + [
        rule_of(each, "allow") for each in wishes.allow
    ]
    listed = before.get("rules")
    config: dict[str, Any] = {"rules": [*rules, *(listed if isinstance(listed, list) else ())]}
    return {**config, "mode": wishes.approval} if wishes.approval else config


def _config(plan: Mapping[str, Any], module: str) -> Mapping[str, Any]:
    found = next((each.get("config") for each in _hooks(plan) if each.get("module") == module), None)
    return found if isinstance(found, Mapping) else {}


def _hooks(plan: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    listed = plan.get("hooks")
    return [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []


def _with_hook(plan: Plan, module: str, config: Mapping[str, Any], *, ours: bool = False) -> Plan:
    """Return a plan with a hook and these settings of it; `ours` means no other source for it."""
    hooks = [dict(each) for each in _hooks(plan)]
    entry = next((each for each in hooks if each.get("module") == module), None)
    if entry is None:
        entry = {"module": module}
        hooks.append(entry)
    if ours:
        entry.pop("source", None)
    before = entry.get("config")
    if config:
        entry["config"] = {**(before if isinstance(before, Mapping) else {}), **config}
    return {**plan, "hooks": hooks}


def _with_loop(plan: Plan, config: Mapping[str, Any]) -> Plan:
    session = dict(plan.get("session") or {})
    loop = session.get("orchestrator")
    entry = {"module": loop} if isinstance(loop, str) else dict(loop or {})
    before = entry.get("config")
    entry["config"] = {**(before if isinstance(before, Mapping) else {}), **config}
    return {**plan, "session": {**session, "orchestrator": entry}}
