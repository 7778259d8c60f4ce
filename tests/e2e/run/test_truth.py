"""What a run tells: results, exit codes, variables from the command line, warnings, dry runs."""

from __future__ import annotations

import json
import re
import signal
from typing import Any

import pytest
from tests.support.workspace import Workspace

# A script that reads the file of all variables may use any name, so every name may be set.
SHOW = """\
name: show
context: {base: {keep: 1, change: 2}}
steps: [{id: s, command: 'test -e "$AMPLIHACK_CONTEXT_FILE"'}]
"""


def given(workspace: Workspace, *flags: str) -> Any:
    workspace.write("show.yaml", SHOW)
    answer = workspace.run("recipe", "run", "show.yaml", "--json", "-q", *flags)
    assert answer.exit_code == 0, answer.stderr
    return answer.json["context"]


def test_set_types_values_only_where_nothing_is_lost(workspace: Workspace) -> None:
    table = {
        "int=5": 5, "neg=-5": -5, "float=1.5": 1.5, "t=true": True, "T=True": True, "F=False": False,
        "n=null": None, "obj={\"a\": [1]}": {"a": [1]}, "arr=[1,2]": [1, 2], "version=1.10": "1.10",
        "zip=007": "007", "plus=+5": "+5", "exp=4e5": "4e5", "quoted=\"x\"": '"x"', "upper=TRUE": "TRUE",
        "empty=": "", "eq=a=b=c": "a=b=c", "dot=.5": ".5", "inf=inf": "inf",
        "spaces= a b ": " a b ", "hash=#x": "#x", "uni=grüße": "grüße",
        "id=123456789012345678901234567890123": 123456789012345678901234567890123,
    }  # fmt: skip
    context = given(workspace, *[word for pair in table for word in ("--set", pair)])
    for pair, value in table.items():
        found = context[pair.split("=")[0]]
        assert (found, type(found)) == (value, type(value)), pair


def test_other_ways_to_give_values(workspace: Workspace) -> None:
    workspace.write("note.txt", "from a file\n")
    workspace.write("more.yaml", "from_yaml: [a, b]\nnum: 7\nover: file\n")
    context = given(
        workspace, "--set-str", "text=5", "--set-json", 'j={"deep": {"a": 1}}', "--set-file", "f=@note.txt",
        "--context-file", "more.yaml", "-c", "over=flag", "--set", "base.change=3", "--set", "new.a.b=x",
    )  # fmt: skip
    assert (context["text"], context["j"], context["f"]) == ("5", {"deep": {"a": 1}}, "from a file\n")
    assert (context["from_yaml"], context["num"], context["over"]) == (["a", "b"], 7, "flag")
    assert (context["base"], context["new"]) == ({"keep": 1, "change": 3}, {"a": {"b": "x"}})


@pytest.mark.parametrize(
    "flags",
    [
        ("--set", "novalue"),
        ("--set", "=x"),
        ("--set-json", "a={"),
        ("--output-format", "xml"),
        ("--max-parallel", "0"),
    ],
)
def test_flags_that_cannot_be_read_stop_everything(workspace: Workspace, flags: tuple[str, str]) -> None:
    workspace.write("r.yaml", "name: r\nsteps: [{id: s, command: touch ran}]\n")
    answer = workspace.run("recipe", "run", "r.yaml", *flags)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr
    assert not (workspace.path / "ran").exists()


MIXED = """\
name: mixed
steps:
  - {id: good, command: echo out}
  - {id: skipped, command: echo no, condition: "false"}
  - {id: soft, command: "echo why >&2; exit 3", continue_on_error: true}
  - {id: prose, command: echo words, parse_json: true}
  - {id: hard, command: exit 4}
  - {id: never, command: touch ran}
"""


