"""Run sessions on the agent kernel. It is our slowest import by far, so only functions import it."""

from __future__ import annotations

from typing import Any

from amplihack.errors import Problem


def kernel_version() -> str:
    from importlib.metadata import version  # slow as well

    return version("amplifier-core")


def kernel_problems(plan: dict[str, Any]) -> tuple[Problem, ...]:
    """Return what the kernel's own validator says about a mount plan."""
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
