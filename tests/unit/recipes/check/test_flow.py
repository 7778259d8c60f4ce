"""Variables are followed over skipped steps, loops, parallel steps, sub-recipes and callers."""

from __future__ import annotations

import pytest
from tests.unit.recipes.check.shelf import Shelf, check, codes

from amplihack.errors import Problem
from amplihack.recipes.check import check_recipe

ROOT = "name: main\ncontext: {task: ''}\nsteps:\n"
STRICT = "name: main\ndialect: amplifier\ncontext: {task: ''}\nsteps:\n"
SLIP = "name: main\nsteps:\n  - {id: a, command: ls, output: DECLARED}\n  - {id: b, prompt: '{{USED}}'}\n"
MAKER = "name: maker\nsteps:\n  - {id: m, command: ls, output: made_below}\n"


def about(found: tuple[Problem, ...], name: str) -> list[tuple[str, str]]:
    """Code and severity of each finding that speaks of a variable."""
    return [(each.code, each.severity) for each in found if name in each.what]


# inside one recipe


def test_a_result_without_a_name_is_known_by_the_id_of_its_step() -> None:
    assert codes(ROOT + "  - {id: list, command: ls}\n  - {id: b, command: 'echo {{list}}'}\n") == []


def test_a_loop_gives_its_variable_to_its_rounds_only() -> None:
    loop = "  - {id: a, foreach: [x], as: each, type: bash, command: 'echo {{each}}'}\n"
    assert codes(STRICT + loop) == []
    after = check(STRICT + loop + "  - {id: b, type: bash, command: 'echo {{each}}'}\n")
    assert about(after, "each") == [("undefined-variable", "warning")]
    assert after[0].where is not None
    assert after[0].where.line == 6


def test_a_round_may_use_what_an_earlier_round_has_set() -> None:
    body = (
        "  - id: loop\n    while_condition: \"{{last}} != 'ok'\"\n    steps:\n"
        "      - {id: use, type: bash, command: 'echo {{last}}'}\n"
        "      - {id: set, type: bash, command: ls, output: last}\n"
    )
    assert codes(STRICT + body) == []
    assert about(check(STRICT + body, all_=True), "last") == [("may-be-empty", "note")]


BEFORE = "  - {id: late, type: bash, command: ls, output: result}\n"


@pytest.mark.parametrize(
    ("condition", "severity"),
    [
        ("result == 'x'", "warning"),
        ("{{result}} == 'x'", "warning"),
        ("not result", "warning"),
        ("steps.late.status == 'completed'", "warning"),
        ("steps.a.status == 'completed'", "warning"),
        ("defined(result)", "note"),
        ("result == 'x' and defined(result)", "note"),
    ],
)
def test_a_condition_on_what_a_later_step_sets_is_told(condition: str, severity: str) -> None:
    step = f'  - {{id: a, condition: "{condition}", type: bash, command: ls}}\n'
    (found,) = [each for each in check(STRICT + step + BEFORE, all_=True) if each.code == "used-before-set"]
    assert found.severity == severity
    later = check(STRICT + BEFORE + step.replace("steps.a.", "steps.late."), all_=True)
    assert [each.code for each in later if each.code == "used-before-set"] == []


def test_a_round_may_ask_how_a_later_step_ended_in_the_round_before() -> None:
    body = (
        "  - id: loop\n    foreach: [x, y]\n    steps:\n"
        "      - {id: use, condition: \"steps.set.status != 'failed'\", type: bash, command: ls}\n"
        "      - {id: set, type: bash, command: ls}\n"
    )
    assert codes(STRICT + body) == []
    apart = body.replace("    steps:", "    parallel: true\n    steps:")
    assert codes(STRICT + apart) == ["used-before-set"]


def test_a_caller_may_have_set_what_a_later_step_sets() -> None:
    text = "name: main\nsteps:\n  - {id: a, command: 'echo {{n}}'}\n  - {id: b, command: ls, output: n}\n"
    caller = "name: up\nsteps:\n  - {id: first, command: ls, output: n}\n  - {id: c, recipe: main MODE}\n"
    assert codes(text, others={"up.yaml": caller.replace(" MODE", "")}) == []
    apart = caller.replace(" MODE", ", context_mode: isolated")
    assert codes(text, others={"up.yaml": apart}) == ["used-before-set"]


