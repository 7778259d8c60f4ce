"""Read JSON as YAML where the two differ: JSON may write a letter such as an emoji in two halves."""

from __future__ import annotations

import json

from amplihack.patterns import pattern

_HALVES = pattern(r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")


def with_whole_letters(text: str) -> str:
    """Return a JSON text with such halves put together, as YAML writes them; any other text as it is."""
    if not _HALVES.search(text):
        return text
    try:
        json.loads(text)
    except (ValueError, RecursionError):  # YAML, or broken: then a backslash may be just that
        return text
    return _HALVES.sub(lambda found: f"{found[1]}\\U{_letter(found[2], found[3]):08x}", text)


def _letter(high: str, low: str) -> int:
    return 0x10000 + (int(high, 16) - 0xD800) * 0x400 + int(low, 16) - 0xDC00
