"""Define the protocol of a mention resolver."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

__all__ = ["MentionResolverProtocol"]


@runtime_checkable
class MentionResolverProtocol(Protocol):
    def resolve(self, mention: str) -> Path | None: ...
