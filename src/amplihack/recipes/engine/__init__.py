"""Run the steps of a recipe in order and report what happened."""

from amplihack.recipes.engine.run import run_recipe
from amplihack.recipes.engine.state import Options

__all__ = ["Options", "run_recipe"]
