"""Control flow with real processes: steps that meet, time limits, loops and sub-recipes."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.workspace import Workspace

MEET = "touch {me}; for i in $(seq 600); do [ -e {other} ] && exit 0; sleep 0.05; done; exit 1"


def run(workspace: Workspace, text: str, *flags: str, exit_code: int = 0) -> Any:
    workspace.write("r.yaml", text)
    answer = workspace.run("recipe", "run", "r.yaml", "--json", "-q", *flags)
    assert answer.exit_code == exit_code, answer.stdout + answer.stderr
    return answer.json


def statuses(result: Any) -> dict[str, str]:
    return {step["step_id"]: step["status"] for step in result["step_results"]}


def test_members_of_a_group_of_every_kind_really_run_at_once(workspace: Workspace) -> None:
    """Each waits for a file of the next one: one after another they would never end well."""
    workspace.write(
        "child.yaml",
        (f"name: child\nsteps:\n  - {{id: c, command: '{MEET.format(me='recipe', other='loop')}'}}\n"),
    )
    workspace.write("agent.sh", f"cat > /dev/null; ({MEET.format(me='agent', other='recipe')}) && echo met\n")
    result = run(
        workspace,
        "name: r\nsteps:\n"
        f"  - {{id: bash, parallel_group: g, command: '{MEET.format(me='bash', other='agent')}'}}\n"
        "  - {id: agent, parallel_group: g, prompt: meet}\n"
        "  - {id: recipe, parallel_group: g, recipe: child}\n"
        "  - id: loop\n    parallel_group: g\n    foreach: [loop, other]\n    parallel: true\n"
        f'    command: "{MEET.format(me="{{item}}", other="bash")}"\n',
        "--agent",
        "command:bash agent.sh",
        "--no-auto-stage",
    )
    assert set(statuses(result).values()) == {"completed"}


def test_one_at_a_time_if_that_is_asked(workspace: Workspace) -> None:
    command = "[ ! -e busy ] && touch busy && sleep 0.05 && rm busy"
    members = "".join(f"  - {{id: m{n}, parallel_group: g, command: '{command}'}}\n" for n in range(3))
    run(workspace, f"name: r\nsteps:\n{members}", "--max-parallel", "1")


def test_time_limits_end_every_kind_of_step(workspace: Workspace) -> None:
    workspace.write("child.yaml", "name: child\nsteps: [{id: c, command: sleep 300}]\n")
    workspace.write("agent.sh", "sleep 300\n")
    result = run(
        workspace,
        "name: r\ncontext: {t: 0.3}\nsteps:\n"
        "  - {id: bash, parallel_group: g, on_error: continue, timeout: 0.3, command: sleep 300}\n"
        "  - {id: agent, parallel_group: g, on_error: continue, timeout: '{{t}}', prompt: wait}\n"
        "  - {id: recipe, parallel_group: g, on_error: continue, timeout: 0.3, recipe: child}\n"
        "  - {id: body, parallel_group: g, on_error: continue, timeout: 0.3, foreach: [1], "
        "steps: [{id: b, command: sleep 300}]}\n"
        "  - {id: silent, parallel_group: g, on_error: continue, idle_timeout: 0.3, "
        "command: 'echo hi; sleep 300'}\n"
        "  - {id: in-time, parallel_group: g, timeout: 60, command: echo quick}\n"
        "  - {id: unlimited, parallel_group: g, timeout: 0, command: echo free}\n",
        "--agent",
        "command:bash agent.sh",
    )
    errors = {
        step["step_id"]: step["error"] + str(step.get("children", "")) for step in result["step_results"]
    }
    for name in ("bash", "agent", "recipe", "body"):
        assert "timed out after 0.3s" in errors[name], errors[name]
    assert "was silent for 0.3s" in errors["silent"]
    assert result["context"]["silent"] == "hi"
    assert (result["context"]["in-time"], result["context"]["unlimited"]) == ("quick", "free")


def test_exit_codes_and_standard_error_can_be_kept(workspace: Workspace) -> None:
    result = run(
        workspace,
        'name: r\nsteps:\n  - {id: s, command: \'echo out; echo "$GREETING {{who}}" >&2; exit '
        "3', env: {GREETING: 'hello {{who}}'}, "
        "output_exit_code: code, output_stderr: said}\n"
        "  - {id: t, command: 'kill -9 $$', on_error: continue}\n",
        "--set",
        "who=Ann",
    )
    context = result["context"]
    assert (context["s"], context["code"], context["said"]) == ("out", 3, "hello Ann Ann")
    assert "signal 9" in result["step_results"][1]["error"]
    assert result["step_results"][1]["exit_code"] is None


def test_a_failing_step_tells_its_last_words(workspace: Workspace) -> None:
    result = run(
        workspace,
        "name: r\nsteps:\n  - {id: s, command: 'echo part; echo because >&2; exit 7'}\n",
        exit_code=1,
    )
    step = result["step_results"][0]
    assert step["error"] == "Step 's' failed: bash step failed: Command failed (exit 7): because"
    assert (step["output"], step["stderr"], step["exit_code"], step["attempts"]) == (
        "part",
        "because\n",
        7,
        1,
    )


def test_a_long_script_and_an_empty_one(workspace: Workspace) -> None:
    filler = "      : 'some words that make this script long enough to need a file of its own'\n" * 1000
    result = run(
        workspace,
        f"name: r\ncontext: {{v: it works}}\nsteps:\n  - id: long\n    timeout: 60\n"
        f'    command: |\n{filler}      echo "{{{{v}}}}"\n'
        "  - {id: empty, command: ''}\n  - {id: comment, command: '# nothing'}\n",
    )
    assert (result["context"]["long"], result["context"]["empty"]) == ("it works", "")


def test_directories_are_seen_from_the_runs_own(workspace: Workspace) -> None:
    (workspace.path / "base/inner").mkdir(parents=True)
    result = run(
        workspace,
        "name: r\ncontext: {d: inner}\nsteps:\n  - {id: plain, command: pwd}\n"
        "  - {id: dot, command: pwd, working_dir: .}\n"
        "  - {id: rel, command: pwd, working_dir: '{{d}}'}\n  - {id: up, command: pwd, cwd: ..}\n"
        "  - {id: home, command: pwd, working_dir: '~'}\n"
        "  - {id: gone, command: pwd, working_dir: nowhere, on_error: continue}\n",
        "-C",
        "base",
    )
    base = workspace.path / "base"
    context = result["context"]
    assert [context[name] for name in ("plain", "dot", "rel", "up", "home")] == [
        str(path) for path in (base, base, base / "inner", workspace.path, workspace.path / "home")
    ]
    assert f"the working directory does not exist: {base}/nowhere" in result["step_results"][-1]["error"]


LOOPS = """\
name: r
context: {n: 0, item: mine}
steps:
  - id: rows
    foreach: [a, b]
    as: letter
    collect: table
    steps:
      - {id: cells, foreach: [1, 2], parallel: true, command: "echo {{letter}}{{item}}", collect: row}
      - {id: joined, command: "echo {{row.0}}-{{row.1}}"}
  - {id: count, while_condition: "n < 5", command: "echo $(( {{n}} + 1 ))", output: n}
  - id: until
    foreach: [x, y, z]
    command: "echo {{item}}"
    update_context: {last: "{{until}}"}
    break_when: "last == 'y'"
  - {id: never-ends, while_condition: "true", max_while_iterations: 2, command: "echo again"}
  - {id: empty, foreach: [], command: "exit 1", collect: nothing}
