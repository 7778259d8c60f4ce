"""Check one recipe as a walk: study it once, then judge it stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from amplihack.errors import Problem
from amplihack.recipes.check.bash_port import AskBash
from amplihack.recipes.check.certain import place
from amplihack.recipes.check.commands import (
    refused_values,
    returned_lines,
    values_in_env,
    values_run_by_name,
    word_loops,
)
from amplihack.recipes.check.condition_values import compared_json, text_flags
from amplihack.recipes.check.conditions import pointless_conditions
from amplihack.recipes.check.failing_recipes import failing_recipes
from amplihack.recipes.check.known_texts import wrong_numbers
from amplihack.recipes.check.neighbours import Surroundings
from amplihack.recipes.check.nesting import bottomless_calls, too_many_steps
from amplihack.recipes.check.order import dependencies, parallel_writes, split_groups
from amplihack.recipes.check.other_templates import other_templates
from amplihack.recipes.check.pointless import (
    constant_loops,
    names_as_text,
    pointless_overrides,
    pointless_retries,
    settings_for_nobody,
    sums_as_text,
    unknown_rules,
    unknown_secrets,
    unreachable_results,
)
from amplihack.recipes.check.shell_names import unexported_names
from amplihack.recipes.check.statuses import unknown_statuses
from amplihack.recipes.check.sub_recipes import (
    empty_inputs,
    missing_inputs,
    unknown_inputs,
    unknown_recipes,
    wrong_inputs,
)
from amplihack.recipes.check.subject import CheckedRecipe, study
from amplihack.recipes.check.syntax import syntax_faults
from amplihack.recipes.check.typographic import typographic_signs
from amplihack.recipes.check.unknown import hidden_facts, reserved_names, unknown_agents, unknown_parts
from amplihack.recipes.check.unset_variables import doubtful_uses, unused_outputs
from amplihack.recipes.extends import Located

STAGES: Final[tuple[Callable[[CheckedRecipe], Iterator[Problem]], ...]] = (
    # variables
    doubtful_uses,
    unknown_parts,
    unused_outputs,
    # other recipes
    unknown_recipes,
    missing_inputs,
    empty_inputs,
    wrong_inputs,
    unknown_inputs,
    failing_recipes,
    bottomless_calls,
    too_many_steps,
    # conditions
    pointless_conditions,
    text_flags,
    compared_json,
    unknown_statuses,
    # order
    wrong_numbers,
    dependencies,
    split_groups,
    parallel_writes,
    # texts
    refused_values,
    values_in_env,
    returned_lines,
    typographic_signs,
    word_loops,
    values_run_by_name,
    unexported_names,
    syntax_faults,
    other_templates,
    # fields that do not mean anything here
    reserved_names,
    hidden_facts,
    unknown_agents,
    unknown_rules,
    unknown_secrets,
    pointless_overrides,
    pointless_retries,
    settings_for_nobody,
    constant_loops,
    unreachable_results,
    sums_as_text,
    names_as_text,
)


def check_recipe(
    located: Located, world: Surroundings, *, everything: bool = False, bash: AskBash | None = None
) -> tuple[Problem, ...]:
    """Return the findings of one recipe in the order of its lines; notes only if `everything` is wanted.

    Without `bash`, scripts are not held to its grammar.
    """
    return findings(study(located, world, bash=bash, notes=everything), everything=everything)


def findings(subject: CheckedRecipe, *, everything: bool = False) -> tuple[Problem, ...]:
    """Return what all stages find in the order of the lines; notes only if `everything` is wanted."""
    found = {problem for stage in STAGES for problem in stage(subject)}
    unreadable = {each.where for each in found if each.code == "bash-syntax"}
    found = {each for each in found if each.code != "unsupported-template" or each.where not in unreadable}
    shown = tuple(sorted((each for each in found if everything or each.severity != "note"), key=place))
    if not shown or not subject.recipe.secrets:
        return shown
    from amplihack.recipes.secret_excerpts import hide_defaults  # deferred: most recipes have no secrets

    return hide_defaults(shown, subject.recipe)