def test_the_json_result_is_the_only_thing_on_stdout_and_is_complete(workspace: Workspace) -> None:
    workspace.write("r.yaml", MIXED)
    answer = workspace.run("recipe", "run", "r.yaml", "--output-format", "json", "--progress")
    result = json.loads(answer.stdout)
    assert answer.exit_code == 1
    assert (result["recipe_name"], result["success"], result["status"]) == ("mixed", False, "failed")
    assert re.fullmatch(r"[0-9a-z]{6}-[0-9a-z]{5}", result["run_id"])
    assert result["counts"] == {
        "completed": 1, "skipped": 1, "degraded": 1, "failed": 1, "failed_allowed": 1,
        "interrupted": 0, "never_reached": 1,
    }  # fmt: skip
    assert result["never_reached"] == ["never"]
    assert (result["usage"], result["cost_usd"]) == (None, None)
    assert isinstance(result["duration"], float)
    first, second, third = result["step_results"][:3]
    assert (first["output"], first["error"], first["type"], first["exit_code"], first["attempts"]) == (
        "out",
        "",
        "bash",
        0,
        1,
    )
    assert (second["skip_reason"], third["allowed"], third["stderr"]) == ("condition: false", True, "why\n")
    for marker in ("▶ good", "✓ good", "⊘ skipped", "✗ soft", "⚠ prose"):
        assert marker in answer.stderr


def test_the_text_result_reads_line_by_line(workspace: Workspace) -> None:
    workspace.write("r.yaml", MIXED)
    answer = workspace.run("recipe", "run", "r.yaml", "-q", "--show-output")
    text = re.sub(r"\(\d+\.\ds\)", "(0.0s)", answer.stdout)
    assert text.startswith(
        "Recipe: mixed (v1.0.0)\nSteps: 6\n\nRecipe 'mixed': FAILED (0.0s)\n"
        "  [completed] good (0.0s)\n  [skipped] skipped (0.0s)\n"
        "  [failed] soft (0.0s) -- error: Command failed (exit 3): why\n"
        "  [degraded] prose (0.0s)\n  [failed] hard (0.0s) -- error: Command failed (exit 4)\n"
    )
    assert "1 never reached: never" in text
    assert "--- good\nout\n" in text


def test_exit_codes_of_both_commands(workspace: Workspace) -> None:
    workspace.write("good.yaml", "name: good\nsteps: [{id: s, command: 'true'}]\n")
    workspace.write("bad.yaml", "name: bad\nsteps: [{id: s, command: 'false'}]\n")
    workspace.write("broken.yaml", "name: [\n")
    workspace.write("wrong.yaml", "name: wrong\nsteps: []\n")
    expected = {
        ("good.yaml",): 0,
        ("bad.yaml",): 1,
        ("broken.yaml",): 2,
        ("wrong.yaml",): 2,
        ("gone.yaml",): 3,
        ("gone",): 3,
        ("good", "-R", "."): 0,
    }
    for words, code in expected.items():
        assert workspace.runner(*words).exit_code == code, words
    assert workspace.runner().exit_code == 4
    assert workspace.runner("--version").stdout.startswith("recipe-runner ")
    assert [workspace.run("recipe", "run", name).exit_code for name in ("good.yaml", "bad.yaml", "gone")] == [
        0,
        1,
        3,
    ]


def test_unknown_fields_are_told_on_every_run_and_refused_under_strict(workspace: Workspace) -> None:
    workspace.write("child.yaml", "name: child\nsteps: [{id: c, command: 'true', timeuot: 5}]\n")
    workspace.write(
        "r.yaml",
        ("name: r\nversoin: 1\nsteps:\n  - {id: s, command: touch ran}\n  - {id: t, recipe: child}\n"),
    )
    answer = workspace.run("recipe", "run", "r.yaml")
    assert answer.exit_code == 0
    assert "versoin" in answer.stderr
    assert "version" in answer.stderr
    assert "timeuot" in answer.stderr
    (workspace.path / "ran").unlink()
    strict = workspace.run("recipe", "run", "r.yaml", "--strict")
    assert strict.exit_code == 2
    assert not (workspace.path / "ran").exists()
    workspace.write("r.yaml", "name: r\nsteps:\n  - {id: t, recipe: child}\n")
    inner = workspace.run("recipe", "run", "r.yaml", "--strict", "--json", "-q")
    assert (inner.exit_code, "timeuot" in inner.stdout) == (1, True)


