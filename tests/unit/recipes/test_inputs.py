from __future__ import annotations

import pytest
from tests.support.fake_world import FakeWorld

from amplihack.recipes.decode import decode_text
from amplihack.recipes.inputs import (
    conform,
    conformed,
    from_environment,
    input_problems,
    list_inputs,
    required_names,
)
from amplihack.recipes.model import Input, Recipe
from amplihack.recipes.values import Value


def recipe(inputs: str, rest: str = "") -> Recipe:
    return decode_text(f"name: n\n{rest}parameters: {inputs}\nsteps: [{{id: a, command: ls}}]").required()


@pytest.mark.parametrize(
    ("type_", "value", "found"),
    [
        ("string", "x", "x"),
        ("string", 5, "5"),
        ("string", True, "true"),
        ("integer", 5, 5),
        ("integer", "5", 5),
        ("int", -1, -1),
        ("number", "1.5", 1.5),
        ("number", 2, 2),
        ("boolean", True, True),
        ("boolean", "yes", True),
        ("bool", "Off", False),
        ("list", [1], [1]),
        ("array", "[1, 2]", [1, 2]),
        ("map", {"a": 1}, {"a": 1}),
        ("object", '{"a": 1}', {"a": 1}),
        ("", [1], [1]),
        ("any", "5", "5"),
        ("any", [1], [1]),
        ("color", "red", "red"),
        ("integer", None, None),
    ],
)
def test_a_value_is_read_as_its_declared_type(type_: str, value: Value, found: Value) -> None:
    assert conform(value, Input(type=type_)) == (found, "")


@pytest.mark.parametrize(
    ("type_", "value", "wrong"),
    [
        ("string", [1], "should be a text"),
        ("integer", 1.5, "should be a whole number"),
        ("integer", "abc", "should be a whole number"),
        ("integer", True, "should be a whole number"),
        ("number", "many", "should be a number"),
        ("boolean", "maybe", "should be true or false"),
        ("boolean", 1, "should be true or false"),
        ("list", "a,b", "should be a list"),
        ("map", [1], "should be a map"),
    ],
)
def test_a_value_of_another_type_says_what_was_expected(type_: str, value: Value, wrong: str) -> None:
    assert conform(value, Input(type=type_)) == (value, wrong)


def test_a_choice_is_compared_by_how_it_reads() -> None:
    declared = Input(choices=("dev", 1))
    assert conform("1", declared)[1] == conform("dev", declared)[1] == ""
    assert conform("prod", declared)[1] == "should be one of dev, 1"


def test_every_problem_is_told_with_how_to_give_it() -> None:
    found = recipe("{a: {required: true, env: A}, b: {type: int}, c: {enum: [x], description: why}, d: {}}")
    problems = list(input_problems(found, {"a": " ", "b": "no", "c": "y"}))
    assert [(each.what, each.fix) for each in problems] == [
        ("the input 'a' is required, and nobody gives it", "--set a=…, or set $A"),
        ("the input 'b' should be a whole number, not \"no\"", "--set b=…"),
        ("the input 'c' should be one of x, not \"y\"", "--set c=… (why)"),
    ]


def test_an_empty_text_does_not_take_the_place_of_a_default_that_has_a_type() -> None:
    found = recipe(
        "{n: {type: int, default: 3}, c: {enum: [x], default: x}, t: {default: hi}, o: {type: int}}"
    )
    problems = list(input_problems(found, {"n": "", "c": "", "t": "", "o": ""}))
    assert [each.what for each in problems] == [
        "the input 'n' should be a whole number, not \"\"",
        "the input 'c' should be one of x, not \"\"",
    ]


def test_a_secret_input_is_never_shown() -> None:
    found = recipe("{t: {type: int, default: '77', required: true}}", "secrets: [t]\n")
    (problem,) = input_problems(found, {"t": "hush"})
    assert "hush" not in problem.what
    assert problem.where is not None and problem.where.text == ""
    assert list(list_inputs(found)) == ["  t  (int, default: ***)"]


def test_the_environment_gives_a_default() -> None:
    found = recipe("{a: {env: A, type: int, default: 1}, b: {env: B}}")
    assert found.context == {"a": 1} and found.inputs == {"b"}
    given = from_environment(found, {"A": "5", "B": "x"})
    assert given.context == {"a": 5, "b": "x"} and given.inputs == frozenset()
    assert from_environment(found, {"A": ""}) is found
    assert required_names(found) == frozenset()


def test_a_default_of_the_wrong_type_is_an_error_of_the_file() -> None:
    (problem,) = decode_text(
        "name: n\nparameters: {a: {type: integer, default: x}}\nsteps: [{id: a, command: ls}]"
    ).problems
    assert (problem.code, problem.what) == (
        "wrong-type",
        "Input 'a': 'default' should be a whole number",
    )


def test_an_unknown_type_and_an_unknown_field_are_warnings() -> None:
    text = "name: n\nparameters: {a: {type: integre, requierd: true}}\nsteps: [{id: a, command: ls}]"
    found = {problem.code: (problem.severity, problem.fix) for problem in decode_text(text).problems}
    assert found == {
        "unknown-type": ("warning", "did you mean 'integer'?"),
        "unknown-field": ("warning", "did you mean 'required'?"),
    }


def test_an_input_that_takes_anything_says_so_without_a_warning() -> None:
    text = "name: n\ninputs: {x: {type: any, default: {a: 1}}}\nsteps: [{id: a, command: 'echo {{x.a}}'}]\n"
    assert decode_text(text).problems == ()


