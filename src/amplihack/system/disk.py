"""Answer a run's questions about paths."""

from __future__ import annotations

import os
from pathlib import Path


class Disk:
    """Answers questions about paths. `home` is what `~` means."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def resolve(self, base: str, path: str) -> str:
        if path == "~" or path.startswith("~/"):
            path = f"{self._home}{path[1:]}"
        return os.path.normpath(Path(base) / path)

    def exists(self, path: str) -> bool:
        return os.path.exists(path)  # noqa: PTH110 - a path with NUL is False, not an error

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(path)  # noqa: PTH112 - as above

    def is_git_repository(self, path: str) -> bool:
        place = Path(path)
        return any((each / ".git").exists() for each in (place, *place.parents)) or (place / "HEAD").is_file()
