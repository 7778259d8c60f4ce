"""Get and set the directory of a session, which in a server differs from that of the process."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from amplihack.system.files import real
from amplihack.system.home import this_process

WORKING_DIR_CAPABILITY = "session.working_dir"


class Capabilities(Protocol):
    """The part of a session's coordinator that keeps named values."""

    def get_capability(self, name: str, /) -> Any: ...

    def register_capability(self, name: str, value: Any, /) -> Any: ...


def get_working_dir(coordinator: Capabilities, fallback: Path | str | None = None) -> Path:
    """Return the session's directory, else the fallback, else that of the process."""
    known = coordinator.get_capability(WORKING_DIR_CAPABILITY)
    if known:
        return Path(known)
    return Path(fallback) if fallback is not None else this_process()[1]


def set_working_dir(coordinator: Capabilities, path: Path | str) -> None:
    """Set the directory that the session works in from now on."""
    coordinator.register_capability(WORKING_DIR_CAPABILITY, str(real(Path(path))))
