"""Write one JSON document as `json.dumps` indents it, in pieces: the outputs in it may be large.

The library has no quick way to indent. Most of what we print are small values, so each is one piece with its
key, and none costs a call of the library.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from json.encoder import encode_basestring as _quoted
from typing import Any

_PIECE = 65_536  # characters that are written at once
_NOT_FINITE = {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}  # as YAML writes them


def write_document(value: Any, write: Callable[[str], object]) -> None:
    """Hand a document, with the newline at its end, to `write`; it is never held as a whole."""
    document = _Document(write)
    document.add("", value, "\n")
    document.put("\n")
    document.flush()


class _Document:
    """What waits to be written. A `margin` begins a line at its level."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._waiting: list[str] = []
        self._size = 0

    def put(self, piece: str) -> None:
        self._waiting.append(piece)
        self._size += len(piece)
        if self._size >= _PIECE:
            self.flush()

    def flush(self) -> None:
        self._write("".join(self._waiting))
        self._waiting.clear()
        self._size = 0

    def add(self, before: str, value: Any, margin: str) -> None:
        """Put a value, after what comes before it in its line."""
        if isinstance(value, dict) and value:
            self._add_map(before, value, margin)
        elif isinstance(value, list | tuple) and value:
            self._add_list(before, value, margin)
        elif isinstance(value, str) and len(value) > _PIECE:
            self.put(f'{before}"')
            for at in range(0, len(value), _PIECE):
                self.put(_quoted(value[at : at + _PIECE])[1:-1])
            self.put('"')
        else:
            self.put(before + _small(value))

    def _add_map(self, before: str, value: Mapping[Any, Any], margin: str) -> None:
        start, inner = f"{before}{{{margin}  ", f"{margin}  "
        for key, each in value.items():
            self.add(f"{start}{_quoted(key if isinstance(key, str) else json.dumps(key))}: ", each, inner)
            start = f",{inner}"
        self.put(f"{margin}}}")

    def _add_list(self, before: str, value: Sequence[Any], margin: str) -> None:
        start, inner = f"{before}[{margin}  ", f"{margin}  "
        for each in value:
            self.add(start, each, inner)
            start = f",{inner}"
        self.put(f"{margin}]")


def _small(value: Any) -> str:
    kind = type(value)
    if kind is str:
        return _quoted(value)
    if value is None:
        return "null"
    if kind is int or (kind is float and math.isfinite(value)):
        return repr(value)
    if isinstance(value, float) and not math.isfinite(value):
        return _quoted(_NOT_FINITE[str(value)])  # which JSON has no number for
    return json.dumps(value, ensure_ascii=False, default=str)  # a date of a bundle's YAML: as written
