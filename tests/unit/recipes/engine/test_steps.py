"""Steps in their order: what runs, what is skipped, what a failure means, what is counted."""

from __future__ import annotations

import pytest
from tests.support.fake_world import FakeWorld, only, statuses

from amplihack.recipes.events import OutputStored, StepFinished, StepStarted
from amplihack.recipes.results import StepResult

THREE = (
    "name: r\nsteps:\n  - {id: a, command: one}\n  - {id: b, command: two%s}\n  - {id: c, command: three}\n"
)


def test_steps_run_in_order_and_store_under_output_or_id() -> None:
    world = FakeWorld({"one": "1", "two": '{"k": "v"}', "three": "1.10"})
    result = world.run(THREE % ", output: named")
    assert world.shell.scripts == ["one", "two", "three"]
    assert result.success
    assert result.context == {"a": 1, "named": {"k": "v"}, "c": "1.10"}


def test_a_failure_stops_and_names_what_was_never_reached() -> None:
    result = FakeWorld({"two": 3}).run(THREE % "")
    assert statuses(result) == {"a": "completed", "b": "failed"}
    assert (result.success, result.never_reached) == (False, ("c",))
    assert result.step_results[1].error == (
        "Step 'b' failed: bash step failed: Command failed (exit 3): it broke"
    )
    assert "b" not in result.context


@pytest.mark.parametrize(
    "words", ["continue_on_error: true", "fatal: false", "nonfatal: true", "on_error: continue"]
)
def test_an_allowed_failure_goes_on_and_stays_visible(words: str) -> None:
    result = FakeWorld({"two": 3}).run(THREE % f", {words}")
    assert statuses(result) == {"a": "completed", "b": "failed", "c": "completed"}
    assert result.success
    assert result.context["b"] is None
    assert result.to_json()["counts"]["failed_allowed"] == 1
    assert result.to_json()["counts"]["failed"] == 0


def test_skip_remaining_ends_quietly_and_says_what_it_left_out() -> None:
    result = FakeWorld({"two": 3}).run(THREE % ", on_error: skip_remaining")
    assert (result.success, result.never_reached) == (True, ("c",))


def test_on_error_beats_the_older_words() -> None:
    assert not FakeWorld({"two": 3}).run(THREE % ", on_error: fail, continue_on_error: true").success


def test_a_false_condition_skips_without_hooks_and_without_touching_the_variable() -> None:
    world = FakeWorld()
    result = world.run(
        "name: r\ncontext: {b: before}\nhooks: {pre_step: hook}\nsteps:\n"
        "  - {id: b, command: two, condition: 'b == 1'}\n"
    )
    skipped = only(result.step_results)
    assert (skipped.status, skipped.skip_reason) == ("skipped", "condition: b == 1")
    assert world.shell.scripts == []
    assert result.context == {"b": "before"}


def test_a_condition_without_an_answer_fails_the_step() -> None:
    result = FakeWorld().run(THREE % ', condition: "int(a) > 1"')
    assert result.step_results[1].error.startswith("Condition error: ")
    assert result.never_reached == ("c",)
    lenient = FakeWorld().run(THREE % ', condition: "int(a) > 1", continue_on_error: true')
    assert statuses(lenient) == {"a": "completed", "b": "failed", "c": "completed"}


@pytest.mark.parametrize(
    ("include", "exclude", "ran"),
    [
        (set(), set(), "one two three"),
        ({"fast"}, set(), "one three"),
        ({"slow", "fast"}, set(), "one two three"),
        ({"slow"}, {"slow"}, "three"),
        (set(), {"fast"}, "two three"),
    ],
)
def test_tags_filter_tagged_steps_only(include: set[str], exclude: set[str], ran: str) -> None:
    world = FakeWorld()
    text = (
        "name: r\nsteps:\n  - {id: a, command: one, when_tags: [fast]}\n"
        "  - {id: b, command: two, when_tags: [slow]}\n  - {id: c, command: three}\n"
    )
    result = world.run(text, include_tags=frozenset(include), exclude_tags=frozenset(exclude))
    assert " ".join(world.shell.scripts) == ran
    skipped = {step.skip_reason: step.duration for step in result.step_results if step.status == "skipped"}
    left_out = {"one": "tags: fast", "two": "tags: slow"}
    assert skipped == {reason: None for command, reason in left_out.items() if command not in ran}


