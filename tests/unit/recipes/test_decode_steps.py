from __future__ import annotations

import pytest
from tests.support.decoded import only_problem, problems, recipe, step

from amplihack.recipes.decode import decode_text
from amplihack.recipes.model import (
    Agent,
    Bash,
    JsonRule,
    Limits,
    ModelChoice,
    Retry,
    SubRecipe,
    Text,
)
from amplihack.recipes.values import Value

# kinds of steps


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ("command: ls", "bash"),
        ("agent: a, prompt: p", "agent"),
        ("prompt: p", "agent"),
        ("command: ls, prompt: p", "bash"),
        ("command: ls, agent: x, prompt: p", "agent"),
        ("recipe: r", "recipe"),
        ("recipe: r, agent: x, prompt: p, command: ls", "recipe"),
        ("recipe: ''", "recipe"),
        ("type: bash, command: ls, agent: x", "bash"),
        ("type: agent, prompt: p, command: ls", "agent"),
        ("type: recipe, recipe: r", "recipe"),
        ("foreach: [1], steps: [{id: b, command: ls}]", "group"),
        ("while_condition: x, while_steps: [{id: b, command: ls}]", "group"),
    ],
)
def test_the_kind_follows_from_the_fields_unless_it_is_stated(fields: str, kind: str) -> None:
    recipe = decode_text(f"name: n\nsteps: [{{id: a, {fields}}}]").recipe
    assert recipe is not None
    assert recipe.steps[0].kind == kind


def test_a_step_that_says_nothing_to_do_is_an_error() -> None:
    (problem,) = decode_text("name: n\nsteps: [{id: a}]").problems
    assert (problem.severity, problem.what) == ("error", "Step 'a': bash step is missing a 'command' field")
    assert problem.fix == "add `command:`, `prompt:` or `recipe:`"


@pytest.mark.parametrize(("kind", "needed"), [("bash", "command"), ("agent", "prompt"), ("recipe", "recipe")])
@pytest.mark.parametrize("dialect", ["amplihack", "amplifier"])
def test_what_a_step_lacks_is_an_error_in_both_dialects(kind: str, needed: str, dialect: str) -> None:
    text = f"name: n\ndialect: {dialect}\nsteps: [{{id: a, type: {kind}}}]"
    (problem,) = decode_text(text).problems
    assert problem.what == f"Step 'a': {kind} step is missing a '{needed}' field"
    assert (problem.severity, problem.fix) == ("error", f"add `{needed}:`")


def test_an_agent_without_a_prompt_is_asked_what_the_step_says_of_itself() -> None:
    assert decode_text("name: n\nsteps: [{id: a, agent: x, description: d}]").problems == ()


@pytest.mark.parametrize("prompt", ["''", "' '", '"\\n"'])
def test_a_blank_prompt_asks_nothing_and_is_an_error(prompt: str) -> None:
    (problem,) = decode_text(f"name: n\nsteps: [{{id: a, prompt: {prompt}}}]").problems
    assert (problem.code, problem.severity) == ("no-prompt", "error")
    assert problem.fix == "write it behind `prompt:`"
    assert decode_text(f"name: n\nsteps: [{{id: a, prompt: {prompt}, description: d}}]").problems == ()


def test_all_fields_of_a_bash_step_arrive() -> None:
    found = step(
        "command: ls, name: t, description: d, env: {A: 1}, output_exit_code: c, output_stderr: e, "
        "max_env_value_bytes: 9, condition: x, when_tags: [t], depends_on: [z], parallel_group: '', "
        "output: o, parse_json: last, parse_json_required: true, cwd: d, "
        "timeout: 300, idle_timeout: 5"
    )
    assert found.action == Bash(Text("ls"), {"A": 1}, "c", "e", 9, any_exit=True)
    assert (found.title, found.description, found.when_tags, found.depends_on) == ("t", "d", ("t",), ("z",))
    assert (found.parallel_group, found.output, found.result_name, found.keep_text) == ("", "o", "o", False)
    assert step("command: ls, output_type: text").keep_text
    assert found.json == JsonRule("last", required=True)
    assert (found.working_dir, found.timeout, found.idle_timeout) == (Text("d"), 300, 5)
    assert found.condition is not None
    assert found.condition.text == "x"


