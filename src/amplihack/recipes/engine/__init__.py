"""Run the steps of a recipe in order and report what happened."""

from amplihack.recipes.engine.job import Options
from amplihack.recipes.engine.run import run_recipe

__all__ = ["Options", "run_recipe"]
