"""Show the plan of a session to a person: its modules with their settings. Whoever calls masks secrets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

_SECTIONS = ("providers", "tools", "hooks")


def shown_plan(plan: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each module of a plan: what it is for, its name, its settings."""
    session = plan.get("session")
    for part in ("orchestrator", "context"):
        entry = session.get(part) if isinstance(session, Mapping) else None
        yield _line(part, {"module": entry} if isinstance(entry, str) else entry)
    for section in _SECTIONS:
        for entry in plan.get(section) or ():
            yield _line(section.removesuffix("s"), entry)


def shown_approvals(plan: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is asked for before tools do it: the mode, then the rules in their order."""
    hooks = [each for each in plan.get("hooks") or () if isinstance(each, Mapping)]
    found = next((each for each in hooks if each.get("module") == "hooks-approval"), None)
    if found is None:
        yield "nothing is asked for: the bundle has no hooks-approval"
        return
    config = found.get("config") or {}
    yield f"mode  {config.get('mode') or 'ask'}"
    for rule in config.get("rules") or ():
        yield f"{rule.get('action')}  {rule.get('tool', '*')}:{rule.get('match', '*')}"


def _line(kind: str, entry: Any) -> str:
    known = entry if isinstance(entry, Mapping) else {}
    settings = known.get("config") or {}
    name = known.get("instance_id") or known.get("module", "")
    return f"{kind:<12}  {name}" + (f"  {json.dumps(settings, ensure_ascii=False)}" if settings else "")