def test_parallel_rounds_see_nothing_of_each_other() -> None:
    body = (
        "  - id: loop\n    foreach: [x, y]\n    parallel: true\n    steps:\n"
        "      - {id: use, type: bash, command: 'echo {{last}}'}\n"
        "      - {id: set, type: bash, command: ls, output: last}\n"
    )
    assert about(check(STRICT + body), "last") == [("used-before-set", "warning")]


def test_a_collected_list_is_there_even_if_rounds_fail() -> None:
    recipe = (
        "  - {id: a, foreach: '{{task}}', on_error: continue, type: bash, command: ls, collect: all_files}\n"
        "  - {id: b, type: bash, command: 'echo {{all_files}}'}\n"
    )
    assert codes(STRICT + recipe, all_=True) == []


def test_the_result_of_a_loop_may_be_empty_if_its_list_is() -> None:
    recipe = (
        "  - {id: a, foreach: '{{task}}', type: bash, command: ls, output: last}\n"
        "  - {id: b, type: bash, command: 'echo {{last}}'}\n"
    )
    assert codes(STRICT + recipe, all_=True) == ["may-be-empty"]
    assert codes(STRICT + recipe.replace("'{{task}}'", "[x]"), all_=True) == []


def test_an_exit_code_is_there_when_the_command_fails() -> None:
    recipe = (
        "  - {id: a, on_error: continue, type: bash, command: ls, output: out, output_exit_code: code}\n"
        "  - {id: b, type: bash, command: 'echo {{code}} {{out}}'}\n"
    )
    assert codes(STRICT + recipe, all_=True) == []


@pytest.mark.parametrize(
    "condition", ["task", "task and other", "files", "files != ''", "'x' in files", "not files"]
)
def test_a_condition_that_implies_or_tests_a_result_makes_it_sure(condition: str) -> None:
    recipe = (
        "  - {id: a, condition: task, command: ls, output: files}\n"
        f"  - {{id: b, condition: \"{condition}\", command: 'echo {{{{files}}}}'}}\n"
    )
    assert "may-be-empty" not in codes(ROOT + recipe, all_=True)


def test_the_condition_of_a_stage_counts_for_its_steps() -> None:
    stages = (
        "name: main\ncontext: {go: ''}\nstages:\n"
        "  - {name: one, condition: go, steps: [{id: a, command: ls, output: files}]}\n"
        "  - {name: two, steps: [{id: b, command: 'echo {{files}}'}]}\n"
    )
    assert codes(stages, all_=True) == ["may-be-empty"]
    assert codes(stages.replace("two, steps", "two, condition: go, steps"), all_=True) == []


def test_tags_guard_a_result_until_a_step_has_the_same_tags() -> None:
    recipe = (
        "  - {id: a, when_tags: [slow], command: ls, output: files}\n  - {id: b, command: 'echo {{files}}'}\n"
    )
    assert codes(ROOT + recipe, all_=True) == ["may-be-empty"]
    assert codes(ROOT + recipe.replace("id: b,", "id: b, when_tags: [slow],"), all_=True) == []


def test_a_default_makes_every_use_fine() -> None:
    recipe = "name: main\ncontext: {later: ''}\nsteps:\n  - {id: a, command: 'echo {{later}}'}\n"
    assert codes(recipe + "  - {id: b, command: ls, output: later}\n", all_=True) == []


def test_a_step_that_repeats_its_own_variable_is_only_noted() -> None:
    recipe = "  - {id: a, command: 'echo {{force}}', output: force}\n"
    assert codes(ROOT + recipe) == []
    assert codes(ROOT + recipe, all_=True) == ["used-before-set"]


def test_what_stands_in_a_comment_is_only_noted() -> None:
    recipe = "  - id: a\n    command: |\n      # {{in_a_comment}}\n      ls\n"
    assert codes(ROOT + recipe) == []
    assert codes(ROOT + recipe, all_=True) == ["undefined-variable"]