def test_undefined_variables_warn_and_under_strictness_stop_before_anything_runs(
    workspace: Workspace,
) -> None:
    workspace.write(
        "r.yaml",
        (
            "name: r\nsteps:\n  - {id: s, command: touch ran}\n"
            "  - {id: t, command: 'echo [{{nope}}]', output_type: text}\n"
        ),
    )
    answer = workspace.run("recipe", "run", "r.yaml", "--json")
    assert answer.json["context"]["t"] == "[]"
    assert answer.json["warnings"] == ["t: undefined in command: nope; it renders empty"]
    assert "undefined in command: nope" in answer.stderr
    (workspace.path / "ran").unlink()
    strict = workspace.run("recipe", "run", "r.yaml", "--strict-vars")
    assert (strict.exit_code, "nope" in strict.stderr) == (2, True)
    assert not (workspace.path / "ran").exists()
    assert workspace.run("recipe", "run", "r.yaml", "--strict-vars", "--set", "nope=1").exit_code == 0


def test_strictness_knows_that_a_loop_that_collects_leaves_its_last_result(workspace: Workspace) -> None:
    loop = "  - {id: each, foreach: [x, y], command: 'echo {{item}}', collect: all}\n"
    workspace.write("r.yaml", f"name: r\nsteps:\n{loop}  - {{id: last, command: 'echo {{{{each}}}}'}}\n")
    answer = workspace.run("recipe", "run", "r.yaml", "--strict-vars", "--output-format", "json")
    assert answer.exit_code == 0, answer.stderr
    assert answer.json["context"]["last"] == "y"


def test_a_dry_run_does_nothing_and_a_deep_one_tells_what_would_be(workspace: Workspace) -> None:
    workspace.write(
        "child.yaml", "name: child\nsteps: [{id: deep, command: 'echo {{x}}', condition: 'x == 2'}]\n"
    )
    workspace.write(
        "r.yaml",
        "name: r\ncontext: {x: 1}\nhooks: {pre_step: touch hooked}\nsteps:\n"
        "  - {id: a, command: touch ran, output: o}\n"
        "  - {id: b, prompt: hi, parse_json: true}\n  - {id: c, recipe: child}\n"
        "  - {id: d, command: x, condition: o}\n",
    )
    answer = workspace.run("recipe", "run", "r.yaml", "--dry-run", "--json")
    assert answer.exit_code == 0
    assert {step["status"] for step in answer.json["step_results"]} == {"skipped"}
    assert json.loads(answer.json["step_results"][1]["output"]) == {"dry_run": True, "step": "b"}
    deep = workspace.run("recipe", "run", "r.yaml", "--dry-run=deep", "--json").json
    assert [(step["step_id"], step["verdict"]) for step in deep] == [
        ("a", "would run"),
        ("b", "would run"),
        ("c", "would run"),
        ("deep", "would be skipped"),
        ("d", "depends"),
    ]
    assert (
        "deep — would be skipped: x == 2" in workspace.run("recipe", "run", "r.yaml", "--dry-run=deep").stdout
    )
    assert not {"ran", "hooked"} & {path.name for path in workspace.path.iterdir()}


def test_hooks_run_in_the_runs_directory_with_the_facts_of_the_step(workspace: Workspace) -> None:
    (workspace.path / "sub").mkdir()
    workspace.write(
        "r.yaml",
        "name: r\nhooks:\n  pre_step: 'pwd >> log; exit 1'\n"
        "  post_step: 'echo \"$RECIPE_NAME $STEP_ID $STEP_TYPE $STEP_STATUS {{step_id}} "
        "${STEP_DURATION_MS//[0-9]/}\" >> log'\n"
        "  on_error: 'echo \"failed $STEP_ID: $STEP_ERROR\" >> log'\n"
        "steps:\n  - {id: a, command: 'true', working_dir: sub}\n"
        '  - {id: b, command: "echo it\\\\\'s >&2; exit 1", on_error: continue}\n',
    )
    result = workspace.run("recipe", "run", "r.yaml", "--json", "-q").json
    lines = (workspace.path / "log").read_text().splitlines()
    assert lines[:3] == [str(workspace.path), "r a bash completed a ", str(workspace.path)]
    assert lines[3] == "failed b: Step 'b' failed: bash step failed: Command failed (exit 1): it's"
    assert result["warnings"][0] == "a: hook pre_step failed (exit 1)"


