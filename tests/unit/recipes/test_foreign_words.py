from __future__ import annotations

import pytest

from amplihack.recipes.decode import decode_text
from amplihack.recipes.fields import TABLES
from amplihack.recipes.foreign_word_table import WORDS
from amplihack.recipes.foreign_words import _PARTS, instead_of
from amplihack.recipes.model import Agent

HOLDERS = {
    "step": "name: n\nsteps:\n- {{id: a, command: ls, {word}: x}}\n",
    "stage": "name: n\nstages:\n- {{name: s, {word}: x, steps: [{{id: a, command: ls}}]}}\n",
    "recipe": "name: n\n{word}: x\nsteps: [{{id: a, command: ls}}]\n",
    "retry": "name: n\nsteps:\n- {{id: a, command: ls, retry: {{{word}: x}}}}\n",
    "approval": "name: n\nstages:\n- {{name: s, approval: {{{word}: x}}, steps: [{{id: a, command: ls}}]}}\n"
    "- {{name: last, steps: [{{id: z, command: ls}}]}}\n",
    "input": "name: n\ninputs: {{q: {{{word}: x}}}}\nsteps: [{{id: a, command: 'echo {{{{{{{{q}}}}}}}}'}}]\n",
    "hooks": "name: n\nhooks: {{{word}: x}}\nsteps: [{{id: a, command: ls}}]\n",
}