def test_the_step_limit_counts_work_and_not_what_is_skipped() -> None:
    text = "name: r\nrecursion: {max_total_steps: 2}\nsteps:\n" + "".join(
        f"  - {{id: s{n}, command: c{n}, condition: 'n != {n}'}}\n" for n in range(4)
    )
    result = FakeWorld().run(text, {"n": 0})
    assert statuses(result) == {"s0": "skipped", "s1": "completed", "s2": "completed", "s3": "failed"}
    assert result.step_results[-1].error == "Total step limit (2) exceeded"


def test_no_policy_allows_a_step_beyond_the_limit() -> None:
    text = (
        "name: r\nrecursion: {max_total_steps: 1}\nsteps:\n  - {id: a, command: one}\n"
        "  - {id: b, command: two, continue_on_error: true}\n  - {id: c, command: three}\n"
    )
    result = FakeWorld().run(text)
    assert (result.success, result.never_reached) == (False, ("c",))


def test_a_group_shares_the_limit_even_behind_slow_hooks() -> None:
    members = "".join(f"  - {{id: m{n}, command: work{n}, parallel_group: g}}\n" for n in range(4))
    world = FakeWorld()
    result = world.run(
        f"name: r\nhooks: {{pre_step: hook}}\nrecursion: {{max_total_steps: 2}}\nsteps:\n{members}"
    )
    assert sorted(statuses(result).values()) == ["completed", "completed", "failed", "failed"]
    assert sum("work" in script for script in world.shell.scripts) == 2


GROUP = """\
name: r
context: {x: before, kept: before}
steps:
  - {id: a, command: one, output: x, parallel_group: g}
  - {id: b, command: two, parallel_group: g, output: kept, condition: "false"}
  - {id: c, command: "see {{x}} {{steps.a.status}}", output: x, parallel_group: g}
  - {id: after, command: "see {{steps.c.status}}"}
"""


def test_group_members_see_nothing_of_each_other_and_merge_in_definition_order() -> None:
    world = FakeWorld({"one": "first", "see": "last"})
    result = world.run(GROUP)
    seen = next(request for request in world.shell.requests if "see" in request.script.source)
    assert seen.script.variables["RECIPE_VAR_x"] == "before"
    assert seen.script.variables["RECIPE_VAR_steps__a__status"] == ""
    assert result.context["x"] == "last"
    assert result.context["kept"] == "before"
    assert "c: 'x' is written by 'a' too; this one counts" in result.warnings
    assert [step.step_id for step in result.step_results] == ["a", "b", "c", "after"]
    assert world.shell.requests[-1].script.variables["RECIPE_VAR_steps__c__status"] == "completed"


def test_a_failed_member_stops_the_recipe_after_the_whole_group() -> None:
    text = (
        "name: r\nsteps:\n  - {id: a, command: one, parallel_group: g}\n"
        "  - {id: b, command: two, parallel_group: g}\n  - {id: c, command: three}\n"
    )
    world = FakeWorld({"one": 1})
    result = world.run(text)
    assert statuses(result) == {"a": "failed", "b": "completed"}
    assert result.never_reached == ("c",)


def test_a_member_that_depends_on_another_waits_for_it() -> None:
    text = (
        "name: r\nsteps:\n  - {id: a, command: one, parallel_group: g}\n"
        "  - {id: b, command: 'two {{a}}', parallel_group: g, depends_on: [a]}\n"
    )
    world = FakeWorld({"one": "A"})
    world.run(text)
    assert world.shell.requests[1].script.variables == {"RECIPE_VAR_a": "A"}


@pytest.mark.parametrize(("most", "at_once"), [(1, 1), (3, 3), (50, 5)])
def test_max_parallel_bounds_a_group(most: int, at_once: int) -> None:
    members = "".join(f"  - {{id: m{n}, command: c, parallel_group: g}}\n" for n in range(5))
    world = FakeWorld()
    assert world.run(f"name: r\nsteps:\n{members}", max_parallel=most).success
    assert world.shell.most_at_once == at_once


def test_a_step_that_was_done_in_an_earlier_life_is_not_done_again() -> None:
    world = FakeWorld()
    done = StepResult(step_id="a", identity="a", kind="bash", status="completed", output="old")
    world.journal.past = [
        StepStarted("a", "a", "bash", "a", "r", 0, 1, 3),
        OutputStored("a", {"a": "old"}),
        StepFinished(done, "r", 0),
    ]
    result = world.run(THREE % "")
    assert world.shell.scripts == ["two", "three"]
    assert (result.context["a"], result.step_results[0]) == ("old", done)


