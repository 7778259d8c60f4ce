"""Retell a conversation: who said what in which turn, each tool call together with its result."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from amplihack.records import Record
from amplihack.sessions.calls import (
    Message,
    arguments_of,
    calls_of,
    is_real_user_message,
    results_of,
    text_of,
)

_HEADS = {"user": "You", "assistant": "Assistant", "note": "Note"}
_NOT_RETOLD = ("system", "developer")


class ToolUse(Record):
    """A call of a tool. `result` is None if there never was one."""

    name: str
    arguments: str
    result: str | None = None


class Utterance(Record):
    """What a message says. Whatever is neither a person's nor the model's own has the role `note`."""

    turn: int
    role: str
    text: str
    tools: tuple[ToolUse, ...] = ()


def retold(messages: Sequence[Message]) -> list[Utterance]:
    """Return the conversation in order, without system text."""
    results = {call: _result(message) for message in messages for call in results_of(message)}
    told: list[Utterance] = []
    turn = 0
    for message in messages:
        role = str(message.get("role"))
        if role in _NOT_RETOLD or results_of(message):
            continue
        if role == "user":
            turn += 1
            role = "user" if is_real_user_message(message) else "note"
        given = arguments_of(message)
        tools = tuple(
            ToolUse(call.name, brief_arguments(given.get(call.id)), results.get(call.id))
            for call in calls_of(message)
        )
        text = text_of(message).strip()
        if text or tools:
            told.append(Utterance(turn, role, text, tools))
    return told


def first_prompt(messages: Sequence[Message]) -> str:
    """Return what a person said first; empty if nobody has said anything."""
    return next((text_of(each).strip() for each in messages if is_real_user_message(each)), "")


def as_markdown(messages: Sequence[Message], title: str) -> str:
    """Return the conversation as a document, with everything that tools were given and gave back."""
    parts = [f"# Session {title}"]
    for said in retold(messages):
        parts.append(f"## {said.turn}. {_HEADS.get(said.role, said.role)}")
        if said.text:
            parts.append(said.text)
        for used in said.tools:
            result = "no result" if used.result is None else used.result
            parts.append(f"Tool `{used.name}`:\n\n{_fenced(used.arguments)}\n\n{_fenced(result)}")
    return "\n\n".join(parts) + "\n"


def _fenced(text: str) -> str:
    """Return a block of code, with a fence that is longer than any in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def brief_arguments(given: Any) -> str:
    """Return the arguments of a tool as one readable text: `path=a.py, line=3`."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return str(given)
    if isinstance(given, Mapping):
        return ", ".join(f"{name}={value}" for name, value in given.items())
    return "" if given is None else str(given)


def _result(message: Message) -> str:
    found = text_of(message)
    if found or not isinstance(message.get("content"), list):
        return found
    contents = (block.get("content", block.get("output", "")) for block in message["content"])
    return "\n".join(each if isinstance(each, str) else json.dumps(each) for each in contents)