"""


def test_loops_of_every_kind(workspace: Workspace) -> None:
    result = run(workspace, LOOPS)
    context = result["context"]
    assert context["table"] == ["a1-a2", "b1-b2"]
    assert (context["n"], context["last"], context["nothing"], context["item"]) == (5, "y", [], "mine")
    assert statuses(result)["never-ends"] == "degraded"
    counts = result["counts"]  # cells, joined, count and until; never-ends; empty
    assert (counts["completed"], counts["degraded"], counts["skipped"]) == (4, 1, 1)


def test_a_flaky_command_is_tried_again(workspace: Workspace) -> None:
    result = run(
        workspace,
        "name: r\nsteps:\n  - {id: s, retry: {max_attempts: 5, initial_delay: 0.01}, "
        "command: 'echo x >> tries; [ $(wc -l < tries) = 3 ]'}\n"
        "  - {id: t, on_error: continue, retry: {max_attempts: 5, initial_delay: 100}, "
        "command: no-such-program}\n",
    )
    assert [step["attempts"] for step in result["step_results"]] == [3, 1]
    assert result["step_results"][1]["exit_code"] == 127


CHILD = """\
name: child
extends: base
context: {own: default, task: default}
context_validation: {task: nonempty}
steps:
  - {id: see, command: "echo {{task}}/{{own}}/{{items.1}}", output: seen}
  - {id: set, command: "echo changed", output: shared}
