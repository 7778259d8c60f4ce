"""Events and results written as JSON and read again are the same: a journal loses nothing."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from amplihack.recipes import events
from amplihack.recipes.agent_port import Usage
from amplihack.recipes.events import Recorded
from amplihack.recipes.results import RunResult, StepResult
from amplihack.recipes.spending import Spending
from amplihack.recipes.values import Value

texts = st.text(st.characters(codec=None) | st.sampled_from("\udc80\x00\n"), max_size=8)
numbers = st.floats(allow_nan=False, allow_infinity=False)
counts = st.integers(0, 9)
values: st.SearchStrategy[Value] = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
variables = st.dictionaries(texts, values, max_size=3)
many_texts = st.lists(texts, max_size=2).map(tuple)
usages = st.none() | st.builds(
    Usage,
    input_tokens=st.none() | counts,
    output_tokens=st.none() | counts,
    cached_tokens=st.none() | counts,
)
spendings = st.builds(Spending, executed=counts, usage=usages, cost_usd=st.none() | numbers)
results: st.SearchStrategy[tuple[StepResult, ...]] = st.recursive(
    st.just(()),
    lambda children: st.lists(
        st.builds(
            StepResult,
            step_id=texts,
            identity=texts,
            kind=texts,
            status=st.sampled_from(["completed", "skipped", "failed", "degraded"]),
            output=texts,
            error=texts,
            duration=st.none() | numbers,
            stderr=texts,
            exit_code=st.none() | st.integers(),
            attempts=counts,
            skip_reason=texts,
            allowed=st.booleans(),
            warnings=many_texts,
            children=children,
            usage=usages,
            cost_usd=st.none() | numbers,
            executed=counts,
        ),
        max_size=2,
    ).map(tuple),
    max_leaves=4,
)
runs = st.builds(
    RunResult,
    run_id=texts,
    recipe_name=texts,
    ending=st.sampled_from(["completed", "failed", "denied", "waiting", "interrupted"]),
    step_results=results,
    context=variables,
    duration=st.none() | numbers,
    error=texts,
    warnings=many_texts,
    never_reached=many_texts,
    summary=texts,
)
one_result = results.filter(bool).map(lambda each: each[0])
every_event: st.SearchStrategy[Recorded] = st.one_of(
    st.builds(events.RunStarted, texts, texts, texts, counts),
    st.builds(events.RunFinished, runs),
    st.builds(events.RecipeEntered, texts, texts, counts, counts, path=st.none() | texts),
    st.builds(events.StepStarted, texts, texts, texts, texts, texts, counts, counts, counts, st.booleans()),
    st.builds(events.StepFinished, one_result, texts, counts),
    st.builds(events.OutputStored, texts, variables, variables),
    st.builds(events.IterationStarted, texts, counts, st.none() | counts),
    st.builds(events.IterationFinished, one_result),
    st.builds(events.Retrying, texts, counts, counts, numbers, texts, numbers, spendings),
    st.builds(events.GateReached, texts, texts, texts, st.none() | numbers, texts),
    st.builds(events.GateDecided, texts, st.booleans(), texts, texts, texts, numbers, texts),
    st.builds(events.Warned, texts, texts),
    st.builds(events.AgentAsked, texts, texts, st.none() | texts, st.none() | texts),
    st.builds(events.AgentPaid, texts, spendings),
    st.builds(events.AgentPaused, texts, texts, st.lists(texts).map(tuple)),
    st.builds(events.Staged, texts, st.lists(texts).map(tuple)),
    st.builds(
        events.WorkTreeLeft, texts, texts, st.dictionaries(texts, texts), st.dictionaries(texts, texts)
    ),
    st.builds(events.NeverReached, texts, st.lists(texts).map(tuple)),
    st.builds(events.LinesPrinted, texts, texts, st.lists(texts).map(tuple)),
    st.builds(events.ProcessStarted, texts, counts, texts),
    st.builds(events.Withheld, texts),
    st.builds(events.Undone, texts, st.sampled_from(["again", "inside", "gone"])),
)


@given(every_event)
def test_an_event_survives_json(event: Recorded) -> None:
    assert events.from_json(json.loads(json.dumps(events.to_json(event)))) == event


@given(runs)
def test_a_result_survives_json(result: RunResult) -> None:
    assert RunResult.from_json(json.loads(json.dumps(result.to_json()))) == result


def test_secrets_of_a_sub_recipe_are_not_written() -> None:
    entered = events.RecipeEntered("call", "child", 1, 1, {"token": "hunter2"})
    shown = events.to_json(entered)
    assert "hunter2" not in json.dumps(shown)
    assert events.from_json(shown) == entered
