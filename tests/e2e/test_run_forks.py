"""`runs fork` and `runs diff`: try something else from a step on, and see what it changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.running import wait_until
from tests.support.workspace import Answer, Workspace

STEPS = """\
name: work
context: {who: ann}
steps:
  - {id: a, command: 'echo a >> done.txt; echo "A {{who}}"'}
  - {id: b, command: 'echo b >> done.txt; echo "B {{a}}"'}
  - {id: c, command: 'echo c >> done.txt; echo "C {{b}} {{who}}"'}
"""


def done(workspace: Workspace) -> str:
    """What has been done since this was last asked."""
    path = workspace.path / "done.txt"
    words = path.read_text().split() if path.exists() else []
    path.write_text("")
    return " ".join(words)


def run(workspace: Workspace, text: str, *words: str) -> Any:
    workspace.write("work.yaml", text)
    answer = workspace.run("recipe", "run", "work.yaml", "--json", *words)
    assert answer.stdout, answer
    return answer.json


def fork(workspace: Workspace, *words: str) -> Any:
    answer = workspace.run("runs", "fork", *words, "--json")
    assert answer.exit_code == 0, answer
    return answer.json


def listed(workspace: Workspace) -> list[str]:
    return [each["run_id"] for each in workspace.run("runs", "list", "--json").json]


def test_a_fork_shares_what_came_before_and_leaves_its_source_alone(workspace: Workspace) -> None:
    source = run(workspace, STEPS)
    assert done(workspace) == "a b c"
    before = workspace.run("runs", "show", source["run_id"], "--json").json
    made = fork(workspace, "--from", "b")
    assert done(workspace) == "b c"
    assert made["context"] == source["context"]
    assert (made["forked_from"], made["run_id"] != source["run_id"]) == (source["run_id"], True)
    assert workspace.run("runs", "show", source["run_id"], "--json").json == before
    shown = workspace.run("runs", "show", made["run_id"], "--json").json
    assert (shown["forked_from"], shown["status"]) == (source["run_id"], "completed")
    assert [step["identity"] for step in shown["steps"]] == ["a", "b", "c"]
    assert f"forked from {source['run_id']}" in workspace.run("runs", "show").stdout


def test_values_can_be_changed_from_the_step_on(workspace: Workspace) -> None:
    source = run(workspace, STEPS)
    assert fork(workspace, "--from", "c", "--set", "who=bob")["context"]["c"] == "C B A ann bob"
    changed = fork(workspace, source["run_id"], "--from", "c", "--set", "b=other")
    assert changed["context"]["c"] == "C other ann"
    assert done(workspace) == "a b c c c"
    wrong = workspace.run("runs", "fork", "--from", "c", "--set", "whoo=x")
    assert (wrong.exit_code, "did you mean 'who'?" in wrong.stderr) == (2, True)


def test_a_fork_can_begin_inside_sub_recipes_loops_and_groups(workspace: Workspace) -> None:
    workspace.write(
        "child.yaml",
        "name: child\nsteps:\n  - {id: x, command: 'echo x >> done.txt; echo X'}\n"
        "  - {id: y, command: 'echo y >> done.txt; echo \"Y {{x}}\"'}\n",
    )
    source = run(
        workspace,
        "name: work\nsteps:\n"
        "  - {id: p, parallel_group: g, command: 'echo p >> done.txt; echo P'}\n"
        "  - {id: q, parallel_group: g, command: 'sleep 0.2; echo q >> done.txt; echo Q'}\n"
        "  - {id: call, recipe: child.yaml}\n"
        "  - {id: each, foreach: [1, 2, 3], collect: all,\n"
        "     command: 'echo r{{item}} >> done.txt; echo {{item}}'}\n"
        "  - {id: z, command: 'echo z >> done.txt; echo \"{{p}} {{q}} {{all}}\"'}\n",
    )
    done(workspace)
    for step, again in (
        ("call/y", "y r1 r2 r3 z"),
        ("y", "y r1 r2 r3 z"),
        ("each[1]", "r2 r3 z"),
        ("each", "r1 r2 r3 z"),
        ("q", "q x y r1 r2 r3 z"),
        ("z", "z"),
    ):
        made = fork(workspace, source["run_id"], "--from", step)
        assert done(workspace) == again, step
        assert made["context"] == source["context"], step


def test_gates_behind_the_step_are_asked_again_and_those_before_it_are_not(workspace: Workspace) -> None:
    text = (
        "name: work\nstages:\n"
        "  - {name: one, steps: [{id: a, command: 'echo a >> done.txt'}], approval: {prompt: First?}}\n"
        "  - {name: two, steps: [{id: b, command: 'echo b >> done.txt'}], approval: {prompt: Second?}}\n"
        "  - {name: three, steps: [{id: c, command: 'echo c >> done.txt'}]}\n"
    )
    run(workspace, text, "--yes")
    done(workspace)
    answer = workspace.run("runs", "fork", "--from", "b", "--json")
    # The source was started with --yes, and so is its fork.
    assert answer.json["status"] == "completed"
    run(workspace, text)
    for _ in range(2):
        workspace.run("runs", "approve")
        workspace.run("runs", "resume")
    assert done(workspace) == "b c a b c"
    waits = workspace.run("runs", "fork", "--from", "b", "--json")
    assert (waits.exit_code, waits.json["status"]) == (1, "waiting")
    assert done(workspace) == "b"
    shown = workspace.run("runs", "show", "--json").json
    assert [(gate["stage"], gate["decision"]) for gate in shown["gates"]] == [
        ("one", "approved"),
        ("two", None),
    ]


def test_a_failed_run_can_be_forked_before_its_failure(workspace: Workspace) -> None:
    run(workspace, STEPS.replace("echo c >>", "test -e ok && echo c >>"))
    workspace.write("ok", "")
    assert fork(workspace, "--from", "b", "--set", "who=eve")["context"]["c"] == "C B A ann eve"


def test_a_member_of_a_group_that_failed_runs_again_too(workspace: Workspace) -> None:
    run(
        workspace,
        "name: work\nsteps:\n"
        "  - {id: p, parallel_group: g, command: 'echo p >> done.txt; test -e ok'}\n"
        "  - {id: q, parallel_group: g, command: 'echo q >> done.txt'}\n",
    )
    done(workspace)
    workspace.write("ok", "")
    assert fork(workspace, "--from", "q")["status"] == "completed"
    assert sorted(done(workspace).split()) == ["p", "q"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--from", "nope"], 3, "no step 'nope' has begun in the run"),
        (["--from", "bb"], 3, "did you mean 'b'?"),
        (["x9", "--from", "b"], 3, "there is no run 'x9'"),
        ([], 2, "--from"),
    ],
)
def test_wrong_words_are_refused_and_leave_no_run(
    workspace: Workspace, words: list[str], code: int, message: str
) -> None:
    run(workspace, STEPS)
    answer = workspace.run("runs", "fork", *words)
    assert (answer.exit_code, message in answer.stderr) == (code, True), answer
    assert len(listed(workspace)) == 1


def test_an_id_of_several_steps_has_to_be_made_clear(workspace: Workspace) -> None:
    workspace.write("child.yaml", "name: child\nsteps:\n  - {id: x, command: echo X}\n")
    run(
        workspace,
        "name: work\nsteps:\n  - {id: one, recipe: child.yaml}\n  - {id: two, recipe: child.yaml}\n",
    )
    answer = workspace.run("runs", "fork", "--from", "x")
    assert (answer.exit_code, "2 steps: one/x, two/x" in answer.stderr) == (2, True)


def test_an_edited_recipe_has_to_be_accepted_and_a_refused_fork_leaves_no_run(workspace: Workspace) -> None:
    run(workspace, STEPS)
    done(workspace)
    workspace.write("work.yaml", STEPS.replace('"C {{b}}', '"new {{b}}'))
    refused = workspace.run("runs", "fork", "--from", "c")
    assert (refused.exit_code, "--accept-changes" in refused.stderr) == (2, True)
    assert len(listed(workspace)) == 1
    kept = workspace.path / "home" / ".amplihack" / "runs"
    assert [path.name for path in kept.iterdir()] == listed(workspace)
    assert fork(workspace, "--from", "c", "--accept-changes")["context"]["c"] == "new B A ann ann"
    assert done(workspace) == "c"


def test_secrets_are_given_again_and_not_kept(workspace: Workspace) -> None:
    text = (
        "name: work\nsecrets: [key]\nsteps:\n  - {id: a, command: 'echo one'}\n"
        "  - {id: b, command: 'test {{key}} = hunter2hunter2'}\n"
    )
    run(workspace, text, "--set", "key=hunter2hunter2")
    asked = workspace.run("runs", "fork", "--from", "b")
    assert (asked.exit_code, "needs 'key' again" in asked.stderr) == (2, True)
    assert len(listed(workspace)) == 1
    assert fork(workspace, "--from", "b", "--set", "key=hunter2hunter2")["status"] == "completed"
    for path in (workspace.path / "home").rglob("*"):
        assert not path.is_file() or b"hunter2" not in path.read_bytes()


def test_large_values_outlive_the_source_and_a_fork_can_be_forked(workspace: Workspace) -> None:
    text = (
        "name: work\nsteps:\n  - {id: big, command: 'head -c 100000 /dev/zero | tr \"\\\\0\" x'}\n"
        "  - {id: count, command: 'printf %s {{big}} | wc -c'}\n"
    )
    run(workspace, text)
    made = fork(workspace, "--from", "count")
    assert workspace.run("runs", "prune", "--keep", "1").exit_code == 0
    assert listed(workspace) == [made["run_id"]]
    assert fork(workspace, "--from", "count")["context"]["count"] == 100_000


def test_a_fork_can_go_on_in_the_background(workspace: Workspace) -> None:
    source = run(workspace, STEPS)
    started = workspace.run("runs", "fork", "--from", "b", "--detach", "--json").json

    def shown() -> Any:
        return workspace.run("runs", "show", started["run_id"], "--json").json

    wait_until("the end of the fork", lambda: shown()["status"] == "completed")
    assert shown()["forked_from"] == source["run_id"]


# diff -------------------------------------------------------------------------------------------------------


def diff(workspace: Workspace, a: str, b: str = "last") -> Any:
    answer = workspace.run("runs", "diff", a, b, "--json")
    assert answer.exit_code == 0, answer
    return answer.json


def test_a_fork_differs_from_its_source_from_its_step_on(workspace: Workspace) -> None:
    source = run(workspace, STEPS)["run_id"]
    fork(workspace, "--from", "b", "--set", "a=other")
    found = diff(workspace, source)
    assert (found["first"]["identity"], found["first"]["why"]) == ("b", "input")
    assert [(each["identity"], each["why"]) for each in found["differences"]] == [
        ("b", "input"),
        ("c", "input"),
    ]
    fork(workspace, source, "--from", "c")
    assert diff(workspace, source) == {
        "a": source,
        "b": listed(workspace)[0],
        "first": None,
        "differences": [],
    }


def test_two_runs_are_compared_in_words(workspace: Workspace) -> None:
    one = run(workspace, STEPS)["run_id"]
    run(workspace, STEPS.replace("echo b >>", "exit 3; echo b >>"))
    answer: Answer = workspace.run("runs", "diff", one, "last")
    assert answer.exit_code == 0
    assert "first: b — recipe: the recipe says something else (and its status and output)" in answer.stdout
    assert "  c — missing: it began in one of them only" in answer.stdout
    assert "they do not differ" in workspace.run("runs", "diff", one, one).stdout
    assert "first: b — recipe" in workspace.run("runs", "diff", one).stdout
    assert f"A  {one}" in workspace.run("runs", "diff").stdout
    missing = workspace.run("runs", "diff", one, "nope", "--json")
    assert (missing.exit_code, "error" in json.loads(missing.stdout)) == (3, True)


def test_without_names_a_fork_is_compared_with_its_source(workspace: Workspace) -> None:
    source = run(workspace, STEPS)["run_id"]
    nothing = workspace.run("runs", "diff")
    assert (nothing.exit_code, "no earlier run of work" in nothing.stderr) == (3, True)
    run(workspace, STEPS)
    fork(workspace, source, "--from", "c")
    assert workspace.run("runs", "diff", "--json").json["a"] == source


def test_the_recipes_as_they_were_are_compared_not_as_they_are(workspace: Workspace) -> None:
    one = run(workspace, STEPS)["run_id"]
    run(workspace, STEPS)
    Path(workspace.path / "work.yaml").unlink()
    assert diff(workspace, one)["first"] is None


def test_a_value_that_shared_steps_have_read_is_told(workspace: Workspace) -> None:
    source = run(
        workspace,
        "name: work\ncontext: {who: Ada, other: 1}\nsteps:\n"
        "  - {id: a, command: 'echo {{who}}'}\n"
        "  - {id: b, command: 'echo {{other}}'}\n"
        "  - {id: c, command: 'echo {{a}} {{who}}'}\n",
    )
    answer = workspace.run("runs", "fork", source["run_id"], "--from", "c", "--set", "who=Bob", "-q")
    assert answer.stdout == "Ada Bob\n"
    assert answer.stderr == "note: with the old value of who, these stay as they were: a\n"
    same = workspace.run("runs", "fork", source["run_id"], "--from", "c", "--set", "who=Ada", "-q")
    assert same.stderr == ""
