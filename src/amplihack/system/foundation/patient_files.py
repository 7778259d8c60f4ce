"""Read and write files in synced folders, where an I/O error may be gone a moment later."""

from __future__ import annotations

import asyncio
import errno
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeVar

from amplihack.system.replace import replace_bytes

_Result = TypeVar("_Result")
_NEW_FILE = 0o644
_MODES = ("w", "wb")


async def read_with_retry(
    path: Path,
    max_retries: int = 3,
    initial_delay: float = 0.1,
    *,
    warn: Callable[[str], None] | None = None,
) -> str:
    """Read UTF-8 text off the event loop. After an I/O error it is tried again a little later."""
    return await _patiently(
        path, lambda: path.read_text(encoding="utf-8"), max_retries, initial_delay, warn=warn
    )


async def write_with_retry(
    path: Path,
    content: str,
    max_retries: int = 3,
    initial_delay: float = 0.1,
    *,
    warn: Callable[[str], None] | None = None,
) -> None:
    """Replace the file's text in one step and make its directory, with retries like `read_with_retry`."""

    def write() -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_bytes(path, content.encode(), new_mode=_NEW_FILE)

    await _patiently(path, write, max_retries, initial_delay, warn=warn)


def write_with_backup(
    path: Path,
    content: str | bytes,
    *,
    backup_suffix: str = ".backup",
    mode: Literal["w", "wb"] = "w",
    encoding: str = "utf-8",
) -> None:
    """Replace the file in one step after copying it to `<name><suffix>`.

    Raises OSError and leaves the file as it was. A failure to make the copy is ignored.
    """
    if mode not in _MODES:
        raise ValueError(f"mode is 'w' or 'wb', not {mode!r}")
    data = content.encode(encoding) if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError):
        shutil.copy2(path, path.with_name(path.name + backup_suffix))
    replace_bytes(path, data, new_mode=_NEW_FILE)


async def _patiently(
    path: Path,
    act: Callable[[], _Result],
    tries: int,
    delay: float,
    *,
    warn: Callable[[str], None] | None,
) -> _Result:
    for attempt in range(max(tries, 1)):
        try:
            return await asyncio.to_thread(act)
        except OSError as error:
            if error.errno != errno.EIO or attempt + 1 >= tries:
                raise
        if attempt == 0 and warn is not None:
            warn(f"I/O error on {path}, which may be waiting for cloud sync: trying again")
        await asyncio.sleep(delay * 2**attempt)
    raise AssertionError("the last attempt returns or raises")