@pytest.mark.parametrize(
    ("table", "word", "ours"),
    [
        ("step", "if", "`condition:`"),
        ("step", "feature_flag", "`condition:`"),
        ("step", "checkpoint", "`approval:"),
        ("step", "cancel-in-progress", "flock"),
        ("step", "noop", "--dry-run"),
        ("step", "onfailure", "`on_error:"),
        ("step", "no_log", "`secrets:`"),
        ("step", "secrets", "`secrets:`"),
        ("step", "hooks", "top of the recipe"),
        ("step", "rate_limiting", "top of the recipe"),
        ("step", "retry_config", "`retry:"),
        ("step", "onerror", "`on_error:"),
        ("step", "services", "on this machine"),
        ("step", "max_workers", "`parallel: 4`"),
        ("step", "count", "`foreach:`"),
        ("stage", "input", "`approval:"),
        ("stage", "reviewers", "`approval:"),
        ("stage", "timeout", "on the steps"),
        ("stage", "command", "on the steps"),
        ("stage", "env", "on the steps"),
        ("stage", "secrets", "`secrets:`"),
        ("recipe", "command", "`steps:`"),
        ("recipe", "working_dir", "on the steps"),
        ("recipe", "deps", "another recipe first"),
        ("recipe", "stopOnFirstFailure", "on the steps"),
        ("recipe", "rate_limit", "`rate_limiting:"),
        ("recipe", "default_timeout", "`default_step_timeout:`"),
        ("recipe", "sensitive", "`secrets:`"),
        ("hooks", "always", "`finally: true`"),
        ("hooks", "if", "in the command"),
        ("approval", "rules", "on the stage"),
        ("retry", "strategy", "`backoff:`"),
        ("input", "value", "`default:`"),
        ("input", "from_env", "`env:`"),
        ("input", "multipleOf", "a first step"),
        ("input", "maxItems", "`max_length:`"),
        ("input", "min", "`minimum:`"),
        ("step", "filters", "`condition:`"),
        ("step", "executeOnce", "`condition:`"),
        ("step", "conditional_edges", "opposite `condition:`"),
        ("step", "upstream_task_ids", "`depends_on:"),
        ("step", "required", "`on_error: continue`"),
        ("step", "across", "`foreach:`"),
        ("step", "restart", "`retry:"),
        ("step", "mutex", "`flock"),
        ("step", "check_mode", "`--dry-run`"),
        ("step", "pre-steps", "a step of its own"),
        ("step", "no_output_timeout", "`idle_timeout:`"),
        ("step", "stage", "`stages:`"),
        ("step", "entrypoint", "`command:`"),
        ("step", "Parallel", "`parallel:`"),
        ("step", "max-iterations", "`max_iterations:`"),
        ("step", "strictShell", "`strict_shell:`"),
        ("step", "optional", "`on_error: continue`"),
        ("step", "predicate", "`condition:`"),
        ("step", "on_true", "opposite `condition:`"),
        ("step", "humanInTheLoop", "`approval:"),
        ("step", "interrupt-before", "`approval:"),
        ("step", "stop_on_error", "`on_error: continue`"),
        ("step", "assert", "a test that fails"),
        ("step", "sub_steps", "`steps:`"),
        ("step", "max_rounds", "`max_iterations:`"),
        ("step", "loop_back_to", "in their order"),
        ("step", "fan_out", "`parallel_group:`"),
        ("step", "poll_until", "`command: sleep 5`"),
        ("step", "on", "`condition:`"),
        ("recipe", "Secrets", "`secrets:`"),
        ("recipe", "contextValidation", "`context_validation:`"),
        ("recipe", "default-step-timeout", "`default_step_timeout:`"),
        ("step", "workingDir", "`working_dir:`"),
        ("retry", "maxAttempts", "`max_attempts:`"),
        ("retry", "initial-delay", "`initial_delay:`"),
        ("approval", "Timeout", "`timeout:`"),
        ("hooks", "preStep", "`pre_step:`"),
        ("input", "Required", "`required:`"),
        ("input", "Enum", "`enum:`"),
        ("step", "any_of", "`condition:`"),
        ("step", "decisionCases", "opposite `condition:`"),
        ("step", "joinOn", "`depends_on:"),
        ("step", "templateRef", "`recipe:`"),
        ("step", "keep_going", "`on_error: continue`"),
        ("step", "serial_group", "`flock"),
        ("step", "execution_time_limit", "`timeout:`"),
        ("step", "HeartbeatSeconds", "`idle_timeout:`"),
        ("step", "Run If", "`condition:`"),
        ("step", "depends on", "`depends_on:`"),
        ("stage", "sleep", "`command: sleep 5`"),
        ("stage", "timeoutInMinutes", "on the steps"),
        ("stage", "working-directory", "on the steps"),
        ("stage", "lock", "`flock"),
        ("stage", "goto", "in their order"),
        ("stage", "post_steps", "`finally: true`"),
        ("stage", "max_parallel", "`parallel_group:`"),
        ("stage", "register", "`output:` on the steps"),
        ("stage", "until", "`break_when:`"),
        ("recipe", "sub_recipes", "a step with `recipe:`"),
        ("recipe", "parallelism", "`parallel_group:`"),
        ("recipe", "timeout_seconds", "`default_step_timeout:`"),
        ("recipe", "max_execution_time", "`default_step_timeout:`"),
        ("recipe", "concurrencyLimit", "`parallel_group:`"),
        ("recipe", "run_if_changed", "`condition:` on the steps"),
        ("recipe", "on_completion", "on the steps"),
        ("recipe", "dry_run", "`--dry-run`"),
        ("recipe", "next", "in their order"),
        ("stage", "human_review", "`approval:"),
        ("recipe", "edges", "opposite `condition:`"),
        ("step", "retryStrategy", "`retry:"),
        ("step", "loop_until", "`break_when:`"),
        ("step", "abort_if", "`exit 1`"),
        ("step", "background", "`&`"),
        ("step", "container", "on this machine"),
        ("step", "sleep", "`command: sleep 5`"),
        ("recipe", "enabled", "when somebody starts it"),
        ("recipe", "handlers", "`steps:`"),
        ("input", "when", "on the steps"),
        ("approval", "approvers", "can answer"),
        ("approval", "on_deny", "ends the run"),
        ("retry", "exit_codes", "`on: transient`"),
        ("retry", "stop_after", "`timeout:` on the step"),
        ("input", "sensitive", "`secrets:`"),
        ("step", "when", "`condition:`"),
        ("step", "unless", "the opposite"),
        ("step", "needs", "`depends_on:"),
        ("step", "depends", "`depends_on:"),
        ("step", "dependsOn", "`depends_on:`"),
        ("step", "depends-on", "`depends_on:`"),
        ("step", "run", "`command:`"),
        ("step", "script", "`command:`"),
        ("step", "shell", "`command:`"),
        ("step", "uses", "`recipe:`"),
        ("step", "with", "`context:`"),
        ("step", "continue-on-error", "`continue_on_error:`"),
        ("step", "continueOnFail", "`on_error: continue`"),
        ("step", "allow_failure", "`on_error: continue`"),
        ("step", "ignore_errors", "`on_error: continue`"),
        ("step", "approval_required", "`approval:"),
        ("step", "matrix", "`foreach:`"),
        ("step", "loop", "`foreach:`"),
        ("step", "with_items", "`foreach:`"),
        ("step", "withParam", "`foreach:`"),
        ("step", "register", "`output:`"),
        ("step", "tags", "`when_tags:`"),
        ("step", "retries", "`retry:"),
        ("step", "timeout-minutes", "`timeout:`"),
        ("step", "working-directory", "`working_dir:`"),
        ("step", "disabled", "`condition: false`"),
        ("step", "else", "opposite `condition:`"),
        ("step", "Finally", "`finally:`"),
        ("step", "teardown", "`finally: true`"),
        ("recipe", "finally", "`finally: true`"),
        ("stage", "always_run", "`finally: true`"),
        ("stage", "if", "`condition:`"),
        ("stage", "when", "`condition:`"),
        ("step", "cond", "`condition:`"),
        ("step", "preCondition", "`condition:`"),
        ("step", "skip_when", "the opposite"),
        ("step", "depend_on", "`depends_on:"),
        ("step", "waitFor", "`depends_on:"),
        ("step", "ignore_failure", "`on_error: continue`"),
        ("step", "on_fail", "`on_error: continue`"),
        ("step", "each", "`foreach:`"),
        ("step", "retry_count", "`retry:"),
        ("step", "human_approval", "`approval:"),
        ("step", "subrecipe", "`recipe:`"),
        ("step", "environment", "`env:`"),
        ("step", "next", "in their order"),
        ("stage", "needs", "in their order"),
        ("stage", "run", "`steps:`, each with"),
        ("stage", "loop", "on a step"),
        ("stage", "ignore_errors", "on the steps"),
        ("stage", "retries", "on the steps"),
        ("retry", "attempts", "`max_attempts:`"),
        ("retry", "maxRetries", "`max_attempts:`"),
        ("retry", "delay", "`initial_delay:`"),
        ("approval", "message", "`prompt:`"),
        ("approval", "condition", "on the stage"),
        ("hooks", "on_failure", "`on_error:`"),
        ("hooks", "before_step", "`pre_step:`"),
        ("recipe", "retries", "on the steps"),
        ("stage", "approval_required", "`approval:"),
        ("stage", "tasks", "`steps:`"),
        ("recipe", "jobs", "`steps:`"),
        ("recipe", "on", "when somebody starts it"),
        ("recipe", "env", "`context:`"),
        ("recipe", "if", "`condition:` on the steps"),
        ("recipe", "approval", "`approval:"),
    ],
)
def test_a_word_of_another_tool_is_an_error_that_names_ours(table: str, word: str, ours: str) -> None:
    (problem,) = decode_text(HOLDERS[table].format(word=word)).problems
    assert (problem.code, problem.severity) == ("foreign-word", "error")
    assert f"'{word}'" in problem.what
    assert ours in problem.fix


