"""Define the results of mentions, and the files that they led to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["ContextFile", "MentionResult"]


@dataclass
class ContextFile:
    """A content, and all the paths that lead to it."""

    content: str
    content_hash: str
    paths: list[Path] = field(default_factory=list)


@dataclass
class MentionResult:
    """The result of one mention. `content` is None if the same content was already there."""

    mention: str
    resolved_path: Path | None
    content: str | None
    error: str | None
    is_directory: bool = False
    failure_reason: str | None = None
    nested: list[MentionResult] = field(default_factory=list)

    @property
    def found(self) -> bool:
        return self.resolved_path is not None and (self.content is not None or self.is_directory)