def test_all_fields_of_an_agent_step_arrive() -> None:
    found = step("agent: x:y, prompt: p, mode: plan, model: m, model_role: fast, auto_stage: false, "
                 "agent_config: {t: 1}, spawn_mode: subprocess")  # fmt: skip
    assert found.action == Agent(
        Text("p"),
        "x:y",
        "plan",
        (ModelChoice(None, "m"),),
        "fast",
        {"t": 1},
        own_process=True,
        auto_stage=False,
    )
    assert found.result_name == "a"


def test_models_are_one_list_of_preferences() -> None:
    def models(fields: str) -> tuple[ModelChoice, ...]:
        action = step(f"prompt: p, {fields}").action
        assert isinstance(action, Agent)
        return action.models

    assert models("mode: x") == ()
    assert models("provider: a, model: b") == (ModelChoice("a", "b"),)
    assert models("provider_preferences: [{provider: a}, {provider: b, model: c}, {class: fast}, d]") == (
        ModelChoice("a", None),
        ModelChoice("b", "c"),
        ModelChoice(None, "fast"),
        ModelChoice(None, "d"),
    )


@pytest.mark.parametrize("beside", ["provider: b", "model: b"])
def test_preferences_beside_one_model_contradict_it(beside: str) -> None:
    text = f"name: n\nsteps: [{{id: a, prompt: p, provider_preferences: [{{provider: a}}], {beside}}}]"
    assert only_problem(text).startswith("Step 'a': 'provider_preferences' stands beside")


def test_an_agent_without_a_prompt_is_asked_with_the_words_it_has() -> None:
    def prompt(fields: str) -> str:
        action = step(f"agent: x, {fields}").action
        assert isinstance(action, Agent)
        return action.prompt.text

    assert prompt("description: Look around") == "Look around"
    assert prompt("task: Do it, description: Carefully") == "Do it\n\nCarefully"
    assert prompt("description: Look, inputs: {b: 1, a: '{{x}}'}") == 'Look\n\nInputs:\n{"b":1,"a":"{{x}}"}'
    assert prompt("inputs: the pages") == "Inputs:\nthe pages"
    assert prompt("prompt: Mine, description: Look") == "Mine"


def test_a_sub_recipe_sees_everything_or_only_its_context_by_dialect() -> None:
    fields = (
        "recipe: r, context: {x: '{{y}}', deep: {l: [1]}}, recursion: {max_depth: 1}, "
        "recovery_on_failure: true"
    )
    context: dict[str, Value] = {"x": "{{y}}", "deep": {"l": [1]}}
    assert step(fields).action == SubRecipe(Text("r"), context, "inherit", Limits(1, None), recovery=True)
    assert step(fields, dialect="amplifier").action == SubRecipe(
        Text("r"), context, "isolated", Limits(1, None), recovery=True
    )
    stated = step("recipe: r, context_mode: inherit", dialect="amplifier").action
    assert stated == SubRecipe(Text("r"), mode="inherit")


@pytest.mark.parametrize(
    ("field", "action", "told"),
    [
        ("working_dir: d", "recipe: r", "on a recipe step"),
        ("working_dir: d", "foreach: [1], steps: [{id: b, command: ls}]", "on a step that holds others"),
        ("parse_json: true", "foreach: [1], steps: [{id: b, command: ls}]", "on a step that holds others"),
        ("output_type: text", "foreach: [1], steps: [{id: b, command: ls}]", "on a step that holds others"),
        ("parse_json_required: true", "foreach: [1], steps: [{id: b, prompt: p}]", "that holds others"),
    ],
)
def test_a_field_that_does_nothing_on_this_kind_of_step_is_told(field: str, action: str, told: str) -> None:
    (problem,) = decode_text(f"name: n\nsteps: [{{id: a, {action}, {field}}}]", "r").problems
    assert problem.code == "no-effect"
    assert told in problem.what


