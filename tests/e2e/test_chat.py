"""`amplihack chat` in a real terminal: what a person sees and presses, and what is kept of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.support.model_server import ModelServer, Say
from tests.support.terminals import (
    CTRL_C,
    CTRL_D,
    ENTER,
    UP,
    PtyTerminal,
    Terminal,
    TmuxTerminal,
    ends_with,
    leaves,
    shows,
    until,
)
from tests.support.workspace import Workspace

Start: TypeAlias = Callable[..., Any]

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux on this machine")
KINDS = pytest.mark.parametrize(
    "kind", [PtyTerminal, pytest.param(TmuxTerminal, marks=needs_tmux)], ids=["pty", "tmux"]
)
SLOW = "The beginning of a long story. " + "And so it goes on and on, for ever. " * 40 + "The end of it."
SCRIPT = {
    "rules": [
        {"when": "story", "text": SLOW, "pause": 0.3},
        {"when": "hello", "text": "Good day.", "usage": {"cost_usd": "0.0125"}},
        {"when": "overload", "error": {"type": "ProviderUnavailableError", "message": "too busy"}},
    ],
    "at_end": "echo",
}


@pytest.fixture
def start(workspace: Workspace) -> Iterator[Start]:
    """Start `amplihack chat` with a script for the model; give it the keys of a terminal."""
    open_now: list[Terminal] = []

    def begin(
        *words: str,
        kind: Any = PtyTerminal,
        script: Any = None,
        env: dict[str, str] | None = None,
        wait: bool = True,
    ) -> Any:
        workspace.write("script.yaml", json.dumps(script or SCRIPT))
        model = () if "--resume" in words or "--model" in words else ("--model", "scripted:script.yaml")
        argv = [sys.executable, "-m", "amplihack", "chat", *model, *words]
        open_now.append(kind(argv, cwd=workspace.path, env={**workspace.env, **(env or {})}))
        if wait:
            shows(open_now[-1], "/help shows what can be done")
            shows(open_now[-1], "> ")
        return open_now[-1]

    yield begin
    for terminal in open_now:
        terminal.close()


def sessions(workspace: Workspace) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = workspace.run("session", "list", "--json").json
    return found


def said(workspace: Workspace, session: str = "last") -> list[tuple[str, str]]:
    messages = workspace.run("session", "show", session, "--json").json["messages"]
    return [(each["role"], str(each["content"])) for each in messages]


def calls(*commands: str) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    for command in commands:
        steps += [
            {"tools": [{"name": "bash", "input": {"command": command}}]},
            {"text": f"Done with {command}."},
        ]
    return {"steps": steps, "at_end": "echo"}


@KINDS
def test_an_answer_is_shown_while_it_comes_and_an_interruption_keeps_it(
    start: Start, workspace: Workspace, kind: Any
) -> None:
    chat = start(kind=kind)
    chat.type(f"tell me a story{ENTER}")
    shows(chat, "The beginning of a long story.")
    assert "The end of it" not in chat.text()
    chat.type(CTRL_C)
    shows(chat, "interrupted; what was said is kept")
    assert "asked for again" not in chat.text()
    chat.type(f"hello{ENTER}")
    shows(chat, "Good day.")
    shows(chat, "· $0.0125")  # the cost is in sight, and so is the directory
    assert workspace.path.name in chat.text()
    chat.type(CTRL_D)
    assert leaves(chat) == 0
    roles = said(workspace)
    assert [role for role, _ in roles] == ["user", "assistant", "user", "assistant"]
    assert roles[1][1].startswith("The beginning of a long story.")
    assert roles[1][1].endswith("[interrupted: the answer ends here]")


@KINDS
def test_approvals_are_asked_between_the_lines(start: Start, workspace: Workspace, kind: Any) -> None:
    script = calls("touch one", "touch two", "touch three", "touch three; touch four", "touch three")
    chat = start(kind=kind, script=script)
    for number, (answers, question) in enumerate(
        [
            (("perhaps", "y"), "Allow bash: touch one?"),
            (("",), "Allow bash: touch two?"),
            (("always",), "Allow bash: touch three?"),
            (("n",), "Allow bash: touch three; touch four?"),
            ((), ""),  # was allowed for always
        ]
    ):
        chat.type(f"go{ENTER}")
        for again, answer in enumerate(answers):
            shows(chat, question, times=again + 1)
            if again:  # a line that is drawn anew counts as well
                shows(chat, "Please answer yes, always or no.", times=again)
            until(
                chat, lambda: "[N]o: " in chat.text().splitlines()[-1] or kind is TmuxTerminal, "a question"
            )
            chat.type(f"{answer}{ENTER}")
        shows(chat, "Done with", times=number + 1)
    assert "Please answer yes, always or no." in chat.text()
    assert [name for name in ("one", "two", "three", "four") if (workspace.path / name).exists()] == [
        "one",
        "three",
    ]


@KINDS
def test_a_killed_chat_goes_on_where_it_was(start: Start, workspace: Workspace, kind: Any) -> None:
    command = "echo $$ > pid; sleep 300"
    script = {
        "rules": [{"when": "hello", "text": "Good day."}, {"when": "again", "text": "Here we are."}],
        "steps": [{"tools": [{"name": "bash", "input": {"command": command}}]}],
    }
    chat = start("--yes", kind=kind, script=script)
    chat.type(f"hello{ENTER}")
    shows(chat, "Good day.")
    chat.type(f"wait for it{ENTER}")
    until(
        chat, lambda: (workspace.path / "pid").exists() and (workspace.path / "pid").read_text(), "the tool"
    )
    os.kill(chat.pid, signal.SIGKILL)
    assert leaves(chat) == 137
    chat.close()
    (found,) = sessions(workspace)
    assert (found["status"], found["turns"]) == ("interrupted", 2)
    command_of_the_tool = Path("/proc") / (workspace.path / "pid").read_text().strip()
    until(chat, lambda: not command_of_the_tool.exists(), "the end of what the tool had started")

    more = start("--resume", "last", script=script)
    shows(more, "2 turns so far")
    shows(more, "was interrupted in its last turn")
    more.type(f"again{ENTER}")
    shows(more, "Here we are.")
    more.type(CTRL_D)
    assert leaves(more) == 0
    assert [role for role, _ in said(workspace)] == [
        "user", "assistant", "user", "assistant", "tool", "assistant", "user", "assistant",
    ]  # fmt: skip
    assert sessions(workspace)[0]["status"] == "idle"


def test_inputs_of_several_lines(start: Start, workspace: Workspace) -> None:
    chat = start()
    chat.type(f"one \\{ENTER}two{ENTER}")
    shows(chat, "tokens in", times=1)
    chat.type(f'"""{ENTER}three{ENTER}four"""{ENTER}')
    shows(chat, "tokens in", times=2)
    chat.type(f"\x1b[200~five\rsix\r\nseven\x1b[201~{ENTER}")
    shows(chat, "tokens in", times=3)
    chat.type(f"eight\x1b\rnine{ENTER}")
    shows(chat, "tokens in", times=4)
    chat.type(CTRL_D)
    assert leaves(chat) == 0
    prompts = [text for role, text in said(workspace) if role == "user"]
    assert prompts == ["one \ntwo", "three\nfour", "five\nsix\nseven", "eight\nnine"]


def test_lines_that_are_pasted_during_a_turn_are_one_input_after_it(
    start: Start, workspace: Workspace
) -> None:
    chat = start()
    chat.type(f"a story{ENTER}")
    shows(chat, "The beginning of a long story.")
    assert chat.raw.rfind(b"[?2004h") > chat.raw.rfind(b"[?2004l")  # the terminal marks what is pasted
    chat.type("\x1b[200~one\r/exit\rtwo\x1b[201~")
    chat.type(CTRL_C)
    shows(chat, "interrupted; what was said is kept")
    chat.type(f"\x1b[200~three\r/exit\rfour\x1b[201~{ENTER}")
    shows(chat, "tokens in")
    chat.type(CTRL_D)
    assert leaves(chat) == 0
    assert chat.raw.rfind(b"[?2004l") > chat.raw.rfind(b"[?2004h")
    prompts = [text for role, text in said(workspace) if role == "user"]
    assert prompts[-1].endswith("three\n/exit\nfour")


def test_commands_of_the_chat(start: Start, workspace: Workspace) -> None:
    (workspace.path / "sub").mkdir()
    chat = start()
    chat.type(f"hello{ENTER}")
    shows(chat, "Good day.")
    first = sessions(workspace)[0]["session_id"]
    for typed, shown in (
        ("/help", "Ctrl-C ends a turn, and twice the chat"),
        ("/tools", "(tool-bash)"),
        ("/agents", "foundation:explorer"),
        ("/cost", "1 call of models"),
        ("/status", f"session    {first}"),
        ("/modle", "did you mean /model?"),
        ("/cost now", "/cost takes nothing behind it"),
        ("/model nothing/like-this", "fix:"),
        ("/fork 7", "Turn 7 out of range (1-1)"),
        ("/cwd nowhere", "is no directory"),
        ("/save talk.md", "wrote "),
        ("/save talk.md", "is there already"),
        ("/resume nobody", "there is no session 'nobody'"),
        ("/cwd sub", f"{workspace.path.name}/sub ·"),
        ("/model", "model: scripted:"),
        ("/fork 1", "goes on with 1 of the turns"),
        ("/clear", "new session"),
    ):
        chat.type(f"{typed}{ENTER}")
        shows(chat, shown)
    assert "Good day." in (workspace.path / "talk.md").read_text()
    chat.type(f"//etc is a prompt{ENTER}")
    shows(chat, "tokens in", times=2)
    chat.type(f"/resume {first}{ENTER}")
    shows(chat, "1 turns: hello")
    chat.type(f"/exit{ENTER}")
    assert leaves(chat) == 0
    assert f"`amplihack session resume {first}` goes on" in chat.text()
    kept = {each["prompt"]: each for each in sessions(workspace)}
    assert sorted(kept) == ["/etc is a prompt", "hello"]  # nothing was said in the others
    assert len(sessions(workspace)) == 3
    assert kept["/etc is a prompt"]["cwd"] == str(workspace.path / "sub")


def test_interrupts_empty_the_line_and_twice_end_the_chat(start: Start, workspace: Workspace) -> None:
    chat = start()
    chat.type("something that I do not want")
    shows(chat, "do not want")
    chat.type(CTRL_C)
    chat.type(f"hello{ENTER}")
    shows(chat, "Good day.")
    chat.type(CTRL_C)
    shows(chat, "Ctrl-C again leaves")
    assert ends_with(chat, CTRL_C) == 130
    assert chat.echoes()
    assert [text for role, text in said(workspace) if role == "user"] == ["hello"]


def test_interrupting_a_turn_twice_ends_the_chat(start: Start, workspace: Workspace) -> None:
    chat = start()
    chat.type(f"a story{ENTER}")
    shows(chat, "The beginning of a long story.")
    chat.type(CTRL_C)
    shows(chat, "Ctrl-C again leaves")
    assert ends_with(chat, CTRL_C) == 130
    assert said(workspace)[1][1].startswith("The beginning of a long story.")


def test_interrupting_a_command_ends_it_with_all_it_started(start: Start, workspace: Workspace) -> None:
    chat = start("--yes", script=calls("echo $$ > pid; sleep 300 & sleep 300"))
    chat.type(f"go{ENTER}")
    until(
        chat, lambda: (workspace.path / "pid").exists() and (workspace.path / "pid").read_text(), "the tool"
    )
    group = int((workspace.path / "pid").read_text())
    chat.type(CTRL_C)
    shows(chat, "interrupted; what was said is kept")
    assert not Path(f"/proc/{group}").exists()
    chat.type(f"next{ENTER}")
    shows(chat, "tokens in")
    chat.type(CTRL_D)
    assert leaves(chat) == 0


def test_a_question_hides_nothing_and_an_answer_controls_nothing(start: Start, workspace: Workspace) -> None:
    hidden = "true # \x1b[2K\u202eharmless\u200b\nrm -rf x"
    script = {"steps": [{"text": "look \x1b]0;owned\x07\x9b2J", **calls(hidden)["steps"][0]}, {"text": "x"}]}
    chat = start(script=script)
    chat.type(f"go{ENTER}")
    shows(chat, "Allow bash: true # \\x1b[2K\\u202eharmless\\u200b\nrm -rf x? [y]es")
    assert b"\x1b]0;owned" not in chat.raw
    assert "\x9b" not in chat.text()


def test_interrupting_a_question_denies_it_and_ends_the_turn(start: Start, workspace: Workspace) -> None:
    chat = start(script=calls("touch one"))
    chat.type(f"go{ENTER}")
    shows(chat, "[N]o: ")
    chat.type(CTRL_C)
    shows(chat, "interrupted; what was said is kept")
    chat.type(f"hello{ENTER}")
    shows(chat, "tokens in")
    assert not (workspace.path / "one").exists()


@KINDS
def test_a_question_stays_at_the_end_of_the_screen(start: Start, workspace: Workspace, kind: Any) -> None:
    both = [{"name": "bash", "input": {"command": each}} for each in ("touch one", "sleep 0.5")]
    script = {"steps": [{"tools": both}, {"text": "Both done."}]}
    chat = start("--allow", "bash:sleep *", kind=kind, script=script)
    chat.type(f"go{ENTER}")
    shows(chat, "[N]o:")
    chat.type("yes")
    shows(chat, "✓ bash")
    until(chat, lambda: chat.text().rstrip().endswith("[N]o: yes"), "the question below the result")
    chat.type(ENTER)
    shows(chat, "Both done.")
    assert (workspace.path / "one").exists()


def test_what_was_typed_before_a_question_is_no_answer_to_it(start: Start, workspace: Workspace) -> None:
    script = {
        "steps": [{"delay": 1, "tools": [{"name": "bash", "input": {"command": "touch one"}}]}, {"text": "x"}]
    }
    chat = start(script=script)
    chat.type(f"go{ENTER}y{ENTER}")
    shows(chat, "[N]o: ")
    chat.type(f"n{ENTER}")
    shows(chat, "tokens in")
    assert not (workspace.path / "one").exists()


def test_an_error_of_a_provider_is_told_and_the_chat_goes_on(start: Start) -> None:
    chat = start()
    chat.type(f"overload{ENTER}")
    shows(chat, "ProviderUnavailableError: too busy")
    chat.type(f"hello{ENTER}")
    shows(chat, "Good day.")
    chat.type(CTRL_D)
    assert leaves(chat) == 0


def test_a_module_that_fails_is_told_before_the_first_prompt(start: Start, workspace: Workspace) -> None:
    bundle = workspace.write(
        "agent.yaml",
        "bundle: {name: agent, version: 1.0.0}\nincludes: [{bundle: foundation}]\n"
        "tools: [{module: tool-search, config: {max_results: many}}]\n",
    )
    chat = start("--bundle", str(bundle))
    text = chat.text()
    assert "tool-search" in text.partition("/help shows")[0]


def test_an_interrupt_before_the_session_is_open_ends_in_a_line(start: Start, workspace: Workspace) -> None:
    workspace.write(
        "slow/amplifier_module_tool_slow/__init__.py",
        "import asyncio, pathlib\n"
        "async def mount(coordinator, config=None):\n"
        "    pathlib.Path('mounting').touch()\n"
        "    await asyncio.sleep(300)\n",
    )
    workspace.write("slow/pyproject.toml", "[project]\nname = 'slow'\nversion = '1'\n")
    head = "bundle: {name: agent, version: 1.0.0}\nincludes: [{bundle: foundation}]\n"
    bundle = workspace.write("agent.yaml", f"{head}tools: [{{module: tool-slow, source: ./slow}}]\n")
    chat = start("--bundle", str(bundle), wait=False)
    until(chat, lambda: (workspace.path / "mounting").exists(), "the mounting")
    chat.type(CTRL_C)
    assert leaves(chat) == 130
    assert "interrupted before the session was open" in chat.text()
    assert "Traceback" not in chat.text()
    assert sessions(workspace) == []


def test_earlier_prompts_come_back_in_the_next_chat(start: Start, workspace: Workspace) -> None:
    chat = start()
    chat.type(f"hello you{ENTER}")
    shows(chat, "Good day.")
    chat.type(CTRL_D)
    assert leaves(chat) == 0
    history = workspace.path / "home" / ".amplihack" / "chat-history"
    assert history.stat().st_mode & 0o777 == 0o600
    chat = start()
    chat.type(f"{UP} there{ENTER}")
    shows(chat, "Good day.")
    chat.type(CTRL_D)
    assert leaves(chat) == 0
    assert said(workspace)[0] == ("user", "hello you there")


@pytest.mark.parametrize(("words", "env", "coloured"), [((), {"NO_COLOR": "1"}, False), ((), {}, True)])
def test_colours_only_where_they_are_wanted(
    start: Start, words: tuple[str, ...], env: dict[str, str], coloured: bool
) -> None:
    chat = start(*words, env=env)
    chat.type(f"hello{ENTER}")
    shows(chat, "Good day.")
    assert (b"\x1b[2m" in chat.raw) is coloured


def test_a_terminal_that_is_told_to_end_ends_in_order(start: Start, workspace: Workspace) -> None:
    chat = start()
    chat.type(f"a story{ENTER}")
    shows(chat, "The beginning of a long story.")
    os.kill(chat.pid, signal.SIGTERM)
    assert leaves(chat) == 143
    assert chat.echoes()
    assert said(workspace)[1][1].endswith("[interrupted: the answer ends here]")


def test_a_window_that_is_closed_loses_nothing(start: Start, workspace: Workspace) -> None:
    chat = start()
    chat.type(f"hello{ENTER}")
    shows(chat, "Good day.")
    chat.type(f"a story{ENTER}")
    shows(chat, "The beginning of a long story.")
    chat.hang_up()
    assert leaves(chat) == 129
    assert [role for role, _ in said(workspace)] == ["user", "assistant", "user", "assistant"]


def test_an_answer_of_a_service_streams_and_can_be_interrupted(start: Start, workspace: Workspace) -> None:
    pytest.importorskip("openai")
    with ModelServer(Say("It begins here " + "and goes on " * 200, pause=0.1), Say("Short.")) as server:
        env = {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"{server.url}/v1"}
        chat = start("--model", "openai/test-model", env=env)
        chat.type(f"tell me{ENTER}")
        shows(chat, "It begins here and goes")
        chat.type(CTRL_C)
        shows(chat, "interrupted; what was said is kept")
        chat.type(f"and now{ENTER}")
        shows(chat, "Short.")
        assert "interrupted: the answer ends here" in server.last.text  # the model knows, too
        chat.type(CTRL_D)
        assert leaves(chat) == 0


def test_a_session_without_its_metadata_goes_on_and_is_whole_again(workspace: Workspace) -> None:
    workspace.write("script.yaml", json.dumps(SCRIPT))
    words = ("--model", "scripted:script.yaml", "hello")
    session = workspace.run("run", "--json", *words).json["session_id"]
    file = workspace.path / "home" / ".amplihack" / "sessions" / session / "metadata.json"
    file.write_text('{"session_id": ')
    again = workspace.run("session", "resume", session, *words)
    assert (again.exit_code, "cannot be read" in again.stderr) == (0, True)
    (found,) = sessions(workspace)
    assert (found["status"], found["turns"], found["bundle"]) == ("idle", 2, "foundation")
    assert found["cwd"] == str(workspace.path)
    assert workspace.run("session", "resume", session, "hello").exit_code == 0  # it knows its model again


def test_another_model_stays_the_model_of_the_session(start: Start, workspace: Workspace) -> None:
    workspace.write("other.yaml", json.dumps({"rules": [{"when": ".", "text": "Another voice."}]}))
    chat = start()
    chat.type(f"hello{ENTER}")
    shows(chat, "Good day.")
    chat.type(f"/model scripted:other.yaml{ENTER}")
    shows(chat, "model: scripted:")
    chat.type(f"hello{ENTER}")
    shows(chat, "Another voice.")
    chat.type(CTRL_D)
    assert leaves(chat) == 0
    assert "Another voice." in workspace.run("session", "resume", "last", "hello").stdout


def test_nothing_is_kept_of_a_chat_in_which_nothing_was_said(start: Start, workspace: Workspace) -> None:
    chat = start()
    chat.type(CTRL_D)
    assert leaves(chat) == 0
    assert sessions(workspace) == []


def test_without_a_terminal_each_line_is_a_prompt(workspace: Workspace) -> None:
    workspace.write("script.yaml", json.dumps({**calls("touch one"), "rules": SCRIPT["rules"]}))
    words = ("chat", "--model", "scripted:script.yaml")
    done = workspace.run(*words, stdin="hello\none \\\ntwo\n/cost\n/nothing\nlast words")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[:2] == ["Good day.", "Done with touch one."]
    assert "denied, as there is nobody to ask" in done.stderr
    assert "`amplihack run` takes one prompt as a whole" in done.stderr
    assert not (workspace.path / "one").exists()
    prompts = [text for role, text in said(workspace) if role == "user"]
    assert prompts == ["hello", "one \ntwo", "last words"]
    assert workspace.run(*words, stdin="overload\n").exit_code == 1
    assert workspace.run(*words, stdin="overload\nhello\n").exit_code == 0
    assert workspace.run(*words, stdin="").exit_code == 0


def test_resume_asks_once_more_or_talks(start: Start, workspace: Workspace) -> None:
    workspace.write("script.yaml", json.dumps(SCRIPT))
    first = workspace.run("run", "--model", "scripted:script.yaml", "--json", "hello").json["session_id"]
    again = workspace.run("session", "resume", first[:6], "--json", "hello", "again")
    assert (again.exit_code, again.json["response"], again.json["session_id"]) == (0, "Good day.", first)
    piped = workspace.run("session", "resume", "last", stdin="hello from a pipe")
    assert "Good day." in piped.stdout
    assert [text for role, text in said(workspace) if role == "user"] == [
        "hello",
        "hello again",
        "hello from a pipe",
    ]
    assert workspace.run("session", "resume", "nobody", "hello").exit_code == 3
    assert workspace.run("chat", "--resume", "nobody").exit_code == 3
    chat = start("--resume", first)
    shows(chat, "3 turns so far")


def test_turns_are_taken_back_asked_again_and_summarised(workspace: Workspace) -> None:
    script = {"rules": [{"when": "Summarise our", "text": "They greeted."}], "at_end": "echo"}
    workspace.write("script.yaml", json.dumps(script))
    lines = ["/undo", "one", "two", "/undo", "/retry", "/rename the  greeting", "/compact", "three", "/undo"]
    answer = workspace.run("chat", "--model", "scripted:script.yaml", stdin="\n".join(lines))
    assert answer.exit_code == 0, answer.stderr
    assert "nothing was said yet" in answer.stderr
    told = [json.loads(workspace.run("session", "show", each, "--json").stdout) for each in kept(workspace)]
    said = {tuple(each["content"] for each in one["messages"] if each["role"] == "user") for one in told}
    assert {("one", "two"), ("one",)} <= said  # as they were: nothing is lost by going back
    summary = "This is what was said before, summarised:\n\nThey greeted."
    assert {(summary, "three"), (summary,)} <= said
    assert "the greeting" in workspace.run("session", "list").stdout


def test_going_back_takes_back_no_cost(workspace: Workspace) -> None:
    workspace.write("script.yaml", json.dumps(SCRIPT))
    lines = ["hello", "/undo", "/cost", "hello", "/cost"]
    answer = workspace.run("chat", "--model", "scripted:script.yaml", stdin="\n".join(lines))
    told = [line for line in answer.stdout.splitlines() if line.startswith("this ")]
    assert "$0.0125" in told[1]
    assert told[1].startswith("this chat: ")
    assert "$0.0250" in told[3]


def test_what_is_asked_for_is_shown_and_changed(workspace: Workspace) -> None:
    script = {
        "rules": [{"when": "^again", "text": "Done."}],
        "steps": [{"tools": [{"name": "write_file", "input": {"file_path": "made", "content": "x"}}]}],
        "at_end": "repeat",
    }
    workspace.write("script.yaml", json.dumps(script))
    lines = ["/approvals", "/approvals never", "/approvals auto-edit", "write it", "/config"]
    flags = ("--model", "scripted:script.yaml", "--allow", "bash:ls", "--max-turns", "1")
    answer = workspace.run("chat", *flags, stdin="\n".join(lines))
    assert "mode  ask\nallow  bash:ls\n" in answer.stdout
    assert "/approvals cannot be 'never'" in answer.stderr
    assert (workspace.path / "made").exists()
    assert '"mode": "auto-edit"' in answer.stdout


def kept(workspace: Workspace) -> list[str]:
    listed = json.loads(workspace.run("session", "list", "--json").stdout)
    return [each["session_id"] for each in listed]
