"""Estimate how many tokens messages take. A provider's own count corrects the estimate."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from amplihack.sessions.calls import Message

_CHARACTERS = 4  # per token, roughly, in English text and code
_ENVELOPE = 4  # tokens around each message
_IMAGE = 1_600  # tokens, whatever the bytes of the picture


def estimate_tokens(messages: Iterable[Message]) -> int:
    """Return the estimate for these messages together."""
    return sum(map(message_tokens, messages))


def message_tokens(message: Message) -> int:
    """Return the estimate for one message, its tool calls included."""
    return (
        _ENVELOPE + _of(message.get("content")) + _of(message.get("tool_calls") if _bare(message) else None)
    )


def text_tokens(text: str) -> int:
    # Letters outside ASCII take about a token each; counting bytes comes close enough.
    return (len(text) if text.isascii() else len(text.encode("utf-8", "replace"))) // _CHARACTERS


def _bare(message: Message) -> bool:
    """Tell whether the calls are only in `tool_calls`: most messages have them as blocks as well."""
    content = message.get("content")
    return not (isinstance(content, list) and any(_is_call(block) for block in content))


def _is_call(block: object) -> bool:
    return isinstance(block, dict) and block.get("type") in ("tool_call", "tool_use")


def _of(value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, str):
        return text_tokens(value)
    if isinstance(value, list):
        return sum(map(_of, value))
    if isinstance(value, dict):
        if value.get("type") == "image":
            return _IMAGE
        return text_tokens(json.dumps(value, ensure_ascii=False, default=str))
    return text_tokens(str(value))
