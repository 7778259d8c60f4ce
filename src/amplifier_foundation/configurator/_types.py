"""Define the origin of an item of a bundle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["IncludeStep", "ItemRecord", "Origin"]


@dataclass(frozen=True)
class Origin:
    """The bundle that brought an item in, and the includes through which it came."""

    bundle: str
    via_behavior: str | None


@dataclass(frozen=True)
class IncludeStep:
    bundle: str
    version: str
    uri: str
    is_root: bool = False


@dataclass(frozen=True)
class ItemRecord:
    category: str
    name: str
    enabled: bool
    module_id: str | None
    source_uri: str | None
    config_summary: dict[str, Any] | None
    origins: list[Origin]
    include_paths: list[list[IncludeStep]]
    runtime_injection: bool
    explicitly_requested: bool = False
