"""Dry runs: nothing happens, and as much as can be known is told."""

from __future__ import annotations

from textwrap import indent

import pytest
from tests.support.fake_world import FakeBook, FakeWorld

from amplihack.recipes.decode import decode_text
from amplihack.recipes.engine.dry_run import Forecast, forecast
from amplihack.recipes.engine.job import Options
from amplihack.recipes.extends import Located
from amplihack.recipes.values import Value, from_json


def test_nothing_is_called_and_every_step_is_skipped() -> None:
    world = FakeWorld()
    text = (
        "name: r\nhooks: {pre_step: h}\nsteps:\n  - {id: a, command: x, output: v}\n"
        "  - {id: b, prompt: p, parse_json: true}\n"
        "  - {id: c, recipe: nowhere}\n  - {id: d, command: y, parallel_group: g}\n"
        "  - {id: e, command: y, parallel_group: g}\n"
    )
    result = world.run(text, dry_run=True)
    assert result.success
    assert (world.shell.requests, world.agent.requests, world.book.callers) == ([], [], [])
    assert {step.status for step in result.step_results} == {"skipped"}
    assert result.step_results[0].output == "[dry run]"
    assert from_json(result.step_results[1].output) == {"dry_run": True, "step": "b"}
    assert result.context["v"] == "(dry-run)"


def predict(
    text: str, recipes: dict[str, str] | None = None, exclude: str = "", **values: Value
) -> dict[str, Forecast]:
    located = Located(decode_text(text).required(), "/here/r.yaml")
    options = Options(run_id="x", working_dir="/here", exclude_tags=frozenset(filter(None, [exclude])))
    found = forecast(located, values, FakeBook(recipes or {}), options)
    return {each.step_id: each for each in found}


def test_verdicts_tell_what_is_known_and_what_it_depends_on() -> None:
    text = (
        "name: r\ncontext: {mode: fast}\nsteps:\n  - {id: a, command: 'echo {{mode}}', output: got}\n"
        "  - {id: b, command: x, condition: \"mode == 'slow'\"}\n"
        "  - {id: c, command: 'use {{got}}', condition: 'got == 1'}\n"
        "  - {id: d, command: x, when_tags: [t]}\n"
    )
    found = predict(text, exclude="t")
    assert {name: each.verdict for name, each in found.items()} == {
        "a": "would run",
        "b": "would be skipped",
        "c": "depends",
        "d": "would be skipped",
    }
    assert found["a"].text == "echo fast"
    assert found["c"].text == "use {{got}}"
    assert found["c"].why == "got == 1 (on got)"
    assert found["d"].why == "tags: t"
    assert predict(text, mode="slow")["b"].verdict == "would run"


def test_sub_recipes_and_bodies_are_followed() -> None:
    text = (
        "name: r\nsteps:\n  - {id: call, recipe: child, context: {x: 1}}\n"
        "  - {id: loop, foreach: [1], steps: [{id: inner, command: 'echo {{item}}'}], collect: all}\n"
        "  - {id: last, command: 'echo {{all}} {{made}}'}\n  - {id: lost, recipe: nowhere}\n"
    )
    found = predict(
        text, {"child": "name: child\nsteps: [{id: deep, command: 'echo {{x}}', output: made}]\n"}
    )
    assert (found["deep"].depth, found["deep"].text) == (1, "echo 1")
    assert found["inner"].text == "echo 1"
    assert found["last"].text == "echo {{all}} {{made}}"
    assert (found["nowhere"].verdict, found["nowhere"].why) == ("depends", "Sub-recipe 'nowhere' not found.")


def test_a_stage_that_would_be_skipped_skips_its_steps() -> None:
    text = (
        "name: r\nversion: 1.0.0\ndescription: d\ncontext: {go: false}\nstages:\n  - name: one\n"
        "    condition: go\n"
        "    steps: [{id: a, type: bash, command: x}]\n"
        "  - {name: two, steps: [{id: b, type: bash, command: x}]}\n"
    )
    found = predict(text)
    assert (found["a"].verdict, found["b"].verdict) == ("would be skipped", "would run")


