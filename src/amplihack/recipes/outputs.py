"""Convert what a step printed to the stored value: typing without loss, and JSON found in prose."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from amplihack.patterns import pattern
from amplihack.recipes.model import JsonPick
from amplihack.recipes.values import MISSING, Missing, Value, from_json, typed

_FENCE = pattern(r"```([^\n`]*)\n?(.*?)```", re.DOTALL)
_OPENER = pattern(r"[{\[]")
_MOST_OPENERS = 2_000  # a text with more brackets than this is not an answer with JSON in it

Fits: TypeAlias = Callable[[Value], bool]
_REMINDER = """

IMPORTANT: your previous answer {why}. Answer again with raw JSON only: no prose, no
Markdown fence, nothing before or after it. The previous answer ended with:

"""


def json_reminder(mismatch: str) -> str:
    """Return what an agent is told whose answer was no JSON, or did not fit its schema."""
    why = f"does not fit the JSON Schema ({mismatch})" if mismatch else "could not be read as JSON"
    return _REMINDER.replace("{why}", why)


def stored_value(text: str, *, keep_text: bool) -> Value:
    """Return the value that later steps find under the step's name."""
    if keep_text:
        return text
    value = typed(text)
    if isinstance(value, str) and len(text) > 1 and text[0] == text[-1] == '"':
        return _unquoted(text)
    return value


def _unquoted(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str) else text


def find_json(text: str, pick: JsonPick = "first", fits: Fits | None = None) -> Value | Missing:
    """Return the JSON in an answer, or MISSING.

    Tried in order: the whole text, blocks fenced as `json`, other fenced blocks, every `{` and `[` outside of
    what was found. An object, or a list of objects, is preferred to other lists, and a value with content to
    an empty `{}` or `[]`. What `fits` comes before all that does not.
    """
    whole = _parse(text.strip())
    if whole is not MISSING:
        return whole
    first: Value | Missing = MISSING
    for found in _groups(text):
        fitting = [value for value in found if fits is None or fits(value)]
        if fitting:
            return _choose(fitting, pick)
        first = _choose(found, pick) if found and isinstance(first, Missing) else first
    return first


def _groups(text: str) -> Iterator[list[Value]]:
    """Yield the JSON values of an answer, the more likely ones first."""
    for labelled in (True, False):
        yield _found(_fences(text, labelled=labelled))
    spans = _found(_spans(text))
    # Prose has brackets of its own, such as `[1]`: what holds an object is more likely the answer.
    yield [value for value in spans if _holds_object(value)]
    yield spans


def _found(values: Iterator[Value | Missing]) -> list[Value]:
    return [value for value in values if not isinstance(value, Missing)]


def _holds_object(value: Value | Missing) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_holds_object, value)))


def _choose(found: list[Value], pick: JsonPick) -> Value:
    # Agents often write `{}` or `[]` in prose or as an example before the real answer.
    full = [value for value in found if value not in ({}, [])]
    candidates = full or found
    return candidates[-1] if pick == "last" else candidates[0]


def _parse(text: str) -> Value | Missing:
    try:
        return from_json(text)
    except (ValueError, RecursionError):
        return MISSING


def _fences(text: str, *, labelled: bool) -> Iterator[Value | Missing]:
    for match in _FENCE.finditer(text):
        label, content = match.groups()
        if (label.strip().lower() == "json") == labelled:
            yield _parse(content.strip())


def _spans(text: str) -> Iterator[Value | Missing]:
    """Yield JSON objects and arrays anywhere in the text. The inside of a found one is skipped."""
    decoder = json.JSONDecoder()
    found, tries = _OPENER.search(text), 0
    while found is not None and tries < _MOST_OPENERS:
        tries += 1
        try:
            _, end = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            end = found.end()
        else:
            yield _parse(text[found.start() : end])
        found = _OPENER.search(text, end)
