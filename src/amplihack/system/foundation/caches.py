"""Cache values by key: in memory, or as one JSON file each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from amplihack.system.files import short_hash
from amplihack.system.replace import replace_text

_Value = TypeVar("_Value")
_READABLE_LENGTH = 30


class SimpleCache(Generic[_Value]):
    """A cache in memory."""

    def __init__(self) -> None:
        self._values: dict[str, _Value] = {}

    def get(self, key: str) -> _Value | None:
        return self._values.get(key)

    def set(self, key: str, value: _Value) -> None:
        self._values[key] = value

    def clear(self) -> None:
        self._values.clear()

    def __contains__(self, key: str) -> bool:
        return key in self._values


class FileCache(Generic[_Value]):
    """A cache on disk. `encode` makes JSON data, and `decode` restores the value from it.

    A file that cannot be read or decoded (ValueError, KeyError, TypeError) is removed and counts as missing.
    """

    def __init__(
        self, cache_dir: Path, *, encode: Callable[[_Value], Any], decode: Callable[[Any], _Value]
    ) -> None:
        self.cache_dir = cache_dir
        self._encode, self._decode = encode, decode
        cache_dir.mkdir(parents=True, exist_ok=True)

    def path_of(self, key: str) -> Path:
        readable = re.sub(r"[^A-Za-z0-9_-]+", "_", key[:_READABLE_LENGTH])
        return self.cache_dir / f"{readable}-{short_hash(key.encode())}.json"

    def get(self, key: str) -> _Value | None:
        path = self.path_of(key)
        try:
            return self._decode(json.loads(path.read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            path.unlink(missing_ok=True)
            return None

    def set(self, key: str, value: _Value) -> None:
        replace_text(self.path_of(key), json.dumps(self._encode(value), ensure_ascii=False))

    def clear(self) -> None:
        for path in self.cache_dir.glob("*.json"):
            path.unlink(missing_ok=True)

    def __contains__(self, key: str) -> bool:
        return self.path_of(key).is_file()
