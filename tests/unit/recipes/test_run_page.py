"""The page of a run: its rows, its texts, and what a person should see first."""

from __future__ import annotations

from typing import Any

from tests.support.fake_world import FakeWorld

from amplihack.recipes.agent_port import AgentReply, Decision, Usage
from amplihack.recipes.decode import decode_text
from amplihack.recipes.events import GateDecided, Recorded, RunStarted, Warned
from amplihack.recipes.run_history import RunHistory
from amplihack.recipes.run_page import PageTexts, page_data
from amplihack.recipes.run_rows import RunRows
from amplihack.recipes.run_story import tell_story

HEAD: dict[str, Any] = {"error": "", "summary": "", "inputs": {}}


def drawn(world: FakeWorld, text: str, *, recorded: bool = True, **options: Any) -> dict[str, Any]:
    """Run a recipe and return the data of its page; each event is a second after the one before it."""
    world.run(text, **options)
    events: list[tuple[float, Recorded]] = [(float(at), each) for at, each in enumerate(world.journal.events)]
    known = {"/here/recipe.yaml": text, **{f"/books/{k}.yaml": v for k, v in world.book.texts.items()}}
    shelf = {path: decode_text(each).required() for path, each in known.items()} if recorded else {}
    history, story = RunHistory(events, alive=False), tell_story(events)
    return page_data(HEAD, RunRows(history, story, shelf.get, "/here/recipe.yaml").rows(), story)


def tree(page: dict[str, Any]) -> list[str]:
    """Return the rows as indented lines."""
    depths: list[int] = []
    lines = []
    for row in page["rows"]:
        depths.append(depths[row["in"]] + 1 if "in" in row else 0)
        lines.append(f"{'  ' * depths[-1]}{row['name']} {row['kind']} {row['status']}")
    return lines


