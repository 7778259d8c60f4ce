"""Store the names of bundles in `registry.json` of a home, written once per load."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from amplihack.errors import AmplihackError
from amplihack.system.files import read_bytes
from amplihack.system.locks import locked
from amplihack.system.replace import write_atomic

_FILE = "registry.json"
_VERSION = 1
_LARGEST = 10_000_000


def read_entries(home: Path, warn: Callable[[str], None] = lambda _: None) -> dict[str, dict[str, Any]]:
    """Return the entry of each name. A broken file is moved aside and reported to `warn`."""
    path = home / _FILE
    if not path.exists():
        return {}
    try:
        entries = _entries(path)
    except AmplihackError as error:
        warn(f"the registry is not used: {error.what}")
        return {}
    if entries is None:
        aside = path.with_suffix(".json.unreadable")
        with suppress(OSError):  # another process was faster, or the directory cannot be written
            path.replace(aside)
        warn(f"{path} cannot be understood; it is now {aside}")
    return entries or {}


def is_understood(path: Path) -> bool:
    """Tell whether a load will use the file. Raises AmplihackError if it cannot be read."""
    return _entries(path) is not None


def _entries(path: Path) -> dict[str, dict[str, Any]] | None:
    try:
        data: object = json.loads(read_bytes(path, limit=_LARGEST, kind="Registry"))
    except (ValueError, RecursionError):
        return None
    bundles = data.get("bundles") if isinstance(data, dict) and data.get("version") == _VERSION else None
    if not isinstance(bundles, dict):
        return None
    return {name: entry for name, entry in bundles.items() if isinstance(entry, dict)}


def change_entries(
    home: Path, entries: Mapping[str, Mapping[str, Any]], gone: Iterable[str] = (), *, whole: bool = False
) -> None:
    """Add entries and forget names under the file's lock, so that no process loses another's.

    An entry is merged into the existing one, or replaces it if `whole`. Raises AmplihackError.
    """
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AmplihackError(f"cannot make {home}: {error.strerror}", fix="check the directory") from error
    with locked(home / ".registry.lock"):
        # Read again under the lock: another process may have written since.
        known = read_entries(home)
        for name, entry in entries.items():
            known[name] = dict(entry) if whole else {**known.get(name, {}), **entry}
        for name in gone:
            known.pop(name, None)
        data = {"version": _VERSION, "bundles": dict(sorted(known.items()))}
        write_atomic(home / _FILE, f"{json.dumps(data, indent=2, ensure_ascii=False)}\n".encode())


def read_registered(home: Path) -> dict[str, str]:
    """Return the names and addresses that earlier loads registered."""
    found = ((name, entry.get("uri")) for name, entry in read_entries(home).items())
    return {name: uri for name, uri in found if isinstance(uri, str)}


def remember(home: Path, found: Mapping[str, str]) -> None:
    """Store the addresses of names, if they are new. Raises AmplihackError if writing fails."""
    known = read_registered(home) if found else {}
    if any(known.get(name) != uri for name, uri in found.items()):
        change_entries(home, {name: {"name": name, "uri": uri} for name, uri in found.items()})
