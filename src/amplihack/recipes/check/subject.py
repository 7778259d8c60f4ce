"""Hold the recipe under check, and all that is known about it before anything is judged."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from amplihack.errors import Severity
from amplihack.recipes.extends import Located
from amplihack.recipes.inputs import declared_names
from amplihack.recipes.model import Recipe, Step, every_step
from amplihack.recipes.semantics import every_loop_name, reached_steps, unavoidable
from amplihack.records import Record

if TYPE_CHECKING:
    from amplihack.recipes.check.availability import Flow
    from amplihack.recipes.check.bash_port import AskBash
    from amplihack.recipes.check.neighbours import Incoming, Neighbours, Surroundings
    from amplihack.recipes.check.spelling import Spelling


class CheckedRecipe(Record, cached=True):  # no slots: what is costly is computed once and kept
    """What every stage of the check looks at.

    With `final`, no values but those that the recipe has now can come: it is about to be run by itself.
    """

    located: Located
    world: Surroundings
    bash: AskBash | None = None
    final: bool = False
    notes: bool = True  # somebody wants to be told notes too
    inherited: frozenset[str] = frozenset()  # the environment that scripts will find
    around: Neighbours | None = None  # what another study has learned of the recipes around both

    @property
    def recipe(self) -> Recipe:
        return self.located.recipe

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Return all steps, with those inside loops, in the order of the file."""
        return every_step(self.recipe.steps)

    # Deferred imports: a run asks about few things, and pays for no others.

    @cached_property
    def neighbours(self) -> Neighbours:
        from amplihack.recipes.check.neighbours import Neighbours

        return self.around or Neighbours(self.world)

    def neighbour(self, located: Located) -> CheckedRecipe:
        """Prepare to look at another recipe, with all that is known about those around this one."""
        return CheckedRecipe(located, self.world, self.bash, around=self.neighbours)

    @cached_property
    def flow(self) -> Flow:
        return self.neighbours.flow(self.located)

    @cached_property
    def incoming(self) -> Incoming:
        from amplihack.recipes.check.neighbours import Incoming

        return Incoming() if self.final else self.neighbours.incoming(self.located)

    @property
    def strict(self) -> bool:
        return self.recipe.dialect == "amplifier"

    @cached_property
    def agents(self) -> frozenset[str]:
        """Return the agents known here."""
        return self.world.agents()

    @cached_property
    def changed(self) -> frozenset[str]:
        """Return the names whose default tells nothing, because a step or a caller sets them."""
        return self.flow.made | self.incoming.given | self.incoming.made

    @cached_property
    def names(self) -> frozenset[str]:
        """Return every name that is set somewhere."""
        return declared_names(self.recipe) | self.changed | every_loop_name(self.recipe)

    @cached_property
    def spelling(self) -> Spelling:
        from amplihack.recipes.check.spelling import Spelling

        return Spelling(self.names)

    @cached_property
    def reached(self) -> frozenset[str]:
        """Return the ids of steps that every successful run comes to."""
        return frozenset(step.id for step in reached_steps(self.recipe))

    def blame(self, step: Step) -> Severity:
        """Return how bad it is that a step can only fail: certain where every run has to run it."""
        return "error" if step.id in self.reached and unavoidable(step) else "warning"


def study(
    located: Located,
    world: Surroundings,
    *,
    bash: AskBash | None = None,
    final: bool = False,
    notes: bool = True,
    inherited: frozenset[str] = frozenset(),
) -> CheckedRecipe:
    """Prepare to follow the data through a recipe, the recipes that it calls and those that call it."""
    return CheckedRecipe(located, world, bash, final, notes, inherited)
