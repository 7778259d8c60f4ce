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


def without_results(message: Message, places: Collection[int]) -> Message | None:
    """Return the message without some of `results_of` it, or None when nothing is left of it."""
    if not places:
        return message
    if message.get("role") == "tool" and message.get("tool_call_id"):
        return None
    blocks: list[Any] = []
    place = 0
    for block in message["content"]:
        is_result = bool(_block_answers(block))
        if not (is_result and place in places):
            blocks.append(block)
        place += is_result
    return {**message, "content": blocks} if blocks else None


def repeated_calls(message: Message) -> tuple[str, ...]:
    """Return the ids that several calls of one message have; one that is told in both forms is one call."""
    if message.get("role") != "assistant":
        return ()
    listed = message.get("tool_calls")
    told = [_call_id(entry) for entry in listed] if isinstance(listed, list) else []
    blocks = [_call_id(block) for block in blocks_of(message) if block.get("type") in _CALL_BLOCKS]
    return tuple({each for ids in (told, blocks) for each in ids if each and ids.count(each) > 1})


def without_repeated_calls(message: Message) -> Message:
    """Return the message with the first call of each id alone."""
    repeated = repeated_calls(message)
    if not repeated:
        return message
    kept = dict(message)
    for key in ("tool_calls", "content"):
        if isinstance(kept.get(key), list):
            kept[key] = list(_firsts(kept[key], key == "content"))
    return kept


def _firsts(entries: list[Any], are_blocks: bool) -> Iterator[Any]:
    seen: set[str] = set()
    for entry in entries:
        is_call = not are_blocks or (isinstance(entry, dict) and entry.get("type") in _CALL_BLOCKS)
        found = _call_id(entry) if is_call else ""
        if found not in seen:
            yield entry
        if found:
            seen.add(found)


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