def test_what_would_be_rendered_empty_is_told_however_it_is_written() -> None:
    recipe = "  - {id: b, prompt: 'a page that greets {{ visitor }} of {{COMPANY}}, {{0}}'}\n"
    assert codes(ROOT + recipe) == ["undefined-variable"] * 3


def test_asking_whether_a_variable_is_there_is_no_mistake() -> None:
    condition = "defined(taks) and taks == 'y' or default(takss, '') == 'x'"
    recipe = f'  - {{id: a, condition: "{condition}", command: "echo {{{{taks}}}}"}}\n'
    assert codes(ROOT + recipe) == []


@pytest.mark.parametrize("head", [ROOT, STRICT])
@pytest.mark.parametrize(
    ("fields", "hint"),
    [
        ("condition: task == ok", True),
        ("condition: ok != task", True),
        ("condition: 'task in [ok]'", True),
        ("condition: \"'a' in [task, ok]\"", True),
        ("condition: task.startswith(ok)", True),
        ("condition: not (task < ok)", True),
        ("condition: ok", False),
        ("condition: \"'{{ok}}' == task\"", False),
        ("while_condition: task == ok", True),
        ("foreach: [x], break_when: task == ok", True),
    ],
)
def test_a_word_without_quotes_in_a_condition_is_told(head: str, fields: str, hint: bool) -> None:
    (found,) = check(f"{head}  - {{id: a, type: bash, {fields}, command: ls}}\n")
    assert (found.code, found.severity) == ("undefined-variable", "warning")
    assert ("write 'ok' in quotes" in found.fix) is hint


def test_the_condition_of_a_stage_is_looked_at_too() -> None:
    stages = "name: main\ncontext: {task: ''}\nstages:\n  - {name: s, condition: task == ok, steps: STEPS}\n"
    assert codes(stages.replace("STEPS", "[{id: a, command: ls}]")) == ["undefined-variable"]


@pytest.mark.parametrize(
    ("declared", "used"),
    [
        ("round_1", "round_2"),
        ("attempt10", "attempt12"),
        ("out_a", "out_b"),
        ("plan", "plan_b"),
        ("v1_url", "v2_url"),
        ("ab", "ba"),
    ],
)
def test_names_that_differ_on_purpose_are_no_slips(declared: str, used: str) -> None:
    (found,) = check(SLIP.replace("DECLARED", declared).replace("USED", used))
    assert found.code == "undefined-variable"
    assert "did you mean" not in found.fix


@pytest.mark.parametrize(
    ("declared", "used"),
    [
        ("task_description", "task_desciption"),
        ("findings", "finding"),
        ("user_name", "user-name"),
        ("repo", "rpeo"),
    ],
)
def test_a_slip_is_a_warning_even_where_callers_could_give_the_name(declared: str, used: str) -> None:
    recipe = SLIP.replace("DECLARED", declared).replace("USED", used)
    found = check(recipe)
    assert [(each.code, each.fix) for each in found] == [("undefined-variable", f"did you mean {declared}?")]


@pytest.mark.parametrize("name", ["task_description", "repo_path"])
def test_the_usual_inputs_need_no_declaration(name: str) -> None:
    assert codes(ROOT + f"  - {{id: a, prompt: '{{{{{name}}}}}'}}\n") == []


# batches, rounds and failures


def test_a_member_of_a_group_that_waits_for_another_sees_its_result() -> None:
    group = "  - {id: a, parallel_group: g, command: ls, output: out}\n"
    waits = "  - {id: b, parallel_group: g, depends_on: [a], command: 'echo {{out}}', output: out}\n"
    assert codes(ROOT + group + waits, all_=True) == []
    assert codes(ROOT + group + waits.replace("depends_on: [a], ", "")) == ["parallel-conflict"] * 2


