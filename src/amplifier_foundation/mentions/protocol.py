"""What can tell which file a mention means."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

__all__ = ["MentionResolverProtocol"]


@runtime_checkable
class MentionResolverProtocol(Protocol):
    def resolve(self, mention: str) -> Path | None: ...
