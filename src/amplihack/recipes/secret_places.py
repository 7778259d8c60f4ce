"""Take secrets out of a value and put them back, so that what is kept of it holds none.

A place says which secret stands there: `[[1f0c…:token/0]]`. Nobody can have written it before, since its
first part is new each time. A secret in another spelling, such as base64, is not found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any


class SecretMissing(Exception):
    """Raised when a value names a secret that is not known any more."""


def taken_out(value: Any, secrets: Mapping[str, str], mark: str) -> Any:
    """Return the value with a place wherever a secret stands as it is, in texts at any depth."""
    names = {text: name for name, text in secrets.items() if text}
    if not names:
        return value
    longest_first = sorted(names, key=len, reverse=True)
    any_secret = re.compile("|".join(map(re.escape, longest_first)))
    return _in_texts(value, lambda text: any_secret.sub(lambda it: f"[[{mark}:{names[it[0]]}]]", text))


def put_back(value: Any, secrets: Mapping[str, str], mark: str) -> Any:
    """Return the value with the secrets in their places. Raises SecretMissing."""
    place = re.compile(rf"\[\[{re.escape(mark)}:(.*?)\]\]")

    def found(it: re.Match[str]) -> str:
        if it[1] not in secrets:
            raise SecretMissing(it[1])
        return secrets[it[1]]

    return _in_texts(value, lambda text: place.sub(found, text))


def _in_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(name): _in_texts(each, change) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_in_texts(each, change) for each in value]
    return value