def test_the_directory_of_the_agent_that_recovers_a_sub_recipe_has_an_effect() -> None:
    assert problems("name: n\nsteps: [{id: a, recipe: r, working_dir: d, recovery_on_failure: true}]") == []


# two spellings


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("continue_on_error: true", "nonfatal: true"),
        ("cwd: d", "working_dir: d"),
        ("context: {a: 1}", "sub_context: {a: 1}"),
    ],
)
def test_two_spellings_that_agree_are_fine(first: str, second: str) -> None:
    for pair in (f"{first}, {second}", f"{second}, {first}"):
        action = "command: ls" if "cwd" in pair else "recipe: r"
        assert problems(f"name: n\nsteps: [{{id: a, {action}, {pair}}}]") == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("continue_on_error: true", "nonfatal: false"),
        ("nonfatal: false", "continue_on_error: true"),
        ("cwd: d", "working_dir: e"),
        ("sub_context: {a: 1}", "context: {a: 2}"),
    ],
)
def test_two_spellings_that_differ_are_an_error_that_names_both(first: str, second: str) -> None:
    action = "command: ls" if "cwd" in first else "recipe: r"
    text = f"name: n\nsteps:\n- id: a\n  {action}\n  {first}\n  {second}\n"
    (problem,) = decode_text(text, "r").problems
    names = [pair.split(":")[0] for pair in (first, second)]
    assert problem.what.startswith(f"Step 'a': '{names[0]}' and '{names[1]}' mean the same")
    assert str(problem.where) == "r:6:3"


# failures


@pytest.mark.parametrize(
    ("fields", "policy"),
    [
        ("name: x", "fail"),
        ("continue_on_error: true", "continue"),
        ("nonfatal: true", "continue"),
        ("fatal: false", "continue"),
        ("fatal: true", "fail"),
        ("on_error: continue", "continue"),
        ("on_error: skip_remaining", "skip_remaining"),
        ("on_error: continue, continue_on_error: true, fatal: false", "continue"),
    ],
)
def test_what_a_failure_does(fields: str, policy: str) -> None:
    assert step(f"command: ls, {fields}").on_error == policy


@pytest.mark.parametrize(
    ("fields", "policy", "counts"),
    [
        ("continue_on_error: false, fatal: false", "continue", "fatal"),
        ("continue_on_error: true, fatal: true", "continue", "continue_on_error"),
        ("on_error: fail, continue_on_error: true", "fail", "on_error"),
        ("on_error: continue, fatal: true", "continue", "on_error"),
    ],
)
def test_fields_that_disagree_about_a_failure_are_told_with_the_one_that_counts(
    fields: str, policy: str, counts: str
) -> None:
    decoded = decode_text(f"name: n\nsteps: [{{id: a, command: ls, {fields}}}]", "r")
    (problem,) = decoded.problems
    assert (problem.code, problem.severity) == ("contradiction", "warning")
    assert f"than '{counts}', which counts" in problem.what
    assert decoded.required().steps[0].on_error == policy


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ("command: ls, timeout: 5, idle_timeout: 50", "'idle_timeout' has no effect"),
        ("command: '# later'", "holds comments alone"),
        ('command: " # a\\n\\n  # b\\n"', "holds comments alone"),
    ],
)
def test_what_can_never_do_anything_is_told(fields: str, told: str) -> None:
    assert told in only_problem(f"name: n\nsteps: [{{id: a, {fields}}}]")


