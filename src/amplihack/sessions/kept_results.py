"""Keep the results of tools that have ended while others of the same step still run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from amplihack.sessions.calls import Message
from amplihack.sessions.messages import add_synthetic_tool_results, find_orphaned_tool_calls, open_calls


def kept_result(data: Mapping[str, Any]) -> Message | None:
    """Return the message that a tool's end comes to, from its `tool:post`; None if it says no call."""
    call, result = data.get("tool_call_id"), data.get("result")
    if not isinstance(call, str) or not call:
        return None
    output = result.get("output") if isinstance(result, Mapping) else result
    if output is None and isinstance(result, Mapping):
        error = result.get("error")
        output = error.get("message") if isinstance(error, Mapping) else error
    content = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    return {
        "role": "tool",
        "tool_call_id": call,
        "name": str(data.get("tool_name") or ""),
        "content": content,
    }


def with_ended(messages: Sequence[Message], ended: Mapping[str, Message]) -> list[Message]:
    """Return a conversation in the middle of a turn with the results that its loop has not added yet."""
    return [*messages, *(ended[call] for call, *_ in open_calls(messages) if call in ended)]


def with_results(messages: Sequence[Message], kept: Mapping[str, Message]) -> list[Message]:
    """Return the conversation with the kept results of calls that have none."""
    unanswered = [each for each in find_orphaned_tool_calls(messages) if each in kept]
    if not unanswered:
        return list(messages)
    answered = add_synthetic_tool_results(messages, unanswered)
    places = {id(each) for each in messages}
    return [
        each if id(each) in places else kept.get(str(each.get("tool_call_id")), each) for each in answered
    ]