def test_inputs_are_listed_with_all_that_is_known() -> None:
    found = recipe(
        "{a: {type: string, required: true, description: the task}, b: {default: [1], enum: [[1]]}}",
        "context: {c: 1, d: ''}\n",
    )
    assert list(list_inputs(found)) == [
        "  a  the task  (string, required)",
        "  b  (one of [1], default: [1])",
        "variables of its own, which can be set as well:",
        "  c, d",
    ]
    undeclared = decode_text("name: n\ncontext: {c: 1, d: ''}\nsteps: [{id: a, command: ls}]").recipe
    assert undeclared is not None
    assert list(list_inputs(undeclared)) == ["  c  (default: 1)", "  d"]


def test_values_that_fit_are_handed_on_as_their_type() -> None:
    found = recipe("{a: {type: int}, b: {type: bool}}")
    assert conformed(found, {"a": "1", "b": "no", "c": "1"}) == {"a": 1, "b": False, "c": "1"}


def test_a_sub_recipe_refuses_wrong_inputs_before_its_first_step() -> None:
    child = "name: child\nparameters: {n: {type: int, required: true}}\nsteps: [{id: s, command: inside}]"
    world = FakeWorld(recipes={"child": child})
    result = world.run("name: r\nsteps: [{id: a, recipe: child, context: {n: many}}]")
    assert not result.success
    assert "the input 'n' should be a whole number" in result.step_results[0].error
    assert world.shell.scripts == []


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("{required: true}", True),
        ("{type: string}", True),
        ("{default: a, description: where to}", True),
        ("{required: true, port: 80}", False),
        ("{type: car}", False),
        ("{default: a}", False),
        ("{}", False),
        ("required", False),
    ],
)
def test_what_is_said_of_an_input_is_told_where_it_is_taken_for_a_value(value: str, told: bool) -> None:
    text = f"name: n\ncontext: {{target: {value}}}\nsteps: [{{id: a, command: 'echo {{{{target}}}}'}}]\n"
    found = decode_text(text, "r.yaml")
    assert ["input-as-value"] * told == [each.code for each in found.warnings]


def test_a_slip_in_one_of_a_few_values_is_told_with_what_was_meant() -> None:
    (problem,) = input_problems(recipe("{c: {enum: [stable, beta]}}"), {"c": "betta"})
    assert problem.fix == "--set c=beta"


@pytest.mark.parametrize(
    ("kind", "given", "fix"),
    [
        ("list", "a,b", """--set 'p=["a", "b"]'"""),
        ("map", "a=1", """--set 'p={"a": 1}'"""),
        ("integer", "many", "--set p=…"),
    ],
)
def test_the_fix_shows_how_a_value_of_that_type_is_typed(kind: str, given: str, fix: str) -> None:
    text = f"name: n\nparameters: {{p: {{type: {kind}}}}}\nsteps: [{{id: a, command: 'echo {{{{p}}}}'}}]"
    (problem,) = input_problems(decode_text(text).required(), {"p": given})
    assert problem.fix == fix


@pytest.mark.parametrize(
    ("name", "fix"), [("$HOME", "HOME"), ("${HOME}", "HOME"), ("{{x}}", "x"), ("A=1", "A")]
)
def test_what_no_variable_of_the_environment_is_called_is_refused(name: str, fix: str) -> None:
    (problem,) = decode_text(
        f"name: n\nparameters: {{p: {{env: '{name}'}}}}\nsteps: [{{id: a, command: ls}}]"
    ).problems
    assert (problem.severity, problem.fix) == ("error", f"write `env: {fix}`")


def of_default(rule: str) -> tuple[object, list[str]]:
    decoded = decode_text(
        f"name: n\nparameters: {{p: {{{rule}}}}}\nsteps: [{{id: a, command: 'echo {{{{p}}}}'}}]"
    )
    return decoded.required().context["p"], [problem.code for problem in decoded.problems]


@pytest.mark.parametrize(
    ("rule", "value", "told"),
    [
        ("type: string, default: 3.10", "3.10", []),
        ("type: text, default: 007", "007", []),
        ("enum: [3.10, 3.11], default: 3.10", "3.10", []),
        ("type: number, default: 3.10", 3.1, []),
        ("default: 3.10", 3.1, ["rewritten-number"]),
        ("default: 3.5", 3.5, []),
    ],
)
def test_a_default_is_what_its_author_wrote(rule: str, value: object, told: list[str]) -> None:
    assert of_default(rule) == (value, told)


def test_a_choice_may_be_given_as_it_is_written() -> None:
    text = "name: n\nparameters: {p: {enum: [3.10, 3.11]}}\nsteps: [{id: a, command: 'echo {{p}}'}]"
    recipe = decode_text(text).required()
    assert list(input_problems(recipe, {"p": "3.10"})) == []
    assert [each.code for each in input_problems(recipe, {"p": 3.1})] == ["wrong-input"]


def test_a_choice_that_the_type_does_not_allow_is_refused() -> None:
    text = "name: n\nparameters: {p: {type: integer, enum: [1, two]}}\nsteps: [{id: a, command: ls}]"
    (problem,) = decode_text(text).problems
    assert (problem.severity, problem.what) == (
        "error",
        "Input 'p': 'enum' has \"two\", and the input should be a whole number",
    )