def test_a_recipe_that_calls_itself_is_followed_only_so_far() -> None:
    child = "name: self\nsteps: [{id: again, recipe: self}]\n"
    assert predict(child, {"self": child})["again"].depth == 6


def test_a_round_may_change_what_a_later_round_does() -> None:
    body = "[{id: first, command: x, condition: ready}, {id: second, command: y, output: ready}]"
    text = (
        f"name: r\ncontext: {{ready: false}}\nsteps:\n  - {{id: loop, foreach: [1, 2], steps: {body}}}\n"
        "  - {id: after, command: 'echo {{item}}', condition: not defined(item)}\n"
    )
    found = predict(text)
    assert (found["first"].verdict, found["after"].verdict) == ("depends", "would run")


def test_what_parallel_rounds_set_changes_nothing_after_them() -> None:
    text = (
        "name: r\ncontext: {ready: false}\nsteps:\n"
        "  - {id: loop, foreach: [1], parallel: true, steps: [{id: set, command: y, output: ready}]}\n"
        "  - {id: after, command: x, condition: ready}\n"
    )
    assert predict(text)["after"].verdict == "would be skipped"
    assert predict(text.replace("parallel: true, ", ""))["after"].verdict == "depends"


def test_values_made_of_unknown_values_are_unknown_in_a_sub_recipe() -> None:
    child = {"child": "name: child\nsteps: [{id: c, command: x, condition: \"mode == 'fast'\"}]\n"}
    call = "  - {id: call, recipe: child, context_mode: isolated, context: {mode: MODE}}\n"
    text = "name: r\ncontext: {way: fast}\nsteps:\n  - {id: a, command: ls}\n" + call
    assert predict(text.replace("MODE", "'{{a}}'"), child)["c"].verdict == "depends"
    assert predict(text.replace("MODE", "'{{way}}'"), child)["c"].verdict == "would run"


def test_what_only_the_run_tells_is_not_guessed() -> None:
    text = "name: r\nsteps:\n  - {id: a, command: ls}\n"
    text += "  - {id: b, command: ls, condition: \"steps.a.status == 'completed'\"}\n"
    assert predict(text)["b"].verdict == "depends"


def test_a_recipe_that_only_the_run_can_name_may_set_anything() -> None:
    text = (
        "name: r\ncontext: {go: false}\nsteps:\n  - {id: kind, command: ls}\n"
        "  - {id: call, recipe: '{{kind}}-review'}\n  - {id: b, command: ls, condition: go}\n"
    )
    found = predict(text)
    assert (found["{{kind}}-review"].verdict, found["b"].verdict) == ("depends", "depends")


def test_the_limit_of_the_recipe_ends_the_forecast() -> None:
    child = "name: self\nrecursion: {max_depth: 2}\nsteps: [{id: again, recipe: self}]\n"
    assert predict(child, {"self": child})["again"].depth == 2


def test_a_recipe_that_calls_itself_many_times_has_an_end() -> None:
    calls = "".join(f"  - {{id: s{i}, foreach: [1, 2], recipe: self}}\n" for i in range(20))
    located = Located(decode_text(f"name: self\nsteps:\n{calls}").required(), "/here/r.yaml")
    options = Options(run_id="x", working_dir="/here")
    book = FakeBook({"self": f"name: self\nsteps:\n{calls}"})
    assert len(forecast(located, {}, book, options)) == 2_000
    assert len(book.callers) <= 2  # each file is read once for each caller


# what is shown


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("echo {{v}}", "echo 'it'\"'\"'s $5'"),
        ("echo {{w}} {{n}} {{l}}", "echo plain 5 '[1,2]'"),
        ('echo "a {{v}}"', 'echo "a it\'s \\$5"'),
        ("echo 'a {{v}}'", "echo 'a it'\\''s $5'"),
        ("cat <<E\n{{v}}\nE", "cat <<E\nit's \\$5\nE"),
        ("cat <<'E'\n{{v}}\nE", "cat <<'E'\nit's $5\nE"),
        ("echo $(( {{n}} + 1 )) # {{w}}", "echo $(( 5 + 1 )) # plain"),
        ("echo {{ '{{' }}w}}", "echo '{{'w}}"),
        ("echo ${{ w }} {{#x}}", "echo ${{ w }} {{#x}}"),
    ],
)
def test_a_command_is_shown_as_bash_would_read_it(command: str, shown: str) -> None:
    text = "name: r\nsteps:\n  - id: a\n    command: |\n" + indent(command, "      ") + "\n"
    found = predict(text, v="it's $5", w="plain", n=5, l=[1, 2])["a"]
    assert (found.text, found.open, found.missing, found.fails) == (shown, (), (), "")


