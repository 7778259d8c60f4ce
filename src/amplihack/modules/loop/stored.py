"""Make the messages that a turn adds to the conversation, and read what tools and models give."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from amplifier_core import ToolResult

from amplihack.sessions.calls import Message
from amplihack.sessions.serialise import sanitize_for_json

_AT_LIMIT = "the answer was cut off at its limit of tokens (max_tokens in the config of the provider)"
_CUT_SHORT = {  # by the words of the wire formats
    "length": _AT_LIMIT,
    "max_tokens": _AT_LIMIT,
    "model_context_window_exceeded": "the answer was cut off at the end of the model's context window",
    "content_filter": "a filter of the service ended the answer",
    "refusal": "the model refused to answer",
}


def user_message(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant_message(response: Any, calls: Sequence[Any]) -> Message:
    """Return what the model said: its blocks as they came (signatures matter), and its calls listed."""
    blocks = [plain(block) for block in response.content or ()]
    present = {block.get("id") for block in blocks if block.get("type") == "tool_call"}
    wanted = {call.id for call in calls}
    blocks = [block for block in blocks if block.get("type") != "tool_call" or block.get("id") in wanted]
    blocks += [
        {"type": "tool_call", "id": call.id, "name": call.name, "input": call.arguments or {}}
        for call in calls
        if call.id not in present
    ]
    message: Message = {"role": "assistant", "content": blocks}
    if not calls and all(block.get("type") == "text" for block in blocks):
        message["content"] = "".join(block.get("text", "") for block in blocks)
    if calls:
        message["tool_calls"] = [
            {"id": call.id, "tool": call.name, "arguments": call.arguments or {}} for call in calls
        ]
    if response.metadata:
        message["metadata"] = as_json(response.metadata)
    return message


def tool_message(call: Any, result: ToolResult) -> Message:
    """Return a tool's result for the model: text, or blocks where it has pictures."""
    content: Any = result.get_serialized_output()
    if result.content:
        content = [block.model_dump(exclude_none=True) for block in result.content]
    return {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": content}


def text_of_response(response: Any) -> str:
    blocks = map(plain, response.content or ())
    return "".join(block.get("text", "") for block in blocks if block.get("type") == "text")


def cut_short(response: Any) -> str:
    """Return why an answer ended before the model was done; empty if it was done."""
    return _CUT_SHORT.get(str(getattr(response, "finish_reason", None) or ""), "")


def plain(block: Any) -> dict[str, Any]:
    """Return a block as JSON, whatever model it came in."""
    if hasattr(block, "model_dump"):
        return dict(block.model_dump(mode="json", exclude_none=True))
    return dict(block) if isinstance(block, Mapping) else {"type": "text", "text": str(block)}


def as_result(given: Any) -> ToolResult:
    """Return a tool's result, from the forms in which tools of any language give it."""
    if isinstance(given, ToolResult):
        # It ran, so what it gave counts, also where neither an event nor a model can have it as it is.
        plain_output = as_json(given.output)
        same = plain_output == given.output and not isinstance(given.output, tuple)
        return given if same else given.model_copy(update={"output": plain_output})
    if isinstance(given, Mapping) and isinstance(given.get("success"), bool):
        known = {key: given.get(key) for key in ("success", "output", "error", "content")}
        return ToolResult(**{**known, "output": as_json(known["output"])})
    return ToolResult(success=True, output=as_json(given))


def failed(message: str) -> ToolResult:
    return ToolResult(success=False, output=message, error={"message": message})


def as_json(value: Any) -> Any:
    """Return a value as it comes out of JSON: what an event carries, and what can be compared with it."""
    try:
        return json.loads(json.dumps(value, default=_text))
    except (TypeError, ValueError, RecursionError):  # keys that are no text, or a value that holds itself
        return json.loads(json.dumps(sanitize_for_json(value), default=_text))


def _text(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, bytes | bytearray):
        return value.decode("utf-8", "replace")
    return sorted(value, key=repr) if isinstance(value, set | frozenset) else str(value)


def schema_of(tool: Any) -> dict[str, Any]:
    """Return the JSON Schema of a tool's input, an empty object for a tool that tells none."""
    schema = getattr(tool, "input_schema", None)
    if not isinstance(schema, dict):
        describe = getattr(tool, "get_spec", None)
        spec = describe() if callable(describe) else None
        schema = spec.get("parameters") if isinstance(spec, Mapping) else None
    return schema if isinstance(schema, dict) else {"type": "object", "properties": {}}


def names(tools: Iterable[str]) -> str:
    return ", ".join(sorted(tools)) or "none"
