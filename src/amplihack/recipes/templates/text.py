"""Render placeholders in plain text: prompts, directories, values passed to a sub-recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from amplihack.recipes.placeholders import find_placeholders
from amplihack.recipes.values import MISSING, KeyPath, Value, lookup, to_text
from amplihack.records import Record


class Rendered(Record):
    """The rendered text, and the paths without a value (each once, in order)."""

    text: str
    missing: tuple[KeyPath, ...] = ()


def render_text(template: str, scope: Mapping[str, Value]) -> Rendered:
    """Render a text in one pass: a value that looks like a placeholder is not rendered again."""
    pieces: list[str] = []
    missing: dict[KeyPath, None] = {}
    position = 0
    for found in find_placeholders(template):
        value = lookup(scope, found.path)
        if value is MISSING:
            missing[found.path] = None
        pieces += (template[position : found.start], to_text(value))
        position = found.end
    pieces.append(template[position:])
    return Rendered("".join(pieces), tuple(missing))


def render_value(value: Value, scope: Mapping[str, Value]) -> tuple[Value, tuple[KeyPath, ...]]:
    """Render every string in a value. A string that is exactly a placeholder becomes the value itself."""
    missing: dict[KeyPath, None] = {}
    return _render(value, scope, missing), tuple(missing)


def _render(value: Value, scope: Mapping[str, Value], missing: dict[KeyPath, None]) -> Value:
    if isinstance(value, str):
        return _render_string(value, scope, missing)
    if isinstance(value, Mapping):
        return {key: _render(item, scope, missing) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_render(item, scope, missing) for item in value]
    return value


def _render_string(text: str, scope: Mapping[str, Value], missing: dict[KeyPath, None]) -> Value:
    found = find_placeholders(text)
    if len(found) == 1 and (found[0].start, found[0].end) == (0, len(text)):
        value = lookup(scope, found[0].path)
        if value is not MISSING:
            return cast("Value", value)
    rendered = render_text(text, scope)
    missing.update(dict.fromkeys(rendered.missing))
    return rendered.text