def row(page: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (each for each in page["rows"] if each["name"] == name)
    return dict(found)


STAGED = """\
name: r
stages:
  - name: build
    steps:
      - {id: a, command: one, parallel_group: g}
      - {id: b, command: two, parallel_group: g}
      - {id: each, foreach: [1, 2], command: 'item {{item}}'}
      - {id: call, recipe: child}
    approval: {prompt: 'Go?'}
  - name: ship
    steps:
      - {id: c, command: three}
"""
CHILD = "name: child\nsteps:\n  - {id: deep, command: inner}\n"


def test_stages_groups_loops_sub_recipes_and_gates_hold_their_rows() -> None:
    world = FakeWorld(recipes={"child": CHILD})
    world.approver.decisions = [Decision(True, "fine", by="ann")]
    page = drawn(world, STAGED)
    assert tree(page) == [
        "build stage completed",
        "  g parallel completed",
        "    a bash completed",
        "    b bash completed",
        "  each loop completed",
        "    each[0] bash completed",
        "    each[1] bash completed",
        "  call recipe completed",
        "    deep bash completed",
        "build gate approved",
        "ship stage completed",
        "  c bash completed",
    ]
    gate = page["rows"][9]
    assert (gate["by"], gate["said"], page["texts"][gate["prompts"][0]]) == ("ann", "fine", "Go?")
    assert row(page, "call")["recipe"] == "child"
    assert page["texts"][row(page, "deep")["written"]] == "inner"
    assert page["first"] is None


def test_without_the_recorded_recipe_the_steps_stand_side_by_side() -> None:
    world = FakeWorld(recipes={"child": CHILD})
    world.approver.decisions = [Decision(True)]
    page = drawn(world, STAGED, recorded=False)
    top = [line for line in tree(page) if not line.startswith(" ")]
    assert [line.split()[0] for line in top] == ["a", "b", "each", "call", "c", "build"]


def test_a_gate_before_its_stage_stands_before_it_and_is_the_first_to_see_while_it_waits() -> None:
    text = (
        "name: r\nstages:\n  - {name: one, steps: [{id: a, command: x}]}\n"
        "  - {name: two, approval: {prompt: Sure?, when: before}, steps: [{id: b, command: y}]}\n"
    )
    page = drawn(FakeWorld(), text)
    assert tree(page) == ["one stage completed", "  a bash completed", "two gate waiting"]
    assert page["first"] == 2


def test_the_failing_step_is_first_also_deep_inside_and_after_forgiven_failures() -> None:
    text = (
        "name: r\nsteps:\n  - {id: may, command: allowed, on_error: continue}\n"
        "  - {id: call, recipe: child}\n  - {id: later, command: x}\n"
    )
    child = "name: child\nsteps:\n  - {id: each, foreach: [good, bad], command: 'do {{item}}'}\n"
    answers = {"allowed": 1, "do": ["fine", 3]}
    page = drawn(FakeWorld(answers, recipes={"child": child}), text)
    assert page["rows"][page["first"]]["id"] == "call/each[1]"
    assert row(page, "may")["forgiven"] is True
    failed = page["rows"][page["first"]]
    assert failed["exit"] == 3
    assert "it broke" in page["texts"][failed["error"]]


def test_what_failed_inside_something_that_went_on_is_not_first() -> None:
    text = (
        "name: r\nsteps:\n  - {id: call, recipe: child, on_error: continue}\n  - {id: real, command: real}\n"
    )
    child = "name: child\nsteps:\n  - {id: inner, command: inner}\n"
    page = drawn(FakeWorld({"inner": 1, "real": 2}, recipes={"child": child}), text)
    assert page["rows"][page["first"]]["name"] == "real"
    assert row(page, "inner")["forgiven"] is True


def test_failed_attempts_are_part_of_their_row() -> None:
    text = "name: r\nsteps:\n  - {id: s, command: x, retry: {max_attempts: 3, initial_delay: 2}}\n"
    page = drawn(FakeWorld({"x": [1, 1, "ok"]}), text)
    failures = row(page, "s")["failures"]
    assert [(each["attempt"], each["delay"]) for each in failures] == [(1, 2.0), (2, 4.0)]
    assert "it broke" in page["texts"][failures[0]["why"]]
    assert row(page, "s")["attempts"] == 3


def test_prompts_are_shown_as_they_were_sent_and_as_they_are_written() -> None:
    world = FakeWorld()
    world.agent.answers = [AgentReply(text="42", usage=Usage(input_tokens=7, output_tokens=3), cost_usd=0.5)]
    page = drawn(world, "name: r\ncontext: {x: you}\nsteps:\n  - {id: s, prompt: 'Ask {{x}}'}\n")
    step = row(page, "s")
    assert [page["texts"][each] for each in step["prompts"]] == ["Ask you"]
    assert page["texts"][step["written"]] == "Ask {{x}}"
    assert (step["usage"]["input_tokens"], step["cost"]) == (7, 0.5)
    assert page["dear"] == [0]


def test_without_money_the_dearest_used_most_tokens() -> None:
    world = FakeWorld()
    world.agent.answers = [AgentReply(text="a", usage=Usage(output_tokens=n)) for n in (1, 9, 5)]
    steps = "".join(f"  - {{id: s{n}, prompt: p}}\n" for n in range(3))
    assert drawn(world, f"name: r\nsteps:\n{steps}")["dear"] == [1, 2, 0]


def test_equal_texts_are_kept_once_and_long_ones_lose_their_middle() -> None:
    texts = PageTexts()
    assert [texts.add(each) for each in ("a", "", "b", "a")] == [0, None, 1, 0]
    texts.add("x" * 300_000 + "end")
    cut = texts.shown()[2]
    assert isinstance(cut, list)
    head, lost, tail = cut
    assert len(head) + len(tail) == 200_000
    assert lost == 100_003
    assert str(tail).endswith("end")


def test_many_long_texts_are_cut_more_so_that_all_fit() -> None:
    texts = PageTexts()
    for number in range(50):
        texts.add(f"{number}" + "x" * 1_000)
    shown = texts.shown(room=30_000)
    assert sum(len(each[0]) + len(each[2]) for each in shown) <= 30_000


def test_a_run_that_was_resumed_has_lives_and_an_answer_between_them_is_no_life() -> None:
    start = RunStarted("run-1", "r", "1", 1)
    decided = GateDecided("s", True, "", "s")
    story = tell_story([(10.0, start), (12.0, decided), (900.0, start), (901.0, Warned("", "x"))])
    assert story.lives == [(10.0, 10.0), (900.0, 901.0)]