@pytest.mark.parametrize(
    "fields",
    ["timeout: 0, idle_timeout: 5", "timeout: 9, idle_timeout: 5", "timeout: '{{t}}', idle_timeout: 9"],
)
def test_limits_that_both_can_end_a_step_are_fine(fields: str) -> None:
    assert problems(f"name: n\nsteps: [{{id: a, command: ls, {fields}}}]") == []


def test_a_default_answer_needs_a_time_after_which_it_is_given() -> None:
    text = "name: n\nstages:\n- {name: s, approval: {%s}, steps: [{id: a, command: ls}]}\n" + (
        "- {name: t, steps: [{id: b, command: ls}]}\n"
    )
    assert "waits for an answer" in only_problem(text % "default: approve")
    assert problems(text % "default: approve, timeout: 5m") == []
    assert problems(text % "default: deny") == []


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ("name: x", None),
        ("parse_json: false", None),
        ("parse_json: true", JsonRule()),
        ("parse_json: first", JsonRule()),
        ("parse_json: last", JsonRule("last")),
        ("parse_json_required: true", JsonRule(required=True)),
    ],
)
def test_how_json_is_looked_for(fields: str, rule: JsonRule | None) -> None:
    assert step(f"command: ls, {fields}").json == rule


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ("parse_json: false, parse_json_required: true", "'parse_json: false' stands beside"),
        ("output_type: text, parse_json: true", "stands beside 'parse_json', which counts"),
        ("output_type: text, parse_json: last", "stands beside 'parse_json', which counts"),
        ("output_type: text, parse_json_required: true", "stands beside 'parse_json_required', which counts"),
        ("output_type: text, json_schema: {type: object}", "stands beside 'json_schema', which counts"),
        ("recheck: true, idempotent: false", "'idempotent: false' says that this does harm"),
        ("retry: {max_attempts: 2}, idempotent: false", "'retry' does the step again after a failure, and"),
        ("output: x, output_exit_code: x", "'output' and 'output_exit_code' are both called x"),
        ("output: x, output_stderr: x", "'output' and 'output_stderr' are both called x"),
        ("output_exit_code: x, output_stderr: x", "'output_exit_code' and 'output_stderr' are both called"),
        ("foreach: [1], output: x, collect: x", "'output' and 'collect' are both called x"),
        ("retry: {initial_delay: 60, max_delay: 5}", "'initial_delay' is longer than 'max_delay'"),
    ],
)
def test_fields_that_contradict_each_other_are_told(fields: str, told: str) -> None:
    (problem,) = decode_text(f"name: n\nsteps: [{{id: a, command: ls, {fields}}}]").problems
    assert (problem.code, problem.severity) == ("contradiction", "warning")
    assert told in problem.what


@pytest.mark.parametrize(
    "fields",
    [
        "output_type: auto, parse_json: true",
        "parse_json: false, parse_json_required: false",
        "recheck: true, idempotent: true",
        "retry: {max_attempts: 2}, idempotent: true",
        "output: x, output_exit_code: y, output_stderr: z",
        "foreach: [1], as: x, output: x, collect: y",
        "retry: {initial_delay: 10m}",
        "retry: {max_delay: 1}",
    ],
)
def test_fields_that_agree_are_taken_without_a_word(fields: str) -> None:
    assert problems(f"name: n\nsteps: [{{id: a, command: ls, {fields}}}]") == []


def test_the_longest_wait_is_never_shorter_than_the_first_by_itself() -> None:
    assert (retry := step("command: ls, retry: {initial_delay: 10m}").retry)
    assert (retry.initial_delay, retry.max_delay) == (600, 600)


@pytest.mark.parametrize(
    "field", ["retry", "on_error", "timeout", "finally", "parallel_group", "strict_shell"]
)
def test_a_forgotten_value_of_a_field_that_steers_is_told(field: str) -> None:
    (problem,) = decode_text(f"name: n\nsteps:\n- id: a\n  {field}:\n  command: ls\n").problems
    assert problem.what == f"Step 'a': '{field}' has no value, so it says nothing"
    assert decode_text(f"name: n\nsteps:\n- id: a\n  {field}: ~\n  command: ls\n").problems == ()