def test_a_loop_that_collects_leaves_its_last_result_too() -> None:
    loop = "  - {id: a, foreach: [x], type: bash, command: ls, collect: all_files}\n"
    assert codes(STRICT + loop + "  - {id: b, type: bash, command: 'echo {{a}}'}\n") == []


def test_what_parallel_rounds_set_is_gone_when_they_end() -> None:
    loop = (
        "  - id: loop\n    foreach: [x, y]\n    parallel: true\n"
        "    steps: [{id: set, type: bash, command: ls, output: inner}]\n"
    )
    use = "  - {id: b, type: bash, command: 'echo {{inner}}'}\n"
    assert about(check(STRICT + loop + use), "inner") == [("undefined-variable", "warning")]
    assert codes(STRICT + loop.replace("    parallel: true\n", "") + use, all_=True) == []


@pytest.mark.parametrize("name", ["_loop_index", "_loop_iteration"])
def test_the_counters_of_a_while_loop_are_there_in_its_rounds_only(name: str) -> None:
    loop = f"  - {{id: a, while_condition: task, type: bash, command: 'echo {{{{{name}}}}}'}}\n"
    assert codes(STRICT + loop) == []
    for other in (loop.replace("while_condition: task", "foreach: [x]"), loop.replace("while_", "")):
        assert about(check(STRICT + other), name) == [("undefined-variable", "warning")]


def test_a_condition_is_no_guard_once_its_variables_have_changed() -> None:
    recipe = (
        "  - {id: a, condition: task, command: ls, output: files}\n"
        "  - {id: b, command: ls, output: task}\n"
        "  - {id: c, condition: task, command: 'echo {{files}}'}\n"
    )
    assert about(check(ROOT + recipe, all_=True), "files") == [("may-be-empty", "note")]


def test_steps_behind_one_that_may_skip_the_rest_may_leave_nothing() -> None:
    stages = (
        "name: main\nstages:\n  - name: one\n    steps:\n"
        "      - {id: a, on_error: skip_remaining, command: ls}\n"
        "      - {id: b, command: ls, output: files}\n      - {id: c, command: 'echo {{files}}'}\n"
        "  - {name: two, steps: [{id: d, command: 'echo {{files}}'}]}\n"
    )
    (found,) = check(stages, all_=True)
    assert (found.code, found.where and found.where.line) == ("may-be-empty", 8)


def test_the_body_of_a_loop_that_may_fail_may_leave_nothing() -> None:
    loop = "  - {id: l, foreach: [x], on_error: continue, steps: [{id: a, command: ls, output: files}]}\n"
    use = "  - {id: b, command: 'echo {{files}}'}\n"
    assert about(check(ROOT + loop + use, all_=True), "files") == [("may-be-empty", "note")]
    assert about(check(ROOT + loop.replace("on_error: continue, ", "") + use, all_=True), "files") == []


@pytest.mark.parametrize(
    "action",
    ["command: ls, update_context: {each: x}", "steps: [{id: b, command: ls, output: each}]", "recipe: sets"],
)
def test_a_loop_takes_its_variable_away_even_if_a_round_has_set_it(action: str) -> None:
    sets = {"sets.yaml": "name: sets\nsteps:\n  - {id: s, command: ls, output: each}\n"}
    recipe = (
        ROOT + f"  - {{id: a, foreach: [x], as: each, {action}}}\n  - {{id: z, prompt: '{{{{each}}}}'}}\n"
    )
    assert about(check(recipe, others=sets), "each") == [("undefined-variable", "warning")]


def test_what_a_later_sub_recipe_sets_is_not_there_yet() -> None:
    recipe = ROOT + "  - {id: b, command: 'echo {{made_below}}'}\n  - {id: a, recipe: maker}\n"
    assert codes(recipe, others={"maker.yaml": MAKER}) == ["used-before-set"]


# sub-recipes


def test_a_sub_recipe_that_calls_itself_is_still_looked_into() -> None:
    loop = "name: loop\ncontext: {x: ''}\nsteps:\n  - {id: l, condition: x, recipe: loop}\n"
    recipe = ROOT + "  - {id: a, recipe: loop}\n  - {id: b, prompt: '{{nobody_sets_this}}'}\n"
    assert codes(recipe, others={"loop.yaml": loop}) == ["undefined-variable"]


