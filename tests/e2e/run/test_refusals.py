"""What is certain to fail is refused before the first step; what may go well is not."""

from __future__ import annotations

import json

import pytest
from tests.support.workspace import Workspace
from tests.unit.recipes.check.test_findings import OTHERS as FOUND_WITH
from tests.unit.recipes.check.test_findings import PAIRS

FIRST = "  - {id: first, command: touch ran}\n"
HEAD = "name: main\ncontext: {task: '', items: [1, 2], odd: 'a[$(touch ran)]'}\nsteps:\n" + FIRST
OTHERS = {
    "broken.yaml": "name: broken\n",
    "fine.yaml": "name: fine\nsteps:\n  - {id: f, command: echo f}\n",
    "needy.yaml": "name: needy\ninputs: {goal: {required: true}}\n"
    "steps:\n  - {id: n, command: 'echo {{goal}}'}\n",
    "doomed.yaml": "name: doomed\nsteps:\n  - {id: d, command: 'echo a; done'}\n",
    "circle.yaml": "name: circle\nsteps:\n  - {id: c, recipe: circle}\n",
}
ERRORS = {
    "later": "  - {id: a, depends_on: [b], command: ls}\n  - {id: b, command: ls}\n",
    "nothing": "  - {id: a, comand: ls}\n",
    "missing recipe": "  - {id: a, recipe: nowhere}\n",
    "broken recipe": "  - {id: a, recipe: broken}\n",
    "missing input": "  - {id: a, recipe: needy}\n",
    "empty input": "  - {id: a, recipe: needy, context: {goal: ''}}\n",
    "isolated": "  - {id: a, recipe: needy, context_mode: isolated}\n",
    "doomed recipe": "  - {id: a, recipe: doomed}\n",
    "circle": "  - {id: a, recipe: circle}\n",
    "no name": "  - {id: a, recipe: '{{nope}}'}\n",
    "variable of no recipe": "  - {id: a, recipe: 'x{{odd}}'}\n",
    "no time": "  - {id: a, command: ls, timeout: '{{odd}}'}\n",
    "unset time": "  - {id: a, command: ls, timeout: '{{nope}}'}\n",
    "no count": "  - {id: a, command: ls, retry: {max_attempts: '{{odd}}'}}\n",
    "no width": "  - {id: a, foreach: [1], parallel: '{{odd}}', command: ls}\n",
    "no list": "  - {id: a, foreach: a b c, command: ls}\n",
    "unset list": "  - {id: a, foreach: abc, command: ls}\n",
    "text for a list": "  - {id: a, foreach: '{{task}}', command: ls}\n",
    "long list": "  - {id: a, foreach: '{{items}}', max_iterations: 1, command: ls}\n",
    "condition": "  - {id: a, condition: \"int('many') > 1\", command: ls}\n",
    "place": "  - {id: a, command: 'read {{task}}'}\n",
    "evaluated": "  - {id: a, command: 'n={{odd}}; (( n ))'}\n",
    "evaluated env": "  - {id: a, command: '(( N ))', env: {N: '{{odd}}'}}\n",
    "expanded env": "  - {id: a, command: ls, env: {BASH_ENV: '{{odd}}'}}\n",
    "syntax": "  - {id: a, command: 'if true; then echo {{task}}'}\n",
    "loop": "  - {id: a, foreach: [1], steps: [{id: b, command: 'echo a; done'}]}\n",
}
FINE = {
    "condition": "  - {id: a, condition: task, recipe: nowhere}\n",
    "tags": "  - {id: a, when_tags: [deep], recipe: broken}\n",
    "allowed": "  - {id: a, on_error: continue, recipe: nowhere}\n",
    "allowed time": "  - {id: a, on_error: continue, command: ls, timeout: '{{odd}}'}\n",
    "number from a step": "  - {id: n, command: echo 5}\n  - {id: a, command: ls, timeout: '{{n}}'}\n",
    "recipe from a step": "  - {id: n, command: echo fine}\n  - {id: a, recipe: '{{n}}'}\n",
    "allowed syntax": "  - {id: a, on_error: continue, command: 'echo a; done'}\n",
    "exit code": "  - {id: a, output_exit_code: code, command: 'echo a; done'}\n",
    "ended before": "  - id: a\n    command: |\n      echo fine\n      exit 0\n      (((this is data)))))\n",
    "extglob": "  - id: a\n    command: |\n      shopt -s extglob\n      echo !(*.txt)\n",
    "skipped": "  - {id: a, recipe: needy, condition: \"task == 'x'\"}\n",
}


@pytest.fixture
def place(workspace: Workspace) -> Workspace:
    for name, text in OTHERS.items():
        workspace.write(name, text)
    return workspace