@pytest.mark.parametrize(
    ("fields", "fix"),
    [
        ("recipe: r, inputs: {person: Ada}", "`context:`"),
        ("foreach: [1], type: agent, steps: [{id: b, command: ls}]", "types of their own"),
    ],
)
def test_a_field_that_looks_as_if_it_did_something_is_told(fields: str, fix: str) -> None:
    (problem,) = decode_text(f"name: n\nsteps: [{{id: a, {fields}}}]").problems
    assert (problem.code, problem.severity) == ("no-effect", "warning")
    assert fix in problem.fix


def test_an_entry_of_preferences_that_names_no_model_is_told() -> None:
    text = "name: n\nsteps: [{id: a, prompt: p, provider_preferences: [{providr: a}]}]"
    told = {problem.code: problem for problem in decode_text(text).problems}
    assert told.keys() == {"unknown-field", "no-effect"}
    assert told["unknown-field"].fix == "did you mean 'provider'?"


@pytest.mark.parametrize(
    ("value", "timeout"),
    [("300", 300.0), ("1.5", 1.5), ("'60'", 60.0), ("'{{t}}'", "{{t}}"), ("0", 0.0), ("~", None)],
)
def test_a_timeout_of_zero_is_stated_and_no_timeout_is_not(value: str, timeout: object) -> None:
    assert step(f"command: ls, timeout: {value}").timeout == timeout


@pytest.mark.parametrize(
    ("step_text", "fix"),
    [
        ("{}", "add `command:`, `prompt:` or `recipe:`"),
        ("{build: {command: ls}}", "write `- id: build` for `- build:`, and its fields below `id`"),
        ("{id: a, command: }", "write it behind `command:`"),
        ("{id: a, comand: ls}", "write `command:` for `comand:`"),
    ],
)
def test_a_step_with_nothing_to_do_says_what_to_write(step_text: str, fix: str) -> None:
    found = decode_text(f"name: n\nsteps:\n  - {step_text}\n").problems
    assert [problem.fix for problem in found if problem.code == "no-command"] == [fix]


def test_what_only_looks_like_a_command_is_explained() -> None:
    for sign, why in (("#x", "what begins with # is a comment"), ("&x", "what begins with & is an anchor")):
        found = decode_text(f"name: n\nsteps:\n  - id: a\n    command: {sign}\n").problems
        assert [problem.code for problem in found] == ["no-command"]
        assert why in found[0].fix


def test_every_length_of_time_may_be_a_duration() -> None:
    one = step("command: ls, timeout: 1m, idle_timeout: 500ms, retry: {initial_delay: 2s, max_delay: 1h}")
    assert (one.timeout, one.idle_timeout) == (60.0, 0.5)
    assert one.retry is not None
    assert (one.retry.initial_delay, one.retry.max_delay) == (2.0, 3600.0)
    whole = recipe(
        "name: n\ndefault_step_timeout: 5m\nrate_limiting: {min_delay_ms: 2s, backoff: {max_delay_ms: 1m}}\n"
        "stages: [{name: s, steps: [{id: a, command: ls}], approval: {timeout: 1d, when: after}}]\n"
    )
    assert whole.default_step_timeout == 300.0
    assert whole.rate_limit is not None
    assert whole.rate_limit.backoff is not None
    assert (whole.rate_limit.min_delay_ms, whole.rate_limit.backoff.max_delay_ms) == (2_000, 60_000)
    gate = whole.stages[0].approval
    assert gate is not None
    assert gate.timeout == 86_400.0


