"""Remember which projects were installed, and notice when one has changed since."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from amplihack.system.modules.package import fingerprint
from amplihack.system.replace import replace_text

STATE_FILE = "install-state.json"
_VERSION = 1


class InstallStateManager:
    """What is installed for one interpreter. State of another one, or of another layout, is forgotten."""

    def __init__(
        self,
        cache_dir: Path,
        python: Path | None = None,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._path = Path(cache_dir) / STATE_FILE
        self._python = str(python or sys.executable)
        self._warn = warn
        self._dirty = False
        self._state = self._load()

    def is_installed(self, path: Path) -> bool:
        """Tell whether the project was installed as it is now."""
        entry = self._state["modules"].get(_key(path))
        return isinstance(entry, dict) and entry.get("pyproject_hash") == fingerprint(path)

    def mark_installed(self, path: Path) -> None:
        self._state["modules"][_key(path)] = {"pyproject_hash": fingerprint(path)}
        self._dirty = True

    def invalidate(self, path: Path | None = None) -> None:
        """Forget one project, or all of them."""
        if path is None:
            self._dirty = self._dirty or bool(self._state["modules"])
            self._state["modules"] = {}
        elif self._state["modules"].pop(_key(path), None) is not None:
            self._dirty = True

    def save(self) -> None:
        """Write what has changed. A failure is told and stops nothing: it costs an install."""
        if not self._dirty:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            replace_text(self._path, json.dumps(self._state, indent=2) + "\n")
        except OSError as error:
            self._warn(f"what was installed is not remembered: cannot write {self._path}: {error.strerror}")
            return
        self._dirty = False

    def _load(self) -> dict[str, Any]:
        try:
            found = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return self._fresh()
        fresh = self._fresh()
        same = isinstance(found, dict) and all(
            found.get(key) == fresh[key] for key in ("version", "python", "python_mtime")
        )
        if not same or fresh["python_mtime"] is None or not isinstance(found.get("modules"), dict):
            return fresh
        return dict(found)

    def _fresh(self) -> dict[str, Any]:
        mtime = _changed(self._python)
        return {"version": _VERSION, "python": self._python, "python_mtime": mtime, "modules": {}}


def _key(path: Path) -> str:
    return os.path.realpath(path)


def _changed(python: str) -> int | None:
    try:
        return int(os.lstat(python).st_mtime)
    except OSError:
        return None
