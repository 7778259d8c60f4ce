"""How a variable stands where it is mentioned, and what following the data through a recipe tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from amplihack.recipes.check.mentions import Mention
from amplihack.recipes.model import Step, SubRecipe

Guards: TypeAlias = frozenset[str]
UNGUARDED: Guards = frozenset()


@dataclass(frozen=True, slots=True)
class Sure:
    """Set on every path that leads here."""


@dataclass(frozen=True, slots=True)
class Maybe:
    """Set by a step that may have been skipped."""

    step: str


@dataclass(frozen=True, slots=True)
class Later:
    """Set by this step and nowhere before it."""

    step: str


@dataclass(frozen=True, slots=True)
class Sibling:
    """Set by a step that runs at the same time; `earlier` when there is an older value to read."""

    step: str
    earlier: bool


@dataclass(frozen=True, slots=True)
class Unknown:
    """Set by nothing in this recipe."""


Standing: TypeAlias = Sure | Maybe | Later | Sibling | Unknown
SURE, UNKNOWN = Sure(), Unknown()


@dataclass(frozen=True, slots=True)
class Use:
    mention: Mention
    step: Step | None
    standing: Standing
    open: bool  # a sub-recipe that nobody can look into may have set more names


@dataclass(frozen=True, slots=True)
class Callee:
    """What a caller sees of a sub-recipe."""

    sure: frozenset[str]
    made: frozenset[str]
    needs: frozenset[str]
    used: frozenset[str]
    required: frozenset[str]
    declared: frozenset[str]
    open: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A call and what it lacks: `required` of what the callee insists on, `used` of the rest."""

    step: Step
    required: tuple[str, ...]
    used: tuple[str, ...]
    open: bool


@dataclass(frozen=True, slots=True)
class Flow:
    uses: tuple[Use, ...]
    calls: tuple[Call, ...]
    sure: frozenset[str]
    makers: Mapping[str, tuple[str, ...]]  # for each name the steps that set it
    made: frozenset[str]  # with the names that sub-recipes set
    used: frozenset[str]  # by mention here or in a sub-recipe, or as a word of a script
    open: bool


Look: TypeAlias = Callable[[SubRecipe], Callee | None]
