"""What the check needs to know about the world around a recipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from amplihack.recipes.extends import Located


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A sub-recipe that was looked for in vain, or one that nobody can tell before the run."""

    why: Literal["missing", "unknowable"]
    searched: tuple[str, ...] = ()


class World(Protocol):
    """Every recipe that it gives already has what it `extends` merged in."""

    def sub_recipe(self, reference: str, caller: str | None) -> Located | Unresolved:
        """The recipe that a step of the file `caller` means by `reference`."""
        ...

    def callers(self, path: str) -> tuple[Located, ...]:
        """The recipes nearby that call the one in this file."""
        ...

    def agents(self) -> frozenset[str]:
        """The agents known here; none at all means that none are installed."""
        ...
