"""Define what a module wants installed."""

from __future__ import annotations

from pathlib import Path

from amplihack.records import Record


class Wanted(Record):
    """What one module wants installed: requirements, or the project in its directory."""

    name: str
    requirements: tuple[str, ...] = ()
    project: Path | None = None

    @property
    def arguments(self) -> tuple[str, ...]:
        return (*(("-e", str(self.project)) if self.project else ()), *self.requirements)