def test_every_step_is_heard_once_at_its_start_and_once_at_its_end() -> None:
    world = FakeWorld({"two": 1})
    world.run(THREE % ", continue_on_error: true")
    assert [event.identity for event in world.journal.of(StepStarted)] == ["a", "b", "c"]
    assert [event.result.identity for event in world.journal.of(StepFinished)] == ["a", "b", "c"]
    assert [event.identity for event in world.journal.of(OutputStored)] == ["a", "b", "c"]


def test_a_missing_directory_fails_the_step_by_name() -> None:
    text = "name: r\nsteps: [{id: a, command: x, working_dir: 'sub/{{n}}'}]\n"
    result = FakeWorld().run(text, {"n": "gone"})
    assert only(result.step_results).error == (
        "Step 'a' failed: the working directory does not exist: /here/sub/gone"
    )


def test_strict_variables_fail_the_step_and_lenient_ones_warn() -> None:
    text = "name: r\nsteps: [{id: a, command: 'echo {{nope}}'}]\n"
    lenient = FakeWorld().run(text)
    assert lenient.warnings == ("a: undefined in command: nope; it renders empty",)
    assert only(lenient.step_results).warnings == ("undefined in command: nope; it renders empty",)
    assert "undefined in command: nope" in only(FakeWorld().run(text, strict_vars=True).step_results).error


def test_a_slip_of_the_keyboard_is_told_with_the_name_that_was_meant() -> None:
    text = "name: r\ncontext: {branch: main}\nsteps: [{id: a, command: 'echo {{brnach}} {{other}}'}]\n"
    what = "undefined in command: brnach, other (did you mean branch?); it renders empty"
    assert FakeWorld().run(text).warnings == (f"a: {what}",)


def test_a_part_that_a_variable_does_not_have_is_told_in_conditions_too() -> None:
    text = "name: r\ncontext: {m: {a: 1}}\nsteps: [{id: s, condition: m.b == 1, command: x}]\n"
    (warning,) = FakeWorld().run(text).warnings
    assert warning.startswith("s: undefined in condition: m.b; it counts as null")
    assert "undefined in condition: m.b" in only(FakeWorld().run(text, strict_vars=True).step_results).error


LATER = """\
name: r
steps:
  - {id: a, condition: "not result", command: 'echo {{result}}'}
  - {id: b, condition: "defined(result)", command: x}
  - {id: late, command: x, output: result}
  - {id: c, condition: "result == 'x'", command: x}
"""


def test_a_name_that_only_a_later_step_sets_is_told_with_that_step() -> None:
    assert FakeWorld().run(LATER).warnings == (
        "a: undefined in condition: result; step 'late' sets it later, so it counts as null",
        "a: undefined in command: result (step 'late' sets result later); it renders empty",
    )


def test_in_a_loop_a_later_step_may_have_set_it_in_the_round_before() -> None:
    body = "[{id: b, condition: 'not found', command: x}, {id: c, command: y, output: found}]"
    result = FakeWorld().run(f"name: r\nsteps: [{{id: a, foreach: [1, 2], steps: {body}}}]\n")
    assert result.warnings == ()


def test_a_stage_is_told_what_its_own_steps_set_too() -> None:
    stages = "[{name: s, condition: result, steps: [{id: a, command: x, output: result}]}]"
    assert FakeWorld().run(f"name: r\nstages: {stages}\n").warnings == (
        "s: undefined in condition: result; step 'a' sets it later, so it counts as null",
    )


ASKS = """\
name: r
context: {there: x, conf: {user-name: y}}
steps:
  - id: a
    env: {RECIPE_VAR_given: z}
    command: |
      echo $RECIPE_VAR_there $RECIPE_VAR_conf__user_name $RECIPE_VAR_given ${RECIPE_VAR_no:-d}
      echo $RECIPE_VAR_nope $RECIPE_VAR_conf__nope
"""


def test_variables_that_a_script_asks_its_shell_for_in_vain_are_told() -> None:
    what = "undefined in command: RECIPE_VAR_conf__nope, RECIPE_VAR_nope"
    assert FakeWorld().run(ASKS).warnings == (f"a: {what}; it renders empty",)
    assert what in only(FakeWorld().run(ASKS, strict_vars=True).step_results).error


def test_a_value_that_is_run_as_a_program_is_told() -> None:
    world = FakeWorld()
    result = world.run("name: r\ncontext: {x: y}\nsteps: [{id: a, command: 'bash -c {{x}}'}]\n")
    assert result.warnings == ("a: the value of x is run as a bash program on line 1",)