def test_children_know_the_run_they_belong_to(workspace: Workspace) -> None:
    workspace.write(
        "r.yaml",
        (
            "name: r\nsteps:\n  - {id: s, command: 'echo $AMPLIHACK_RECIPE_RUN_ID; echo "
            "${CLAUDECODE-unset}; cat $AMPLIHACK_CONTEXT_FILE', output_type: text}\n"
        ),
    )
    result = workspace.run(
        "recipe", "run", "r.yaml", "--json", "-q", "--set", "x=1", env={"CLAUDECODE": "1"}
    ).json
    run_id, hidden, context = result["context"]["s"].splitlines()
    assert (run_id, hidden, json.loads(context)) == (result["run_id"], "unset", {"x": 1})


def test_signals_are_numbers_in_results(workspace: Workspace) -> None:
    workspace.write("r.yaml", "name: r\nsteps:\n  - {id: s, command: 'kill -TERM $$'}\n")
    error = workspace.run("recipe", "run", "r.yaml", "--json", "-q").json["step_results"][0]["error"]
    assert f"signal {signal.SIGTERM.value}" in error


def test_values_that_json_cannot_say_do_not_break_the_result(workspace: Workspace) -> None:
    workspace.write(
        "r.yaml", "name: r\ncontext: {inf: .inf, nan: .nan}\nsteps:\n  - {id: s, command: 'echo {{inf}}'}\n"
    )
    answer = workspace.run("recipe", "run", "r.yaml", "--json", "-q")
    assert json.loads(answer.stdout, parse_constant=lambda word: pytest.fail(word))["success"]


def test_warnings_about_a_file_that_is_extended_or_called_are_told(workspace: Workspace) -> None:
    workspace.write("base.yaml", "name: base\nsteps:\n  - {id: b, command: echo b, colour: red}\n")
    workspace.write("child.yaml", "name: child\nextends: base\nsteps:\n  - {id: c, command: echo c}\n")
    workspace.write("main.yaml", "name: main\nsteps:\n  - {id: m, recipe: child.yaml}\n")
    for words in (("run", "-q", "child.yaml"), ("check", "child.yaml"), ("run", "-q", "main.yaml")):
        answer = workspace.run("recipe", *words)
        assert answer.exit_code == 0
        assert "unrecognized field 'colour'" in answer.stdout + answer.stderr
    assert workspace.run("recipe", "run", "--strict", "child.yaml").exit_code == 2


def test_a_list_of_all_results_is_not_lost_to_the_last_of_them(workspace: Workspace) -> None:
    step = "{id: a, foreach: [1, 2], command: 'echo r{{item}}', output: all, collect: all}"
    workspace.write("r.yaml", f"name: r\nsteps:\n  - {step}\n")
    answer = workspace.run("recipe", "run", "r.yaml", "--json")
    assert answer.json["context"]["all"] == ["r1", "r2"]


def test_a_run_tells_of_a_status_that_no_step_has_and_of_a_loop_over_one_word(workspace: Workspace) -> None:
    loop = "{id: a, command: 'for x in {{names}}; do echo $x; done'}"
    asks = "{id: b, condition: steps.a.status == 'success', command: touch never}"
    workspace.write("r.yaml", f"name: r\ncontext: {{names: ann bob}}\nsteps:\n  - {loop}\n  - {asks}\n")
    answer = workspace.run("recipe", "run", "r.yaml", "-q")
    assert "step 'a': a loop over {{names}} has one round" in answer.stderr
    assert "step 'b' asks for the status 'success', which no step ever has" in answer.stderr
    assert not (workspace.path / "never").exists()