def test_results_of_an_inheriting_sub_recipe_flow_back() -> None:
    recipe = ROOT + "  - {id: a, recipe: maker}\n  - {id: b, command: 'echo {{made_below}}'}\n"
    assert codes(recipe, others={"maker.yaml": MAKER}, all_=True) == []


def test_results_of_an_isolated_sub_recipe_do_not() -> None:
    recipe = (
        ROOT
        + "  - {id: a, recipe: maker, context_mode: isolated}\n  - {id: b, command: 'echo {{made_below}}'}\n"
    )
    assert codes(recipe, others={"maker.yaml": MAKER}) == ["undefined-variable"]


def test_results_that_a_sub_recipe_may_skip_may_be_empty() -> None:
    maker = MAKER.replace("id: m,", "id: m, condition: task,")
    recipe = ROOT + "  - {id: a, recipe: maker}\n  - {id: b, command: 'echo {{made_below}}'}\n"
    assert codes(recipe, others={"maker.yaml": maker}, all_=True) == ["may-be-empty"]


def test_a_default_of_a_sub_recipe_does_not_flow_back() -> None:
    quiet = "name: quiet\ncontext: {tone: calm}\nsteps:\n  - {id: q, prompt: '{{tone}}'}\n"
    recipe = ROOT + "  - {id: a, recipe: quiet}\n  - {id: b, prompt: '{{tone}}'}\n"
    assert codes(recipe, others={"quiet.yaml": quiet}) == ["undefined-variable"]


def test_a_variable_that_is_passed_in_and_set_there_flows_back() -> None:
    recipe = (
        ROOT + "  - {id: a, recipe: maker, context: {made_below: x}}\n  - {id: b, prompt: '{{made_below}}'}\n"
    )
    assert codes(recipe, others={"maker.yaml": MAKER}, all_=True) == ["unknown-input"]


@pytest.mark.parametrize("reference", ["'@somewhere:x.yaml'", "'{{task}}-review'"])
def test_a_sub_recipe_that_nobody_can_look_into_may_set_anything(reference: str) -> None:
    call = f"  - {{id: a, recipe: {reference}, context_mode: inherit}}\n"
    assert codes(ROOT + call + "  - {id: b, prompt: '{{whatever}}'}\n") == []


def test_variables_that_a_sub_recipe_needs_may_come_from_above() -> None:
    child = "name: child\ncontext_validation: {goal: nonempty}\nsteps:\n  - {id: c, prompt: '{{goal}}'}\n"
    main = "name: main\nsteps:\n  - {id: a, recipe: child}\n"
    (found,) = check(main, others={"child.yaml": child})
    assert (found.code, found.severity) == ("missing-input", "warning")
    top = "name: top\ncontext: {goal: win}\nsteps:\n  - {id: t, recipe: main}\n"
    assert codes(main, others={"child.yaml": child, "top.yaml": top}, all_=True) == []


def test_a_declared_parameter_without_a_default_is_an_input() -> None:
    child = (
        "name: child\nparameters: {goal: {type: string}, tone: {default: calm}}\n"
        "steps:\n  - {id: c, prompt: '{{goal}}'}\n"
    )
    main = STRICT + "  - {id: a, type: recipe, recipe: child.yaml, context: {tone: x}}\n"
    found = check(main, others={"child.yaml": child})
    assert about(found, "goal") == [("missing-input", "warning")]


# callers


def test_what_a_caller_has_is_there() -> None:
    main = "name: main\ncontext: {x: ''}\nsteps:\n  - {id: a, command: 'echo {{goal}} {{x}}'}\n"
    assert codes(main) == ["undefined-variable"]
    for top in ("context: {goal: win}\nsteps:\n", "steps:\n  - {id: g, command: ls, output: goal}\n"):
        caller = f"name: top\n{top}  - {{id: t, recipe: main}}\n"
        assert codes(main, others={"top.yaml": caller}) == []
        (found,) = check(main, others={"top.yaml": caller}, all_=True)
        assert found.what == "nothing here sets goal; top, which calls this recipe, does"