@pytest.mark.parametrize("steps", ERRORS.values(), ids=ERRORS)
def test_what_is_certain_to_fail_is_refused_before_the_first_step(place: Workspace, steps: str) -> None:
    place.write("main.yaml", HEAD + steps)
    answer = place.run("recipe", "run", "main.yaml")
    assert answer.exit_code == 2, answer.stderr
    assert answer.stdout == ""  # no header of a run that never begins
    assert "main.yaml:5:" in answer.stderr
    assert "  fix: " in answer.stderr or "can only fail" in answer.stderr
    assert not (place.path / "ran").exists()


@pytest.mark.parametrize("steps", ERRORS.values(), ids=ERRORS)
def test_what_the_check_calls_an_error_a_run_refuses(place: Workspace, steps: str) -> None:
    place.write("main.yaml", HEAD + steps)
    found = place.run("recipe", "check", "main.yaml", "--json").json
    errors = {each["message"] for each in found if each["severity"] == "error"}
    refused = place.run("recipe", "run", "main.yaml").stderr
    assert all(message in refused for message in errors)


@pytest.mark.parametrize(
    ("code", "recipe"), [(code, recipe) for code, severity, recipe, _ in PAIRS if severity == "error"]
)
def test_every_error_of_the_check_is_one_of_a_run(workspace: Workspace, code: str, recipe: str) -> None:
    for name, text in FOUND_WITH.items():
        workspace.write(name, text)
    workspace.write("main.yaml", recipe)
    workspace.write("answers.yaml", "- reply: fine\n")
    answer = workspace.run("recipe", "run", "main.yaml", "--agent", "scripted:answers.yaml")
    assert answer.exit_code == 2, answer.stderr
    assert f"[{code}]" in answer.stderr
    assert answer.stdout == ""


@pytest.mark.parametrize("steps", FINE.values(), ids=FINE)
def test_what_may_go_well_is_run(place: Workspace, steps: str) -> None:
    place.write("main.yaml", HEAD + steps)
    answer = place.run("recipe", "run", "main.yaml", *(("--exclude-tags", "deep") if "deep" in steps else ()))
    assert answer.exit_code == 0, answer.stderr
    assert (place.path / "ran").exists()
    assert place.run("recipe", "check", "main.yaml").exit_code == 0


def test_a_value_that_somebody_gives_makes_a_recipe_runnable(place: Workspace) -> None:
    place.write("main.yaml", HEAD + "  - {id: a, foreach: abc, command: ls}\n  - {id: n, recipe: needy}\n")
    answer = place.run("recipe", "run", "main.yaml", "--set", "abc=[1]", "--set", "goal=x")
    assert answer.exit_code == 0, answer.stderr


def test_a_dry_run_shows_what_a_run_would_refuse(place: Workspace) -> None:
    place.write("main.yaml", HEAD + ERRORS["missing recipe"])
    assert place.run("recipe", "run", "main.yaml", "--dry-run").exit_code == 0


def test_strict_warnings_are_told_once(workspace: Workspace) -> None:
    workspace.write("r.yaml", "name: r\nsteps:\n  - {id: a, command: ls, colour: red}\n")
    answer = workspace.run("recipe", "run", "r.yaml", "--strict")
    assert answer.exit_code == 2
    assert answer.stderr.count("unrecognized field 'colour'") == 1
    assert "warning" not in answer.stderr


CONDITION = "name: r\nsteps:\n  - {id: a, command: echo ok, output: status}\n"


@pytest.mark.parametrize(
    ("fields", "hint"),
    [
        ("condition: status == ok", True),
        ("condition: ok == status", True),
        ("condition: 'status in [ok, fine]'", True),
        ("while_condition: status == ok", True),
        ("foreach: [1], break_when: status == ok", True),
        ("condition: ok", False),
    ],
)
@pytest.mark.parametrize("dialect", ["amplihack", "amplifier"])
def test_a_name_in_a_condition_that_nothing_sets_is_told(
    workspace: Workspace, fields: str, hint: bool, dialect: str
) -> None:
    text = f"dialect: {dialect}\n{CONDITION}  - {{id: b, type: bash, {fields}, command: touch b}}\n"
    workspace.write("r.yaml", text.replace("id: a,", "id: a, type: bash,"))
    answer = workspace.run("recipe", "run", "r.yaml", "--json")
    assert answer.exit_code == 0
    (told, *_) = json.loads(answer.stdout)["warnings"]
    assert "ok; nothing sets it, so it counts as null" in told
    assert ("write 'ok' in quotes" in told) is hint
    assert told.removeprefix("b: ") in answer.stderr
    strict = workspace.run("recipe", "run", "r.yaml", "--strict-vars")
    assert strict.exit_code == 2
    assert "nothing" in strict.stderr
    assert "Recipe 'r'" not in strict.stdout
    shown = workspace.run("recipe", "check", "r.yaml").stdout
    assert "[undefined-variable]" in shown


