"""Longer outputs, kept as files: `pytest --update-golden` writes them anew."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden"


@dataclass(frozen=True)
class Golden:
    """Compares a text with `tests/golden/<name>.txt`, in which `<dir>` stands for the test's own folder."""

    folder: Path
    update: bool

    def check(self, name: str, text: str) -> None:
        shown = text.replace(str(self.folder), "<dir>")
        file = GOLDEN / f"{name}.txt"
        if self.update:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(shown, encoding="utf-8")
        assert shown == file.read_text(encoding="utf-8")
