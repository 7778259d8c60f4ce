"""Collect what a recipe and those that it calls know by name: their variables, the tags of their steps."""

from __future__ import annotations

from amplihack.recipes.check.neighbours import Neighbours, Surroundings, Unresolved, key
from amplihack.recipes.check.spelling import USUAL_INPUTS, plain
from amplihack.recipes.check.variable_uses import EVERYTHING
from amplihack.recipes.extends import Located
from amplihack.recipes.inputs import declared_names
from amplihack.recipes.model import SubRecipe, every_step
from amplihack.recipes.semantics import VARIABLES
from amplihack.records import Record


class SettableNames(Record):
    """The names that a person may set."""

    names: frozenset[str]
    in_scripts: frozenset[str]  # those that scripts find in their environment, in whatever letters

    def __contains__(self, name: str) -> bool:
        return name in self.names or plain(name) in self.in_scripts


def known_names(located: Located, world: Surroundings) -> SettableNames | None:
    """Return the names that a person may set; None where any name may be used."""
    flow = Neighbours(world).flow(located)
    if flow.open or EVERYTHING in flow.used:
        return None
    names = declared_names(located.recipe) | USUAL_INPUTS | flow.mentioned
    for use in flow.uses:
        if use.mention.name in VARIABLES:
            if len(use.mention.path) < 2:
                return None
            names |= {str(use.mention.path[1])}
    # Where a variable is called so but for its letters, another spelling would set nothing that is used.
    declared = set(map(plain, declared_names(located.recipe)))
    return SettableNames(names, flow.in_scripts - declared)


def known_tags(located: Located, world: Surroundings) -> frozenset[str] | None:
    """Return the tags that steps ask for; None where a sub-recipe cannot be looked into."""
    neighbours, tags = Neighbours(world), set[str]()
    waiting, seen = [located], {key(located)}
    while waiting:
        current = waiting.pop()
        for step in every_step(current.recipe.steps):
            tags.update(step.when_tags)
            if isinstance(step.action, SubRecipe):
                found = neighbours.resolve(step.action, current.path)
                if isinstance(found, Unresolved):
                    return None
                if key(found) not in seen:
                    seen.add(key(found))
                    waiting.append(found)
    return frozenset(tags)
