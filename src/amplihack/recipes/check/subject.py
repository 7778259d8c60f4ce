"""The recipe under check, and all that is known about it before anything is judged."""

from __future__ import annotations

from functools import cached_property

from amplihack.errors import Severity
from amplihack.recipes.check.availability import Flow
from amplihack.recipes.check.neighbours import Incoming, Neighbours, Surroundings
from amplihack.recipes.check.spelling import Spelling
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Recipe, Step
from amplihack.recipes.semantics import declared_names, every_loop_name, reached_steps, unavoidable
from amplihack.records import Record


class CheckedRecipe(Record, cached=True):  # no slots: what is costly is computed once and kept
    """What every stage of the check looks at."""

    located: Located
    neighbours: Neighbours
    flow: Flow
    incoming: Incoming
    agents: frozenset[str]

    @property
    def recipe(self) -> Recipe:
        return self.located.recipe

    @property
    def root(self) -> bool:
        """Nothing calls it, and it lists its variables: whatever it leaves out, it forgot."""
        return not self.incoming.called and bool(self.recipe.context)

    @property
    def strict(self) -> bool:
        return self.recipe.dialect == "amplifier"

    @cached_property
    def changed(self) -> frozenset[str]:
        """Names whose default tells nothing, because a step or a caller sets them."""
        return self.flow.made | self.incoming.given | self.incoming.made

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name that is set somewhere."""
        return declared_names(self.recipe) | self.changed | every_loop_name(self.recipe)

    @cached_property
    def spelling(self) -> Spelling:
        return Spelling(self.names)

    @cached_property
    def reached(self) -> frozenset[str]:
        """The ids of steps that every successful run comes to."""
        return frozenset(step.id for step in reached_steps(self.recipe))

    def blame(self, step: Step) -> Severity:
        """Return how bad it is that a step can only fail: certain where every run has to run it."""
        return "error" if step.id in self.reached and unavoidable(step) else "warning"


def study(located: Located, world: Surroundings) -> CheckedRecipe:
    """Follow the data through a recipe, the recipes that it calls and those that call it."""
    neighbours = Neighbours(world)
    return CheckedRecipe(
        located,
        neighbours,
        flow=neighbours.flow(located),
        incoming=neighbours.incoming(located),
        agents=world.agents(),
    )
