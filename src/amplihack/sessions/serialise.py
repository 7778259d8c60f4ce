"""Reduce any value to what JSON can hold. Each part is visited once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

MAX_DEPTH = 50


def sanitize_for_json(value: Any, *, max_depth: int = MAX_DEPTH) -> Any:
    """Return the value without everything that JSON cannot hold; None when nothing is left.

    Inside containers None is left out too. Objects become mappings of their attributes.
    """
    return _clean(value, max_depth, frozenset())


def sanitize_message(message: Any) -> dict[str, Any]:
    """Return a message ready to be stored: thinking as plain text, the provider's own blocks left out."""
    fields = _attributes(message) if not isinstance(message, Mapping) else message
    if fields is None:
        return {}
    kept = {key: value for key, value in fields.items() if key not in ("thinking_block", "content_blocks")}
    clean: dict[str, Any] = sanitize_for_json(kept)
    thinking = _thinking(fields.get("thinking_block"))
    return clean if thinking is None else {**clean, "thinking_text": thinking}


def _clean(value: Any, depth: int, around: frozenset[int]) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth <= 0 or id(value) in around:  # too deep, or a value that contains itself
        return None
    around = around | {id(value)}
    if isinstance(value, Mapping):
        return _clean_mapping(value, depth, around)
    if isinstance(value, list | tuple):
        return _clean_items(value, depth, around)
    if isinstance(value, set | frozenset):
        return _clean_items(sorted(value, key=repr), depth, around)
    attributes = _attributes(value)
    return None if attributes is None else _clean_mapping(attributes, depth, around)


def _clean_mapping(value: Mapping[Any, Any], depth: int, around: frozenset[int]) -> dict[str, Any]:
    clean = ((str(key), _clean(item, depth - 1, around)) for key, item in value.items())
    return {key: item for key, item in clean if item is not None}


def _clean_items(value: Iterable[Any], depth: int, around: frozenset[int]) -> list[Any]:
    clean = (_clean(item, depth - 1, around) for item in value)
    return [item for item in clean if item is not None]


def _attributes(value: Any) -> Mapping[str, Any] | None:
    if isinstance(value, type) or callable(value):
        return None
    own = getattr(value, "__dict__", None)
    if isinstance(own, dict):
        return own
    dump = getattr(value, "model_dump", None)
    dumped = dump() if callable(dump) else None
    return dumped if isinstance(dumped, Mapping) else None


def _thinking(block: Any) -> str | None:
    text = block.get("text") if isinstance(block, Mapping) else getattr(block, "text", None)
    return text if isinstance(text, str) else None
