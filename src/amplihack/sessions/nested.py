"""Get and set values deep inside mappings, by a list of keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def get_nested(data: dict[str, Any], path: Sequence[str], default: Any = None) -> Any:
    """Return the value at the end of the path, or the default if a key is missing on the way."""
    found: Any = data
    for key in path:
        if not isinstance(found, dict) or key not in found:
            return default
        found = found[key]
    return found


def set_nested(data: dict[str, Any], path: Sequence[str], value: Any) -> None:
    """Set the value at the end of the path, in place. Whatever is in the way becomes a mapping."""
    if not path:
        return
    for key in path[:-1]:
        if not isinstance(data.get(key), dict):
            data[key] = {}
        data = data[key]
    data[path[-1]] = value
