"""Define what the rounds of a loop go over, and what each of them knows about its loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from amplihack.recipes.model import Foreach, Loop
from amplihack.recipes.placeholders import find_placeholders
from amplihack.recipes.values import KeyPath, Missing, Value, from_json

_EVERY_ROUND: Final = ("index", "index0", "first", "depth", "parent")
LOOP_FACTS: Final = (*_EVERY_ROUND, "item", "last", "length", "revindex", "revindex0")


def loop_facts(loop: Loop) -> tuple[str, ...]:
    """Return the members of `loop` in the rounds of a loop: only a list has an end that is known."""
    return LOOP_FACTS if isinstance(loop.over, Foreach) else _EVERY_ROUND


def round_facts(index: int, items: Sequence[Value] | None, around: Value) -> dict[str, Value]:
    """Return what `loop` holds in one round; `index` counts from 0, `around` is `loop` outside of it."""
    outer = around if isinstance(around, Mapping) else {}
    depth = outer.get("depth")
    facts: dict[str, Value] = {
        "index": index + 1,
        "index0": index,
        "first": index == 0,
        "depth": depth + 1 if isinstance(depth, int) else 1,
        "parent": dict(outer) or None,
    }
    if items is None:
        return facts
    left = len(items) - index
    counted = {"length": len(items), "last": left == 1, "revindex": left, "revindex0": left - 1}
    return {**facts, "item": items[index], **counted}


def too_long(items: int, loop: Loop) -> str:
    """Return why a list is refused that has more items than the loop may have rounds."""
    return f"the list has {items} items; max_iterations allows {loop.max_iterations}"


def list_path(text: str) -> KeyPath | None:
    """Return the path of the list that a `foreach` text names; None if the text is a larger template.

    A list is named with or without braces, so a text without a placeholder is a name too.
    """
    found = find_placeholders(text)
    if not found:
        return tuple(text.split("."))
    if found[0].constant is not None:
        return None
    whole = len(found) == 1 and (found[0].start, found[0].end) == (0, len(text))
    return found[0].path if whole else None


def as_list(value: Value | Missing) -> list[Value] | None:
    """Return the list that a `foreach` iterates over; a text that is a JSON list counts as one."""
    if isinstance(value, str):
        try:
            value = from_json(value)
        except (ValueError, RecursionError):
            return None
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else None
