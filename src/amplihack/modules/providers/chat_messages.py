"""Put a conversation into the form of the chat completions API. Pure: values in, values out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from amplihack.sessions.calls import Message, text_of


def chat_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the messages on the wire. What a provider of another kind thought is left out."""
    return [each for message in messages for each in _converted(message)]


def _converted(message: Message) -> list[dict[str, Any]]:
    content, role = message.get("content"), message.get("role")
    match role:
        case "tool":
            return _result(message)
        case "assistant":
            said: dict[str, Any] = {"role": "assistant", "content": _text(message)}
            if calls := list(_calls(message)):
                said["tool_calls"] = calls
                said["content"] = said["content"] or None
            return [said] if calls or said["content"] else []
        case "system" | "developer":
            return [{"role": "system", "content": _text(message)}]
    if isinstance(content, list) and any(block.get("type") == "image" for block in content):
        return [{"role": "user", "content": _parts(content)}]
    return [{"role": "user", "content": _text(message)}]


def _text(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")


def _result(message: Message) -> list[dict[str, Any]]:
    """Return a tool's result. Pictures follow in a message of the user: a result may hold text only."""
    content = message.get("content")
    text = content if isinstance(content, str) else text_of(message)
    result = {"role": "tool", "tool_call_id": message["tool_call_id"], "content": text}
    pictures = (
        [part for part in _parts(content) if part["type"] == "image_url"] if isinstance(content, list) else []
    )
    return [result, {"role": "user", "content": pictures}] if pictures else [result]


def _parts(blocks: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for block in blocks:
        if block.get("type") == "text":
            parts.append({"type": "text", "text": block.get("text", "")})
        elif block.get("type") == "image":
            source = block["source"]
            url = source.get("url") or f"data:{source.get('media_type')};base64,{source.get('data')}"
            parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts


def _calls(message: Message) -> Iterable[dict[str, Any]]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    found = {
        block["id"]: (block["name"], block.get("input"))
        for block in blocks
        if block.get("type") == "tool_call"
    }
    for call in message.get("tool_calls") or ():
        found.setdefault(call["id"], (call.get("tool") or call.get("name"), call.get("arguments")))
    for call_id, (name, arguments) in found.items():
        function = {"name": name, "arguments": json.dumps(arguments or {}, ensure_ascii=False)}
        yield {"id": call_id, "type": "function", "function": function}


def tools_of_chat(request: Any) -> dict[str, Any]:
    tools = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description or "",
                "parameters": tool.parameters,
            },
        }
        for tool in request.tools or ()
    ]
    if not tools:
        return {}
    choice = {"tool_choice": request.tool_choice} if request.tool_choice is not None else {}
    return {"tools": tools, **choice}


def format_of_chat(response_format: Any) -> dict[str, Any]:
    match getattr(response_format, "type", "text"):
        case "json_schema":
            schema = {"name": "answer", "schema": response_format.json_schema}
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        case "json":
            return {"response_format": {"type": "json_object"}}
        case _:
            return {}
