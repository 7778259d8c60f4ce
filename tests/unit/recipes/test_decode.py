from __future__ import annotations

import pytest
from tests.support.decoded import problems, recipe

from amplihack.errors import DocumentError, Location, RecipeError
from amplihack.recipes.decode import decode_text
from amplihack.recipes.model import Agent, Bash, Foreach, Limits, Recipe, Step, SubRecipe, Text

# the file as a whole


def test_the_smallest_recipe() -> None:
    found = recipe("name: n\nsteps:\n- id: a\n  command: ls\n")
    assert found == Recipe(name="n", stages=found.stages)
    assert found.steps == (Step(id="a", action=Bash(Text("ls"))),)
    assert (found.version, found.limits, found.stages[0].name) == ("1.0.0", Limits(None, None), "")
    assert found.hooks.pre_step is found.hooks.post_step is found.hooks.on_error is None


def test_every_top_level_field_arrives() -> None:
    found = recipe(
        """\
name: My recipe (draft)
description: d
version: 1.10
author: me
tags: [a, 1.0]
context: {x: 1.25, y: [yes, ~], z: .inf}
context_validation: {x: nonempty}
secrets: [token]
recursion: {max_depth: 0}
hooks: {pre_step: a, on_error: b}
default_step_timeout: 30
output: "{{x}}"
steps: [{id: 1, command: ":"}]
"""
    )
    assert (found.name, found.description, found.version, found.author) == (
        "My recipe (draft)",
        "d",
        "1.10",
        "me",
    )
    assert found.tags == ("a", "1.0")
    assert found.context == {"x": 1.25, "y": ["yes", None], "z": None}
    assert {name: str(place) for name, place in found.context_places.items()} == {
        "x": "r.yaml:6:11", "y": "r.yaml:6:20", "z": "r.yaml:6:33",
    }  # fmt: skip
    assert found.context_validation == {"x": "nonempty"}
    assert found.secrets == {"token"}
    assert found.limits == Limits(0, None)
    assert (found.hooks.pre_step, found.hooks.post_step, found.hooks.on_error) == (Text("a"), None, Text("b"))
    assert found.default_step_timeout == 30
    assert found.summary == Text("{{x}}")
    assert found.steps[0].id == "1"


@pytest.mark.parametrize("empty", ["", "~", "null"])
def test_an_empty_list_or_map_is_empty(empty: str) -> None:
    found = recipe(
        f"name: n\ntags: {empty}\ncontext: {empty}\nauthor: {empty}\nsteps: [{{id: a, command: ls}}]"
    )
    assert (found.tags, found.context, found.author) == ((), {}, "")


def test_the_summary_may_be_a_map_with_a_template() -> None:
    found = recipe("name: n\noutput: {format: md, template: 'x {{a}}'}\nsteps: [{id: a, command: ls}]")
    assert found.summary == Text("x {{a}}")
    assert recipe("name: n\noutput: {schema: {a: 1}}\nsteps: [{id: a, command: ls}]").summary is None


def test_declared_inputs_give_defaults_and_context_has_the_last_word() -> None:
    found = recipe(
        """\
name: n
inputs:
- {name: a, description: needed}
- {name: b, default: 2}
- plain
parameters:
  c: {type: string, default: x, required: false}
  d: {type: integer, required: true}
  e:
context: {b: 3, d: 4}
steps: [{id: s, command: ls}]
"""
    )
    assert found.context == {"b": 3, "c": "x", "d": 4}
    assert found.inputs == {"a", "plain", "e"}


def test_a_declaration_without_a_name_declares_nothing() -> None:
    found = decode_text("name: n\ninputs: [{description: x}]\nsteps: [{id: s, command: ls}]")
    assert found.required().inputs == frozenset()
    assert [each.code for each in found.warnings] == ["no-effect"]