OPTIONS = """\
name: r
context: {file: x, how: -l}
steps:
  - {id: a, command: 'rm {{file}}'}
  - {id: b, command: 'ls {{how}}'}
"""


def test_a_value_that_a_program_takes_for_an_option_is_told_unless_the_author_wrote_it() -> None:
    assert FakeWorld().run(OPTIONS).warnings == ()
    warnings = FakeWorld().run(OPTIONS, {"file": "-rf", "how": "-a"}).warnings
    assert warnings == (
        "a: rm takes the value of file on line 1 for an option, as it begins with -"
        " (fix: write -- before it, or ./{{file}} for a file)",
    )


def test_inputs_are_checked_before_the_first_step() -> None:
    text = (
        "name: r\ncontext: {a: '', p: /nowhere, g: /here}\n"
        "context_validation: {a: nonempty, p: path, g: git_repo, "
        "o: optional}\nsteps: [{id: s, command: x}]\n"
    )
    world = FakeWorld()
    result = world.run(text)
    assert (result.success, world.shell.scripts, result.never_reached) == (False, [], ("s",))
    error = only(result.step_results).error
    assert "'a' is required but empty or missing" in error
    assert "'p' path '/nowhere' does not exist" in error
    assert "'g' path '/here' is not a git repository" in error
    assert "--set a=… --set p=… --set g=…" in error


OUTPUT = "name: r\nsteps: [{id: a, command: x}]\noutput: 'so {{nope}}'\n"


def test_a_name_without_a_value_in_the_output_of_a_recipe_is_told() -> None:
    result = FakeWorld().run(OUTPUT)
    assert (result.success, result.summary) == (True, "so ")
    assert result.warnings == ("undefined in output: nope; it renders empty",)


def test_with_strict_variables_an_output_that_lacks_a_value_fails_the_run() -> None:
    result = FakeWorld().run(OUTPUT, strict_vars=True)
    assert not result.success
    assert result.error == "undefined in output: nope (strict variables)"


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("a < b", True),
        ("b > a and true", True),
        ("int(a) < int(b)", False),
        ("a < '95'", False),
        ("a < 'z'", False),
        ("a < 10", False),
    ],
)
def test_numbers_that_are_ordered_as_texts_are_told(condition: str, told: bool) -> None:
    step = f'{{id: s, command: x, condition: "{condition}"}}'
    text = f"name: r\ncontext: {{a: '9', b: '10'}}\nsteps:\n  - {step}\n"
    assert any("are compared as texts" in each for each in FakeWorld().run(text).warnings) is told


def test_the_name_of_a_step_is_shown_with_its_values() -> None:
    world = FakeWorld()
    world.run(
        "name: r\ncontext: {x: 3}\nsteps:\n"
        "  - {id: a, name: 'Build {{x}}', command: y}\n  - {id: b, name: '{{nope}}', command: y}\n"
        "  - {id: l, foreach: [u], steps: [{id: c, name: 'For {{item}}', command: y}]}\n"
    )
    assert [event.title for event in world.journal.of(StepStarted)] == ["Build 3", "b", "l", "For u"]


def test_the_name_of_a_loop_leaves_out_what_each_round_has_of_its_own() -> None:
    world = FakeWorld()
    world.run(
        "name: r\ncontext: {x: 3, item: outer}\nsteps:\n"
        "  - {id: a, name: 'Build {{item}}, {{loop.index}} of {{x}}', foreach: [u, v], command: y}\n"
        "  - {id: b, name: 'Send {{f.name}}', foreach: [{name: u}], as: f, command: y}\n"
    )
    assert [event.title for event in world.journal.of(StepStarted)] == ["Build …, … of 3", "Send …"]


def test_a_text_that_says_no_and_holds_is_told() -> None:
    text = "name: r\n%scontext: {flag: 'false'}\nsteps:\n  - {id: a, condition: '{{flag}}', command: one}\n"
    ours = FakeWorld().run(text % "")
    assert statuses(ours) == {"a": "completed"}
    assert ours.warnings == (
        'a: condition: flag is the text "false", and every text that is not empty holds; '
        "write flag == 'true'",
    )
    theirs = FakeWorld().run(text % "dialect: amplifier\nversion: 1.0.0\n")
    assert (statuses(theirs), theirs.warnings) == ({"a": "skipped"}, ())