def test_what_a_caller_hands_over_is_there_in_an_isolated_recipe() -> None:
    main = STRICT + "  - {id: a, type: bash, command: 'echo {{goal}}'}\n"
    top = "name: top\ndialect: amplifier\nsteps:\n  - {id: t, recipe: main.yaml, context: {goal: x}}\n"
    assert codes(main, others={"top.yaml": top}, all_=True) == ["set-by-caller"]
    bare = top.replace(", context: {goal: x}", "").replace("steps:", "context: {goal: x}\nsteps:")
    assert codes(main, others={"top.yaml": bare}) == ["undefined-variable"]


def test_callers_of_callers_count_and_circles_end() -> None:
    main = "name: main\ncontext: {x: ''}\nsteps:\n  - {id: a, command: 'echo {{goal}} {{x}}'}\n"
    others = {
        "mid.yaml": "name: mid\nsteps:\n  - {id: m, recipe: main}\n  - {id: n, recipe: top, condition: x}\n",
        "top.yaml": "name: top\ncontext: {goal: win}\nsteps:\n  - {id: t, recipe: mid}\n",
    }
    assert codes(main, others=others, all_=True) == ["set-by-caller"]


def test_callers_that_give_nothing_are_no_excuse() -> None:
    main = "name: main\ncontext: {x: ''}\nsteps:\n  - {id: a, command: 'echo {{goal}} {{x}}'}\n"
    top = "name: top\nsteps:\n  - {id: t, recipe: main}\n"
    assert codes(main, others={"top.yaml": top}) == ["undefined-variable"]


# recursion


@pytest.mark.parametrize("guard", ["condition: x", "when_tags: [deep]", "foreach: '{{x}}'"])
def test_a_circle_that_something_can_end_is_fine(guard: str) -> None:
    main = "name: main\ncontext: {x: ''}\nsteps:\n  - {id: a, recipe: other}\n"
    endless = {"other.yaml": "name: other\nsteps:\n  - {id: o, recipe: main}\n"}
    guarded = {"other.yaml": f"name: other\nsteps:\n  - {{id: o, {guard}, recipe: main}}\n"}
    assert codes(main, others=endless) == ["endless-recursion"]
    assert codes(main, others=guarded) == []


def test_a_circle_below_is_found_from_above() -> None:
    main = "name: main\nsteps:\n  - {id: a, recipe: loop}\n"
    loop = {"loop.yaml": "name: loop\nsteps:\n  - {id: l, recipe: loop}\n"}
    assert codes(main, others=loop) == ["endless-recursion"]


@pytest.mark.parametrize("dialect", ["amplihack", "amplifier"])
def test_both_dialects_count_the_levels_below(dialect: str) -> None:
    others = {
        "one.yaml": "name: one\nsteps:\n  - {id: o, recipe: two}\n",
        "two.yaml": "name: two\nsteps:\n  - {id: t, command: ls}\n",
    }
    head = f"name: main\ndialect: {dialect}\nrecursion: {{max_depth: LIMIT}}\n"
    head += "steps:\n  - {id: a, recipe: one}\n"
    assert codes(head.replace("LIMIT", "2"), others=others) == []
    assert codes(head.replace("LIMIT", "1"), others=others) == ["too-deep"]
    (found,) = check(head.replace("LIMIT", "0"), others=others)
    assert found.what == "'one' leads 2 recipes deep, and none are allowed"


@pytest.mark.parametrize("dialect", ["amplihack", "amplifier"])
@pytest.mark.parametrize(("levels", "found"), [(6, []), (7, ["too-deep"])])
def test_six_levels_are_allowed_where_nothing_is_said(dialect: str, levels: int, found: list[str]) -> None:
    others = {
        f"r{i}.yaml": f"name: r\ndialect: {dialect}\nsteps:\n  - {{id: s, recipe: r{i + 1}}}\n"
        for i in range(1, levels)
    }
    others[f"r{levels}.yaml"] = MAKER
    main = f"name: main\ndialect: {dialect}\nsteps:\n  - {{id: a, recipe: r1}}\n"
    assert codes(main, others=others) == found


