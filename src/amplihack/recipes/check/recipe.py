"""All checks of one recipe, in one pass over its flow."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.errors import Problem
from amplihack.recipes.check.agents import unknown_agents
from amplihack.recipes.check.calls import empty_inputs, missing_inputs, unknown_inputs, unknown_recipes
from amplihack.recipes.check.commands import command_hazards
from amplihack.recipes.check.conditions import pointless_conditions
from amplihack.recipes.check.flags import compared_json, text_flags
from amplihack.recipes.check.foreign import foreign_templates
from amplihack.recipes.check.library import Library
from amplihack.recipes.check.mentions import EVERYTHING
from amplihack.recipes.check.names import Spelling
from amplihack.recipes.check.parallel import parallel_writes
from amplihack.recipes.check.recursion import bottomless_calls
from amplihack.recipes.check.results import declared, loop_names
from amplihack.recipes.check.structure import dependencies, reserved_names, unknown_parts
from amplihack.recipes.check.undefined import Around, doubtful_uses, unused_outputs
from amplihack.recipes.check.world import World
from amplihack.recipes.extends import Located


def check_recipe(located: Located, world: World, *, everything: bool = False) -> tuple[Problem, ...]:
    """The findings of one recipe in the order of its lines; notes only if `everything` is wanted."""
    found = {problem for problem in _findings(located, world) if everything or problem.severity != "note"}
    return tuple(sorted(found, key=_place))


def _findings(located: Located, world: World) -> Iterator[Problem]:
    recipe, library = located.recipe, Library(world)
    flow, incoming = library.flow(located), library.incoming(located)
    names = declared(recipe) | flow.made | incoming.given | incoming.made | loop_names(recipe)
    around = Around(recipe, incoming, Spelling(names))
    changed = flow.made | incoming.given | incoming.made

    yield from doubtful_uses(flow, around)
    yield from unknown_parts(recipe, flow, changed)
    yield from missing_inputs(flow, around)
    yield from empty_inputs(located, library)
    yield from unknown_inputs(located, library)
    yield from unknown_recipes(located, library)
    yield from bottomless_calls(located, library)
    yield from pointless_conditions(recipe)
    yield from text_flags(recipe, changed)
    yield from compared_json(recipe)
    yield from parallel_writes(located, library)
    yield from command_hazards(recipe, flow.made)
    yield from foreign_templates(recipe, names)
    yield from dependencies(recipe)
    yield from reserved_names(recipe)
    yield from unknown_agents(recipe, world.agents())
    if not incoming.called and EVERYTHING not in flow.used:
        yield from unused_outputs(recipe, flow.used)


def _place(problem: Problem) -> tuple[str, int, int, str, str]:
    where = problem.where
    place = (where.file, where.line, where.column) if where else ("", 0, 0)
    return *place, problem.code, problem.what
