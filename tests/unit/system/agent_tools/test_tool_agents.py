"""How tools are started and understood, with small programs that stand in for them."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from amplihack.recipes.agent_port import AgentFailed, AgentReply, AgentRequest, Usage
from amplihack.system.agent_tools.choose import choose_agent
from amplihack.system.agent_tools.environment import RunIdentity
from amplihack.system.agent_tools.spec import AgentSearch

pytestmark = pytest.mark.asyncio

RECORD = """#!/bin/bash
i=0
for argument; do printf '%s' "$argument" > "$RECORD/argument-$((i++))"; done
cat > "$RECORD/stdin"
env > "$RECORD/environment"
pwd > "$RECORD/directory"
for ((j = 1; j < $#; j++)); do
  if [[ ${!j} == --append-system-prompt-file ]]; then k=$((j + 1)); cat "${!k}" > "$RECORD/system"; fi
done
echo >> "$RECORD/calls"
"""


class Bench:
    """A PATH with stand-ins on it that record how they were called."""

    def __init__(self, folder: Path) -> None:
        self.record = folder / "record"
        self.work = folder / "work"
        self.bin = folder / "bin"
        self.temporary = folder / "tmp"
        for each in (self.record, self.work, self.bin, self.temporary):
            each.mkdir()
        self.request = AgentRequest(prompt="Count the files.", working_dir=str(self.work))
        self.lines: list[str] = []

    def install(self, name: str, script: str = "echo fine") -> None:
        program = self.bin / name
        program.write_text(RECORD + script)
        program.chmod(0o755)

    async def ask(self, spec: str, request: AgentRequest | None = None, **variables: str) -> AgentReply:
        environment = {
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "RECORD": str(self.record),
            "AMPLIHACK_RATELIMIT_BASE_DELAY_SECS": "0",
            **variables,
        }
        run = RunIdentity(run_id="run-1", tree_id="tree-1")
        agent = choose_agent(spec, AgentSearch(environment=environment, cwd=self.work, run=run))
        return await agent.ask(request or self.request, self.lines.append)

    @property
    def arguments(self) -> list[str]:
        count = len(list(self.record.glob("argument-*")))
        return [(self.record / f"argument-{i}").read_text() for i in range(count)]

    @property
    def stdin(self) -> str:
        return (self.record / "stdin").read_text()

    @property
    def calls(self) -> int:
        return len((self.record / "calls").read_text())

    @property
    def environment(self) -> dict[str, str]:
        lines = (self.record / "environment").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    bench = Bench(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(bench.temporary))
    return bench


def events(*objects: object) -> str:
    return "cat <<'END'\n" + "\n".join(json.dumps(each) for each in objects) + "\nEND\n"


CLAUDE_INIT = {"type": "system", "subtype": "init", "session_id": "s-1"}
CLAUDE_SAYS = {"type": "assistant", "message": {"content": [{"type": "text", "text": "There are 3."}]}}
CLAUDE_RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": "There are 3.\n",
    "session_id": "s-1",
    "total_cost_usd": 0.25,
    "usage": {"input_tokens": 10, "output_tokens": 4},
    "permission_denials": [{"tool_name": "Bash"}, {"tool_name": "Bash"}],
}


async def test_claude_is_asked_in_its_own_way(bench: Bench) -> None:
    bench.install("claude")
    await bench.ask("claude", replace(bench.request, persona=" A clerk. ", mode="ANALYSE", model="opus"))
    flag, prompt, *rest = bench.arguments
    assert flag == "-p"
    assert prompt.startswith("MODE: ANALYSE\n\nCount the files.\n\nIMPORTANT:")
    assert "autonomously" in prompt
    assert "Do not ask questions" in prompt
    assert rest[:4] == ["--output-format", "stream-json", "--verbose", "--append-system-prompt"]
    assert rest[4].startswith("A clerk.\n\nYou are working inside one step")
    assert "Execute the requested step directly" in rest[4]
    assert rest[5:] == ["--model", "opus"]
    assert bench.stdin == ""
    assert (bench.record / "directory").read_text().strip() == str(bench.work)


async def test_nothing_widens_what_a_tool_may_do_unless_the_user_does(bench: Bench) -> None:
    for name in ("claude", "copilot", "codex"):
        bench.install(name)
        await bench.ask(name)
        words = " ".join(bench.arguments)
        assert not any(word in words for word in ("--allow", "skip-permissions", "bypass", "sandbox"))
    await bench.ask("claude", AMPLIHACK_AGENT_ARGS="--allowedTools 'Bash(git *)'")
    assert bench.arguments[-2:] == ["--allowedTools", "Bash(git *)"]


async def test_copilot_may_use_all_tools_when_the_user_says_so(bench: Bench) -> None:
    bench.install("copilot")
    await bench.ask("copilot", AMPLIHACK_ALLOW_ALL_TOOLS="1")
    assert "--allow-all-tools" in bench.arguments


async def test_a_refusal_outranks_the_permission(bench: Bench) -> None:
    bench.install("copilot")
    await bench.ask("copilot", AMPLIHACK_ALLOW_ALL_TOOLS="1", AMPLIHACK_NO_ALLOW_ALL_TOOLS="1")
    assert "--allow-all-tools" not in bench.arguments


@pytest.mark.parametrize("name", ["copilot", "codex", "command:plain {prompt}", "command:plain"])
async def test_the_persona_reaches_tools_without_a_system_prompt(bench: Bench, name: str) -> None:
    bench.install(name.partition(":")[0] if ":" not in name else "plain")
    await bench.ask(name, replace(bench.request, persona="A clerk."))
    sent = "\n".join([*bench.arguments, bench.stdin])
    assert "A clerk.\n\nYou are working inside" in sent
    assert "Count the files." in sent


@pytest.mark.parametrize(
    "prompt", ["word " * 60_000 + "the end", "--version", "a\0b"], ids=["long", "flag", "nul"]
)
@pytest.mark.parametrize("name", ["claude", "copilot", "codex", "command:plain", "command:cat {prompt_file}"])
async def test_a_prompt_that_cannot_be_an_argument_arrives_whole(
    bench: Bench, name: str, prompt: str
) -> None:
    persona = "P" * 50_000
    tool = "plain" if ":" in name else name
    bench.install(tool)
    reply = await bench.ask(name, replace(bench.request, prompt=prompt, persona=persona))
    if "prompt_file" in name:
        assert prompt in reply.text
        assert persona in reply.text
        return
    assert prompt in bench.stdin
    assert all(len(argument) < 1000 for argument in bench.arguments)
    if name == "claude":
        assert persona in (bench.record / "system").read_text()
    else:
        assert persona in bench.stdin


async def test_a_command_gets_the_prompt_as_one_argument_whatever_it_says(bench: Bench) -> None:
    bench.install("plain")
    hostile = replace(bench.request, prompt="$(touch owned) `id` '; rm -rf \" {model} {prompt}", model="m")
    await bench.ask("command:plain --model={model} --ask '{prompt}'", hostile)
    assert bench.arguments[:2] == ["--model=m", "--ask"]
    assert hostile.prompt in bench.arguments[2]
    assert len(bench.arguments) == 3
    assert list(bench.work.iterdir()) == []


async def test_a_command_whose_argument_is_too_small_for_the_prompt_says_what_to_do(bench: Bench) -> None:
    bench.install("plain")
    with pytest.raises(AgentFailed, match="too many for an argument of plain") as caught:
        await bench.ask("command:plain {prompt}", replace(bench.request, prompt="x" * 200_000))
    assert "{prompt_file}" in caught.value.fix


async def test_the_report_of_claude_is_understood(bench: Bench) -> None:
    bench.install("claude", events(CLAUDE_INIT, CLAUDE_SAYS, CLAUDE_RESULT) + "echo careful >&2")
    assert await bench.ask("claude") == AgentReply(
        text="There are 3.",
        usage=Usage(input_tokens=10, output_tokens=4, cached_tokens=None),
        cost_usd=0.25,
        session_id="s-1",
        stderr_tail="careful\n",
        denied=("Bash",),
    )
    assert sorted(bench.lines) == ["There are 3.", "careful"]


async def test_the_report_of_codex_is_understood(bench: Bench) -> None:
    started = {"type": "thread.started", "thread_id": "t-1"}
    command = {"type": "item.started", "item": {"type": "command_execution", "command": "ls"}}
    draft = {"type": "item.completed", "item": {"type": "agent_message", "text": "Looking."}}
    final = {"type": "item.completed", "item": {"type": "agent_message", "text": "There are 3."}}
    usage = {"input_tokens": 10, "cached_input_tokens": 2, "output_tokens": 4}
    done = {"type": "turn.completed", "usage": usage}
    bench.install("codex", events(started, draft, command, final, done))
    reply = await bench.ask("codex", replace(bench.request, model="gpt"))
    assert (reply.text, reply.session_id, reply.cost_usd) == ("There are 3.", "t-1", None)
    assert reply.usage == Usage(input_tokens=10, output_tokens=4, cached_tokens=2)
    assert bench.lines == ["Looking.", "$ ls", "There are 3."]
    assert bench.arguments == ["exec", "--json", "--skip-git-repo-check", "--model", "gpt", "-"]


async def test_the_report_of_copilot_is_understood(bench: Bench) -> None:
    asked = {"type": "user.message", "data": {"content": "…"}}
    request = {"name": "bash", "arguments": {"command": "ls"}}
    wants = {"type": "assistant.message", "data": {"content": "", "toolRequests": [request]}}
    begins = {"type": "tool.execution_start", "data": {"toolCallId": "1", "toolName": "bash"}}
    denied = {
        "type": "tool.execution_complete",
        "data": {"toolCallId": "1", "error": {"code": "denied"}},
    }
    says = {"type": "assistant.message", "data": {"content": "There are 3.", "toolRequests": []}}
    result = {"type": "result", "sessionId": "c-1", "exitCode": 0}
    bench.install("copilot", events(asked, wants, begins, denied, says, result))
    reply = await bench.ask("copilot")
    assert reply == AgentReply(text="There are 3.", session_id="c-1", denied=("bash",))
    assert bench.lines == ["bash: ls", "bash: denied", "There are 3."]


@pytest.mark.parametrize(
    ("tool", "report", "words"),
    [
        ("claude", [CLAUDE_INIT, {**CLAUDE_RESULT, "is_error": True, "result": "API Error"}], "API Error"),
        ("claude", [CLAUDE_INIT, {**CLAUDE_RESULT, "api_error_status": 500}], "API status 500"),
        ("claude", [CLAUDE_INIT, {**CLAUDE_SAYS, "error": "server_error"}, CLAUDE_RESULT], "There are 3."),
        ("claude", [CLAUDE_INIT, CLAUDE_SAYS], "ended before it gave a result"),
        ("codex", [{"type": "thread.started"}], "ended before it gave a result"),
        ("codex", [{"type": "turn.failed", "error": {"message": "no quota"}}], "no quota"),
        ("copilot", [{"type": "user.message"}], "ended before it gave a result"),
        ("copilot", [{"type": "session.error", "data": {"message": "no luck"}}], "no luck"),
    ],
)
async def test_an_error_that_a_tool_reports_counts_though_it_exits_well(
    bench: Bench, tool: str, report: list[object], words: str
) -> None:
    bench.install(tool, events(*report))
    with pytest.raises(AgentFailed, match=words):
        await bench.ask(tool)


async def test_a_tool_that_fails_tells_what_it_took(bench: Bench) -> None:
    paid: list[object] = []
    asked = replace(bench.request, paid=lambda usage, cost: paid.append((usage, cost)))
    told = (Usage(input_tokens=10, output_tokens=4), CLAUDE_RESULT["total_cost_usd"])
    bench.install("claude", events(CLAUDE_INIT, {**CLAUDE_RESULT, "is_error": True}))
    with pytest.raises(AgentFailed):
        await bench.ask("claude", asked)
    assert paid == [told]
    bench.install("claude", events(CLAUDE_INIT, {**CLAUDE_RESULT, "result": ""}))  # well, but empty
    with pytest.raises(AgentFailed):
        await bench.ask("claude", asked)
    assert paid == [told, told]
    bench.install("claude", events(CLAUDE_INIT, CLAUDE_RESULT))
    await bench.ask("claude", asked)
    assert paid == [told, told]  # an answer has it itself


async def test_a_tool_that_is_cut_off_tells_what_it_took(bench: Bench) -> None:
    paid: list[object] = []
    asked = replace(bench.request, paid=lambda usage, cost: paid.append((usage, cost)), timeout=1)
    bench.install("claude", f"{events(CLAUDE_INIT, CLAUDE_RESULT)}exec sleep 60")
    with pytest.raises(AgentFailed, match="timed out"):
        await bench.ask("claude", asked)
    assert len(paid) == 1


@pytest.mark.parametrize("tool", ["claude", "copilot", "codex", "command:plain"])
async def test_plain_text_is_an_answer_too(bench: Bench, tool: str) -> None:
    bench.install("plain" if ":" in tool else tool, "echo; echo '{\"files\": 3}'; echo")
    reply = await bench.ask(tool)
    assert reply == AgentReply(text='{"files": 3}')


async def test_blanks_at_the_beginning_of_an_answer_are_a_part_of_it(bench: Bench) -> None:
    bench.install("plain", "echo; echo '  - first'; echo '  - second '")
    assert (await bench.ask("command:plain")).text == "  - first\n  - second "


@pytest.mark.parametrize("answer", ["true", events(CLAUDE_INIT, {**CLAUDE_RESULT, "result": " "})])
async def test_an_empty_answer_is_an_error(bench: Bench, answer: str) -> None:
    bench.install("claude", answer)
    with pytest.raises(AgentFailed, match="gave an empty answer"):
        await bench.ask("claude")


async def test_the_result_sink_is_the_answer_when_something_is_in_it(bench: Bench) -> None:
    bench.install("claude", 'echo noise; printf "%s" clean > "$AMPLIHACK_RESULT_SINK"')
    reply = await bench.ask("claude", AMPLIHACK_RESULT_SINK="/somewhere/else")
    assert reply.text == "clean"
    assert list(bench.temporary.iterdir()) == []


async def test_a_failure_carries_status_and_last_words(bench: Bench) -> None:
    bench.install("claude", "echo out; echo err >&2; exit 3")
    with pytest.raises(AgentFailed, match=r"claude failed \(exit 3\): err") as caught:
        await bench.ask("claude")
    assert caught.value.tool_exit_code == 3
    assert caught.value.details == "--- stdout (tail) ---\nout\n--- stderr (tail) ---\nerr"
    assert (caught.value.transient, caught.value.rate_limited) == (False, False)
    assert bench.calls == 1


async def test_a_tool_that_was_killed_says_by_what(bench: Bench) -> None:
    bench.install("claude", "kill -9 $$")
    with pytest.raises(AgentFailed, match=r"claude failed \(signal 9\)"):
        await bench.ask("claude")


async def test_a_rate_limit_is_tried_again_until_it_is_over(bench: Bench) -> None:
    limited = '(($(wc -l < "$RECORD/calls") >= 3)) || { echo "HTTP 429" >&2; exit 1; }; echo at last'
    bench.install("claude", limited)
    assert (await bench.ask("claude")).text == "at last"
    assert bench.calls == 3


async def test_a_rate_limit_that_stays_costs_no_more_than_the_retries(bench: Bench) -> None:
    bench.install("claude", "echo too many requests; exit 1")
    with pytest.raises(AgentFailed, match="persisted after 2 retries"):
        await bench.ask(
            "claude", AMPLIHACK_RATELIMIT_MAX_RETRIES="2", AMPLIHACK_RATELIMIT_FALLBACK_AUTO_MODEL="1"
        )
    assert bench.calls == 3
    assert bench.arguments[-2:] == ["--model", "auto"]


async def test_what_an_agent_talks_about_is_not_taken_for_its_own_limit(bench: Bench) -> None:
    talk = {**CLAUDE_RESULT, "is_error": True, "result": "The tests fail at line 429."}
    bench.install("claude", events(CLAUDE_INIT, CLAUDE_SAYS, talk) + "exit 1")
    with pytest.raises(AgentFailed, match="line 429"):
        await bench.ask("claude")
    assert bench.calls == 1


@pytest.mark.parametrize(
    ("limits", "words"),
    [({"timeout": 0.3}, "timed out after 0.3s"), ({"idle_timeout": 0.3}, "printed nothing for 0.3s")],
)
async def test_a_tool_that_takes_too_long_is_ended(
    bench: Bench, limits: dict[str, float], words: str
) -> None:
    bench.install("claude", "sleep 600 & sleep 600")
    request = AgentRequest(prompt="x", working_dir=str(bench.work), **limits)  # type: ignore[arg-type]  # floats
    with pytest.raises(AgentFailed, match=words) as caught:
        await bench.ask("claude", request)
    assert (caught.value.transient, caught.value.rate_limited) == (True, False)


async def test_a_cancelled_question_leaves_no_file_behind(bench: Bench) -> None:
    bench.install("claude", "echo ready; sleep 600")
    task = asyncio.create_task(bench.ask("claude"))
    while not bench.lines:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert list(bench.temporary.iterdir()) == []


async def test_the_environment_is_that_of_a_child_of_the_run(bench: Bench) -> None:
    bench.install("claude")
    await bench.ask("claude", CLAUDECODE="1", AMPLIHACK_SESSION_DEPTH="1")
    assert "CLAUDECODE" not in bench.environment
    assert bench.environment["AMPLIHACK_SESSION_DEPTH"] == "2"
    assert bench.environment["AMPLIHACK_AGENT_BINARY"] == "claude"
    assert bench.environment["AMPLIHACK_TREE_ID"] == "tree-1"


async def test_an_agent_too_deep_is_never_started(bench: Bench) -> None:
    bench.install("claude")
    with pytest.raises(AgentFailed, match="nested too deeply"):
        await bench.ask("claude", AMPLIHACK_SESSION_DEPTH="6")
    assert not (bench.record / "calls").exists()


async def test_a_directory_that_is_gone_is_a_failure_with_a_reason(bench: Bench) -> None:
    bench.install("claude")
    with pytest.raises(AgentFailed, match="the directory /no/such/place does not exist"):
        await bench.ask("claude", replace(bench.request, working_dir="/no/such/place"))


async def test_a_launcher_gets_the_tool_and_its_arguments(bench: Bench) -> None:
    bench.install("wrap")
    request = replace(bench.request, persona="A clerk.", model="opus")
    await bench.ask("claude", request, AMPLIHACK_LAUNCHER_BINARY="wrap")
    tool, dashes, flag, prompt, system_flag, system, *rest = bench.arguments
    assert (tool, dashes, flag, system_flag) == ("claude", "--", "-p", "--system-prompt")
    assert prompt.startswith("Count the files.\n\nIMPORTANT:")
    assert system.startswith("A clerk.")
    assert rest == ["--add-dir", str(bench.work), "--model", "opus"]


async def test_a_launched_copilot_gets_the_persona_in_its_prompt(bench: Bench) -> None:
    bench.install("wrap")
    await bench.ask(
        "copilot",
        replace(bench.request, persona="A clerk."),
        AMPLIHACK_LAUNCHER_BINARY="wrap",
        AMPLIHACK_ALLOW_ALL_TOOLS="1",
    )
    assert bench.arguments[:4] == ["copilot", "--", "--allow-all-tools", "-p"]
    assert bench.arguments[4].startswith("A clerk.")


async def test_a_launcher_gets_a_long_prompt_in_a_file(bench: Bench) -> None:
    bench.install("wrap")
    long = "é" * 30_000 + " the end"
    await bench.ask(
        "claude", replace(bench.request, prompt=long, persona="A clerk."), AMPLIHACK_LAUNCHER_BINARY="wrap"
    )
    assert "--system-prompt" not in bench.arguments
    inline = bench.arguments[bench.arguments.index("-p") + 1]
    file = (bench.record / "system").read_text()
    assert len(inline.encode()) < 9000
    assert file.startswith("A clerk.")
    head, tail = file.split("\n\n# Continued task instructions\n\n")
    assert "Execute the requested step directly" in head
    assert (inline.partition("\n\n[The rest")[0] + tail).startswith(long + "\n\nIMPORTANT:")


@pytest.mark.parametrize("tool", ["claude", "copilot"])
@pytest.mark.parametrize("launcher", ["", "wrap"])
async def test_a_prompt_with_a_secret_is_no_argument(bench: Bench, tool: str, launcher: str) -> None:
    bench.install(launcher or tool)
    chosen = {"AMPLIHACK_LAUNCHER_BINARY": launcher} if launcher else {}
    request = replace(bench.request, prompt="log in with s3cr3t-t0ken", private=True)
    with suppress(AgentFailed):  # what it answers does not matter
        await bench.ask(tool, request, **chosen)
    assert "s3cr3t-t0ken" not in " ".join(bench.arguments)
