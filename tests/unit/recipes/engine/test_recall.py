"""A journal that remembers makes runs durable: what it recalls is not done again, wherever it stands."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.fake_world import FakeWorld

from amplihack.recipes.events import Event, IterationFinished, OutputStored, StepFinished, StepStarted
from amplihack.recipes.ports import Recalled
from amplihack.recipes.values import Value

RECIPE = """
name: durable
context: {items: [a, b, c], n: 0}
steps:
  - {id: first, command: one}
  - {id: gone, command: broken, on_error: continue}
  - {id: each, foreach: "{{items}}", command: "see {{item}}", collect: seen}
  - id: body
    foreach: [1, 2]
    as: k
    steps:
      - {id: inner, command: "inner {{k}}"}
      - {id: again, command: "again {{inner}}"}
  - {id: left, command: left, parallel_group: g}
  - {id: right, command: right, parallel_group: g}
  - {id: skipped, command: never, condition: "first == 'x'"}
  - {id: call, recipe: child}
  - {id: last, command: "end {{first}} {{seen}} {{again}} {{left}}{{right}} {{deep}} {{gone}}"}
"""
CHILD = "name: child\nsteps: [{id: c1, command: c-one, output: deep}, {id: c2, command: c-two}]\n"


def world() -> FakeWorld:
    return FakeWorld({"broken": 3}, {"child": CHILD})


def remembered(events: Sequence[Event]) -> dict[str, Recalled]:
    """What a crash after these events leaves behind."""
    values: dict[str, dict[str, Value]] = {}
    found: dict[str, Recalled] = {}
    for event in events:
        match event:
            case OutputStored(identity, stored):
                values.setdefault(identity, {}).update(stored)
            case StepFinished(result=result) | IterationFinished(result=result):
                found[result.identity] = Recalled(result, values.get(result.identity, {}))
    return found


def test_a_run_that_crashed_anywhere_goes_on_where_it_was() -> None:
    whole = world()
    expected = whole.run(RECIPE)
    assert expected.success
    for cut in range(len(whole.journal.events)):
        second = world()
        second.journal.remembered = remembered(whole.journal.events[:cut])
        result = second.run(RECIPE)
        assert result.context == expected.context, cut
        assert [step.status for step in result.step_results] == [
            step.status for step in expected.step_results
        ]
        again = [event.identity for event in second.journal.of(StepStarted)]
        assert not set(again) & set(second.journal.remembered), cut
        assert len(second.shell.scripts) <= len(whole.shell.scripts)


def test_nothing_runs_again_when_everything_is_remembered() -> None:
    whole = world()
    whole.run(RECIPE)
    second = world()
    second.journal.remembered = remembered(whole.journal.events)
    assert second.run(RECIPE).success
    assert second.shell.scripts == []


def test_every_finished_thing_has_an_identity_of_its_own() -> None:
    whole = world()
    whole.run(RECIPE)
    finished = [event.result.identity for event in whole.journal.of(StepFinished)]
    rounds = [event.result.identity for event in whole.journal.of(IterationFinished)]
    assert len({*finished, *rounds}) == len(finished) + len(rounds)
    assert {"each[2]", "body[1]/again", "call/c2"} <= {*finished, *rounds}


def test_steps_of_later_stages_are_numbered_on() -> None:
    whole = FakeWorld()
    whole.run(
        "name: s\nversion: 1.0.0\ndescription: d\nstages:\n"
        "  - {name: one, steps: [{id: a, type: bash, command: x}, {id: b, type: bash, command: x}]}\n"
        "  - {name: two, steps: [{id: c, type: bash, command: x}]}\n"
    )
    started = [(event.step_id, event.number, event.of) for event in whole.journal.of(StepStarted)]
    assert started == [("a", 1, 3), ("b", 2, 3), ("c", 3, 3)]
