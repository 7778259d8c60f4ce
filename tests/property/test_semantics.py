"""Check, explain and the dry run say of a recipe what the engine then does.

Random recipes run in a world of memory. Nothing that the check calls certain may fail to happen, and nothing
that ran may have been called impossible. `SEMANTICS_EXAMPLES` asks for more examples than the usual share.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.support.fake_world import FakeBook, FakeWorld
from tests.support.random_recipes import ANSWERS, World, random_world
from tests.unit.recipes.check.shelf import Shelf

from amplihack.recipes.check.availability import Later, Sibling, Sure, Unknown, Use
from amplihack.recipes.check.certain import certain_failures
from amplihack.recipes.check.recipe import STAGES, findings
from amplihack.recipes.check.subject import CheckedRecipe, study
from amplihack.recipes.check.unset_variables import doubtful_uses
from amplihack.recipes.check.variable_uses import in_test
from amplihack.recipes.engine.dry_run import forecast
from amplihack.recipes.engine.job import Options
from amplihack.recipes.events import IterationStarted, LinesPrinted, StepFinished, StepStarted, Warned
from amplihack.recipes.explain import describe
from amplihack.recipes.model import Agent, Bash, Body, Step, SubRecipe, every_step
from amplihack.recipes.results import RunResult, StepResult
from amplihack.recipes.semantics import every_loop_name

BLOCK = 50
BLOCKS = int(os.environ.get("SEMANTICS_EXAMPLES", "300")) // BLOCK
RULES_OF_THE_DIALECT = {"unknown-dependency", "reserved-name"}  # wrong by its rules, not by what happens
UNDEFINED = re.compile(
    r"undefined in (?:command|prompt): (.*?)"
    r"(?: \((?:the loop says|step '|did you mean ).*\))?; it renders empty"
)
UNSET = re.compile(
    r"undefined in (?:condition|while_condition|break_when): ([\w-]+); nothing (?:has set|sets) it"
)


@dataclass
class Observed:
    """What the engine did with the steps of the main recipe, and with all steps below."""

    main: dict[str, Step]
    result: RunResult
    finished: list[StepResult] = field(default_factory=list)
    executed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # by step id
    undefined: dict[str, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    unset: set[str] = field(default_factory=set)  # names that conditions of the main recipe asked for in vain
    rounds: set[str] = field(default_factory=set)
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)  # when each identity began and ended

    def own(self, identity: str) -> str:
        """The id of a step of the main recipe at the top level of the run; empty for all others."""
        *around, last = [part.partition("[")[0] for part in identity.split("/")]
        inside = all(name in self.main and isinstance(self.main[name].action, Body) for name in around)
        return last if inside and last in self.main else ""


def observe(world: World, subject: CheckedRecipe) -> Observed:
    fake = FakeWorld({**ANSWERS}, dict(world.recipes))
    result = fake.run(world.main, include_tags=world.include_tags, exclude_tags=world.exclude_tags)
    seen = Observed({step.id: step for step in every_step(subject.recipe.steps)}, result)
    started: dict[str, int] = {}
    for moment, event in enumerate(fake.journal.events):
        match event:
            case StepStarted(identity=identity):
                started[identity] = moment
            case StepFinished(result=finished):
                seen.finished.append(finished)
                seen.spans[finished.identity] = (started.get(finished.identity, moment), moment)
            case LinesPrinted(identity=identity):
                seen.executed[seen.own(identity)].add(identity)
            case IterationStarted(identity=identity):
                seen.rounds.add(seen.own(identity))
            case Warned(identity=identity, what=what):
                if (found := UNSET.match(what)) and seen.own(identity):
                    seen.unset.add(found.group(1))
                if found := UNDEFINED.match(what):
                    for name in found.group(1).split(", "):
                        seen.undefined[seen.own(identity)].add((identity, name))
    return seen


# variables


def is_rendered(use: Use) -> bool:
    """Whether a mention stands in a command or prompt, where the engine tells what is undefined."""
    match use.step.action if use.step else None:
        case Bash(command=text) | Agent(prompt=text):
            return use.mention.source is text
        case _:
            return False


def names_in_conditions(subject: CheckedRecipe) -> dict[str, set[str]]:
    """For each step the names that it or something around it tests: their author has thought of them."""
    found: dict[str, set[str]] = {}

    def visit(steps: tuple[Step, ...], around: set[str]) -> None:
        for step in steps:
            own = {each.name for each in in_test(step.condition)} if step.condition else set()
            found[step.id] = around | own
            if isinstance(step.action, Body):
                visit(step.action.steps, found[step.id])

    for stage in subject.recipe.stages:
        visit(stage.steps, {each.name for each in in_test(stage.condition)} if stage.condition else set())
    return found


def places(identities: set[str]) -> set[str]:
    return {re.sub(r"\[\d+\]", "", identity) for identity in identities}


def hold_variables(subject: CheckedRecipe, seen: Observed) -> None:
    tested = names_in_conditions(subject)
    for use in subject.flow.uses:
        if use.step is None or not is_rendered(use):
            continue
        name, step = use.mention.name, use.step.id
        missing = {identity for identity, undefined in seen.undefined[step] if undefined == name}
        runs = seen.executed[step]
        match use.availability:
            case Sure() if name not in tested[step] and not subject.incoming.called:
                declared = {*subject.recipe.inputs, *subject.recipe.context_validation}
                assert not missing or name in declared, f"{name} is sure in {step}, and was not there"
            case Later() | Unknown() | Sibling(earlier=False) if not use.open:
                # A run tells it once, however many rounds the step has.
                assert places(runs) <= places(missing), (
                    f"{name} is not set in {step}, and was there: {use.availability}"
                )
        if isinstance(use.availability, Unknown) and not use.open:
            assert name not in seen.result.context, f"nothing sets {name}, and it is set in the end"


def hold_conditions(subject: CheckedRecipe, seen: Observed) -> None:
    """What a run says of names in conditions, the check has said before."""
    if subject.flow.open:
        return
    told = [problem.what for problem in doubtful_uses(subject)]
    # A loop sets its own names, and a sub-recipe in it others, only after its condition was asked first.
    # An input that may be left out is the caller's affair.
    optional = {*subject.recipe.inputs, *subject.recipe.context_validation}
    for name in seen.unset - subject.flow.made - every_loop_name(subject.recipe) - optional:
        assert any(re.search(rf"\b{re.escape(name)}\b", what) for what in told), name


# what is certain and what is impossible


def hold_refusal(shelf: Shelf, subject: CheckedRecipe, seen: Observed) -> None:
    """What the check calls an error, a run refuses; and what it refuses could not have succeeded."""
    refused = certain_failures(subject.located, shelf, bash=None)
    errors = {(each.code, each.where) for each in findings(subject) if each.severity == "error"}
    assert errors <= {(each.code, each.where) for each in refused}
    for problem in refused:
        assert problem.code in RULES_OF_THE_DIALECT or not seen.result.success, problem.what


def hold_findings(subject: CheckedRecipe, seen: Observed) -> None:
    for problem in (problem for stage in STAGES for problem in stage(subject)):
        if problem.severity == "error" and problem.code not in RULES_OF_THE_DIALECT:
            assert not seen.result.success, f"certain, and the run succeeds: {problem.what}"
        if found := re.match(r"(the loop of )?step '(\w+)' never runs", problem.what):
            loop, step = found.groups()
            assert step not in seen.rounds, problem.what
            assert loop or not seen.executed[step], problem.what
        if found := re.match(r"stage '([\w-]+)' never runs", problem.what):
            (stage,) = (each for each in subject.recipe.stages if each.name == found.group(1))
            assert not any(seen.executed[step.id] for step in every_step(stage.steps)), problem.what
        if found := re.match(r"the condition of step '(\w+)' always holds", problem.what):
            skipped = [each for each in seen.finished if each.step_id == found.group(1)]
            assert not any(each.skip_reason.startswith("condition") for each in skipped), problem.what
        if problem.code == "too-deep":
            hold_depth(subject, seen, problem.where, problem.what)


def hold_depth(subject: CheckedRecipe, seen: Observed, where: Any, what: str) -> None:
    """A call that goes too deep never ends well: somewhere below it a failure is recorded."""
    calls = {step.id: step.action for step in subject.recipe.steps if isinstance(step.action, SubRecipe)}
    for each in seen.finished:
        call = calls.get(each.identity)
        if call and call.recipe.where == where and each.status in ("completed", "degraded"):
            assert any(other.status == "failed" for other in inside(each)), what


def inside(result: StepResult) -> Iterator[StepResult]:
    for child in result.children:
        yield child
        yield from inside(child)


# order


def hold_order(subject: CheckedRecipe, seen: Observed) -> None:
    for stage in describe(subject.recipe)["stages"]:
        hold_sequence(stage["steps"], "", seen)


def hold_sequence(steps: list[dict[str, Any]], prefix: str, seen: Observed) -> None:
    simple = [step for step in steps if step["type"] in ("bash", "agent") and not step["loop"]]
    ran = [step for step in simple if f"{prefix}{step['id']}" in seen.executed[step["id"]]]
    for position, one in enumerate(ran):
        for other in ran[position + 1 :]:
            first, second = seen.spans[prefix + one["id"]], seen.spans[prefix + other["id"]]
            overlap = second[0] < first[1] and first[0] < second[1]
            assert overlap is (other["id"] in one["runs_with"]), (one["id"], other["id"])
    for step in steps:
        if step["steps"]:
            hold_sequence(step["steps"], f"{prefix}{step['id']}[0]/", seen)


# the dry run


def hold_forecast(world: World, subject: CheckedRecipe, seen: Observed) -> None:
    options = Options(
        run_id="x", working_dir="/here", include_tags=world.include_tags, exclude_tags=world.exclude_tags
    )
    verdicts: dict[str, set[str]] = defaultdict(set)
    for each in forecast(subject.located, {}, FakeBook(dict(world.recipes)), options):
        verdicts[each.step_id].add(each.verdict)
    for result in seen.finished:
        said = verdicts.get(result.step_id, {"depends"})
        if result.status != "skipped":
            assert said != {"would be skipped"}, f"{result.identity} would be skipped, and ran"
        elif result.status == "skipped":
            assert said != {"would run"}, (
                f"{result.identity} would run, and was skipped: {result.skip_reason}"
            )


@pytest.mark.parametrize("block", range(BLOCKS))
def test_what_is_said_of_a_recipe_is_what_happens(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        hold(seed)


def hold(seed: int) -> None:
    world = random_world(seed)
    shelf = Shelf({f"{name}.yaml": text for name, text in world.recipes.items()})
    subject = study(shelf.located("main.yaml"), shelf)
    seen = observe(world, subject)
    try:
        hold_variables(subject, seen)
        hold_conditions(subject, seen)
        hold_findings(subject, seen)
        hold_refusal(shelf, subject, seen)
        hold_order(subject, seen)
        hold_forecast(world, subject, seen)
    except AssertionError as error:
        error.add_note(f"seed {seed}, {world.include_tags=}, {world.exclude_tags=}")
        error.add_note("\n".join(f"--- {name}\n{text}" for name, text in world.recipes.items()))
        raise
