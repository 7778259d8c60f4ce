"""`amplihack run`, as a user runs it: a process, a scripted model or a real server on 127.0.0.1."""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.support.model_server import BreakOff, ModelServer, Refuse, Say, UseTool
from tests.support.running import Scene, wait_until
from tests.support.workspace import Answer, Workspace

DONE = "- text: All is well.\n"
WRITES = """\
- tools: [{name: write_file, input: {file_path: made.txt, content: made}}]
- text: Finished.
"""
NO_KEYS = {"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}
needs_openai = pytest.mark.skipif(find_spec("openai") is None, reason="the extra is not here")


def ask(workspace: Workspace, *words: str, script: str = DONE, stdin: str = "") -> Answer:
    workspace.write("script.yaml", script)
    return workspace.run("run", "--model", "scripted:script.yaml", *words, stdin=stdin)


def stored(workspace: Workspace) -> list[dict[str, object]]:
    root = Path(workspace.env["HOME"]) / ".amplihack" / "sessions"
    files = sorted(root.glob("*/transcript.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_the_answer_is_on_stdout_and_the_rest_on_stderr(workspace: Workspace) -> None:
    answer = ask(workspace, "how is it?")
    assert (answer.exit_code, answer.stdout) == (0, "All is well.\n")
    assert "tokens in" in answer.stderr
    assert [each["role"] for each in stored(workspace)] == ["user", "assistant"]


PRINTING = """\
import os
print("noise when it is imported")
os.system("echo noise of a process")
class Look:
    name, description, input_schema = "look", "Looks.", {"type": "object"}
    async def execute(self, given):
        print("noise of a tool")
        from amplifier_core import ToolResult
        return ToolResult(success=True, output="seen")
async def mount(coordinator, config=None):
    print("noise when it is mounted")
    await coordinator.mount("tools", Look(), name="look")
"""


def test_what_modules_print_is_no_part_of_the_answer(workspace: Workspace) -> None:
    workspace.write("modules/tool-look/amplifier_module_tool_look/__init__.py", PRINTING)
    workspace.write(
        "b.yaml",
        "bundle: {name: b}\nsession: {orchestrator: loop-basic, context: context-simple}\n"
        "tools: [{module: tool-look, source: ./modules/tool-look}]\n",
    )
    script = "- tools: [{name: look, input: {}}]\n- text: All is well.\n"
    for flags in (["--quiet"], []):
        answer = ask(workspace, "--bundle", "b.yaml", *flags, "hello", script=script)
        assert (answer.exit_code, answer.stdout) == (0, "All is well.\n"), answer.stderr
        assert answer.stderr.count("noise") >= 4
    assert ask(workspace, "--bundle", "b.yaml", "--json", "hello", script=script).json["status"] == "ok"
    workspace.write("r.yaml", "name: r\nsteps:\n  - {id: a, agent: default, prompt: hello}\n")
    words = ("--agent", "session:b.yaml", "--json")
    found = workspace.run("recipe", "run", "r.yaml", *words, env={"AMPLIHACK_MODEL": "scripted:script.yaml"})
    assert found.json["status"] == "completed", found.stderr
    assert "noise" in found.stderr


def test_a_failure_tells_what_was_paid_for(workspace: Workspace) -> None:
    looks = "tools: [{name: glob, input: {pattern: x*}}]"
    script = (
        f"- {{{looks}, usage: {{input_tokens: 10, output_tokens: 5, cost_usd: '0.25'}}}}\n- {{error: boom}}\n"
    )
    answer = ask(workspace, "--json", "hello", script=script)
    assert answer.exit_code == 1
    found = answer.json
    assert "boom" in found["error"]["what"]
    assert found["error"]["fix"]
    assert (found["status"], found["response"], found["cost_usd"]) == ("failed", "", 0.25)
    assert (found["usage"]["input_tokens"], found["usage"]["output_tokens"]) == (10, 5)
    assert found["session_id"] in answer.stderr
    plain = ask(workspace, "hello", script=script)
    assert plain.exit_code == 1
    assert "10 tokens in, 5 out" in plain.stderr
    assert "$0.2500" in plain.stderr


@pytest.mark.parametrize("how", ["--json", "--quiet"])
def test_an_answer_that_cannot_be_kept_is_given_all_the_same(workspace: Workspace, how: str) -> None:
    workspace.write("script.yaml", json.dumps([{"text": "y" * 50_000}]))
    command = "trap '' XFSZ; ulimit -f 20; exec \"$@\""  # no file gets larger than 20 kB
    words = [sys.executable, "-m", "amplihack", "run", "--model", "scripted:script.yaml", how, "hi"]
    done = subprocess.run(
        ["bash", "-c", command, "-", *words],
        cwd=workspace.path,
        env={**workspace.env, "PYTHONDONTWRITEBYTECODE": "1"},  # Python would keep the half of a module
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert "cannot be stored" in done.stderr
    given = json.loads(done.stdout)["response"] if how == "--json" else done.stdout
    assert given.strip() == "y" * 50_000


def test_words_need_no_quotes(workspace: Workspace) -> None:
    assert ask(workspace, "how", "is", "it?", script="- {text: ok, expect: how is it}").exit_code == 0


def test_json_is_one_document(workspace: Workspace) -> None:
    script = "- {text: fine, usage: {input_tokens: 10, output_tokens: 5, cost_usd: '0.25'}}\n"
    answer = ask(workspace, "--json", "hello", script=script)
    found = answer.json
    assert found["response"] == "fine"
    assert found["cost_usd"] == 0.25
    assert (found["usage"]["input_tokens"], found["usage"]["output_tokens"]) == (10, 5)
    assert (found["bundle"], found["status"], found["denied"]) == ("foundation", "ok", [])
    assert (Path(workspace.env["HOME"]) / ".amplihack" / "sessions" / found["session_id"]).is_dir()


@pytest.mark.parametrize(
    ("words", "stdin", "expected"),
    [
        ((), "the whole prompt", r"\Athe whole prompt\Z"),
        (("-",), "the whole prompt\n", r"\Athe whole prompt\Z"),
        (("review this",), "a diff", r"\Areview this\n\na diff\Z"),
    ],
)
def test_stdin_is_the_prompt_or_comes_with_it(
    workspace: Workspace, words: tuple[str, ...], stdin: str, expected: str
) -> None:
    script = json.dumps([{"text": "ok", "expect": expected}])
    answer = ask(workspace, *words, script=script, stdin=stdin)
    assert (answer.exit_code, answer.stdout) == (0, "ok\n"), answer.stderr


def test_a_mentioned_file_comes_with_the_prompt_but_not_one_that_stdin_mentions(workspace: Workspace) -> None:
    workspace.write("notes.md", "the secret word is plum")
    assert ask(workspace, "read @notes.md", script="- {text: ok, expect: is plum}").exit_code == 0
    piped = ask(workspace, stdin="read @notes.md", script="- {text: ok, expect: is plum}")
    assert (piped.exit_code, "expected 'is plum'" in piped.stderr) == (1, True)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("run",), 2, "nothing came on stdin"),
        (("run", "build.yaml"), 2, "`amplihack recipe run build.yaml`"),
        (("run", "hi"), 4, "amplihack model pull smollm2-135m"),
        (("run", "--model", "scripted:none.yaml", "hi"), 3, "none.yaml"),
        (("run", "--model", "who/knows", "hi"), 2, "which model is 'who/knows'?"),
        (("run", "--model", "anthropic/claude-x", "hi"), 4, "ANTHROPIC_API_KEY"),
        (("run", "--bundle", "nobody-knows", "hi"), 3, "nobody-knows"),
        (("run", "--allow", ":x", "--model", "scripted:script.yaml", "hi"), 2, "--allow"),
        (("run", "-C", "gone", "hi"), 2, "does not exist"),
        (("run", "--model", "./gone.gguf", "hi"), 3, "gone.gguf"),
        (("run", "--model", "local/huge", "hi"), 3, "no local model 'huge'"),
        (("run", "--model", "smollm2-135m", "hi"), 4, "amplihack model pull smollm2-135m"),
    ],
)
def test_what_cannot_be_asked_says_why(
    workspace: Workspace, words: tuple[str, ...], code: int, told: str
) -> None:
    workspace.env |= NO_KEYS
    workspace.write("script.yaml", DONE)
    answer = workspace.run(*words)
    assert (answer.exit_code, answer.stdout) == (code, "")
    assert told in answer.stderr
    assert "fix:" in answer.stderr
    as_json = workspace.run(*words, "--json")
    assert as_json.exit_code == code
    assert as_json.json["error"]["fix"]


def test_the_ways_that_work_are_told(workspace: Workspace) -> None:
    workspace.env |= NO_KEYS
    told = workspace.run("run", "hi").stderr
    assert all(way in told for way in ("two ways", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "model pull"))
    assert "claude" not in told  # answers recipes alone
    workspace.write("r.yaml", "name: r\nsteps:\n- {id: a, prompt: hi}\n")
    told = workspace.run("recipe", "run", "r.yaml").stderr
    assert all(way in told for way in ("three ways", "claude", "npm install", "OPENAI_API_KEY", "model pull"))


def test_nobody_allows_what_changes_something(workspace: Workspace) -> None:
    answer = ask(workspace, "--json", "write it", script=WRITES)
    assert answer.exit_code == 0
    assert not (workspace.path / "made.txt").exists()
    assert answer.json["denied"] == ["Allow write_file: made.txt?"]
    assert "--allow" in answer.stderr


@pytest.mark.parametrize(
    ("flags", "made"),
    [
        (("--yes",), True),
        (("--approval", "auto-edit"), True),
        (("--allow", "write_file"), True),
        (("--allow", "write_file:made.*"), True),
        (("--allow", "write_file:other.*"), False),
        (("--yes", "--deny", "write_file"), False),
        (("--approval", "plan"), False),
    ],
)
def test_flags_allow_and_deny(workspace: Workspace, flags: tuple[str, ...], made: bool) -> None:
    assert ask(workspace, *flags, "write it", script=WRITES).exit_code == 0
    assert (workspace.path / "made.txt").exists() is made


REDIRECTS = [{"tools": [{"name": "bash", "input": {"command": "echo 'hi' > made.txt"}}]}, {"text": "done"}]


def test_a_command_that_redirects_is_allowed_by_its_whole_text_and_that_is_told(workspace: Workspace) -> None:
    answer = ask(workspace, "--allow", "bash", "go", script=json.dumps(REDIRECTS))
    assert not (workspace.path / "made.txt").exists()
    (fix,) = [line for line in answer.stderr.splitlines() if line.startswith("fix: ")]
    told = shlex.split(fix.rpartition("by their whole text: ")[2])
    assert told[:1] == ["--allow"]
    assert ask(workspace, *told, "go", script=json.dumps(REDIRECTS)).exit_code == 0
    assert (workspace.path / "made.txt").read_text() == "hi\n"
    plain = [{"tools": [{"name": "bash", "input": {"command": "touch a && touch b"}}]}, {"text": "done"}]
    assert ask(workspace, "--allow", "bash", "go", script=json.dumps(plain)).exit_code == 0
    assert (workspace.path / "b").exists()
    denied = ask(workspace, "go", script=json.dumps(plain)).stderr
    assert "whole text" not in denied


def test_the_agent_works_in_the_given_directory(workspace: Workspace) -> None:
    (workspace.path / "inside").mkdir()
    assert ask(workspace, "--cwd", "inside", "--yes", "go", script=WRITES).exit_code == 0
    assert (workspace.path / "inside" / "made.txt").exists()


def test_a_turn_that_a_limit_ended_is_not_done(workspace: Workspace) -> None:
    looks = "- tools: [{name: glob, input: {pattern: 'x*'}}]\n"
    script = f"{looks}{looks}- text: no more\n"
    answer = ask(workspace, "--json", "--max-turns", "1", "look", script=script)
    assert (answer.exit_code, answer.json["status"]) == (1, "unfinished")
    assert "limit of 1 steps" in answer.json["reason"]


def test_a_model_that_goes_round_in_circles_is_stopped(workspace: Workspace) -> None:
    script = "at_end: repeat\nsteps:\n- tools: [{name: glob, input: {pattern: 'x*'}}]\n"
    answer = ask(workspace, "look", script=script)
    assert answer.exit_code == 1
    assert "same calls 5 times" in answer.stderr


def test_a_budget_that_is_spent_ends_the_turn(workspace: Workspace) -> None:
    script = "- {tools: [{name: glob, input: {pattern: x}}], usage: {cost_usd: '0.6'}}\n- {text: never}\n"
    answer = ask(workspace, "--budget-usd", "0.5", "look", script=script)
    assert answer.exit_code == 1
    assert "budget of $0.5 is spent" in answer.stderr
    assert "never" not in answer.stdout


def test_the_bundle_of_the_user_is_used(workspace: Workspace) -> None:
    workspace.write(
        "mine/bundle.md",
        "---\nbundle: {name: mine, version: 1.0.0}\nincludes:\n  - bundle: foundation\n---\nYou are Zog.\n",
    )
    assert ask(workspace, "--bundle", "./mine", "--json", "who?").json["bundle"] == "mine"
    workspace.write(".amplihack/settings.yaml", "bundle: {active: ./mine}\n")
    assert ask(workspace, "--json", "who?").json["bundle"] == "mine"
    workspace.write(".amplihack/settings.yaml", "bundle: {added: {foundation: ./mine2}}\n")
    workspace.write(
        "mine2/bundle.md",
        "---\nbundle: {name: other, version: 1.0.0}\nsession: {orchestrator: {module: loop-basic}, "
        "context: {module: context-simple}}\n---\n",
    )
    assert ask(workspace, "--json", "who?").json["bundle"] == "other"


def test_a_failed_module_is_told_and_strict_refuses(workspace: Workspace) -> None:
    bundle = "---\nbundle: {name: b, version: 1.0.0}\nincludes:\n  - bundle: foundation\n"
    workspace.write("b.md", f"{bundle}tools:\n  - module: tool-web\n    config: {{timeout: soon}}\n---\n")
    answer = ask(workspace, "--bundle", "./b.md", "hi")
    assert (answer.exit_code, answer.stdout) == (0, "All is well.\n")
    assert "tool-web" in answer.stderr
    assert ask(workspace, "--bundle", "./b.md", "--strict", "hi").exit_code == 2


def test_ctrl_c_ends_the_turn_and_its_tools(workspace: Workspace) -> None:
    scene = Scene(workspace)
    workspace.write(
        "script.yaml", "- tools: [{name: bash, input: {command: 'touch begun; sleep 60', timeout: 100}}]\n"
    )
    started = scene.start("run", "--yes", "--model", "scripted:script.yaml", "--json", "wait")
    started.wait_for("begun")
    started.process.send_signal(signal.SIGINT)
    out, err = started.process.communicate(timeout=60)
    assert started.process.returncode == 130, err
    assert json.loads(out)["status"] == "interrupted"
    wait_until("no process is left", lambda: not scene.alive())
    roles = [each["role"] for each in stored(workspace)]
    assert roles == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_tool_that_does_not_want_to_end_is_ended_too(workspace: Workspace, how: signal.Signals) -> None:
    scene = Scene(workspace)
    deaf = "#!/bin/bash\ntrap '' TERM INT\ntouch begun\nwhile :; do sleep 1; done\n"
    workspace.write("deaf", deaf).chmod(0o755)
    workspace.write("s.yaml", json.dumps([{"tools": [{"name": "bash", "input": {"command": "./deaf"}}]}]))
    started = scene.start("run", "--model", "scripted:s.yaml", "--yes", "go")
    started.wait_for("begun")
    started.process.send_signal(how)
    _, err = started.process.communicate(timeout=60)
    assert started.process.returncode == 130, err
    assert scene.alive() == []  # nothing outlives the command


@needs_openai
def test_a_service_is_asked_and_its_text_streams(workspace: Workspace) -> None:
    with ModelServer(Say("one two three four", pause=0.4)) as server:
        env = {**workspace.env, **NO_KEYS, "OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "dummy"}
        process = subprocess.Popen(
            [sys.executable, "-m", "amplihack", "run", "--model", "openai/test-model", "count"],
            cwd=workspace.path,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert os.read(process.stdout.fileno(), 3) == b"one"
        assert process.poll() is None  # the rest is still to come
        rest, err = process.communicate(timeout=60)
        assert (process.returncode, rest.decode()) == (0, " two three four\n"), err
        assert server.last.body["model"] == "test-model"
        assert {each["function"]["name"] for each in server.last.body["tools"]} >= {"bash", "read_file"}


@needs_openai
def test_a_service_without_a_key_needs_the_name_of_a_model(workspace: Workspace) -> None:
    with ModelServer(UseTool("glob", {"pattern": "*.md"}), Say("no files")) as server:
        workspace.env |= {**NO_KEYS, "OPENAI_BASE_URL": f"{server.url}/v1"}
        refused = workspace.run("run", "hi")
        assert refused.exit_code == 2
        assert "--model openai/NAME" in refused.stderr
        answer = workspace.run("run", "--model", "openai/mine", "-q", "hi")
        assert (answer.exit_code, answer.stdout, answer.stderr) == (0, "no files\n", "")
        assert server.last.body["model"] == "mine"


@needs_openai
def test_what_a_service_did_not_tell_is_not_reported_as_nothing(workspace: Workspace) -> None:
    workspace.write("r.yaml", "name: r\nsteps:\n  - {id: a, prompt: go}\n")
    with ModelServer(BreakOff("half an"), Say("whole"), Say("silent", counted=False)) as server:
        workspace.env |= {**NO_KEYS, "OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "dummy"}
        answer = workspace.run("run", "hi")
        assert answer.exit_code == 0, answer.stderr
        assert "at least 11 tokens in, 7 out" in answer.stderr
        silent = workspace.run("run", "--json", "hi")
        recipe = workspace.run("recipe", "run", "r.yaml", "--agent", "session", "--json")
    assert "tokens unknown" in silent.stderr
    assert (silent.json["usage"]["input_tokens"], silent.json["usage"]["uncounted"]) == (None, 1)
    assert silent.json["cost_usd"] is None
    assert "tokens unknown" in workspace.run("session", "show", silent.json["session_id"]).stdout
    assert set((recipe.json["usage"] or {}).values()) <= {None}
    assert "unknown tokens" in workspace.run("runs", "show").stdout


@needs_openai
def test_a_refused_key_is_a_failure_with_advice(workspace: Workspace) -> None:
    with ModelServer(Refuse(401, "bad key")) as server:
        workspace.env |= {**NO_KEYS, "OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "dummy"}
        answer = workspace.run("run", "hi")
    assert answer.exit_code == 1
    assert "check the key" in answer.stderr
    assert "dummy" not in answer.stderr


@pytest.mark.skipif(find_spec("anthropic") is None, reason="the extra is not here")
def test_a_key_alone_is_enough(workspace: Workspace) -> None:
    with ModelServer(Say("bonjour")) as server:
        workspace.env |= {**NO_KEYS, "ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_BASE_URL": server.url}
        answer = workspace.run("run", "hi", "--json")
    assert answer.exit_code == 0, answer.stderr
    assert (answer.json["response"], answer.json["model"]) == ("bonjour", "anthropic")
    assert answer.json["cost_usd"] is None  # no price is known


@pytest.mark.parametrize(("answer", "made"), [("y", True), ("a", True), ("n", False), ("", False)])
def test_a_person_is_asked_at_the_terminal(workspace: Workspace, answer: str, made: bool) -> None:
    workspace.write("script.yaml", WRITES)
    command = [sys.executable, "-m", "amplihack", "run", "--model", "scripted:script.yaml", "go"]
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(workspace.path)
        os.execve(sys.executable, command, workspace.env)  # noqa: S606 - the child of a fork
    seen = b""

    def reads(words: bytes) -> bool:
        nonlocal seen
        if select.select([terminal], [], [], 0.1)[0]:
            seen += os.read(terminal, 4096)
        return words in seen

    wait_until("the question", lambda: reads(b"[N]o: "))
    assert b"Allow write_file: made.txt?" in seen
    os.write(terminal, f"{answer}\n".encode())
    wait_until("the answer", lambda: reads(b"Finished."))
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0
    assert (workspace.path / "made.txt").exists() is made


@needs_openai
def test_an_agent_gets_no_file_from_outside_by_a_mention(workspace: Workspace) -> None:
    workspace.write("home/outside.txt", "hush hush")
    workspace.write("work/inside.txt", "well known")
    outside = workspace.path / "home" / "outside.txt"
    (workspace.path / "work" / "link.txt").symlink_to(outside)
    mentions = f"@{outside} @~/outside.txt @../home/outside.txt @link.txt @inside.txt"
    child = UseTool("delegate", {"agent": "self", "instruction": f"read {mentions}"})
    with ModelServer(child, Say("read"), Say("done")) as server:
        workspace.env |= {**NO_KEYS, "OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "dummy"}
        answer = workspace.run("run", "--yes", "-C", "work", "hand it over")
        assert answer.exit_code == 0, answer.stderr
        said = json.dumps([each.body for each in server.asked])
    assert "well known" in said
    assert "hush hush" not in said


GATED = """\
name: gated
stages:
  - {name: first, steps: [{id: a, command: echo a}], approval: {prompt: Go on?}}
  - {name: second, steps: [{id: b, command: touch passed}]}
"""


def test_the_usual_agent_drives_recipes_and_a_gate_stays_with_a_person(workspace: Workspace) -> None:
    workspace.write("gated.yaml", GATED)
    begun = ask(
        workspace,
        "go",
        "--yes",
        script="- tools: [{name: recipes, input: {action: run, recipe: gated.yaml}}]\n- text: It waits.\n",
    )
    assert begun.exit_code == 0, begun.stderr
    run = json.loads(workspace.run("runs", "list", "--json").stdout)[0]["run_id"]
    decides = f"""\
- tools: [{{name: recipes, input: {{action: approve, run: {run}}}}}]
- tools: [{{name: recipes, input: {{action: resume, run: {run}}}}}]
- text: Done.
"""
    refused = ask(workspace, "go on", "--yes", script=decides)
    assert "recipes:approve*" in refused.stderr
    assert not (workspace.path / "passed").exists()
    ask(workspace, "go on", "--yes", "--allow", "recipes:approve*", script=decides)
    assert (workspace.path / "passed").exists()


@pytest.mark.parametrize(
    "guard",
    [
        "{module: hooks-approval, config: {rules: [{action: perhaps}]}}",
        "{module: hooks-cost, config: {budget_usd: much}}",
        "{module: hooks-redaction, config: {patterns: ['(']}}",
    ],
)
def test_a_session_is_not_opened_without_what_guards_it(workspace: Workspace, guard: str) -> None:
    workspace.write(
        "mine.md", f"---\nbundle: {{name: mine}}\nincludes: [{{bundle: foundation}}]\nhooks: [{guard}]\n---\n"
    )
    answer = ask(workspace, "go", "--bundle", "mine.md", script=WRITES)
    assert answer.exit_code != 0
    assert "hooks-" in answer.stderr
    assert "fix: " in answer.stderr
    assert not (workspace.path / "made.txt").exists()
    assert stored(workspace) == []


@pytest.mark.skipif(find_spec("anthropic") is None, reason="the extra is not here")
def test_a_bundle_with_a_provider_that_has_no_key_says_which(workspace: Workspace) -> None:
    included = "[{bundle: foundation}, {bundle: foundation:providers/anthropic-opus}]"
    workspace.write("mine.md", f"---\nbundle: {{name: mine}}\nincludes: {included}\n---\n")
    answer = workspace.run("run", "hi", "--bundle", "mine.md", env=NO_KEYS)
    assert "provider-anthropic has no key" in answer.stderr
    assert "fix: set ANTHROPIC_API_KEY" in answer.stderr


def test_the_list_of_what_is_to_do_is_there_in_a_resumed_session(workspace: Workspace) -> None:
    todos = "[{content: Run the tests, status: pending}]"
    ask(
        workspace,
        "plan",
        script=f"- tools: [{{name: todo, input: {{action: create, todos: {todos}}}}}]\n- text: Planned.\n",
    )
    ask(
        workspace,
        "--resume",
        "last",
        "go on",
        "--max-turns",
        "1",
        script="rules:\n- {when: go on, tools: [{name: todo, input: {action: list}}]}\nat_end: echo\n",
    )
    results = [str(each["content"]) for each in stored(workspace) if each["role"] == "tool"]
    assert len(results) == 2
    assert "Run the tests" in results[1]


FAMILY = """\
rules:
- when: work hard
  tools: [{name: glob, input: {pattern: x}}]
  usage: {cost_usd: '0.4'}
- when: lead
  tools:
  - {name: delegate, input: {agent: "foundation:explorer", instruction: work hard on a}}
  - {name: delegate, input: {agent: "foundation:explorer", instruction: work hard on b}}
  - {name: delegate, input: {agent: "foundation:explorer", instruction: work hard on c}}
  usage: {cost_usd: '0.1'}
at_end: echo
"""


def test_agents_share_the_budget_of_the_session(workspace: Workspace) -> None:
    answer = ask(workspace, "lead", "--yes", "--budget-usd", "1", "--json", script=FAMILY)
    told = json.loads(answer.stdout)
    assert told["status"] == "unfinished"
    assert "budget of $1 is spent" in told["reason"]
    assert told["cost_usd"] <= 2.1  # each may have asked when the last of it was spent, and no more