@pytest.mark.parametrize("text", ["- name: x\n", "word", "12"])
def test_the_top_must_be_a_mapping(text: str) -> None:
    document = decode_text(text, "r.yaml")
    assert document.recipe is None
    with pytest.raises(RecipeError, match="YAML parse error: a recipe is a mapping"):
        document.required()


# what stands in the way


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("steps: [{id: a, command: ls}]", "Recipe must have a 'name' field"),
        ("name: ''\nsteps: [{id: a, command: ls}]", "Recipe must have a 'name' field"),
        ("name: '  '\nsteps: [{id: a, command: ls}]", "Recipe must have a 'name' field"),
        ("name: n", "Recipe must have a 'steps' field with at least one step"),
        ("name: n\nsteps:", "Recipe must have a 'steps' field with at least one step"),
        ("name: n\nsteps: []", "Recipe must have a 'steps' field with at least one step"),
        ("name: n\nstages: []", "Recipe must have a 'steps' field with at least one step"),
        ("name: n\nsteps: [{command: ls}]", "Every step must have a non-empty 'id' field"),
        ("name: n\nsteps: [{id: '', command: ls}]", "Every step must have a non-empty 'id' field"),
        ("name: n\nsteps: [{id: ' ', command: ls}]", "Every step must have a non-empty 'id' field"),
        ("name: n\nsteps: [{id: a, command: x}, {id: a, command: y}]", "Duplicate step id: 'a'"),
        ("name: n\nsteps: [{id: a, command: x}, {id: b, foreach: [1], steps: [{id: a, command: y}]}]",
         "Duplicate step id: 'a'"),
        ("name: n\nsteps: [{id: a, type: loop}]", "'type' should be one of bash, agent, recipe, not 'loop'"),
        ("name: n\nsteps: [{id: a, type: Bash}]", "did you mean 'bash'?"),
        ("name: n\ntags: ci\nsteps: [{id: a, command: ls}]", "'tags' should be a list"),
        ("name: n\nsteps: [{id: a, command: ls, condition: 'a =='}]", "'condition' cannot be read"),
    ],
)  # fmt: skip
def test_errors_say_what_is_wrong(text: str, phrase: str) -> None:
    with pytest.raises(RecipeError) as caught:
        decode_text(text).required()
    assert phrase in " ".join(problem.what for problem in caught.value.problems)


def test_a_step_of_an_unknown_type_is_told_that_and_nothing_that_follows_from_it() -> None:
    text = "name: n\nsteps: [{id: a, type: skill, skill: atlas, task: check, inputs: {path: src}}]"
    assert [each.what for each in decode_text(text).problems] == [
        "Step 'a': 'type' should be one of bash, agent, recipe, not 'skill'"
    ]


def test_a_repeated_id_points_at_the_second_and_names_the_line_of_the_first() -> None:
    text = "name: n\nsteps:\n- {id: a, command: ls}\n- {id: a, command: pwd}\n"
    (problem,) = decode_text(text, "r.yaml").problems
    assert str(problem.where) == "r.yaml:4:8"
    assert problem.what.startswith('two steps are called "a"; the first is on line 3')


def test_all_problems_come_in_one_report_in_file_order() -> None:
    text = """\
tags: ci
descrption: x
steps:
- id: a
  comand: ls
  timeout: soon
- command: ls
  condition: a ==
- id: a
  command: ls
  command: pwd
"""
    assert problems(text) == [
        ("r.yaml:1:1", "no-name"),
        ("r.yaml:1:7", "wrong-type"),
        ("r.yaml:2:1", "unknown-field"),
        ("r.yaml:5:3", "no-command"),
        ("r.yaml:6:12", "wrong-type"),
        ("r.yaml:7:3", "no-id"),
        ("r.yaml:8:18", "bad-condition"),
        ("r.yaml:9:7", "duplicate-id"),
        ("r.yaml:11:3", "duplicate-key"),
    ]
    with pytest.raises(RecipeError) as caught:
        decode_text(text).required()
    assert len(caught.value.problems) == 8
    assert caught.value.what == caught.value.problems[0].what


