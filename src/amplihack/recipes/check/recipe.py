"""The check of one recipe as a walk: study it once, then judge it stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from amplihack.errors import Problem
from amplihack.recipes.check.commands import command_hazards
from amplihack.recipes.check.condition_values import compared_json, text_flags
from amplihack.recipes.check.conditions import pointless_conditions
from amplihack.recipes.check.neighbours import Surroundings
from amplihack.recipes.check.nesting import bottomless_calls, too_many_steps
from amplihack.recipes.check.order import dependencies, parallel_writes, split_groups
from amplihack.recipes.check.other_templates import other_templates
from amplihack.recipes.check.pointless import (
    constant_loops,
    pointless_overrides,
    pointless_retries,
    unknown_rules,
    unknown_secrets,
)
from amplihack.recipes.check.sub_recipes import empty_inputs, missing_inputs, unknown_inputs, unknown_recipes
from amplihack.recipes.check.subject import CheckedRecipe, study
from amplihack.recipes.check.unknown import reserved_names, unknown_agents, unknown_parts
from amplihack.recipes.check.unset_variables import doubtful_uses, unused_outputs
from amplihack.recipes.extends import Located


def _scripts(subject: CheckedRecipe) -> Iterator[Problem]:
    return command_hazards(subject.recipe, subject.flow.made, subject.blame)


STAGES: Final[tuple[Callable[[CheckedRecipe], Iterator[Problem]], ...]] = (
    # variables
    doubtful_uses,
    unknown_parts,
    unused_outputs,
    # other recipes
    unknown_recipes,
    missing_inputs,
    empty_inputs,
    unknown_inputs,
    bottomless_calls,
    too_many_steps,
    # conditions
    pointless_conditions,
    text_flags,
    compared_json,
    # order
    dependencies,
    split_groups,
    parallel_writes,
    # texts
    _scripts,
    other_templates,
    # fields that do not mean anything here
    reserved_names,
    unknown_agents,
    unknown_rules,
    unknown_secrets,
    pointless_overrides,
    pointless_retries,
    constant_loops,
)


def check_recipe(located: Located, world: Surroundings, *, everything: bool = False) -> tuple[Problem, ...]:
    """Return the findings of one recipe in the order of its lines; notes only if `everything` is wanted."""
    subject = study(located, world)
    found = {problem for stage in STAGES for problem in stage(subject)}
    return tuple(sorted((each for each in found if everything or each.severity != "note"), key=_place))


def _place(problem: Problem) -> tuple[str, int, int, str, str]:
    where = problem.where
    place = (where.file, where.line, where.column) if where else ("", 0, 0)
    return *place, problem.code, problem.what
