"""Read tool calls and their results from messages, in either of the two common forms.

A call is in `tool_calls`, or a `tool_use` or `tool_call` block of the content. A result is a message of the
role `tool`, or a `tool_result` block.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, TypeAlias

from amplihack.records import Record

Message: TypeAlias = dict[str, Any]

_CALL_BLOCKS = ("tool_use", "tool_call")
REMINDER = "<system-reminder"  # no closing bracket: the tag may have attributes, or be a plural


class ToolCall(Record):
    id: str
    name: str


def blocks_of(message: Message) -> list[dict[str, Any]]:
    """Return the blocks of the content; none if it is plain text."""
    content = message.get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def text_of(message: Message) -> str:
    """Return the text of the content, with blocks joined by spaces."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return " ".join(text for block in blocks_of(message) if isinstance(text := block.get("text"), str))


def calls_of(message: Message) -> tuple[ToolCall, ...]:
    """Return the tool calls of an assistant's message, each once."""
    if message.get("role") != "assistant":
        return ()
    listed = message.get("tool_calls")
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    entries += [block for block in blocks_of(message) if block.get("type") in _CALL_BLOCKS]
    calls = (ToolCall(_call_id(entry), _call_name(entry)) for entry in entries)
    return tuple({call.id: call for call in calls if call.id}.values())


def arguments_of(message: Message) -> dict[str, Any]:
    """Return what the tools of an assistant's message were given, by the ids of the calls."""
    listed = message.get("tool_calls")
    entries = [block for block in blocks_of(message) if block.get("type") in _CALL_BLOCKS]
    entries += [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    return {_call_id(entry): _given(entry) for entry in entries}


def results_of(message: Message) -> tuple[str, ...]:
    """Return the ids of the calls that a message answers."""
    if message.get("role") == "tool":
        found = message.get("tool_call_id")
        if isinstance(found, str) and found:
            return (found,)
    return tuple(_result_ids(message))


def is_real_user_message(entry: Message) -> bool:
    """Tell whether a person wrote it: neither a tool's result nor a reminder from a hook."""
    if entry.get("role") != "user" or entry.get("tool_call_id"):
        return False
    blocks = blocks_of(entry)
    if blocks and all(block.get("type") == "tool_result" for block in blocks):
        return False
    content = entry.get("content")
    texts = [content] if isinstance(content, str) else [block.get("text") for block in blocks]
    return not any(isinstance(text, str) and text.strip().startswith(REMINDER) for text in texts)


def begins_turn(entry: Message) -> bool:
    """Tell whether a turn begins here: a person wrote it, and it brings no results of the turn before."""
    return is_real_user_message(entry) and not results_of(entry)


def without_calls(message: Message, ids: Collection[str]) -> Message | None:
    """Return the message without these calls, or None when nothing is left of it."""
    kept = dict(message)
    if isinstance(kept.get("tool_calls"), list):
        kept["tool_calls"] = [call for call in kept["tool_calls"] if _call_id(call) not in ids]
        if not kept["tool_calls"]:
            del kept["tool_calls"]
    if isinstance(kept.get("content"), list):
        kept["content"] = [block for block in kept["content"] if not _is_call(block, ids)]
    return kept if kept.get("tool_calls") or kept.get("content") else None


def without_results(message: Message, ids: Collection[str]) -> Message | None:
    """Return the message without the results of these calls, or None when nothing is left of it."""
    answered = set(results_of(message))
    if not answered & set(ids):
        return message
    if message.get("role") == "tool":
        return None
    blocks = [block for block in message["content"] if _block_answers(block) not in ids]
    return {**message, "content": blocks} if blocks else None


def _call_id(entry: object) -> str:
    if not isinstance(entry, dict):
        return ""
    found = entry.get("id") or entry.get("tool_call_id")
    return found if isinstance(found, str) else ""


def _call_name(entry: dict[str, Any]) -> str:
    function = entry.get("function")
    inner = function.get("name") if isinstance(function, dict) else None
    found = inner or entry.get("name") or entry.get("tool")
    return found if isinstance(found, str) else ""


def _given(entry: dict[str, Any]) -> Any:
    function = entry.get("function")
    inner = function.get("arguments") if isinstance(function, dict) else None
    return inner or entry.get("arguments") or entry.get("input") or {}


def _is_call(block: object, ids: Collection[str]) -> bool:
    return isinstance(block, dict) and block.get("type") in _CALL_BLOCKS and _call_id(block) in ids


def _result_ids(message: Message) -> Iterator[str]:
    for block in blocks_of(message):
        if answered := _block_answers(block):
            yield answered


def _block_answers(block: object) -> str:
    if not isinstance(block, dict) or block.get("type") != "tool_result":
        return ""
    found = block.get("tool_use_id") or block.get("tool_call_id")
    return found if isinstance(found, str) else ""