@pytest.mark.parametrize(
    ("word", "meant", "where"),
    [
        ("descrption", "description", "top"),
        ("versoin", "version", "top"),
        ("Context", "context", "top"),
        ("comand", "command", "step"),
        ("prarse_json", "parse_json", "step"),
        ("tmeout", "timeout", "step"),
        ("sub-context", "sub_context", "step"),
    ],
)
def test_a_misspelt_field_is_a_warning_with_the_word_that_was_meant(
    word: str, meant: str, where: str
) -> None:
    top, inner = (f"{word}: x\n", "") if where == "top" else ("", f", {word}: x")
    document = decode_text(f"name: n\n{top}steps: [{{id: a, command: ls{inner}}}]")
    (warning,) = document.warnings
    owner = "Unrecognized top-level field" if where == "top" else "Step 'a': unrecognized field"
    assert warning.what == f"{owner} '{word}' (possible typo)"
    assert warning.fix == f"did you mean '{meant}'?"
    assert document.required().name == "n"


def test_a_step_without_an_id_is_called_by_its_index() -> None:
    document = decode_text("name: n\nsteps: [{id: a, command: ls}, {command: ls, zzzz: 1}]")
    assert "Step 'index 1': unrecognized field 'zzzz' (possible typo)" in [p.what for p in document.problems]


def test_keys_that_are_not_text_are_passed_over() -> None:
    assert problems("name: n\n1: x\n~: y\ntrue: z\nsteps: [{id: a, command: ls}]") == []


def test_an_optional_parameter_without_a_default_is_null_and_not_expected_from_the_caller() -> None:
    text = "name: n\nparameters: {a: {required: false}, b: {required: true}}\nsteps: [{id: s, command: ls}]\n"
    recipe = decode_text(text).required()
    assert (recipe.context, recipe.inputs) == ({"a": None}, frozenset({"b"}))


SCHEMA_2 = """\
schema_version: 2
dependencies: []
name: n
agents: {rev: "house:reviewer"}
context:
  topic: {type: string, required: true}
  earlier: {type: string, default: v1.md, description: what was there before}
  note: {description: for readers}
  plain: {type: string, owner: x}
  none: {}
steps:
- {id: a, agent: rev, instruction: "look at {{topic}}"}
- {id: b, foreach: [1], as_var: n, command: "echo {{n}}"}
- {id: c, recipe: r, step_context: {x: 1}}
"""


def test_what_the_newer_recipes_of_the_other_community_say_is_what_they_mean() -> None:
    decoded = decode_text(SCHEMA_2, "r.yaml")
    assert decoded.problems == ()
    recipe = decoded.required()
    assert recipe.context == {"earlier": "v1.md", "plain": {"type": "string", "owner": "x"}, "none": {}}
    assert {name: each.required for name, each in recipe.declared.items()} == {
        "topic": True, "earlier": False, "note": False
    }  # fmt: skip
    asked, looped, called = (step for step in recipe.steps)
    assert isinstance(asked.action, Agent)
    assert (asked.action.agent, asked.action.prompt.text) == ("house:reviewer", "look at {{topic}}")
    assert looped.loop is not None
    assert isinstance(looped.loop.over, Foreach)
    assert looped.loop.over.name == "n"
    assert isinstance(called.action, SubRecipe)
    assert called.action.context == {"x": 1}
    assert "in `context:` describe inputs" in decoded.told_dialect


@pytest.mark.parametrize("text", ["3.10", "12e45", "0x1f", ".5", "+7"])
@pytest.mark.parametrize(
    "place", ["context: {{v: [{}]}}\nsteps: [{}]", "steps: [{{id: a, command: ls, foreach: [{}]}}]"]
)
def test_a_number_that_reads_otherwise_than_it_is_written_is_told(text: str, place: str) -> None:
    step = "{id: a, command: ls}"
    plain, quoted, same = (
        decode_text("name: r\n" + place.format(each, step)) for each in (text, f"'{text}'", 3.5)
    )
    assert [problem.code for problem in plain.problems] == ["rewritten-number"]
    assert plain.problems[0].severity == "warning"
    assert (quoted.problems, same.problems) == ((), ())


