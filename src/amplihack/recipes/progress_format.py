"""Define the progress file that other programs read while a recipe runs: its name and content.

<tmp>/amplihack-progress-<safe name>-<pid>.json
{"status": "running", "step_name": "build", "timestamp": 1763239392.1, "recipe_name": "release",
 "pid": 4711, "current_step": 2, "total_steps": 5, "elapsed_seconds": 12.5}
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any, Final, Literal, TypeAlias

from amplihack.errors import InputError
from amplihack.recipes.values import truncate
from amplihack.records import Record, as_dict

ProgressStatus: TypeAlias = Literal["running", "completed", "failed", "skipped", "unknown"]

LONGEST_STEP_NAME: Final = 256  # bytes
LONGEST_SAFE_NAME: Final = 64


class ProgressError(InputError):
    """Raised for a progress file that must not be trusted."""


class Progress(Record, kw_only=True):
    """The progress of a run. Fields that are None are left out of the file."""

    status: ProgressStatus
    step_name: str
    timestamp: float
    recipe_name: str | None = None
    pid: int | None = None
    current_step: int | None = None
    total_steps: int | None = None
    elapsed_seconds: float | None = None

    def to_json(self) -> dict[str, Any]:
        shown = {name: value for name, value in as_dict(self).items() if value is not None}
        return {**shown, "step_name": truncate(self.step_name, LONGEST_STEP_NAME)}


def safe_name(recipe: str) -> str:
    """Return the recipe's name as it stands in a file name: `my-recipe/v2!` -> `v2_`."""
    stem = PurePosixPath(recipe).stem
    return re.sub(r"[^A-Za-z0-9_]", "_", stem)[:LONGEST_SAFE_NAME] or "_"


def file_name(recipe: str, pid: int) -> str:
    return f"amplihack-progress-{safe_name(recipe)}-{pid}.json"
