"""The engine: runs a recipe's steps in order, and reports what really happened."""

from amplihack.recipes.engine.run import run_recipe
from amplihack.recipes.engine.state import Options

__all__ = ["Options", "run_recipe"]