@pytest.mark.parametrize(
    ("text", "code", "fix"),
    [
        ("inputs: 7", "no-effect", "write a list, as in `inputs: [branch]`, or a map"),
        ("parameters: some text", "no-effect", "write a list, as in `parameters: [branch]`, or a map"),
        ("inputs: [{branch: main}]", "no-effect", "write `- name: branch`, and `default: main` below it"),
        ("inputs: [{type: string}]", "no-effect", "begin it with `name:`"),
        ("inputs: [[a]]", "no-effect", "begin it with `name:`"),
        ("inputs: {branch: main}", "no-effect", "write `branch: {default: main}`"),
        ("inputs: {branch: string}", "no-effect", "write `branch: {type: string}`"),
        ("inputs: {branch: The branch to build}", "no-effect", "write `branch: {description: The branch"),
        ("output: [a]", "no-effect", "write `output: |` and the text below it"),
        ("output: {result: '{{a}}'}", "no-effect", "write `output: |` and the text below it"),
        ("rate_limiting: {max_concurrent_llm: 0}", "no-effect", "remove it, or write how many"),
    ],
)
def test_what_says_nothing_where_it_stands_is_told(text: str, code: str, fix: str) -> None:
    (found,) = decode_text(f"name: r\nsteps: [{{id: a, command: x}}]\n{text}\n").problems
    assert found.code == code
    assert found.fix.startswith(fix)


@pytest.mark.parametrize(
    "text",
    [
        "inputs: [branch]",
        "inputs: {branch: }",
        "inputs: {branch: {default: main}}",
        "inputs: [{name: branch}]",
        "output: so it is",
        "output: {template: so}",
        "output: {format: json, schema: {}}",
    ],
)
def test_inputs_and_outputs_in_their_usual_forms_are_not_told(text: str) -> None:
    assert decode_text(f"name: r\nsteps: [{{id: a, command: x}}]\n{text}\n").problems == ()


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("prompt: Mend issue #12 and more", "the text ends before it"),
        ("prompt: #12", "there is no value"),
        ("context: {colour: red #ff0000", "the text ends before it"),
        ("name: Tell #team", "the text ends before it"),
    ],
)
def test_a_text_of_which_yaml_takes_a_part_for_a_comment_is_told(line: str, left: str) -> None:
    end = "\n    }" if "{" in line else ""
    step = "    recipe: x\n" if line.startswith("context") else "    command: ls\n" if "name" in line else ""
    decoded = decode_text(f"name: r\nsteps:\n  - id: s\n{step}    {line}{end}\n")
    told = [each for each in decoded.problems if each.code == "cut-comment"]
    assert [(each.severity, left in each.what, "quotes" in each.fix) for each in told] == [
        ("warning", True, True)
    ]


@pytest.mark.parametrize(
    "line",
    [
        "prompt: Mend it # soon",
        "prompt: 'Mend #12'",
        "prompt: |\n      Mend #12",
        "prompt: Mend#12",
        "prompt: x #! y",
        "command: ls #12",  # bash takes it for a comment as well
        "command: ls\n    timeout: 5 #seconds",
        "command: ls\n    env: {N: 5} #five",
    ],
)
def test_comments_that_look_like_comments_are_not_told(line: str) -> None:
    assert decode_text(f"name: r\nsteps:\n  - id: s #first\n    {line}\n").problems == ()


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("bundle: {name: b}\ntools: []\n", "`amplihack bundle show a.yaml`"),
        ("- {match: a, reply: b}\n", "--agent scripted:a.yaml"),
    ],
)
def test_a_file_of_another_kind_is_known_and_told_once(text: str, fix: str) -> None:
    (problem,) = decode_text(text, "a.yaml").problems
    assert fix in problem.fix


