"""Show kept sessions: a table, a page of what was said, and JSON."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any

from amplihack.cli.show import printable, problem_json
from amplihack.sessions.spending import price, spent

if TYPE_CHECKING:
    from amplihack.sessions.conversation import ToolUse, Utterance
    from amplihack.system.session_store.listing import KeptSession

_HEAD = ("session", "last used", "turns", "cost", "state", "bundle", "model", "directory", "first prompt")
_SHORTEST_ID = 8
_WIDEST = {"model": 24, "directory": 40, "first prompt": 50}
_WIDEST_LINE = 160
_SPEAKERS = {"user": "you", "note": "note"}


def session_json(kept: KeptSession) -> dict[str, Any]:
    """Return what `session list --json` tells of a session."""
    return {
        "session_id": kept.session_id,
        "name": kept.name or cut(kept.prompt, _WIDEST["first prompt"]),
        "status": kept.status,
        "bundle": kept.bundle,
        "model": kept.model,
        "cwd": kept.working_dir,
        "started": kept.started,
        "updated": kept.updated,
        "turns": kept.turns,
        "prompt": kept.prompt,
        "usage": kept.used.to_dict(),
        "cost_usd": None if kept.used.cost_usd is None else float(kept.used.cost_usd),
        "parent_id": kept.parent_id,
        "agent": kept.agent,
        "forked_from": kept.parent_id if kept.forked_from_turn is not None else None,
        "forked_from_turn": kept.forked_from_turn,
        "path": str(kept.directory),
        "problems": [problem_json(problem) for problem in kept.problems],
    }


def session_table(sessions: Sequence[KeptSession]) -> list[str]:
    """Return a line for each session, under a head. Ids are as short as they can be."""
    rows = [_HEAD, *(_cells(each, short) for each, short in zip(sessions, _short_ids(sessions), strict=True))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _cells(kept: KeptSession, short: str) -> tuple[str, ...]:
    cells = {
        "session": short,
        "last used": clock(kept.updated),
        "turns": str(kept.turns),
        "cost": price(kept.used),
        "state": kept.status,
        "bundle": kept.bundle or "",
        "model": kept.model or "",
        "directory": from_home(kept.working_dir or ""),
        "first prompt": kept.name or kept.prompt,
    }
    return tuple(printable(cut(cells[name], _WIDEST.get(name, 60)), keep="") for name in _HEAD)


def _short_ids(sessions: Sequence[KeptSession]) -> list[str]:
    ids = sorted(each.session_id for each in sessions)
    shared: dict[str, int] = dict.fromkeys(ids, 0)
    for first, second in pairwise(ids):
        length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
        shared[first], shared[second] = max(shared[first], length), max(shared[second], length)
    return [each.session_id[: max(_SHORTEST_ID, shared[each.session_id] + 1)] for each in sessions]


def session_page(kept: KeptSession, told: Sequence[Utterance], *, full: bool) -> list[str]:
    """Return the lines of `session show`: what is known of it, then the conversation."""
    of = f" of the agent {kept.agent}" if kept.agent else ""
    lines = [
        f"session {kept.session_id}{of} — {kept.status}" + (f": {kept.name}" if kept.name else ""),
        f"  {kept.bundle or 'bundle not known'}, {kept.model or 'no model asked yet'}",
        f"  started {clock(kept.started)}, last used {clock(kept.updated)}, in {kept.working_dir or '?'}",
        f"  {_count(kept.turns, 'turn')}, {spent(kept.used)}",
    ]
    if kept.forked_from_turn is not None:
        lines.append(f"  forked from {kept.parent_id} after turn {kept.forked_from_turn}")
    elif kept.parent_id:
        lines.append(f"  inside the session {kept.parent_id}")
    for each in told:
        lines += ["", *_utterance(each, full=full)]
    if kept.status != "open" and not kept.is_inside:
        lines += ["", f"`amplihack session resume {kept.session_id}` goes on"]
    return lines


def _utterance(said: Utterance, *, full: bool) -> list[str]:
    lines = [f"[{said.turn}] {_SPEAKERS.get(said.role, said.role)}:"]
    lines += [f"  {line}" for line in said.text.splitlines()]
    return [*lines, *(line for each in said.tools for line in _tool(each, full=full))]


def _tool(used: ToolUse, *, full: bool) -> list[str]:
    result = "no result" if used.result is None else used.result.strip()
    if not full:
        lines = result.splitlines() or ["nothing"]
        more = f" (+ {_count(len(lines) - 1, 'line')})" if len(lines) > 1 else ""
        head = cut(f"→ {used.name} {used.arguments}", _WIDEST_LINE)
        return [f"  {head}", f"    {cut(lines[0], _WIDEST_LINE)}{more}"]
    given = (f"  → {used.name} {used.arguments}").splitlines()
    return [*given, *(f"    {line}" for line in result.splitlines())]


def clock(iso: str | None) -> str:
    """Return a stored time as the clock here shows it."""
    from amplihack.sessions.events import moment  # deferred: it needs `datetime`

    at = moment(iso)
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at.timestamp())) if at else "?"


def from_home(path: str) -> str:
    home = os.environ.get("HOME", "")
    return f"~{path[len(home) :]}" if home and (path == home or path.startswith(f"{home}/")) else path


def cut(text: str, width: int) -> str:
    line = " ".join(text.split()) if "\n" in text else text
    return line if len(line) <= width else f"{line[: width - 1]}…"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"