def test_retry_has_defaults_of_its_own() -> None:
    assert step("command: ls, retry: {}").retry == Retry()
    assert step("command: ls").retry is None
    found = step(
        "command: ls, retry: {max_attempts: 5, backoff: linear, initial_delay: 0, "
        "max_delay: 9, on: transient}"
    )
    assert found.retry == Retry(5, doubling=False, initial_delay=0.0, max_delay=9.0, transient_only=True)
    assert step("command: ls, retry: {max_attempts: '{{n}}'}").retry == Retry("{{n}}")


@pytest.mark.parametrize("blank", ['""', '"  "', "' '"])
def test_an_empty_condition_always_holds_and_says_so(blank: str) -> None:
    decoded = decode_text(f"name: n\nsteps:\n- {{id: a, command: ls, condition: {blank}}}\n", "r.yaml")
    assert decoded.required().steps[0].condition is None
    assert [problem.code for problem in decoded.warnings] == ["empty-condition"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("prompt: p, env: {A: b}", "'env' has no effect on an agent step"),
        ("prompt: p, output_exit_code: c", "'output_exit_code' has no effect on an agent step"),
        ("command: ls, prompt: p", "'prompt' has no effect on a bash step"),
        ("command: ls, model: m", "'model' has no effect on a bash step"),
        ("recipe: r, command: ls", "'command' has no effect on a recipe step"),
        (
            "foreach: [1], steps: [{id: b, command: ls}], command: ls",
            "'command' has no effect on a step that holds others",
        ),
        ("command: ls, inputs: {a: b}", "'inputs' has no effect on a bash step"),
        ("prompt: p, inputs: {a: b}", "'inputs' has no effect beside 'prompt'"),
        ("command: ls, collect: all", "'collect' has no effect without foreach or while_condition"),
        ("command: ls, as: x", "'as' has no effect without foreach"),
        ("command: ls, parallel: true", "'parallel' has no effect without foreach"),
        ("command: ls, break_when: x", "'break_when' has no effect without foreach or while_condition"),
        ("command: ls, while_condition: x, as: y", "'as' has no effect without foreach"),
    ],
)
def test_a_field_that_does_nothing_here_is_told(fields: str, message: str) -> None:
    (problem,) = decode_text(f"name: n\nsteps: [{{id: a, {fields}}}]").problems
    assert (problem.code, problem.severity, problem.what) == ("no-effect", "warning", f"Step 'a': {message}")
    assert problem.fix


@pytest.mark.parametrize(
    ("fields", "fix"),
    [
        ("while_condition: x, max_iterations: 3", "write `max_while_iterations:`, which limits this loop"),
        ("foreach: [1], max_while_iterations: 3", "write `max_iterations:`, which limits this loop"),
        ("max_iterations: 3", "remove it: it belongs to loop steps"),
    ],
)
def test_the_limit_of_the_other_loop_names_the_right_one(fields: str, fix: str) -> None:
    (problem,) = decode_text(f"name: n\nsteps: [{{id: a, command: ls, {fields}}}]").problems
    assert (problem.code, problem.fix) == ("no-effect", fix)


@pytest.mark.parametrize(
    ("name", "fix"), [("A=B", "write `A: B`"), ("''", "use letters"), ("A=", "use letters")]
)
def test_a_name_that_no_process_can_be_given_is_an_error(name: str, fix: str) -> None:
    (problem,) = decode_text(f"name: n\nsteps: [{{id: a, command: ls, env: {{{name}: x}}}}]").problems
    assert problem.severity == "error"
    assert "cannot be the name of a variable" in problem.what
    assert problem.fix.startswith(fix)


@pytest.mark.parametrize(
    ("name", "fix"),
    [("my-var", "write `my_var:`"), ("a.b", "write `a_b:`"), ("1a", "use letters"), ("é", "use letters")],
)
def test_a_name_that_no_script_can_use_is_told(name: str, fix: str) -> None:
    text = f"name: n\nsteps: [{{id: a, command: ls, env: {{GOOD_1: y, '{name}': x}}}}]"
    (problem,) = decode_text(text).problems
    assert (problem.severity, problem.code) == ("warning", "no-effect")
    assert f"the command cannot use '{name}'" in problem.what
    assert problem.fix.startswith(fix)
    assert problem.where is not None
    assert problem.where.column == text.splitlines()[1].index(f"'{name}'") + 1