def test_an_agent_is_no_recipe() -> None:
    with pytest.raises(DocumentError) as refused:
        decode_text("---\nname: x\n---\nYou are x.\n", "x.md")
    assert ("Markdown" in refused.value.what, "`agent:`" in refused.value.fix) == (True, True)


@pytest.mark.parametrize(
    ("command", "refused"),
    [
        ('echo "issue #12"', True),
        ("git commit -m 'close # 12'", True),
        ('echo "it\'s" #12', False),
        ('echo "a" # "b"', False),
        ("echo it\\'s #12", False),
    ],
)
def test_a_command_that_yaml_cuts_inside_its_quotes_is_an_error(command: str, refused: bool) -> None:
    problems = decode_text(f"name: r\nsteps:\n  - id: s\n    command: {command}\n").problems
    assert [(each.code, each.severity) for each in problems] == (
        [("cut-comment", "error")] if refused else []
    )


def test_a_secret_that_yaml_cuts_is_hidden_to_its_end() -> None:
    secret = f"{'first' * 20} #{'second' * 20}"
    text = f"name: r\nsecrets: [t]\ncontext:\n  t: {secret}\nsteps: [{{id: s, command: ls}}]\n"
    (problem,) = decode_text(text).problems
    shown = f"{problem.what} {problem.fix} {problem.where.text if problem.where else ''}"
    assert ("first" in shown, "second" in shown) == (False, False)


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (">\n      echo one\n      echo two", 6),
        ("\n      git add .\n      git commit -m x", 6),
        ("make\n      echo done", 5),
        ('"make\n      echo done"', 5),
        (">\n      make &&\n      make install\n      cd out", 7),
        (">-\n      make  # all of it\n      ./install", 6),
        (">\n      # build\n      make", 6),
        (">\n      make;\n      # then\n      ./install", 7),
    ],
)
def test_lines_of_a_script_that_yaml_joins_to_another_meaning_are_told_once(command: str, line: int) -> None:
    decoded = decode_text(f"name: r\nsteps:\n  - id: s\n    command: {command}\n  - id: t\n    command: ls\n")
    told = [(each.code, each.severity, each.where and each.where.line) for each in decoded.problems]
    assert told == [("joined-lines", "warning", line)]
    assert "`command: |`" in decoded.problems[0].fix


@pytest.mark.parametrize(
    "command",
    [
        "|\n      echo one\n      echo two",
        ">\n      echo one &&\n      echo two",
        ">\n      echo one;\n      echo two",
        ">\n      echo one\n\n      echo two",
        ">\n      for i in a b; do\n      echo $i; done",
        ">\n      docker run --rm\n      -v a:b image\n      make all",
        ">\n      ssh host\n      echo hi",
        ">\n      make\n        echo hi\n      cd out",
        ">\n      curl\n      -H a\n      -H b\n      x\n      x",
        ">\n      find . -name\n      '*.py'",
        ">\n      git log --format='\n      git'",
        ">\n      curl -s\n      http://127.0.0.1/a#b\n      -o out",
        "echo one \\\n      two",
        '"echo one\\\n      echo two"',
        "echo '# no comment'",
        "\n      echo one",
    ],
)
def test_lines_of_a_script_that_yaml_may_join_are_no_matter(command: str) -> None:
    decoded = decode_text(f"name: r\nsteps:\n  - id: s\n    command: {command}\n  - id: t\n    command: ls\n")
    assert decoded.problems == ()


@pytest.mark.parametrize(
    "text",
    ["---\nname: x\n---\n# Title\n", "# Title\n\nText.\n", "# Title\n- a\n- b\n", "Title: x\n\nBy: me\n"],
)
def test_markdown_is_told_from_its_beginning(text: str) -> None:
    with pytest.raises(DocumentError) as caught:
        decode_text(text, "agent.md")
    assert (caught.value.where, "is Markdown" in caught.value.what) == (Location("agent.md", 1, 1), True)
