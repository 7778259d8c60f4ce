"""Read the JSON events that agent tools print, one object a line: the common part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

from amplihack.recipes.agent_port import Usage
from amplihack.records import Record

ToolEvent: TypeAlias = Mapping[str, Any]  # checked at every access: it comes from another program


class ToolOutcome(Record, kw_only=True):
    """The result of a tool's report. An `error` overrules any text and any exit code."""

    text: str = ""
    error: str = ""
    usage: Usage | None = None
    cost_usd: float | None = None
    session_id: str | None = None
    denied: tuple[str, ...] = ()


class ToolReport(Protocol):
    """Reads a tool's events in order. `outcome` is None until one of this tool's events arrived."""

    @property
    def outcome(self) -> ToolOutcome | None: ...

    def take(self, event: ToolEvent) -> str:
        """Process the event, and return what to show of it; may be empty."""
        ...


def parse_event(line: str) -> ToolEvent | None:
    """Return the event on a line, or None for other text."""
    if not line.startswith("{"):
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("type"), str) else None


def part(event: ToolEvent, *path: str) -> ToolEvent:
    """Return the object at a path, empty if there is none."""
    for key in path:
        found = event.get(key)
        event = found if isinstance(found, dict) else {}
    return event


def parts(event: ToolEvent, key: str) -> list[ToolEvent]:
    """Return the objects in the list at a key."""
    found = event.get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def text(event: ToolEvent, key: str) -> str:
    found = event.get(key)
    return found if isinstance(found, str) else ""


def count(event: ToolEvent, key: str) -> int | None:
    found = event.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def amount(event: ToolEvent, key: str) -> float | None:
    found = event.get(key)
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def usage(event: ToolEvent, *, cached: str) -> Usage | None:
    """Return the token counts of an object, or None if it is empty; `cached` is the tool's own key."""
    if not event:
        return None
    return Usage(
        input_tokens=count(event, "input_tokens"),
        output_tokens=count(event, "output_tokens"),
        cached_tokens=count(event, cached),
    )
