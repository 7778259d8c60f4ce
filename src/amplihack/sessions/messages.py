"""Cut a conversation into turns: a `user` message and everything up to the next one, counted from 1."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypedDict

from amplihack.sessions.calls import (
    Message,
    ToolCall,
    arguments_of,
    begins_turn,
    calls_of,
    is_real_user_message,
    results_of,
    text_of,
    without_calls,
)

__all__ = [
    "TurnSummary",
    "add_synthetic_tool_results",
    "count_turns",
    "find_orphaned_tool_calls",
    "get_turn_boundaries",
    "get_turn_summary",
    "is_real_user_message",
    "slice_to_turn",
]

_MODES = ("complete", "remove", "error")
_FORKED = json.dumps(
    {"error": "The tool was not run to its end: the session was forked here", "forked": True}
)
_CLOSING = "The previous turn was interrupted before I could answer."
_BROKEN_OFF = "[interrupted: the answer ends here]"


class TurnSummary(TypedDict):
    turn: int
    user_content: str
    assistant_content: str
    tool_count: int
    message_count: int


def get_turn_boundaries(messages: Sequence[Message]) -> list[int]:
    """Return the index where each turn starts."""
    return [index for index, message in enumerate(messages) if message.get("role") == "user"]


def count_turns(messages: Sequence[Message]) -> int:
    return len(get_turn_boundaries(messages))


def slice_to_turn(
    messages: Sequence[Message], turn: int, *, handle_orphaned_tools: str = "complete"
) -> list[Message]:
    """Return the messages through a turn. Calls without result are completed, removed, or an error."""
    if handle_orphaned_tools not in _MODES:
        raise ValueError(
            f"Unknown handle_orphaned_tools {handle_orphaned_tools!r}: use one of {', '.join(_MODES)}"
        )
    part = through_turn(messages, turn)
    orphaned = find_orphaned_tool_calls(part)
    if not orphaned:
        return part
    if handle_orphaned_tools == "error":
        raise ValueError(f"Orphaned tool calls at turn {turn}: {', '.join(orphaned)}")
    if handle_orphaned_tools == "remove":
        kept = (without_calls(message, orphaned) if calls_of(message) else message for message in part)
        return [message for message in kept if message is not None]
    return add_synthetic_tool_results(part, orphaned)


def through_turn(messages: Sequence[Message], turn: int) -> list[Message]:
    """Return the messages up to the end of a turn, unchanged. Raises ValueError for an unknown turn."""
    if turn < 1:
        raise ValueError(f"Turn must be >= 1, got {turn}")
    starts = get_turn_boundaries(messages)
    if not starts:
        raise ValueError("No user messages: there is no turn to cut at")
    if turn > len(starts):
        raise ValueError(f"Turn {turn} exceeds max turns ({len(starts)})")
    return list(messages[: starts[turn]] if turn < len(starts) else messages)


def last_answer(messages: Sequence[Message]) -> str:
    """Return what was said last since the last prompt; empty if nothing was."""
    for message in reversed(messages):
        if is_real_user_message(message):
            return ""
        if message.get("role") == "assistant" and (text := text_of(message)):
            return text
    return ""


FINISH_CALLS = "session.finish_calls"  # the capability of a loop that makes open calls before it asks a model


def open_calls(messages: Sequence[Message]) -> list[tuple[str, str, Any]]:
    """Return the calls that no later message answers: id, name of the tool, and what it is given.

    Some services give the same id again with their next answer.
    """
    found: dict[str, tuple[str, str, Any]] = {}
    for message in messages:
        given = arguments_of(message)
        found.update((call.id, (call.id, call.name, given.get(call.id))) for call in calls_of(message))
        for answered in results_of(message):
            found.pop(answered, None)
    return list(found.values())


def find_orphaned_tool_calls(messages: Iterable[Message]) -> list[str]:
    """Return the ids of the calls without a result, in order."""
    called: dict[str, None] = {}
    answered: set[str] = set()
    for message in messages:
        called.update((call.id, None) for call in calls_of(message))
        answered.update(results_of(message))
    return [call for call in called if call not in answered]


def add_synthetic_tool_results(
    messages: Sequence[Message], orphaned_ids: Collection[str], *, synthetic_content: str | None = None
) -> list[Message]:
    """Return the messages with an error as result of each such call, and an answer before the next turn."""
    wanted = set(orphaned_ids)
    missing = {
        index: calls
        for index, message in enumerate(messages)
        if (calls := [call for call in calls_of(message) if call.id in wanted])
    }
    return answer_calls(messages, missing, _FORKED if synthetic_content is None else synthetic_content)


def answer_calls(
    messages: Sequence[Message], missing: Mapping[int, Sequence[ToolCall]], content: str
) -> list[Message]:
    """Return the messages with a made-up result for each missing one, by index of the calling message."""
    answered: list[Message] = []
    waiting: list[Message] = []
    interrupted = False
    for index, message in enumerate(messages):
        # Assistant messages that follow each other are one round of calls; results come after all of them.
        if waiting and not calls_of(message):
            answered += waiting
            waiting, interrupted = [], True
        if interrupted and begins_turn(message):
            answered.append(closing_message())
        if interrupted and (message.get("role") == "assistant" or begins_turn(message)):
            interrupted = False
        answered.append(message)
        waiting += [made_up_result(call, content) for call in missing.get(index, ())]
    return answered + waiting


def closing_message(said: str = "") -> Message:
    """Return what the assistant says if it never got to answer, or only to say the beginning of an answer."""
    if not said.strip():
        return {"role": "assistant", "content": _CLOSING}
    return {"role": "assistant", "content": f"{said}\n\n{_BROKEN_OFF}", "metadata": {"interrupted": True}}


def was_cut_off(messages: Sequence[Message]) -> bool:
    """Tell whether the last turn never came to its answer, from how it was closed."""
    last = messages[-1] if messages else {}
    noted = last.get("metadata")
    is_closing = last.get("content") == _CLOSING or (isinstance(noted, dict) and noted.get("interrupted"))
    return last.get("role") == "assistant" and bool(is_closing)


def get_turn_summary(messages: Sequence[Message], turn: int, *, max_length: int = 100) -> TurnSummary:
    """Return what a turn is about, in a line each. Raises ValueError for an unknown turn."""
    starts = get_turn_boundaries(messages)
    if not 1 <= turn <= len(starts):
        raise ValueError(f"Turn {turn} out of range (1-{len(starts)})")
    end = starts[turn] if turn < len(starts) else len(messages)
    part = messages[starts[turn - 1] : end]
    said = (text_of(message) for message in part if message.get("role") == "assistant")
    return {
        "turn": turn,
        "user_content": _shortened(text_of(part[0]), max_length),
        "assistant_content": _shortened(next(filter(None, said), ""), max_length),
        "tool_count": sum(len(calls_of(message)) for message in part),
        "message_count": len(part),
    }


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length] + "..."


def made_up_result(call: ToolCall, content: str) -> Message:
    """Return a result for a call that has none."""
    named = {"name": call.name} if call.name else {}
    return {"role": "tool", "tool_call_id": call.id, **named, "content": content}
