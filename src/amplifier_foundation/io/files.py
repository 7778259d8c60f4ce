"""Read and write files with retries or a backup copy; a retry is logged."""

from __future__ import annotations

import logging
from pathlib import Path

from amplihack.system.foundation import patient_files
from amplihack.system.foundation.patient_files import write_with_backup

__all__ = ["read_with_retry", "write_with_backup", "write_with_retry"]

_logger = logging.getLogger(__name__)


async def read_with_retry(path: Path, max_retries: int = 3, initial_delay: float = 0.1) -> str:
    return await patient_files.read_with_retry(path, max_retries, initial_delay, warn=_logger.warning)


async def write_with_retry(
    path: Path, content: str, max_retries: int = 3, initial_delay: float = 0.1
) -> None:
    await patient_files.write_with_retry(path, content, max_retries, initial_delay, warn=_logger.warning)
