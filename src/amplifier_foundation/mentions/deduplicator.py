"""Keep each content once, with all the paths that lead to it."""

from __future__ import annotations

from pathlib import Path

from amplifier_foundation.mentions.models import ContextFile
from amplihack.bundles.gathered_mentions import Gathered, text_of
from amplihack.system.files import real

__all__ = ["ContentDeduplicator"]


class ContentDeduplicator:
    def __init__(self) -> None:
        self._gathered = Gathered()

    def add_file(self, path: Path, content: str) -> bool:
        """Add a file and tell whether its content is new; otherwise only its paths grow."""
        return self._gathered.add(str(real(path)), text_of(content))

    def get_unique_files(self) -> list[ContextFile]:
        """Return the contents in order of their first appearance."""
        return [
            ContextFile(file.content, file.sha256, [Path(path) for path in file.paths])
            for file in self._gathered.files.values()
        ]

    def is_seen(self, content: str) -> bool:
        return text_of(content).sha256 in self._gathered.files

    def get_known_hashes(self) -> set[str]:
        return set(self._gathered.files)