@pytest.mark.parametrize("table", sorted(WORDS))
def test_no_word_of_ours_is_called_foreign(table: str) -> None:
    assert WORDS[table].keys() & TABLES[table].known.keys() == set()


@pytest.mark.parametrize(
    ("word", "codes"),
    [("run", {"foreign-word"}), ("uses", {"foreign-word"}), ("if", {"foreign-word", "no-command"})],
)
def test_one_slip_is_told_once(word: str, codes: set[str]) -> None:
    decoded = decode_text(f"name: n\nsteps:\n- {{id: a, {word}: x}}\n- {{id: b, command: ls}}\n")
    assert {each.code for each in decoded.problems if each.severity == "error"} == codes


def test_a_slip_of_one_step_hides_nothing_of_another_with_its_id() -> None:
    decoded = decode_text("name: n\nsteps:\n- {id: a, run: x}\n- {id: a}\n")
    assert "no-command" in {each.code for each in decoded.problems}


def test_a_step_body_is_read_with_the_same_words() -> None:
    text = "name: n\nsteps: [{id: l, foreach: [1], steps: [{id: a, command: ls, if: x}]}]"
    assert [problem.code for problem in decode_text(text).problems] == ["foreign-word"]


def test_other_unknown_fields_stay_warnings() -> None:
    (problem,) = decode_text("name: n\nsteps: [{id: a, command: ls, tmeout: 3, x-if: y}]").problems
    assert (problem.code, problem.severity) == ("unknown-field", "warning")
    assert instead_of("tmeout", "step", frozenset()) is None


def test_until_is_a_note_for_readers_and_says_so() -> None:
    (problem,) = decode_text("name: n\nsteps: [{id: a, command: ls, until: done}]").problems
    assert (problem.code, problem.severity) == ("no-effect", "warning")
    assert "`break_when:`" in problem.fix


