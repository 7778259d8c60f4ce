"""Processes that carry a mark in their environment, which their children inherit. Linux only."""

from __future__ import annotations

import os
import time
from pathlib import Path


def marked(mark: str) -> dict[int, str]:
    """Return the command line of each living process with the mark, by its id, but not of this one."""
    found: dict[int, str] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if int(entry.name) != os.getpid() and mark.encode() in _environment(entry):
                found[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # it has ended, or is not ours
    return found


def _environment(entry: Path) -> bytes:
    """Return the environment of a process. It shows none, and no words, while it becomes another program."""
    for _ in range(200):
        if found := (entry / "environ").read_bytes():
            return found
        state, _, _, session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
        if state in "ZX" or session == "0" or (entry / "cmdline").read_bytes():
            break
        time.sleep(0.005)
    return (entry / "environ").read_bytes()