"""


def test_sub_recipes_pass_values_both_ways(workspace: Workspace) -> None:
    workspace.write(
        "parts/base.yaml", "name: base\nsteps:\n  - {id: first, command: echo from base, output: based}\n"
    )
    workspace.write("parts/child.yaml", CHILD)
    workspace.write(
        "parts/caller.yaml",
        ("name: caller\nsteps:\n  - {id: call, recipe: child, context: {task: inner, items: '{{list}}'}}\n"),
    )
    result = run(
        workspace,
        "name: r\ncontext: {task: outer, shared: before, list: [1, 2]}\nsteps:\n  - {id: a, recipe: caller}\n"
        "  - {id: b, recipe: child, context_mode: isolated, output: got, context: {task: alone, "
        "items: '{{list}}'}}\n"
        "  - {id: c, recipe: child, context: {task: ' '}, on_error: continue}\n"
        "  - {id: d, recipe: nowhere, on_error: continue}\n"
        "  - {id: e, recipe: ../escape, on_error: continue}\n",
        "-R",
        "parts",
    )
    context = result["context"]
    assert (context["seen"], context["shared"], context["task"], context["based"]) == (
        "inner/default/2",
        "changed",
        "outer",
        "from base",
    )
    assert context["got"] == {
        "own": "default",
        "based": "from base",
        "seen": "alone/default/2",
        "shared": "changed",
    }
    steps = {step["step_id"]: step for step in result["step_results"]}
    assert [child["identity"] for child in steps["a"]["children"][0]["children"]] == [
        "a/call/first",
        "a/call/see",
        "a/call/set",
    ]
    assert "'task' is required but empty or missing" in steps["c"]["error"]
    assert (
        "Sub-recipe 'nowhere' not found. Searched the following directories (in order):\n  - "
        in steps["d"]["error"]
    )
    assert str(workspace.path / "parts") in steps["d"]["error"]
    assert steps["e"]["status"] == "failed"


def test_a_recipe_that_calls_itself_ends(workspace: Workspace) -> None:
    text = "name: r\ncontext: {go: 1}\nsteps:\n  - {id: again, condition: go, recipe: r}\n"
    result = run(workspace, text, exit_code=1)
    assert "Maximum recipe recursion depth (6) exceeded" in result["step_results"][0]["error"]


def test_the_total_of_steps_is_counted_honestly(workspace: Workspace) -> None:
    workspace.write(
        "child.yaml",
        (
            "name: child\nsteps:\n  - {id: x, command: echo x}\n"
            "  - {id: no, command: echo n, condition: 'false'}\n"
        ),
    )
    text = (
        "name: r\nrecursion: {{max_total_steps: {most}}}\nsteps:\n  - {{id: a, recipe: child}}\n"
        "  - {{id: b, foreach: [1, 2], command: echo y}}\n  - {{id: c, condition: x, command: echo z}}\n"
    )
    run(workspace, text.format(most=4))
    result = run(workspace, text.format(most=3), exit_code=1)
    assert result["step_results"][-1]["error"] == "Total step limit (3) exceeded"


@pytest.mark.parametrize("policy", ["continue", "skip_remaining", "fail"])
def test_error_policies_hold_for_every_kind_of_step(workspace: Workspace, policy: str) -> None:
    workspace.write("child.yaml", "name: child\nsteps: [{id: c, command: exit 1}]\n")
    kinds = {
        "bash": "command: exit 1",
        "agent": "prompt: fail",
        "recipe": "recipe: child",
        "each": "foreach: [1], command: exit 1",
        "side": "foreach: [1, 2], parallel: true, command: exit 1",
        "while": "while_condition: 'true', max_while_iterations: 1, command: exit 1",
        "body": "foreach: [1], steps: [{id: inner, command: exit 1}]",
    }
    stages = "".join(
        f"  - name: {name}\n    steps:\n      - {{id: {name}, on_error: {policy}, {fields}}}\n"
        f"      - {{id: {name}-after, command: echo on}}\n"
        for name, fields in kinds.items()
    )
    result = run(
        workspace,
        f"name: r\nstages:\n{stages}",
        "--agent",
        "command:false",
        exit_code=1 if policy == "fail" else 0,
    )
    found = statuses(result)
    after = [name for name in kinds if f"{name}-after" in found]
    assert after == (list(kinds) if policy == "continue" else [])
    if policy == "skip_remaining":
        assert result["never_reached"] == [f"{name}-after" for name in kinds]
        assert {found[name] for name in kinds} == {"failed"}


STRICT = "name: r\n%ssteps:\n  - id: a\n    %s\n    command: |\n%s\n"


@pytest.mark.parametrize(
    "script",
    ["false\necho on", "false | cat\necho on", 'echo "$not_set_anywhere"\necho on', "(exit 3)\necho on"],
)
@pytest.mark.parametrize(
    ("top", "own", "success"),
    [
        ("", "", True),
        ("strict_shell: true\n", "", False),
        ("", "strict_shell: true", False),
        ("strict_shell: true\n", "strict_shell: false", True),
    ],
)
def test_a_strict_shell_ends_at_the_first_command_that_fails(
    workspace: Workspace, script: str, top: str, own: str, success: bool
) -> None:
    body = "\n".join(f"      {line}" for line in script.splitlines())
    workspace.write("r.yaml", STRICT % (top, own, body))
    result = workspace.run("recipe", "run", "r.yaml", "--json").json
    assert result["success"] is success
    assert ("on" in result["step_results"][0]["output"]) is success


def test_a_strict_shell_is_strict_for_scripts_of_any_size(workspace: Workspace) -> None:
    filler = "\n".join(f"      : {'x' * 1000}" for _ in range(200))
    workspace.write("r.yaml", STRICT % ("strict_shell: true\n", "", f"{filler}\n      false\n      echo on"))
    assert workspace.run("recipe", "run", "r.yaml", "--json").json["success"] is False


def test_the_hooks_of_a_strict_recipe_are_strict(workspace: Workspace) -> None:
    text = (
        'name: r\n{}hooks: {{pre_step: "false | cat; touch hooked"}}\nsteps: [{{id: a, command: "true"}}]\n'
    )
    assert "hook pre_step failed" in str(run(workspace, text.format("strict_shell: true\n"))["warnings"])
    assert not (workspace.path / "hooked").exists()
    assert run(workspace, text.format(""))["warnings"] == []
    assert (workspace.path / "hooked").exists()
