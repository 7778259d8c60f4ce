"""Continue a session from an earlier turn, with an id of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict
from uuid import uuid4

from amplihack.errors import Problem
from amplihack.records import Record
from amplihack.sessions.calls import Message
from amplihack.sessions.messages import count_turns, find_orphaned_tool_calls, slice_to_turn, through_turn

NO_PARENT = "unknown"


class ForkResult(Record):
    """The new session. `messages` is set only if it exists in memory alone."""

    session_id: str
    session_dir: Path | None
    parent_id: str
    forked_from_turn: int
    message_count: int
    messages: list[Message] | None = None
    events_count: int = 0
    problems: tuple[Problem, ...] = ()  # of the session that was forked


class ForkPreview(TypedDict):
    parent_id: str
    turn: int
    max_turns: int
    message_count: int
    has_orphaned_tools: bool
    orphaned_tool_count: int


class Cut(Record):
    """A conversation up to the end of a turn; turn 0 is the empty conversation."""

    turn: int
    messages: list[Message]


def cut_at(messages: Sequence[Message], turn: int | None, *, handle_orphaned_tools: str) -> Cut:
    """Cut after the turn, or after the last one. Raises ValueError for an unknown turn."""
    last = count_turns(messages)
    if last == 0 and turn is None:
        return Cut(0, [])
    chosen = last if turn is None else _in_range(turn, last)
    return Cut(chosen, slice_to_turn(messages, chosen, handle_orphaned_tools=handle_orphaned_tools))


def fork_session_in_memory(
    messages: Sequence[Message],
    *,
    turn: int | None = None,
    parent_id: str | None = None,
    handle_orphaned_tools: str = "complete",
) -> ForkResult:
    """Return a fork that is stored nowhere."""
    cut = cut_at(messages, turn, handle_orphaned_tools=handle_orphaned_tools)
    return ForkResult(new_id(), None, parent_id or NO_PARENT, cut.turn, len(cut.messages), cut.messages)


def preview_fork(messages: Sequence[Message], turn: int, parent_id: str) -> ForkPreview:
    """Return what a fork at this turn would hold."""
    last = count_turns(messages)
    part = through_turn(messages, _in_range(turn, last))
    orphaned = find_orphaned_tool_calls(part)
    return {
        "parent_id": parent_id,
        "turn": turn,
        "max_turns": last,
        "message_count": len(part),
        "has_orphaned_tools": bool(orphaned),
        "orphaned_tool_count": len(orphaned),
    }


def new_id() -> str:
    return str(uuid4())


def _in_range(turn: int, last: int) -> int:
    if not 1 <= turn <= last:
        raise ValueError(f"Turn {turn} out of range (1-{last})")
    return turn