def test_what_only_the_run_can_tell_is_marked() -> None:
    text = (
        "name: r\ncontext: {who: Ada}\nsteps:\n  - {id: a, command: ls}\n"
        "  - {id: b, prompt: 'Tell {{who}} of {{a}} and {{nope}}'}\n"
        "  - {id: c, recipe: child, context: {x: '{{who}}', y: '{{a}}'}}\n"
    )
    found = predict(text, {"child": "name: child\nsteps: [{id: d, command: 'echo {{x}} {{y}}'}]\n"})
    assert (found["b"].text, found["b"].open, found["b"].missing) == (
        "Tell Ada of {{a}} and",
        ("a",),
        ("nope",),
    )
    assert found["c"].text == 'child\nx: "Ada"\ny: "{{a}}"'
    assert (found["d"].text, found["d"].open, found["d"].recipes) == ("echo Ada {{y}}", ("y",), 1)


def test_a_value_that_looks_like_a_placeholder_is_not_filled_in_again() -> None:
    text = "name: r\ncontext: {b: no}\nsteps:\n  - {id: c, recipe: x, context: {y: '{{v}}'}}\n"
    assert predict(text, v="{{b}}")["c"].text == 'x\ny: "{{b}}"'


def test_values_that_bash_could_not_be_given_are_told() -> None:
    found = predict("name: r\nsteps:\n  - {id: a, command: 'echo $(( {{n}} ))'}\n", n="five")
    assert "is not a number" in found["a"].fails


def test_the_rounds_of_a_known_list_are_told_one_by_one() -> None:
    text = (
        "name: r\ncontext: {hosts: [a, b]}\nsteps:\n"
        "  - {id: ping, foreach: '{{hosts}}', as: h, command: 'ping {{h}} {{loop.index}}/{{loop.length}}'}\n"
        "  - {id: out, foreach: hosts, steps: [{id: in, command: 'x {{item}}', condition: loop.first}]}\n"
        "  - {id: late, foreach: '{{ping}}', command: 'x {{item}} {{loop.index}}'}\n"
    )
    located = Located(decode_text(text).required(), "/here/r.yaml")
    found = forecast(located, {}, FakeBook({}), Options(run_id="x", working_dir="/here"))
    assert [(each.step_id, each.depth, each.verdict, each.text) for each in found] == [
        ("ping", 0, "would run", ""),
        ("ping[0]", 1, "would run", "ping a 1/2"),
        ("ping[1]", 1, "would run", "ping b 2/2"),
        ("out", 0, "would run", ""),
        ("out[0]", 1, "would run", ""),
        ("in", 2, "would run", "x a"),
        ("out[1]", 1, "would run", ""),
        ("in", 2, "would be skipped", "x b"),
        ("late", 0, "depends", "x {{item}} {{loop.index}}"),
    ]
    assert found[0].why == "2 rounds"
    assert found[-1].open == ("item", "loop")


def test_a_long_list_is_cut_and_a_loop_that_may_end_early_says_so() -> None:
    text = "name: r\nsteps:\n  - {id: s, foreach: [%s], command: 'x {{item}}'%s}\n"
    many = predict(text % (", ".join("abcdefghijklmnopqrstuvwxyz"), ""))
    assert many["s[…]"].why == "6 more rounds like these"
    refused = predict(text % ("1, 2", ", max_iterations: 1"))
    assert refused["s"].fails == "the list has 2 items; max_iterations allows 1"
    assert "s[0]" not in refused
    early = predict(text % ("1, 2", ", break_when: s == 'done'"))
    assert [early[name].verdict for name in ("s[0]", "s[1]")] == ["would run", "depends"]