def test_a_limit_further_down_counts_as_well() -> None:
    others = {
        "one.yaml": "name: one\nrecursion: {max_depth: 0}\nsteps:\n  - {id: o, recipe: two}\n",
        "two.yaml": "name: two\nsteps:\n  - {id: t, command: ls}\n",
    }
    main = "name: main\nsteps:\n  - {id: a, recipe: one}\n"
    (found,) = check(main, others=others)
    assert (found.code, found.what) == ("too-deep", "'one' leads deeper than a limit further down allows")


@pytest.mark.parametrize(
    ("call", "severity"), [("recipe: main", "error"), ("recipe: main, on_error: continue", "warning")]
)
def test_a_circle_is_certain_to_fail_only_where_no_failure_is_allowed(call: str, severity: str) -> None:
    (found,) = check(f"name: main\nsteps:\n  - {{id: a, {call}}}\n")
    assert (found.code, found.severity) == ("endless-recursion", severity)


# many


def test_every_sub_recipe_is_looked_up_once() -> None:
    steps = "".join(f"  - {{id: s{i}, recipe: maker}}\n" for i in range(50))
    shelf = Shelf({"main.yaml": ROOT + steps, "maker.yaml": MAKER})
    check_recipe(shelf.located("main.yaml"), shelf, everything=True)
    assert shelf.asked == [("maker", "main.yaml")]


def test_a_long_chain_of_sub_recipes_is_no_trouble() -> None:
    others = {f"r{i}.yaml": f"name: r{i}\nsteps:\n  - {{id: s, recipe: r{i + 1}}}\n" for i in range(300)}
    others["r300.yaml"] = MAKER
    assert codes("name: main\nsteps:\n  - {id: a, recipe: r0}\n", others=others) == ["too-deep"]


def test_each_recipe_of_a_long_chain_is_looked_at_once() -> None:
    step = "- {{id: s, recipe: r{}}}\n- {{id: p{}, command: 'echo {{{{made_below}}}} {{{{p{}}}}}'}}\n"
    texts = {f"r{i}.yaml": f"name: r{i}\nsteps:\n{step.format(i + 1, i, i + 1)}" for i in range(60)}
    shelf = Shelf({"main.yaml": ROOT + "- {id: a, recipe: r0}\n", "r60.yaml": MAKER, **texts})
    check_recipe(shelf.located("main.yaml"), shelf, everything=True)
    assert len(shelf.asked) == len(set(shelf.asked)) == 61


def test_what_a_parallel_loop_sets_is_forgotten_after_it_and_after_loops_in_it() -> None:
    inner = "{id: in, foreach: [x], parallel: true, steps: [{id: deep, command: ls}]}"
    use = "{id: use, command: 'echo {{deep}} {{flat}}'}"
    loop = f"- {{id: a, foreach: [x], parallel: true, steps: [{{id: flat, command: ls}}, {inner}, {use}]}}\n"
    found = check(STRICT + loop + "- {id: end, command: 'echo {{flat}} {{deep}}'}\n", all_=True)
    assert [each.where.line for each in found if "deep" in each.what and each.where] == [5, 6]
    assert [each.where.line for each in found if "flat" in each.what and each.where] == [6]


def test_ten_thousand_steps_are_followed_to_the_end() -> None:
    steps = "".join(
        f"- {{id: s{i}, prompt: '{{{{o{i - 1}}}}} {{{{u{i}}}}}', output: o{i}, condition: task == '{i}'}}\n"
        for i in range(1, 10_001)
    )
    found = check(ROOT + steps, all_=True)
    assert len([each for each in found if each.code == "may-be-empty"]) == 9_999
    assert len([each for each in found if each.code == "undefined-variable"]) == 10_001  # and o0


# what a round knows about its loop


