"""Make small models call tools: their words are held to a schema, `a tool or the final answer`.

    {"tool": "bash", "arguments": {"command": "ls"}}
    {"final": "There are three files."}

The sampler allows nothing else, so that every answer can be read, however small the model is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from amplifier_core import LLMError

from amplihack.modules.failures import failure
from amplihack.records import Record
from amplihack.sessions.calls import Message, text_of

_FINAL = re.compile(r'^\s*\{\s*"final"\s*:\s*"')
_REFERENCE = re.compile(r"^#/(?:\$defs|definitions)/")


class Answer(Record, kw_only=True):
    text: str = ""
    tool: str = ""
    arguments: dict[str, Any]
    cut: bool = False


class Protocol(Record, kw_only=True):
    """How one question is put, and how its answer is read."""

    messages: list[dict[str, str]]
    schema: dict[str, Any] | None  # what the words are held to; None: any text
    tools: bool
    wraps_text: bool  # the text is in `final`

    @classmethod
    def of(cls, request: Any) -> Protocol:
        wanted = _wanted(request.response_format)
        tools = [] if request.tool_choice == "none" else list(request.tools or ())
        messages = [message.model_dump(exclude_none=True) for message in request.messages]
        if not tools:
            return cls(messages=plain_messages(messages), schema=wanted, tools=False, wraps_text=False)
        return cls(
            messages=plain_messages([{"role": "system", "content": _rules(tools)}, *messages]),
            schema=tool_or_final(tools, wanted, may_end=request.tool_choice != "required"),
            tools=True,
            wraps_text=wanted is None,
        )

    def read(self, text: str, *, cut: bool) -> Answer:
        """Return what the words mean. Raises LLMError for one that was cut where nothing can be used."""
        if not self.tools:
            if self.schema is not None and cut:
                raise _cut_off()
            return Answer(text=text, arguments={}, cut=cut)
        if cut:
            shown = FinalText(wrapped=True).feed(text)
            if not self.wraps_text or not shown:
                raise _cut_off()
            return Answer(text=shown, arguments={}, cut=True)
        found = json.loads(text)
        if "tool" in found:
            return Answer(tool=found["tool"], arguments=found.get("arguments") or {})
        final = found["final"]
        return Answer(text=final if isinstance(final, str) else json.dumps(final), arguments={})


class FinalText:
    """Reads the text of an answer while it comes; `wrapped` in JSON or as it is."""

    def __init__(self, *, wrapped: bool) -> None:
        self._wrapped, self._all, self._given = wrapped, "", 0

    def feed(self, piece: str) -> str:
        """Return what is new in the text."""
        if not self._wrapped:
            return piece
        self._all += piece
        found = _FINAL.match(self._all)
        if found is None:
            return ""
        text = _decoded(self._all[found.end() :])
        new, self._given = text[self._given :], len(text)
        return new


def _decoded(raw: str) -> str:
    """Return the text of a JSON string as far as it goes, without a half escape at its end."""
    end = 0
    while end < len(raw) and raw[end] != '"':
        if raw[end] != "\\":
            end += 1
            continue
        length = 6 if raw[end + 1 : end + 2] == "u" else 2
        if end + length > len(raw):
            break
        end += length
    try:
        text: str = json.loads(f'"{raw[:end]}"', strict=False)
    except ValueError:
        return ""
    return text[:-1] if text and "\ud800" <= text[-1] <= "\udbff" else text  # half of a pair


def tool_or_final(
    tools: Sequence[Any], final: Mapping[str, Any] | None, *, may_end: bool = True
) -> dict[str, Any]:
    """Return the schema of an answer: a call of one of the tools, or the final answer."""
    definitions: dict[str, Any] = {}
    choices = [
        _object(
            tool={"const": tool.name},
            arguments=_moved(tool.parameters or {"type": "object"}, tool.name, definitions),
        )
        for tool in tools
    ]
    if may_end:
        choices.append(_object(final=_moved(final or {"type": "string"}, "final", definitions)))
    return {"anyOf": choices, **({"$defs": definitions} if definitions else {})}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _moved(schema: Any, owner: str, definitions: dict[str, Any]) -> Any:
    """Return a schema with its own definitions put among all of them, under names of their own."""
    if isinstance(schema, list):
        return [_moved(each, owner, definitions) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("$defs", "definitions") and isinstance(value, Mapping):
            for name, each in value.items():
                definitions[f"{owner}.{name}"] = _moved(each, owner, definitions)
        elif key == "$ref" and isinstance(value, str):
            kept[key] = _REFERENCE.sub(f"#/$defs/{owner}.", value)
        elif key != "$schema":
            kept[key] = _moved(value, owner, definitions)
    return kept


def _wanted(response_format: Any) -> dict[str, Any] | None:
    kind = getattr(response_format, "type", "text")
    if kind == "json_schema":
        return dict(response_format.json_schema)
    return {"type": "object"} if kind == "json" else None


def _rules(tools: Sequence[Any]) -> str:
    listed = "\n".join(
        f"- {tool.name}: {tool.description or ''} Arguments: {json.dumps(_briefly(tool.parameters))}"
        for tool in tools
    )
    return (
        'You can use tools. Answer with one JSON object: {"tool": name, "arguments": {…}} to use a tool, or '
        '{"final": text} to answer the user. When you have what you need, answer with final.\n'
        f"The tools:\n{listed}"
    )


def _briefly(parameters: Any) -> dict[str, str]:
    properties = parameters.get("properties", {}) if isinstance(parameters, Mapping) else {}
    return {
        name: str(shape.get("description") or shape.get("type") or "")
        for name, shape in properties.items()
        if isinstance(shape, Mapping)
    }


def plain_messages(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Return the conversation for a template that knows system, user and assistant, and these in turns."""
    system: list[str] = []
    turns: list[dict[str, str]] = []
    for role, text in _plain(messages):
        if role == "system":
            system.append(text)
        elif turns and turns[-1]["role"] == role:
            turns[-1]["content"] += f"\n\n{text}"
        else:
            turns.append({"role": role, "content": text})
    return ([{"role": "system", "content": "\n\n".join(system)}] if system else []) + turns


def _plain(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    for message in messages:
        role, text = message.get("role"), text_of(message)
        if role in ("system", "developer"):
            yield "system", text
        elif role == "tool":
            yield "user", f"Result of {message.get('name') or 'the tool'}:\n{text}"
        elif role == "assistant":
            yield from (("assistant", part) for part in _said(message, text) if part)
        elif text:
            yield "user", text


def _said(message: Message, text: str) -> Iterator[str]:
    yield text
    for call in message.get("tool_calls") or ():
        yield json.dumps({"tool": call.get("tool"), "arguments": call.get("arguments")}, ensure_ascii=False)


def _cut_off() -> Exception:
    return failure(
        LLMError,
        "the answer of the local model was cut at its limit of tokens, and cannot be read",
        fix="raise max_tokens in the config of provider-local, or use a larger model",
    )
