"""Agent steps that sessions of our own answer: `--agent session[:bundle]`, as a user runs them."""

from __future__ import annotations

import json
import signal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.support.ecosystem import LOOP, write_module
from tests.support.model_server import ModelServer, Refuse, Say, UseTool
from tests.support.running import Scene, wait_until
from tests.support.scripted_families import PAID, a_family, bash, delegate, says, uses
from tests.support.workspace import Answer, Workspace

NO_KEYS = {"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "", "OPENAI_BASE_URL": "", "AMPLIHACK_MODEL": ""}
ASK = "name: ask\nsteps:\n  - {id: before, command: touch ran}\n  - {id: ask, prompt: 'say hello'}\n"
WRITES = [
    {"tools": [{"name": "write_file", "input": {"file_path": "made.txt", "content": "made"}}]},
    {"text": "finished"},
]
needs_openai = pytest.mark.skipif(find_spec("openai") is None, reason="the extra is not here")


def run(workspace: Workspace, recipe: str, script: Any, *words: str, agent: str = "session") -> Answer:
    workspace.write("recipe.yaml", recipe)
    workspace.write("script.yaml", json.dumps(script))
    workspace.env["AMPLIHACK_MODEL"] = "scripted:script.yaml"
    return workspace.run("recipe", "run", "recipe.yaml", "--agent", agent, *words)


def without_tools_on_the_path(workspace: Workspace) -> None:
    """Let neither claude nor copilot nor codex be found, whatever this machine has."""
    workspace.env |= {**NO_KEYS, "PATH": "/usr/bin:/bin"}


def test_a_session_answers_with_tokens_and_cost(workspace: Workspace) -> None:
    usage = {"input_tokens": 10, "output_tokens": 4, "cost_usd": "0.25"}
    answer = run(workspace, ASK, [{"text": "hello", "expect": "say hello", "usage": usage}], "--json")
    assert answer.exit_code == 0, answer.stderr
    step = answer.json["step_results"][1]
    assert (step["output"], step["cost_usd"]) == ("hello", 0.25)
    assert (step["usage"]["input_tokens"], step["usage"]["output_tokens"]) == (10, 4)
    assert (answer.json["cost_usd"], answer.json["usage"]["input_tokens"]) == (0.25, 10)


def test_nothing_of_a_step_is_kept_among_the_sessions(workspace: Workspace) -> None:
    recipe = "name: s\nsecrets: [token]\nsteps:\n  - {id: ask, prompt: 'use {{token}}'}\n"
    answer = run(workspace, recipe, [{"text": "I used s3cr3t-value", "expect": "s3cr3t-value"}], "--set",
                 "token=s3cr3t-value", "--show-output")  # fmt: skip
    assert answer.exit_code == 0, answer.stderr
    assert "s3cr3t-value" not in answer.stdout + answer.stderr
    home = Path(workspace.env["HOME"])
    assert [each for each in home.rglob("*") if each.is_file() and b"s3cr3t-value" in each.read_bytes()] == []


AGENTS = """\
---
bundle: {name: mine, version: 1.0.0}
includes:
  - bundle: foundation
agents:
  poet:
    description: writes
    instruction: You write in verse.
    tools: []
spawn: {tools: [tool-search]}
---
You are the bundle.
"""


@needs_openai
@pytest.mark.parametrize("reference", ["poet", "foundation:explorer"])
def test_an_agent_of_the_bundle_has_its_own_prompt_and_tools(workspace: Workspace, reference: str) -> None:
    workspace.write("mine/bundle.md", AGENTS)
    workspace.write(
        "r.yaml", f"name: r\ndialect: amplihack\nsteps:\n  - {{id: a, agent: '{reference}', prompt: go}}\n"
    )
    with ModelServer(Say("roses are red")) as server:
        workspace.env |= {**NO_KEYS, "OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "dummy"}
        answer = workspace.run("recipe", "run", "r.yaml", "--agent", "session:./mine", "--show-output")
        asked = server.last.body
    assert answer.exit_code == 0, answer.stderr
    assert "roses are red" in answer.stdout
    assert "without this persona" not in answer.stderr
    system = json.dumps([each for each in asked["messages"] if each["role"] == "system"])
    assert ("in verse" if reference == "poet" else "change nothing") in system
    assert "You are the bundle" not in system
    assert {each["function"]["name"] for each in asked["tools"]} == {"grep", "glob"}


def test_an_agent_that_nobody_has_is_told(workspace: Workspace) -> None:
    recipe = "name: r\nsteps:\n  - {id: a, agent: nobody, prompt: go}\n"
    answer = run(workspace, recipe, [{"text": "ok"}])
    assert answer.exit_code == 0
    assert "nobody" in answer.stderr
    assert "amplihack agents" in answer.stderr
    assert run(workspace, recipe, [{"text": "ok"}], "--strict-agents").exit_code == 1


@needs_openai
@pytest.mark.parametrize(
    ("step", "model", "told"),
    [
        ("model: gpt-5-mini", "gpt-5-mini", ""),
        (
            "provider_preferences: [{provider: anthropic, model: claude-x}, {provider: openai, model: big}]",
            "big",
            "",
        ),
        ("provider_preferences: [{provider: nobody, model: x}]", "usual", "about model"),
        ("model: claude-sonnet-4-5", "usual", "about model"),
    ],
)
def test_models_and_preferences_are_followed_or_told(
    workspace: Workspace, step: str, model: str, told: str
) -> None:
    workspace.write("r.yaml", f"name: r\nsteps:\n  - id: a\n    prompt: go\n    mode: REVIEW\n    {step}\n")
    with ModelServer(Say("done")) as server:
        keys = {"OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "dummy"}
        workspace.env |= {**NO_KEYS, **keys, "AMPLIHACK_MODEL": "openai/usual"}
        answer = workspace.run("recipe", "run", "r.yaml", "--agent", "session")
        assert answer.exit_code == 0, answer.stderr
        assert server.last.body["model"] == model
        assert "MODE: REVIEW" in server.last.text
    assert told in answer.stderr
    assert ("cannot use" in answer.stderr) is bool(told)


NEWEST = ("claude-haiku-3-20240307", "claude-haiku-4-5", "claude-haiku-4-10", "claude-opus-9", "gpt-5-mini")


@pytest.mark.skipif(find_spec("anthropic") is None, reason="the extra is not here")
@pytest.mark.parametrize(
    ("step", "model", "told"),
    [
        ("provider_preferences: [{provider: anthropic, model: 'claude-haiku-*'}]", "claude-haiku-4-10", ""),
        ("provider_preferences: [{provider: anthropic, model: 'CLAUDE-haiku-4-?'}]", "claude-haiku-4-5", ""),
        ("provider_preferences: [{provider: anthropic, model: 'claude-[op]*'}]", "claude-opus-9", ""),
        (
            "provider_preferences: [{provider: openai, model: 'gpt-*'}, {provider: anthropic, model: 'x-*'}, "
            "{provider: anthropic, model: 'claude-haiku-3*'}]",
            "claude-haiku-3-20240307",
            "",
        ),
        ("provider_preferences: [{provider: anthropic, model: 'x-*'}]", "usual", "about model"),
        ("provider_preferences: [{provider: openai, model: 'gpt-*'}]", "usual", "about model"),
        ("model: 'claude-haiku-*'", "claude-haiku-4-10", ""),
    ],
)
def test_a_pattern_means_the_newest_model_that_fits(
    workspace: Workspace, step: str, model: str, told: str
) -> None:
    asks = "".join(f"  - id: {name}\n    prompt: go\n    {step}\n" for name in "ab")
    workspace.write("r.yaml", f"name: r\nsteps:\n{asks}")
    with ModelServer(Say("done"), models=NEWEST) as server:
        keys = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "dummy"}
        workspace.env |= {**NO_KEYS, **keys, "AMPLIHACK_MODEL": "anthropic/usual"}
        answer = workspace.run("recipe", "run", "r.yaml", "--agent", "session")
        assert answer.exit_code == 0, answer.stderr
        assert [each.body["model"] for each in server.asked] == [model, model]
    assert told in answer.stderr
    assert ("cannot use" in answer.stderr) is bool(told)
    assert "not a name" not in answer.stderr


@needs_openai
def test_a_pattern_is_resolved_at_a_service_of_ones_own(workspace: Workspace) -> None:
    listed = "{provider: openai, model: 'mine-*'}"
    workspace.write(
        "r.yaml", f"name: r\nsteps:\n  - {{id: a, prompt: go, provider_preferences: [{listed}]}}\n"
    )
    with ModelServer(Say("done"), models=("mine-1", "mine-2", "other")) as server:
        keys = {"OPENAI_BASE_URL": f"{server.url}/v1", "AMPLIHACK_MODEL": "openai/usual"}
        workspace.env |= {**NO_KEYS, **keys}
        answer = workspace.run("recipe", "run", "r.yaml", "--agent", "session")
        assert answer.exit_code == 0, answer.stderr
        assert server.last.body["model"] == "mine-2"


@needs_openai
def test_a_schema_is_sent_to_a_provider_that_knows_it(workspace: Workspace) -> None:
    schema = "{type: object, properties: {n: {type: integer}}, required: [n], additionalProperties: false}"
    asks = f"{{id: a, prompt: go, parse_json: true, json_schema: {schema}, output: found}}"
    workspace.write(
        "r.yaml", f"name: r\nsteps:\n  - {asks}\n  - {{id: b, command: 'echo n={{{{found.n}}}}'}}\n"
    )
    with ModelServer(Say('{"n": 7}')) as server:
        workspace.env |= {**NO_KEYS, "OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "dummy"}
        answer = workspace.run("recipe", "run", "r.yaml", "--agent", "session", "--show-output")
        assert answer.exit_code == 0, answer.stderr
        assert "n=7" in answer.stdout
        assert server.last.body["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize("allow", ["--yes", "AMPLIHACK_ALLOW_ALL_TOOLS"])
def test_tools_are_allowed_when_the_user_says_so(workspace: Workspace, allow: str) -> None:
    if allow.startswith("AMPLIHACK"):
        workspace.env[allow] = "1"
    assert run(workspace, ASK, WRITES, *([allow] if allow == "--yes" else [])).exit_code == 0
    assert (workspace.path / "made.txt").read_text() == "made"


def test_a_step_works_in_its_own_directory_with_the_environment_of_the_run(workspace: Workspace) -> None:
    (workspace.path / "inner").mkdir()
    command = 'pwd > seen; echo "$AMPLIHACK_AGENT_BINARY $AMPLIHACK_SESSION_DEPTH" >> seen'
    script = [{"tools": [{"name": "bash", "input": {"command": command}}]}, {"text": "ok"}]
    recipe = "name: r\nsteps:\n  - {id: a, prompt: go, working_dir: inner}\n"
    assert run(workspace, recipe, script, "--yes").exit_code == 0
    seen = (workspace.path / "inner" / "seen").read_text().split()
    assert seen == [str((workspace.path / "inner").resolve()), "session", "1"]


def test_agents_that_are_nested_too_deeply_fail(workspace: Workspace) -> None:
    workspace.env["AMPLIHACK_SESSION_DEPTH"] = "6"
    answer = run(workspace, ASK, [{"text": "ok"}])
    assert answer.exit_code == 1
    assert "nested too deeply" in answer.stdout + answer.stderr


def test_a_time_limit_ends_the_turn_and_its_tools(workspace: Workspace) -> None:
    scene = Scene(workspace)
    script = [{"tools": [{"name": "bash", "input": {"command": "sleep 60", "timeout": 100}}]}]
    recipe = "name: r\nsteps:\n  - {id: a, prompt: go, timeout: 2}\n"
    answer = run(workspace, recipe, script, "--yes")
    assert answer.exit_code == 1
    assert "timed out after 2s" in answer.stdout + answer.stderr
    assert scene.alive() == []


def test_a_model_that_says_nothing_for_too_long_is_given_up(workspace: Workspace) -> None:
    recipe = "name: r\nsteps:\n  - {id: a, prompt: go, idle_timeout: 1}\n"
    answer = run(workspace, recipe, [{"text": "late", "delay": 60}])
    assert answer.exit_code == 1
    assert "did nothing for 1s" in answer.stdout + answer.stderr


def test_a_turn_that_was_not_finished_is_no_success(workspace: Workspace) -> None:
    script = {"at_end": "repeat", "steps": [{"tools": [{"name": "glob", "input": {"pattern": "x"}}]}]}
    answer = run(workspace, ASK, script)
    assert answer.exit_code == 1
    assert "stopped before it was done" in answer.stdout + answer.stderr


def test_an_interrupted_run_ends_everything_and_goes_on_with_the_step(workspace: Workspace) -> None:
    scene = Scene(workspace)
    workspace.write("recipe.yaml", ASK)
    busy = [{"tools": [{"name": "bash", "input": {"command": "touch begun; sleep 60", "timeout": 100}}]}]
    workspace.write("script.yaml", json.dumps(busy))
    workspace.env["AMPLIHACK_MODEL"] = "scripted:script.yaml"
    started = scene.start("recipe", "run", "recipe.yaml", "--agent", "session", "--yes")
    started.wait_for("begun")
    started.process.send_signal(signal.SIGINT)
    _, err = started.process.communicate(timeout=60)
    assert started.process.returncode == 130, err
    wait_until("no process is left", lambda: not scene.alive())
    (workspace.path / "ran").unlink()
    workspace.write("script.yaml", json.dumps([{"text": "hello again"}]))
    answer = workspace.run("runs", "resume", "--agent", "session", "--json")
    assert answer.exit_code == 0, answer.stderr
    assert answer.json["step_results"][1]["output"] == "hello again"
    assert not (workspace.path / "ran").exists()  # what was done is not done again


@needs_openai
def test_a_rate_limit_is_waited_out(workspace: Workspace) -> None:
    workspace.write("r.yaml", "name: r\nsteps:\n  - {id: a, prompt: go}\n")
    busy = Refuse(429, "slow down", {"retry-after": "0"})
    with ModelServer(busy, busy, busy, busy, Say("at last")) as server:
        keys = {"OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "dummy"}
        workspace.env |= {**NO_KEYS, **keys, "AMPLIHACK_RATELIMIT_BASE_DELAY_SECS": "0"}
        answer = workspace.run("recipe", "run", "r.yaml", "--agent", "session", "--show-output")
    assert answer.exit_code == 0, answer.stderr
    assert "at last" in answer.stdout


# What was paid for without an answer ------------------------------------------------------------------

USED = {"input_tokens": 10, "output_tokens": 4, "cost_usd": "0.25"}
LOOKS = {"tools": [{"name": "glob", "input": {"pattern": "x*"}}], "usage": USED}


def sleeps(seconds: int) -> dict[str, Any]:
    command = f"touch begun; sleep {seconds}"
    return {"tools": [{"name": "bash", "input": {"command": command, "timeout": 100}}], "usage": USED}


def spent(result: dict[str, Any]) -> tuple[Any, Any, Any]:
    return result["usage"]["input_tokens"], result["usage"]["output_tokens"], result["cost_usd"]


def kept_spending(workspace: Workspace) -> tuple[Any, Any, Any]:
    """Return what `runs show` tells, which must agree with itself."""
    shown = workspace.run("runs", "show", "--json").json
    (step,) = [each for each in shown["steps"] if each["step_id"] == "ask"]
    assert spent(shown) == spent(step)
    return spent(step)


@pytest.mark.parametrize(
    ("step", "script", "times", "told"),
    [
        ("", [LOOKS, {"error": "boom"}], 1, "boom"),
        ("timeout: 6", [sleeps(60)], 1, "timed out after 6s"),
        ("idle_timeout: 4", [LOOKS, {"text": "late", "delay": 60}], 1, "did nothing for 4s"),
        ("", {"at_end": "repeat", "steps": [LOOKS]}, 6, "stopped before it was done"),
        ("", [LOOKS, {"text": " ", "usage": USED}], 2, "empty answer"),
    ],
    ids=["error", "timeout", "idle", "limit", "empty"],
)
def test_what_a_failed_step_took_is_counted(
    workspace: Workspace, step: str, script: Any, times: int, told: str
) -> None:
    recipe = f"name: r\nsteps:\n  - id: ask\n    prompt: go\n    {step}\n"
    answer = run(workspace, recipe, script, "--yes", "--json")
    assert answer.exit_code == 1, answer.stderr
    assert told in answer.json["step_results"][0]["error"]
    expected = (10 * times, 4 * times, 0.25 * times)
    assert spent(answer.json["step_results"][0]) == spent(answer.json) == expected
    assert kept_spending(workspace) == expected


@pytest.mark.skipif(find_spec("anthropic") is None, reason="the extra is not here")
def test_an_answer_that_is_cut_off_in_the_middle_is_counted(workspace: Workspace) -> None:
    with ModelServer(Say("one two three", pause=100)) as server:
        workspace.env |= {**NO_KEYS, "ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_BASE_URL": server.url}
        for limit in (3, 15, 60):  # a busy machine may need longer to hear the first word
            workspace.write("r.yaml", f"name: r\nsteps:\n  - {{id: ask, prompt: go, timeout: {limit}}}\n")
            answer = workspace.run("recipe", "run", "r.yaml", "--agent", "session", "--json")
            assert "timed out" in answer.json["step_results"][0]["error"]
            if answer.json["usage"] is not None:
                break
    assert spent(answer.json) == (14, 1, None)  # what the service told at the beginning of its answer


def test_of_a_model_that_never_answered_nothing_is_known(workspace: Workspace) -> None:
    answer = run(workspace, ASK, [{"error": "boom"}], "--json")
    assert answer.exit_code == 1
    assert (answer.json["usage"], answer.json["cost_usd"]) == (None, None)  # unknown is not 0


def test_each_attempt_is_counted_once(workspace: Workspace) -> None:
    recipe = "name: r\nsteps:\n  - id: ask\n    prompt: go\n    retry: {max_attempts: 2, initial_delay: 0}\n"
    answer = run(workspace, recipe, [LOOKS, {"error": "boom"}], "--json")
    assert answer.json["step_results"][0]["attempts"] == 2
    assert spent(answer.json) == (20, 8, 0.5)
    again = workspace.run("runs", "resume", "--agent", "session", "--json")  # what it took before is kept
    assert spent(again.json) == (40, 16, 1.0)
    assert kept_spending(workspace) == (40, 16, 1.0)


def test_what_an_interrupted_step_took_is_counted(workspace: Workspace) -> None:
    scene = Scene(workspace)
    workspace.write("recipe.yaml", ASK)
    workspace.write("script.yaml", json.dumps([sleeps(60)]))
    workspace.env["AMPLIHACK_MODEL"] = "scripted:script.yaml"
    started = scene.start("recipe", "run", "recipe.yaml", "--agent", "session", "--yes")
    started.wait_for("begun")
    started.process.send_signal(signal.SIGINT)
    started.process.communicate(timeout=60)
    assert started.process.returncode == 130
    assert kept_spending(workspace) == (10, 4, 0.25)
    workspace.write("script.yaml", json.dumps([{"text": "hello again", "usage": USED}]))
    answer = workspace.run("runs", "resume", "--agent", "session", "--json")
    assert answer.exit_code == 0, answer.stderr
    assert spent(answer.json) == (20, 8, 0.5)


# Which agent, when nobody says ------------------------------------------------------------------------


def test_with_neither_tool_nor_model_nothing_begins(workspace: Workspace) -> None:
    without_tools_on_the_path(workspace)
    workspace.write("recipe.yaml", ASK)
    for words in ((), ("--agent", "session")):
        answer = workspace.run("recipe", "run", "recipe.yaml", *words)
        assert answer.exit_code == 4
        assert "amplihack model pull smollm2-135m" in answer.stderr
        assert not (workspace.path / "ran").exists()


@needs_openai
def test_a_key_is_enough_for_an_agent_step(workspace: Workspace) -> None:
    without_tools_on_the_path(workspace)
    workspace.write("recipe.yaml", ASK)
    with ModelServer(UseTool("glob", {"pattern": "*"}), Say("hello")) as server:
        workspace.env |= {"OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "dummy"}
        answer = workspace.run("recipe", "run", "recipe.yaml", "--json")
    assert answer.exit_code == 0, answer.stderr
    assert answer.json["step_results"][1]["output"] == "hello"


def test_a_provider_of_the_settings_is_enough(workspace: Workspace) -> None:
    without_tools_on_the_path(workspace)
    workspace.write("recipe.yaml", ASK)
    provider = {"module": "provider-scripted", "config": {"steps": [{"text": "from settings"}]}}
    workspace.write(".amplihack/settings.yaml", json.dumps({"providers": [provider]}))
    answer = workspace.run("recipe", "run", "recipe.yaml", "--json")
    assert answer.exit_code == 0, answer.stderr
    assert answer.json["step_results"][1]["output"] == "from settings"


def test_an_installed_tool_comes_before_a_session(workspace: Workspace) -> None:
    without_tools_on_the_path(workspace)
    tool = workspace.write("bin/claude", "#!/bin/sh\necho 'claude was here'\n")
    tool.chmod(0o755)
    workspace.env |= {"PATH": f"{tool.parent}:/usr/bin:/bin", "OPENAI_API_KEY": "dummy"}
    workspace.write("recipe.yaml", ASK)
    answer = workspace.run("recipe", "run", "recipe.yaml", "--json")
    assert answer.json["step_results"][1]["output"] == "claude was here"


def test_a_bundle_that_is_not_there_is_refused_before_the_first_step(workspace: Workspace) -> None:
    answer = run(workspace, ASK, [{"text": "ok"}], agent="session:no-such-bundle")
    assert answer.exit_code == 3
    assert not (workspace.path / "ran").exists()


def test_a_bundle_that_is_no_session_is_refused_before_the_first_step(workspace: Workspace) -> None:
    workspace.write("mine.yaml", "bundle: {name: mine}\ntools: [{module: tool-todo}]\n")
    answer = run(workspace, ASK, [{"text": "ok"}], agent="session:./mine.yaml")
    assert answer.exit_code == 2
    assert "session.orchestrator is missing" in answer.stderr
    assert "bundle: foundation" in answer.stderr
    assert not (workspace.path / "ran").exists()
    asked = workspace.run("run", "--bundle", "./mine.yaml", "hi")
    assert (asked.exit_code, asked.stderr.splitlines()[:1]) == (2, answer.stderr.splitlines()[:1])


def test_settings_of_the_home_choose_the_agent_and_those_of_a_project_do_not(workspace: Workspace) -> None:
    without_tools_on_the_path(workspace)
    workspace.write("recipe.yaml", ASK)
    answers = workspace.write("answers.yaml", "- reply: from the settings\n")
    workspace.write(".amplihack/settings.yaml", f"agent: 'scripted:{answers}'\n")
    assert workspace.run("recipe", "run", "recipe.yaml").exit_code == 4
    workspace.write("home/.amplihack/settings.yaml", f"agent: 'scripted:{answers}'\n")
    answer = workspace.run("recipe", "run", "recipe.yaml", "--json")
    assert answer.exit_code == 0, answer.stderr
    assert answer.json["step_results"][1]["output"] == "from the settings"


# What tools may do: the gates of the run --------------------------------------------------------------

ZERO_WIDTH = "\u200b"
ASKS_TWICE = [
    {"tools": [{"name": "glob", "input": {"pattern": "*"}}], "usage": PAID},
    {
        "tools": [
            {"name": "write_file", "input": {"file_path": "made.txt", "content": "made"}},
            {"name": "bash", "input": {"command": f"touch hi{ZERO_WIDTH}"}},
            {"name": "glob", "input": {"pattern": "*.yaml"}},
        ],
        "usage": PAID,
    },
]
ENDS = [{"text": "finished", "usage": PAID}]


def gates(workspace: Workspace) -> list[tuple[str, str | None]]:
    shown = workspace.run("runs", "show", "--json").json
    return [(each["prompt"], each["decision"]) for each in shown["gates"]]


def resume(workspace: Workspace, script: Any, *words: str) -> Answer:
    workspace.write("script.yaml", json.dumps(script))
    return workspace.run("runs", "resume", "--json", *words)


def test_a_run_waits_for_what_a_tool_may_do_and_goes_on_in_the_same_turn(workspace: Workspace) -> None:
    answer = run(workspace, ASK, ASKS_TWICE, "--json")
    assert (answer.exit_code, answer.json["status"]) == (1, "waiting"), answer.stderr
    assert [each["status"] for each in answer.json["step_results"]] == ["completed", "waiting"]
    assert spent(answer.json) == kept_spending(workspace) == (20, 8, 0.5)
    assert workspace.run("runs", "list", "--json").json[0]["status"] == "waiting"
    writing, touching = "Allow write_file: made.txt?", "Allow bash: touch hi\\u200b?"
    ids = {each["prompt"]: each["identity"] for each in workspace.run("runs", "show", "--json").json["gates"]}
    assert set(ids) == {writing, touching}
    several = workspace.run("runs", "approve")
    assert several.exit_code == 2
    assert "choose one with --stage" in several.stderr
    told = workspace.run("runs", "approve", "--stage", ids[writing], "--json").json
    assert (told["step"], told["decision"], bool(told["by"]), bool(told["at"])) == (
        "ask",
        "approved",
        True,
        True,
    )
    denied = workspace.run("runs", "deny", "-m", "never touch it")
    assert "goes on without it" in denied.stderr
    assert "was denied already" in workspace.run("runs", "approve", "--stage", ids[touching]).stderr
    (workspace.path / "ran").unlink()
    done = resume(workspace, ENDS)
    assert done.exit_code == 0, done.stderr
    assert done.json["step_results"][1]["output"] == "finished"
    assert (workspace.path / "made.txt").read_text() == "made"
    assert not list(workspace.path.glob("hi*"))
    assert not (workspace.path / "ran").exists()
    assert spent(done.json) == kept_spending(workspace) == (30, 12, 0.75)  # what was paid is not paid again
    assert "not allowed to use bash: touch hi\\u200b" in done.stderr
    assert sorted(gates(workspace)) == [(touching, "denied"), (writing, "approved")]


@needs_openai
def test_a_turn_that_goes_on_has_every_result_and_what_the_person_said(workspace: Workspace) -> None:
    workspace.write("r.yaml", "name: r\nsteps:\n  - {id: ask, prompt: go}\n")
    first = UseTool("bash", {"command": "touch made"})
    with ModelServer(first, Say("done")) as server:
        keys = {"OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "dummy"}
        workspace.env |= {**NO_KEYS, **keys}
        assert workspace.run("recipe", "run", "r.yaml", "--agent", "session").exit_code == 1
        assert len(server.asked) == 1
        workspace.run("runs", "deny", "-m", "use git")
        done = workspace.run("runs", "resume", "--json")
        assert done.exit_code == 0, done.stderr
        assert len(server.asked) == 2
        said = server.last.body["messages"]
    assert [each["role"] for each in said] == ["system", "user", "assistant", "tool", "user"]
    assert said[3]["tool_call_id"] == said[2]["tool_calls"][0]["id"]
    assert "use git" in str(said[4]["content"])
    assert not (workspace.path / "made").exists()


def test_a_run_that_is_resumed_without_an_answer_waits_again(workspace: Workspace) -> None:
    assert run(workspace, ASK, WRITES).exit_code == 1
    again = resume(workspace, ENDS)
    assert (again.exit_code, again.json["status"]) == (1, "waiting")
    assert gates(workspace) == [("Allow write_file: made.txt?", None)]
    workspace.run("runs", "approve")
    assert resume(workspace, ENDS).exit_code == 0
    assert (workspace.path / "made.txt").read_text() == "made"


def test_an_answer_counts_once(workspace: Workspace) -> None:
    twice = [*WRITES[:1], *WRITES[:1]]
    assert run(workspace, ASK, twice).exit_code == 1
    workspace.run("runs", "approve")
    assert resume(workspace, twice).json["status"] == "waiting"  # the same once more
    (workspace.path / "made.txt").unlink()
    assert [decision for _, decision in gates(workspace)] == ["approved", None]
    workspace.run("runs", "deny")
    assert resume(workspace, ENDS).exit_code == 0
    assert not (workspace.path / "made.txt").exists()


SECRET = ("--set", "token=s3cr3t-value")
HOLDS = "name: s\nsecrets: [token]\nsteps:\n  - {id: ask, prompt: 'use {{token}}'}\n"


def nothing_on_the_disk(workspace: Workspace, *forms: bytes) -> bool:
    files = [each for each in Path(workspace.env["HOME"]).rglob("*") if each.is_file()]
    return not [each for each in files for form in forms if form in each.read_bytes()]


def test_a_conversation_with_a_secret_is_kept_without_it_and_goes_on(workspace: Workspace) -> None:
    calls = [uses(bash("echo s3cr3t-value > made"))]
    answer = run(workspace, HOLDS, [*calls, *ENDS], *SECRET)
    assert answer.exit_code == 1
    assert gates(workspace) == [("Allow bash: echo *** > made?", None)]
    assert nothing_on_the_disk(workspace, b"s3cr3t-value")
    workspace.run("runs", "approve")
    done = resume(workspace, [*calls, *ENDS], *SECRET)
    assert done.exit_code == 0, done.stderr
    assert (workspace.path / "made").read_text() == "s3cr3t-value\n"
    assert spent(done.json) == (20, 8, 0.5)  # nothing is paid again
    assert nothing_on_the_disk(workspace, b"s3cr3t-value")


def test_a_secret_that_was_changed_meanwhile_stands_in_its_place(workspace: Workspace) -> None:
    script = [uses(bash("echo s3cr3t-value > made")), *ENDS]
    assert run(workspace, HOLDS, script, *SECRET).exit_code == 1
    workspace.run("runs", "approve")
    done = resume(workspace, script, "--set", "token=an0ther-value")
    assert done.exit_code == 0, done.stderr
    assert (workspace.path / "made").read_text() == "an0ther-value\n"
    assert spent(done.json) == (20, 8, 0.5)


def test_a_conversation_that_spells_a_secret_is_not_kept_and_begins_again(workspace: Workspace) -> None:
    calls = [uses(bash("echo czNjcjN0LXZhbHVl > made"))]  # in base64
    assert run(workspace, HOLDS, calls, *SECRET).exit_code == 1
    assert nothing_on_the_disk(workspace, b"s3cr3t-value", b"czNjcjN0LXZhbHVl")
    workspace.run("runs", "approve")
    done = resume(workspace, [*calls, *ENDS], *SECRET)
    assert done.exit_code == 0, done.stderr
    assert "holds a secret" in done.stderr
    assert (workspace.path / "made").exists()
    assert spent(done.json) == (30, 12, 0.75)


def test_a_run_that_is_not_kept_waits_for_nobody(workspace: Workspace) -> None:
    answer = run(workspace, ASK, WRITES, "--ephemeral")
    assert answer.exit_code == 0
    assert not (workspace.path / "made.txt").exists()
    assert "not allowed to use write_file: made.txt" in answer.stderr


def test_parallel_steps_wait_side_by_side(workspace: Workspace) -> None:
    recipe = "name: r\nsteps:\n" + "".join(
        f"  - {{id: {name}, prompt: go, parallel_group: g}}\n" for name in "ab"
    )
    assert run(workspace, recipe, WRITES).exit_code == 1
    shown = workspace.run("runs", "show", "--json").json["gates"]
    assert sorted(each["step"] for each in shown) == ["a", "b"]
    for name in "ab":
        assert workspace.run("runs", "approve", "--stage", name).exit_code == 0
    done = resume(workspace, ENDS)
    assert done.exit_code == 0, done.stderr


@needs_openai
def test_a_child_goes_on_where_it_waited_when_its_parent_does(workspace: Workspace) -> None:
    a_family(workspace, {"tool": "bash", "match": "ls", "action": "allow"})
    workspace.write("r.yaml", "name: r\nsteps:\n  - {id: ask, prompt: go}\n")
    looks = UseTool("bash", {"command": "ls"})
    writes = UseTool("bash", {"command": "echo once >> made"})
    child = UseTool("delegate", {"agent": "self", "instruction": "write it"})
    with ModelServer(child, looks, writes, Say("child done"), Say("done")) as server:
        workspace.env |= {**NO_KEYS, "OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "dummy"}
        answer = workspace.run("recipe", "run", "r.yaml", "--agent", "session:./mine.yaml")
        assert answer.exit_code == 1, answer.stderr
        assert gates(workspace) == [("Allow bash: echo once >> made?", None)]
        assert len(server.asked) == 3
        workspace.run("runs", "approve")
        done = workspace.run("runs", "resume", "--json")
        assert done.exit_code == 0, done.stderr
        assert len(server.asked) == 5  # nothing is paid for twice
        of_the_child, of_the_parent = (each.body["messages"] for each in server.asked[3:])
    assert [each["role"] for each in of_the_child[1:]] == ["user", *["assistant", "tool"] * 2]
    assert of_the_child[1]["content"] == "write it"
    assert "child done" in json.dumps(of_the_parent[-1])
    assert done.json["step_results"][0]["output"] == "done"
    assert (workspace.path / "made").read_text() == "once\n"


def test_a_whole_family_goes_on_and_does_nothing_twice(workspace: Workspace) -> None:
    a_family(
        workspace,
        {"tool": "bash", "match": "./slow*", "action": "allow"},
        root=[uses(delegate("middle"), delegate("busy")), says("all done")],
        middle=[uses(delegate("inner")), says("middle done")],
        # One call of a step waits for a person while another runs.
        inner=[uses(bash("./note inner"), bash("./slow beside")), says("inner done")],
        busy=[uses(bash("./slow busy")), uses(bash("./slow later")), says("busy done")],
    )
    workspace.write("r.yaml", "name: r\nsteps:\n  - {id: ask, prompt: go}\n")
    workspace.write("note", "#!/bin/sh\necho $1 >> log\n").chmod(0o755)
    workspace.write("slow", "#!/bin/sh\nsleep 1; echo $1 >> log\n").chmod(0o755)
    answer = workspace.run("recipe", "run", "r.yaml", "--agent", "session:./mine.yaml", "--json")
    assert (answer.exit_code, answer.json["status"]) == (1, "waiting"), answer.stderr
    assert gates(workspace) == [("Allow bash: ./note inner?", None)]
    log = workspace.path / "log"
    assert sorted(log.read_text().split()) == ["beside", "busy", "later"]  # nothing was cut off
    assert spent(answer.json) == (60, 24, 1.5)
    workspace.run("runs", "approve")
    done = workspace.run("runs", "resume", "--json")
    assert done.exit_code == 0, done.stderr
    assert done.json["step_results"][0]["output"] == "all done"
    assert sorted(log.read_text().split()) == ["beside", "busy", "inner", "later"]
    assert spent(done.json) == (90, 36, 2.25)  # each of nine answers once


@needs_openai
def test_a_loop_of_others_is_told_to_go_on_and_makes_the_call_again(workspace: Workspace) -> None:
    write_module(workspace.path, "loop-foreign", LOOP)
    workspace.write(
        "mine.yaml",
        "bundle: {name: mine}\nincludes: [{bundle: foundation}]\n"
        "session: {orchestrator: {module: loop-foreign, source: ./loop-foreign}}\n",
    )
    workspace.write("r.yaml", "name: r\nsteps:\n  - {id: ask, prompt: write it}\n")
    looks = UseTool("glob", {"pattern": "*.yaml"})
    writes = UseTool("bash", {"command": "echo once >> made"})
    with ModelServer(looks, writes, writes, Say("done")) as server:
        workspace.env |= {**NO_KEYS, "OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "dummy"}
        waiting = workspace.run("recipe", "run", "r.yaml", "--agent", "session:./mine.yaml", "--json")
        assert (waiting.exit_code, waiting.json["status"]) == (1, "waiting"), waiting.stderr
        assert gates(workspace) == [("Allow bash: echo once >> made?", None)]
        workspace.run("runs", "approve")
        done = workspace.run("runs", "resume", "--json")
        assert done.exit_code == 0, done.stderr
        assert len(server.asked) == 4  # the look is not paid for again
        said = [each for each in server.asked[2].body["messages"] if each["role"] != "system"]
    assert done.json["step_results"][0]["output"] == "done"
    assert "began anew" not in done.stderr
    assert "write it" in said[0]["content"]
    assert "Go on where you were: call the tools again that have no result" in str(said[-1]["content"])
    assert (workspace.path / "made").read_text() == "once\n"
    assert [decision for _, decision in gates(workspace)] == ["approved"]  # one question, one answer


def test_what_an_allowed_tool_gave_survives_a_kill(workspace: Workspace) -> None:
    scene = Scene(workspace)
    workspace.write("hang", "#!/bin/sh\ntouch begun; exec sleep ${N:-600}\n").chmod(0o755)
    script = [uses(bash("echo once >> made")), uses(bash("./hang")), *ENDS]
    a_family(workspace, {"tool": "bash", "match": "./hang", "action": "allow"}, root=script)
    workspace.write("r.yaml", ASK)
    assert workspace.run("recipe", "run", "r.yaml", "--agent", "session:./mine.yaml").exit_code == 1
    workspace.run("runs", "approve")
    started = scene.start("runs", "resume")
    started.wait_for("begun")  # what was allowed has ended, and another tool runs
    started.process.kill()
    started.process.communicate()
    workspace.env["N"] = "0"
    done = workspace.run("runs", "resume")
    assert done.exit_code == 0, done.stderr
    assert (workspace.path / "made").read_text() == "once\n"
    assert [decision for _, decision in gates(workspace)] == ["approved"]


def test_a_tool_that_a_kill_cut_off_is_asked_for_again(workspace: Workspace) -> None:
    scene = Scene(workspace)
    workspace.write("hang", "#!/bin/sh\ntouch begun; exec sleep ${N:-600}\n").chmod(0o755)
    assert run(workspace, ASK, [uses(bash("./hang"))]).exit_code == 1
    workspace.run("runs", "approve")
    started = scene.start("runs", "resume")
    started.wait_for("begun")
    started.process.kill()
    started.process.communicate()
    workspace.env["N"] = "0"
    assert resume(workspace, ENDS).json["status"] == "waiting"  # it may have done its work: a person decides
    workspace.run("runs", "approve")
    done = resume(workspace, ENDS)
    assert done.exit_code == 0, done.stderr
    assert [decision for _, decision in gates(workspace)] == ["approved", "approved"]
