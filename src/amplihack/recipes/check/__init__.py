"""The static check: follows data through a recipe and its sub-recipes on every path, and runs nothing.

Errors and warnings are certain or almost certain mistakes; notes are matters of caution or taste.
"""

from amplihack.recipes.check.codes import CODES
from amplihack.recipes.check.neighbours import Surroundings, Unresolved
from amplihack.recipes.check.recipe import check_recipe
from amplihack.recipes.check.sarif import to_sarif

__all__ = ["CODES", "Surroundings", "Unresolved", "check_recipe", "to_sarif"]
