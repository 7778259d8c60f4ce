"""Check recipes without running anything: follow the data through one and its sub-recipes on every path.

Errors and warnings are certain or almost certain mistakes; notes are matters of caution or taste.
Each name is imported on first use: a run asks for errors alone and needs few of the modules.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amplihack.recipes.check.codes import CODES
    from amplihack.recipes.check.neighbours import Surroundings, Unresolved
    from amplihack.recipes.check.recipe import check_recipe
    from amplihack.recipes.check.sarif import to_sarif

__all__ = ["CODES", "Surroundings", "Unresolved", "check_recipe", "to_sarif"]

_HOMES = {
    "CODES": "codes",
    "Surroundings": "neighbours",
    "Unresolved": "neighbours",
    "check_recipe": "recipe",
    "to_sarif": "sarif",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
