"""Define what following the data tells of a variable: whether it is there where something uses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from amplihack.recipes.check.variable_uses import VariableMention
from amplihack.recipes.model import Step, SubRecipe
from amplihack.records import Record


class Sure(Record):
    """Set on every path that leads here."""


class Maybe(Record):
    """Set by a step that may have been skipped."""

    step: str


class Later(Record):
    """Set by this step and nowhere before it."""

    step: str


class Sibling(Record):
    """Set by a step that runs at the same time; `earlier` when there is an older value to read."""

    step: str
    earlier: bool


class Unknown(Record):
    """Set by nothing in this recipe."""


Availability: TypeAlias = Sure | Maybe | Later | Sibling | Unknown
SURE, UNKNOWN = Sure(), Unknown()


class Use(Record):
    """A mention of a variable, and whether it is there."""

    mention: VariableMention
    step: Step | None
    availability: Availability
    open: bool  # a sub-recipe that nobody can look into may have set more names


class Callee(Record):
    """What a caller sees of a sub-recipe."""

    sure: frozenset[str]  # of the names that it hands back, those that are always set
    made: frozenset[str]  # the names that it hands back
    needs: frozenset[str]
    mentioned: frozenset[str]
    in_scripts: frozenset[str]
    required: frozenset[str]
    insists: frozenset[str]  # of the required names, those without which it does not begin
    declared: frozenset[str]
    open: bool

    @property
    def used(self) -> frozenset[str]:
        return self.mentioned | self.in_scripts


class CallNeeds(Record):
    """A call and what it lacks: `required` of what the callee asks for, `used` of the rest."""

    step: Step
    required: tuple[str, ...]
    insists: frozenset[str]  # of the required names, those without which the callee does not begin
    used: tuple[str, ...]
    open: bool


class Flow(Record):
    """All that following the data through one recipe has told."""

    uses: tuple[Use, ...]
    calls: tuple[CallNeeds, ...]
    sure: frozenset[str]  # of the names that are left, those that every run sets
    makers: Mapping[str, tuple[str, ...]]  # for each name the steps that set it
    made: frozenset[str]  # every name that a step or a sub-recipe sets at some time
    left: frozenset[str]  # the names that are set, perhaps, when the recipe ends
    mentioned: frozenset[str]  # here or in a sub-recipe
    in_scripts: frozenset[str]  # the words of scripts that may be variables of the environment, in lower case
    open: bool

    @property
    def used(self) -> frozenset[str]:
        return self.mentioned | self.in_scripts


LookInto: TypeAlias = Callable[[SubRecipe], Callee | None]