def test_loop_is_known_in_rounds_and_nowhere_else() -> None:
    uses = "echo {{loop.index}} {{loop.last}} {{loop.item}}"
    inner = "{id: in, foreach: [x], command: 'echo {{loop.parent.index}}', condition: loop.first}"
    assert codes(ROOT + f"  - {{id: a, foreach: [x], command: '{uses}'}}\n", all_=True) == []
    assert codes(ROOT + f"  - {{id: a, foreach: [x], steps: [{inner}]}}\n", all_=True) == []
    assert (
        codes(ROOT + "  - {id: a, while_condition: 'loop.index < 3', command: 'echo {{loop.first}}'}\n") == []
    )
    outside = check(ROOT + "  - {id: a, command: 'echo {{loop.index}}'}\n")
    assert about(outside, "loop.index is not there") == [("undefined-variable", "warning")]


@pytest.mark.parametrize(
    ("loop", "use", "fix"),
    [
        ("foreach: [x]", "loop.indx", "did you mean loop.index?"),
        ("foreach: [x]", "loop.parent.index", "in the rounds of a `foreach`"),
        ("while_condition: go", "loop.length", "does not know its end"),
    ],
)
def test_a_member_that_a_loop_does_not_have_is_told(loop: str, use: str, fix: str) -> None:
    (found,) = check(
        ROOT + f"  - {{id: go, command: ls}}\n  - {{id: a, {loop}, command: 'echo {{{{{use}}}}}'}}\n"
    )
    assert (found.what, fix in found.fix) == (f"{use} is not there", True)


def test_a_variable_called_loop_is_told_where_it_hides_ours() -> None:
    use = "  - {id: a, foreach: [x], command: 'echo {{loop.index}}'}\n"
    mine = "name: main\ncontext: {loop: {index: 1}}\nsteps:\n"
    assert about(check(mine + use, all_=True), "called loop") == [("reserved-name", "note")]
    assert about(check(ROOT + use.replace("id: a", "id: loop")), "called loop") == [
        ("reserved-name", "warning")
    ]
    assert codes(mine + use.replace("loop.index", "x"), all_=True).count("reserved-name") == 0


@pytest.mark.parametrize(
    ("head", "first"),
    [("context: {steps: mine}\n", "id: a"), ("context: {n: 1}\n", "id: a, output: steps")],
)
def test_a_variable_called_steps_is_told_where_it_hides_ours(head: str, first: str) -> None:
    text = f"name: main\n{head}steps:\n  - {{{first}, command: ls}}\n"
    text += "  - {id: b, condition: \"steps.a.status == 'failed'\", command: ls}\n"
    assert ("reserved-name", "warning") in about(check(text), "called steps")


def test_a_step_that_asks_for_its_own_result_is_told_unless_it_renews_a_value() -> None:
    assert about(check(ROOT + "  - {id: a, condition: a == 1, command: ls}\n"), "not set yet") == [
        ("used-before-set", "warning")
    ]
    assert about(check(ROOT + "  - {id: a, command: 'echo {{plan}}', output: plan}\n"), "not set yet") == []
    assert about(check(ROOT + "  - {id: a, foreach: [1], command: 'echo {{a}}'}\n"), "not set yet") == []


@pytest.mark.parametrize(
    ("asked", "meant"), [("status", "step_status"), ("eror", "step_error"), ("step-id", "step_id")]
)
def test_a_hook_that_asks_for_what_it_is_not_told_hears_what_it_is(asked: str, meant: str) -> None:
    hooked = f"name: main\nhooks: {{on_error: 'echo {{{{{asked}}}}}'}}\nsteps: [{{id: a, command: ls}}]\n"
    (problem,) = check(hooked)
    assert problem.fix == f"did you mean {meant}?"


def test_a_hook_may_ask_for_the_loop_where_there_is_one() -> None:
    hooked = "name: main\nhooks: {pre_step: 'echo {{loop.index}}'}\nsteps:\n"
    assert codes(hooked + "  - {id: a, foreach: [x], steps: [{id: b, command: ls}]}\n", all_=True) == []
    assert codes(hooked + "  - {id: a, command: ls}\n", all_=True) == ["undefined-variable"]
