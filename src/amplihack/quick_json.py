"""Encode and decode many small values as JSON, without what the library does again for each of them.

`JSONEncoder.encode` makes an encoder in C at every call, which takes longer than most of our values. `loads`
looks for blanks around a value, by two expressions.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any


def encoding(made: json.JSONEncoder) -> Callable[[Any], str]:
    """Return what `made.encode` does. It is not told of values that hold themselves: ours never do."""
    library = json.encoder
    make: Any = getattr(library, "c_make_encoder", None)
    if make is None or made.indent is not None:  # pragma: no cover - a Python without it
        return made.encode
    quote: Callable[[str], str] = (
        library.encode_basestring_ascii if made.ensure_ascii else library.encode_basestring
    )
    separators = (made.key_separator, made.item_separator)
    write = make(None, made.default, quote, None, *separators, made.sort_keys, made.skipkeys, made.allow_nan)

    def encode(value: Any) -> str:
        return quote(value) if type(value) is str else "".join(write(value, 0))

    return encode


def decoded(text: str) -> Any:
    """Return what `json.loads` returns. Raises ValueError."""
    try:
        value, end = _scan()(text, 0)
    except StopIteration:
        end = -1
    return value if end == len(text) else json.loads(text)


@cache  # made on first use
def _scan() -> Callable[[str, int], tuple[Any, int]]:
    decoder: Any = json.JSONDecoder()
    scan: Callable[[str, int], tuple[Any, int]] = decoder.scan_once
    return scan
