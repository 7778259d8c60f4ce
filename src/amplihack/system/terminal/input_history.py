"""Remember what was typed, for the next time as well, in a file that only its owner can read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from amplihack.system.replace import replace_lines

_MOST = 1_000
_SLACK = 200  # entries over the limit before the file is written anew


class InputHistory:
    """What was typed, oldest first. A file that cannot be used is told once, and nothing else changes."""

    def __init__(self, path: Path | None = None, tell: Callable[[str], None] = lambda _: None) -> None:
        self._path, self._tell = path, tell
        self.entries: list[str] = []
        if path is not None:
            self._try(lambda: self._load(path))

    def add(self, text: str) -> None:
        """Remember a text, unless it is the same as the one before or there is nothing in it."""
        if not text.strip() or self.entries[-1:] == [text]:
            return
        self.entries.append(text)
        if (path := self._path) is not None:
            self._try(lambda: _append(path, text))

    def _load(self, path: Path) -> None:
        if not path.is_file():
            return
        found = [_entry(line) for line in path.read_text("utf-8", "replace").split("\n") if line]
        self.entries = [each for each in found if each][-_MOST:]
        if len(found) > _MOST + _SLACK:
            replace_lines(path, map(json.dumps, self.entries))
        path.chmod(0o600)

    def _try(self, work: Callable[[], None]) -> None:
        try:
            work()
        except OSError as error:
            self._tell(f"what you type is not kept for the next time: {self._path}: {error.strerror}")
            self._path = None


def _append(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    file = os.open(path, flags, 0o600)
    try:
        os.write(file, (json.dumps(text) + "\n").encode())
    finally:
        os.close(file)


def _entry(line: str) -> str:
    try:
        found = json.loads(line)
    except ValueError:
        return ""
    return found if isinstance(found, str) else ""
