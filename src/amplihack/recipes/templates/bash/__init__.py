"""Reads a script the way bash does, only to say where each placeholder stands."""

from amplihack.recipes.templates.bash.places import Heredoc, Place, Quoting, Refusal
from amplihack.recipes.templates.bash.read import find_places

__all__ = ["Heredoc", "Place", "Quoting", "Refusal", "find_places"]
