"""Run sessions on the agent kernel. It is our slowest import by far, so only functions import it."""

from __future__ import annotations

import sys
from typing import Any

from amplihack.errors import Problem


def kernel_version() -> str:
    from importlib.metadata import version  # slow as well

    return version("amplifier-core")


def import_kernel() -> Any:
    """Import the kernel, after everything that puts off imports has been told to stop.

    Commands start sooner with stand-ins for modules of the standard library (`cli.stand_ins`). The kernel and
    the SDKs look into modules in ways that only the real ones understand.
    """
    for finder in list(sys.meta_path):
        stop = getattr(finder, "stop_putting_off", None)
        if stop is not None:
            stop()
    import amplifier_core

    return amplifier_core


def kernel_problems(plan: dict[str, Any]) -> tuple[Problem, ...]:
    """Return what the kernel's own validator says about a mount plan."""
    import_kernel()
    from amplifier_core.validation import MountPlanValidator

    result = MountPlanValidator().validate(plan)
    return (
        *(
            Problem(f"the kernel refuses the plan: {check.message}", code=check.name)
            for check in result.errors
        ),
        *(
            Problem(f"the kernel warns about the plan: {check.message}", severity="warning", code=check.name)
            for check in result.warnings
        ),
    )
