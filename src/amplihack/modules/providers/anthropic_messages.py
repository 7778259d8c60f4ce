"""Put a conversation into the form of the Messages API. Pure: values in, values out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from amplihack.sessions.calls import Message, text_of

ANSWER = "answer"  # the tool by which the model gives an answer that keeps to a schema
_CACHED = {"cache_control": {"type": "ephemeral"}}
_EFFORTS = {"minimal": 1_024, "low": 2_048, "medium": 4_096, "high": 8_192}


def system_blocks(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Return the system text, marked so that the service may keep it."""
    texts = [text_of(message) for message in messages if message.get("role") in ("system", "developer")]
    whole = "\n\n".join(filter(None, texts))
    return [{"type": "text", "text": whole, **_CACHED}] if whole else []


def turns(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return user and assistant turns; those of one role that follow each other are one."""
    found: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.get("role") == "assistant" else "user"
        if message.get("role") in ("system", "developer"):
            continue
        blocks = list(_blocks(message))
        if not blocks:
            continue
        if found and found[-1]["role"] == role:
            found[-1]["content"] += blocks
        else:
            found.append({"role": role, "content": blocks})
    if found and found[-1]["content"]:
        found[-1]["content"][-1] = {**found[-1]["content"][-1], **_CACHED}
    return found


def _blocks(message: Message) -> Iterator[dict[str, Any]]:
    content = message.get("content")
    if message.get("role") == "tool":
        result = _texts(content) if isinstance(content, list) else str(content)
        yield {
            "type": "tool_result",
            "tool_use_id": message["tool_call_id"],
            "content": result or "(nothing)",
        }
        return
    listed = {call.get("id"): call for call in message.get("tool_calls") or ()}
    if isinstance(content, str):
        yield from _texts([{"type": "text", "text": content}])
    else:
        for block in content or ():
            if block.get("type") == "tool_call":
                listed.pop(block.get("id"), None)
                yield _call(block["id"], block["name"], block.get("input"))
            else:
                yield from _texts([block])
    for call in listed.values():
        yield _call(call["id"], call.get("tool") or call.get("name"), call.get("arguments"))


def _call(call_id: str, name: Any, arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments or {}}


def _texts(blocks: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = []
    for block in blocks:
        match block.get("type"):
            case "text" if str(block.get("text", "")).strip():
                kept.append({"type": "text", "text": block["text"]})
            case "image":
                kept.append({"type": "image", "source": block["source"]})
            case "thinking" if block.get("signature"):  # without one it is not of this service
                kept.append({key: block[key] for key in ("type", "thinking", "signature")})
            case "redacted_thinking":
                kept.append({"type": "redacted_thinking", "data": block["data"]})
    return kept


def tools_of(request: Any) -> dict[str, Any]:
    """Return the tools, and which the model must use: a schema is kept by a tool that takes the answer."""
    tools = [
        {"name": tool.name, "description": tool.description or "", "input_schema": tool.parameters}
        for tool in request.tools or ()
    ]
    schema = wanted_schema(request.response_format)
    if schema is not None:
        whole = schema if schema.get("type") == "object" else wrapped(schema)
        tools.append({"name": ANSWER, "description": "Give the final answer.", "input_schema": whole})
        choice = {"type": "tool", "name": ANSWER} if len(tools) == 1 else {"type": "any"}
        return {"tools": tools, "tool_choice": choice}
    if not tools:
        return {}
    choices = {"required": {"type": "any"}, "none": {"type": "none"}}
    forced = choices.get(request.tool_choice) if isinstance(request.tool_choice, str) else None
    return {"tools": tools, **({"tool_choice": forced} if forced else {})}


def wanted_schema(response_format: Any) -> dict[str, Any] | None:
    kind = getattr(response_format, "type", "text")
    if kind == "json_schema":
        return dict(response_format.json_schema)
    return {"type": "object"} if kind == "json" else None


def wrapped(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object that holds the value: the input of a tool is always an object."""
    return {"type": "object", "properties": {"value": dict(schema)}, "required": ["value"]}


def answered(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Return the text of an answer that was given by the tool."""
    value = arguments if schema.get("type") == "object" else arguments.get("value")
    return json.dumps(value, ensure_ascii=False)


def thinking_of(request: Any, options: Mapping[str, Any], most_tokens: int) -> dict[str, Any]:
    """Return how much the model may think, if it was asked to and nothing forces its answer."""
    wanted = options.get("extended_thinking") or request.reasoning_effort in _EFFORTS
    if not wanted or wanted_schema(request.response_format) is not None:
        return {}
    budget = min(_EFFORTS.get(request.reasoning_effort or "medium", 4_096), most_tokens - 1)
    return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= 1_024 else {}