@pytest.mark.parametrize(
    ("field", "fix"),
    [
        ("output: {name: x}", "write the text itself: `output: x`"),
        ("output_exit_code: {var: code}", "write the text itself: `output_exit_code: code`"),
        ("condition: [a == 'x', b or c]", "write one expression: `condition: a == 'x' and (b or c)`"),
    ],
)
def test_a_shape_that_holds_what_was_meant_is_told_with_it(field: str, fix: str) -> None:
    (problem,) = decode_text(f"name: n\nsteps: [{{id: a, command: ls, {field}}}]").problems
    assert (problem.severity, problem.fix) == ("error", fix)


@pytest.mark.parametrize(
    ("dialect", "fields", "fails"),
    [
        ("amplihack", "", False),
        ("amplihack", "on_error: fail", True),
        ("amplihack", "on_error: continue", False),
        ("amplihack", "on_error: continue, retry: {max_attempts: 2}", True),
        ("amplifier", "", True),
        ("amplifier", "continue_on_error: true", False),
        ("amplifier", "on_error: continue", False),
        ("amplifier", "on_error: skip_remaining, retry: {max_attempts: 2}", True),
    ],
)
def test_a_kept_exit_code_is_a_failure_by_the_words_of_the_step(
    dialect: str, fields: str, fails: bool
) -> None:
    step = f"{{id: a, command: ls, output_exit_code: c, {fields}}}"
    recipe = decode_text(f"name: n\ndialect: {dialect}\nsteps: [{step}]\n").required()
    action = recipe.steps[0].action
    assert isinstance(action, Bash)
    assert action.any_exit is not fails


def test_a_message_is_put_to_an_agent_only_where_one_is_named() -> None:
    asked = decode_text("name: n\nsteps: [{id: a, agent: 'x:y', message: hi}]\n", "r.yaml")
    assert asked.problems == ()
    (problem,) = decode_text("name: n\nsteps: [{id: a, message: deployed}]\n", "r.yaml").problems
    assert (problem.code, problem.severity) == ("foreign-word", "error")
    assert "`prompt:`" in problem.fix


@pytest.mark.parametrize(
    "line",
    [
        "model: '{{x}}'",
        "agent: 'a-{{x}}'",
        "mode: '{{x}}'",
        "agent_config: {a: [{b: '{{x}}'}]}",
        "depends_on: ['{{x}}']",
        "output: 'r_{{x}}'",
        "parallel_group: '{{x}}'",
    ],
)
def test_a_placeholder_in_a_field_that_is_taken_as_it_is_written_is_told(line: str) -> None:
    text = f"name: r\nsteps:\n  - id: a\n    prompt: hi\n    {line}\n"
    assert [each.code for each in decode_text(text).problems] == ["not-filled-in"]
    assert decode_text(text.replace("{{x}}", "x")).problems == ()


@pytest.mark.parametrize("field", ["condition", "foreach", "while_condition"])
def test_what_decides_whether_a_step_runs_and_has_no_value_is_told(field: str) -> None:
    found = decode_text(f"name: r\nsteps:\n  - id: a\n    command: x\n    {field}:\n").problems
    assert [(each.code, each.severity, each.where and each.where.line) for each in found] == [
        ("empty-condition", "warning", 5)
    ]


@pytest.mark.parametrize("value", ["''", "'  '", ""])
def test_a_recipe_step_that_names_no_recipe_is_an_error(value: str) -> None:
    found = decode_text(f"name: r\nsteps:\n  - id: a\n    type: recipe\n    recipe: {value}\n").problems
    assert [(each.code, each.severity) for each in found] == [("no-recipe", "error")]
