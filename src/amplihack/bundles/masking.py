"""Hide secrets that somebody wrote into a bundle or settings instead of naming a variable."""

from __future__ import annotations

from typing import Any

from amplihack.bundles.uris import shown
from amplihack.patterns import pattern

MASK = "***"
_SECRET = pattern(r"(?i)(?:^|[_.-])(?:api[_-]?key|secret|password|passwd|token|credentials?)$")


def masked_value(path: str, value: Any) -> Any:
    """Return a value as it may be shown, given the path that leads to it; `${VARIABLES}` are no secrets."""
    if isinstance(value, dict):
        return {
            shown(key) if isinstance(key, str) else key: masked_value(f"{path}.{key}", item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [masked_value(path, item) for item in value]
    if not isinstance(value, str):
        return value
    return MASK if _SECRET.search(path) and value and "${" not in value else shown(value)


def masked(plan: Any) -> Any:
    """Return plain data as it may be shown."""
    return masked_value("", plan)