@pytest.mark.parametrize("table", ["step", "stage", "recipe"])
def test_what_is_advised_is_not_refused_in_its_turn(table: str) -> None:
    for word, what in WORDS[table].items():
        elsewhere = any(place in what for place in ("on the steps", "on a step", "on a stage"))
        if what.startswith("write `") and not elsewhere:
            advised = what.split("`")[1].split(":")[0]
            assert advised in TABLES[table].known, f"{word}: {what}"


@pytest.mark.parametrize(
    ("word", "ours"),
    [
        ("stop_after_if", "`condition:`"), ("runCondition", "`condition:`"), ("skip-if-empty", "opposite"),
        ("retryCountOnTaskFailure", "`retry:"), ("require_human_ok", "`approval:"),
        ("loop_while", "`foreach:`"), ("on_completion", "steps.ID.status"), ("with_fileglob", "`foreach:`"),
        ("timeoutInMinutes", "`timeout:`"), ("fail_silently", "`on_error: continue`"),
        ("blocked_by", "`depends_on:"), ("async_execution", "`parallel"), ("abort_pipeline", "`exit 1`"),
        ("poll_until_ready", "`break_when:`"),
    ],
)  # fmt: skip
def test_a_longer_word_is_refused_for_the_part_that_steers(word: str, ours: str) -> None:
    decoded = decode_text(HOLDERS["step"].format(word=word), "r.yaml")
    (problem,) = [each for each in decoded.problems if each.severity == "error"]
    assert problem.code == "foreign-word"
    assert ours in problem.fix


@pytest.mark.parametrize(
    "word",
    ["when_to_use", "skip_reason", "retry_notes", "exit_criteria", "failure_modes", "x-stop_if", "condtion",
     "exit_code_var", "prarse_json", "tmeout", "owner_team"],
)  # fmt: skip
def test_words_about_a_step_and_slips_of_our_words_are_told_only(word: str) -> None:
    decoded = decode_text(HOLDERS["step"].format(word=word), "r.yaml")
    assert [each for each in decoded.problems if each.severity == "error"] == []


def test_what_a_longer_word_is_explained_by_is_there_for_steps_and_stages() -> None:
    assert {_PARTS[part] for part in _PARTS} <= WORDS["step"].keys()


@pytest.mark.parametrize(
    ("value", "severity"),
    [
        ("result.rc == 0", "error"), ("'{{done}}'", "error"), ("n < 3", "error"), ("x is failed", "error"),
        ("every reviewer agrees", "warning"), ("[all tests pass]", "warning"),
    ],
)  # fmt: skip
def test_until_that_compares_something_is_refused_and_one_in_prose_is_told(value: str, severity: str) -> None:
    decoded = decode_text(f"name: n\nsteps:\n- id: b\n  command: ls\n  until: {value}\n", "r.yaml")
    assert [each.severity for each in decoded.problems] == [severity]


@pytest.mark.parametrize("does", ["command: ls", "prompt: look"])
@pytest.mark.parametrize("field", ["skill: pdf", "actions: [look]", "task: look"])
def test_words_for_an_agent_are_told_where_nobody_hears_them(field: str, does: str) -> None:
    decoded = decode_text(f"name: n\nsteps:\n- id: b\n  {does}\n  {field}\n", "r.yaml")
    assert [each.code for each in decoded.problems] == ["no-effect"]


def test_an_agent_without_a_prompt_is_told_everything_that_the_step_says() -> None:
    step = "{id: b, agent: a:b, task: Look, skill: pdf, actions: [read, tell], inputs: {page: 3}}"
    decoded = decode_text(f"name: n\nsteps:\n- {step}\n", "r.yaml")
    action = decoded.required().steps[0].action
    assert isinstance(action, Agent)
    assert action.prompt.text == 'Look\n\n- read\n- tell\n\nUse the skill pdf.\n\nInputs:\n{"page":3}'


@pytest.mark.parametrize(
    ("table", "word"),
    [
        *(
            ("recipe", word)
            for word in ("status", "order", "user", "platform", "python", "sources", "checks")
        ),
        *(("recipe", word) for word in ("approval_process", "rollback_plan", "when_to_use", "failure_modes")),
        *(("stage", word) for word in ("status", "order", "required", "owner", "milestone")),
        *(("step", word) for word in ("milestone", "priority", "owner", "category", "ticket", "colour")),
    ],
)
def test_a_word_about_the_thing_as_a_whole_is_only_passed_over(table: str, word: str) -> None:
    (problem,) = decode_text(HOLDERS[table].format(word=word)).problems
    assert (problem.code, problem.severity) == ("unknown-field", "warning")