def test_what_a_skipped_step_would_have_set_is_no_surprise(workspace: Workspace) -> None:
    workspace.write(
        "r.yaml",
        "name: r\ncontext: {go: ''}\nsteps:\n  - {id: a, condition: go, command: ls}\n"
        "  - {id: b, condition: \"a == 'x' or defined(gone) or default(lost, '') == 'x'\", command: ls}\n",
    )
    answer = workspace.run("recipe", "run", "r.yaml", "--json")
    assert json.loads(answer.stdout)["warnings"] == []
    assert workspace.run("recipe", "check", "r.yaml").stdout == ""


def test_counts_count_steps_and_a_loop_at_its_limit_is_degraded(workspace: Workspace) -> None:
    workspace.write(
        "r.yaml",
        "name: r\nsteps:\n  - {id: a, foreach: [1, 2, 3], command: echo}\n"
        "  - {id: b, while_condition: 'true', max_while_iterations: 2, command: echo}\n"
        "  - {id: c, foreach: [1, 2], steps: [{id: d, command: echo}, {id: e, command: echo}]}\n"
        "  - {id: f, foreach: [], command: echo, collect: none}\n"
        "  - {id: g, while_condition: 'true', max_while_iterations: 2, steps: [{id: h, command: echo}]}\n",
    )
    answer = workspace.run("recipe", "run", "r.yaml", "--json")
    counts = json.loads(answer.stdout)["counts"]
    assert counts == {
        "completed": 4,  # a, d, e, h
        "skipped": 1,
        "degraded": 2,  # b, g
        "failed": 0,
        "failed_allowed": 0,
        "interrupted": 0,
        "never_reached": 0,
    }
    assert "  2 degraded: " in workspace.run("recipe", "run", "r.yaml").stdout


def test_what_a_recipe_says_without_effect_is_told_by_a_run_too(workspace: Workspace) -> None:
    workspace.write(
        "main.yaml",
        "name: main\nsecrets: [tokn]\nsteps:\n"
        "  - {id: a, command: 'true', retry: {max_attempts: 1}}\n"
        "  - {id: b, command: 'true', override: true}\n",
    )
    answer = workspace.run("recipe", "run", "main.yaml", "--json")
    assert answer.exit_code == 0
    told = "\n".join(answer.json["warnings"])
    assert "nothing sets tokn" in told
    assert "step 'a' is never tried again" in told
    assert "step 'b' overrides nothing" in told


def test_what_a_run_would_not_do_as_it_is_written_is_told_before_its_first_step(workspace: Workspace) -> None:
    workspace.write(
        "main.yaml",
        "name: main\ncontext: {task: mend, n: 1}\nrate_limiting: {min_delay_ms: 0}\noutput: a\nsteps:\n"
        "  - {id: a, command: 'true', parallel_group: g}\n"
        "  - {id: b, prompt: 'Do {task} and $task. {% if task %}Soon.{% endif %}'}\n"
        "  - {id: c, command: 'true', parallel_group: g}\n"
        "  - {id: d, command: 'true', condition: steps.e.status == 'failed'}\n"
        "  - {id: f, command: 'true', foreach: [1], update_context: {n: '{{n}} + 1'}}\n",
    )
    workspace.write("answers.yaml", "- {reply: done}\n")
    answer = workspace.run("recipe", "run", "main.yaml", "--agent", "scripted:answers.yaml")
    assert answer.exit_code == 0
    told = answer.stderr.partition("▶")[0]
    assert "⚠ the recipe gives the text 'a', not the value of a" in told
    assert "⚠ step 'c' does not run with step 'a' of the group 'g'" in told
    assert "⚠ {task} stays in the prompt as it is" in told
    assert "⚠ $task stays in the prompt as it is" in told
    assert "⚠ {% if task %} stays in the text as it is" in told
    assert "⚠ there is no step 'e'" in told
    assert "⚠ update_context: n becomes the text '{{n}} + 1'" in told


def test_an_edited_recipe_tells_what_it_now_says_without_effect_and_nothing_twice(
    workspace: Workspace,
) -> None:
    workspace.write("r.yaml", "name: r\nsecrets: [tokn]\nsteps: [{id: a, command: 'false'}]\n")
    assert "nothing sets tokn" in workspace.run("recipe", "run", "r.yaml").stderr
    workspace.write(
        "r.yaml",
        "name: r\nsecrets: [tokn]\nsteps: [{id: a, command: 'true', retry: {max_attempts: 1}}]\n",
    )
    again = workspace.run("runs", "resume", "--accept-changes")
    assert again.exit_code == 0
    assert "step 'a' is never tried again" in again.stderr
    assert "nothing sets tokn" not in again.stderr
