"""`amplihack session list|show|fork|prune`, over sessions that are whole, cut off, damaged, or of agents."""

from __future__ import annotations

import fcntl
import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.support.stored_sessions import TALK, write_session
from tests.support.workspace import Workspace

QUESTION = '{"role": "user", "content": "q"}\n'


@pytest.fixture
def home(workspace: Workspace) -> Path:
    return workspace.path / "home"


def test_without_sessions_the_list_is_empty_and_says_how_to_begin(workspace: Workspace) -> None:
    listed = workspace.run("session", "list")
    assert (listed.exit_code, listed.stdout) == (0, "")
    assert "amplihack chat" in listed.stderr
    assert workspace.run("session", "list", "--json").json == []


def test_the_list_has_what_one_looks_for(workspace: Workspace, home: Path) -> None:
    write_session(home, "11111111-aaaa", used=2, at=1_700_000_001)
    write_session(home, "22222222-bbbb", [{"role": "user", "content": "hi"}], used=0, at=1_700_000_002)
    newest, oldest = workspace.run("session", "list", "--json").json
    assert [newest["session_id"], oldest["session_id"]] == ["22222222-bbbb", "11111111-aaaa"]
    assert (oldest["turns"], oldest["prompt"], oldest["status"]) == (2, "what is here?", "idle")
    assert (oldest["bundle"], oldest["model"], oldest["cwd"]) == ("foundation", "model-1", str(home))
    assert oldest["cost_usd"] == 0.025
    assert newest["cost_usd"] is None
    assert newest["status"] == "interrupted"  # nobody answered
    table = workspace.run("session", "list", "--limit", "1").stdout.splitlines()
    assert table[0].split()[:3] == ["session", "last", "used"]
    assert [line.split()[0] for line in table[1:]] == ["22222222"]


def test_what_models_used_counts_once_although_the_event_log_tells_of_it_too(
    workspace: Workspace, home: Path
) -> None:
    directory = write_session(home, "one")
    event = json.loads((directory / "events.jsonl").read_text())
    with (directory / "events.jsonl").open("a") as file:
        file.write(json.dumps({"ts": "x", "schema": {"name": "amplifier.log"}, **event}) + "\n")
    (found,) = workspace.run("session", "list", "--json").json
    assert (found["cost_usd"], found["usage"]["calls"]) == (0.0125, 1)


NOTED: dict[str, Any] = {
    "turn_count": 2,
    "asked_model": "noted",
    "usage": {"calls": 7, "input_tokens": 1, "cost_usd": "0.5"},
}


@pytest.mark.parametrize(
    ("messages", "metadata", "told"),
    [
        (TALK, NOTED, ("noted", 0.5)),  # the end of the last turn noted it all
        ([*TALK, *TALK[4:]], NOTED, ("model-1", 0.1)),  # another turn was stored after that
        ([*TALK, TALK[0]], NOTED, ("model-1", 0.1)),  # it was cut off in another turn
        (TALK, {**NOTED, "usage": None}, ("model-1", 0.1)),
        (TALK, {"usage": NOTED["usage"]}, ("model-1", 0.1)),  # as of a fork
    ],
    ids=["settled", "later", "cut-off", "nothing", "no-count"],
)
def test_what_the_last_turn_noted_counts_unless_more_happened(
    workspace: Workspace, home: Path, messages: list[Any], metadata: dict[str, Any], told: tuple[str, float]
) -> None:
    write_session(home, "one", messages, used=8, **metadata)
    (found,) = workspace.run("session", "list", "--json").json
    assert (found["model"], found["cost_usd"]) == told


@pytest.mark.parametrize("events", ["", "no JSON at all\n", None])
@pytest.mark.parametrize("messages", [TALK, [*TALK, TALK[0]]])
def test_what_was_paid_is_not_forgotten_with_the_events(
    workspace: Workspace, home: Path, messages: list[Any], events: str | None
) -> None:
    directory = write_session(home, "one", messages, **NOTED)
    (directory / "events.jsonl").unlink()
    if events is not None:
        (directory / "events.jsonl").write_text(events)
    (listed,) = workspace.run("session", "list", "--json").json
    shown = workspace.run("session", "show", "--json").json
    assert (listed["cost_usd"], shown["cost_usd"]) == (0.5, 0.5)
    workspace.write("s.yaml", "- {text: ok, usage: {input_tokens: 1, cost_usd: '0.25'}}\n")
    answer = workspace.run("session", "resume", "one", "--model", "scripted:s.yaml", "go on")
    assert answer.exit_code == 0, answer.stderr
    assert workspace.run("session", "show", "--json").json["cost_usd"] == 0.75


def test_a_list_and_a_page_agree_on_real_sessions(workspace: Workspace) -> None:
    used = "usage: {input_tokens: 10, output_tokens: 5, cost_usd: '0.25'}"
    look = "{name: glob, input: {pattern: x}}"
    turn = f"- {{tools: [{look}], {used}}}\n- {{text: done, {used}}}\n"
    workspace.write("s.yaml", turn * 2)
    workspace.run("run", "--model", "scripted:s.yaml", "go")
    workspace.run("run", "--resume", "last", "go on")
    (listed,) = workspace.run("session", "list", "--json").json
    shown = workspace.run("session", "show", "--json").json
    assert listed["usage"] == shown["usage"]
    assert (listed["turns"], listed["cost_usd"], listed["model"]) == (2, 1.0, shown["model"])


def test_sessions_of_agents_are_listed_on_demand(workspace: Workspace, home: Path) -> None:
    write_session(home, "11111111-aaaa", at=1_700_000_001)
    write_session(home, "0-1_reader", agent_name="reader", parent_id="11111111-aaaa", at=1_700_000_009)
    listed = workspace.run("session", "list")
    assert "0-1_reader" not in listed.stdout
    assert "1 session of an agent is not shown: --all" in listed.stderr
    everything = workspace.run("session", "list", "--all", "--json").json
    assert [each["agent"] for each in everything] == ["reader", None]
    assert workspace.run("session", "show").stdout.startswith("session 11111111-aaaa")  # the last of ours
    assert workspace.run("session", "show", "latest").stdout == workspace.run("session", "show").stdout


BUNDLE = """\
bundle: {name: house}
session: {orchestrator: loop-streaming, context: context-simple}
tools: [{module: tool-bash}, {module: tool-filesystem}]
agents:
  reader: {description: Reads., instruction: You only read.}
spawn: {exclude_tools: [%s]}
"""


@pytest.mark.parametrize("excluded", ["bash", "tool-bash"])
@pytest.mark.parametrize("agent", ["reader", "self"])
def test_an_agent_that_is_resumed_keeps_to_the_policy_of_the_bundle_that_spawned_it(
    workspace: Workspace, home: Path, excluded: str, agent: str
) -> None:
    bundle = workspace.write("house.yaml", BUNDLE % excluded)
    write_session(home, "root", bundle_source=str(bundle), at=1_700_000_001)
    child = write_session(home, "0-1_agent", agent_name=agent, parent_id="root", at=1_700_000_009)
    workspace.write("s.yaml", "- {tools: [{name: bash, input: {command: touch there}}]}\n- {text: done}\n")
    wanted = ("--yes", "--model", "scripted:s.yaml", "go on")
    answer = workspace.run("session", "resume", "0-1_agent", *wanted)
    assert answer.exit_code == 0, answer.stderr
    assert "There is no tool 'bash'" in (child / "transcript.jsonl").read_text()
    assert not (home / "there").exists()


def test_a_tool_that_was_given_several_lines_stands_below_what_was_said(
    workspace: Workspace, home: Path
) -> None:
    call = {"id": "1", "tool": "write_file", "arguments": {"file_path": "a", "content": "one\ntwo\n"}}
    asked = {"role": "user", "content": "write"}
    calling = {"role": "assistant", "content": "Now.", "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "1", "content": "done"}
    write_session(home, "aaaa", [asked, calling, result, {"role": "assistant", "content": "Ok."}])
    shown = workspace.run("session", "show", "aaaa").stdout
    assert "\n  Now.\n  → write_file " in shown


@pytest.mark.parametrize(
    ("damage", "status", "said"),
    [
        ({"transcript.jsonl": f"{QUESTION}nonsense\n{QUESTION}"}, "damaged", "line 2"),
        ({"transcript.jsonl": f'{QUESTION}{{"role": "assi'}, "damaged", "half-written"),
        ({"metadata.json": '{"session_id": "b'}, "damaged", "cannot be read"),
        ({"metadata.json": None}, "damaged", "is missing"),
        ({"transcript.jsonl": f"{QUESTION}{json.dumps(TALK[1])}\n"}, "interrupted", "closed now"),
    ],
)
def test_damaged_sessions_are_listed_and_told(
    workspace: Workspace, home: Path, damage: dict[str, str | None], status: str, said: str
) -> None:
    write_session(home, "aaaa", at=1_700_000_001)
    directory = write_session(home, "bbbb", at=1_700_000_002)
    for name, text in damage.items():
        (directory / name).unlink() if text is None else (directory / name).write_text(text)
    before = {each.name: each.read_bytes() for each in directory.iterdir()}
    listed = workspace.run("session", "list")
    assert listed.exit_code == 0
    assert status in next(line for line in listed.stdout.splitlines() if line.startswith("bbbb"))
    assert (said in listed.stderr) == (status == "damaged")  # a turn that was cut off is a state, no more
    found = {each["session_id"]: each for each in workspace.run("session", "list", "--json").json}
    assert (found["aaaa"]["status"], found["bbbb"]["status"]) == ("idle", status)
    assert said in found["bbbb"]["problems"][0]["message"]
    shown = workspace.run("session", "show", "bbbb")
    assert (shown.exit_code, said in shown.stderr) == (0, True)
    assert {each.name: each.read_bytes() for each in directory.iterdir()} == before  # looking changes nothing


def test_a_session_that_another_process_has_is_open_and_not_damaged(workspace: Workspace, home: Path) -> None:
    directory = write_session(home, "aaaa", TALK[:2])
    with (directory / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (found,) = workspace.run("session", "list", "--json").json
    assert (found["status"], found["problems"]) == ("open", [])


def test_show_tells_the_conversation_with_tools_folded(workspace: Workspace, home: Path) -> None:
    write_session(home, "aaaa")
    page = workspace.run("session", "show", "aa").stdout
    assert "[1] you:\n  what is here?" in page
    assert "  → bash command=ls -a\n    a.txt (+ 2 lines)" in page
    assert "[2] assistant:\n  You are welcome." in page
    assert "2 turns, 1 call of models, 10 tokens in, 5 out, cost $0.0125" in page
    assert "amplihack session resume aaaa" in page
    assert "    b.txt\n    c.txt" in workspace.run("session", "show", "aa", "--full").stdout
    assert workspace.run("session", "show", "aa", "--json").json["messages"] == TALK


def test_what_was_said_cannot_control_the_terminal(workspace: Workspace, home: Path) -> None:
    talk = [
        {"role": "user", "content": "\x1b[2Jhello\x07"},
        {"role": "assistant", "content": "\x1b]0;x\x07 ok"},
    ]
    write_session(home, "a\x1bb", talk)
    for words in (("session", "list"), ("session", "show")):
        answer = workspace.run(*words)
        assert "hello" in answer.stdout
        assert "\x1b" not in answer.stdout + answer.stderr


def test_fork_copies_up_to_a_turn(workspace: Workspace, home: Path) -> None:
    write_session(home, "aaaa")
    forked = workspace.run("session", "fork", "aaaa", "--turn", "1")
    new = forked.stdout.strip()
    assert f"`amplihack session resume {new}` goes on" in forked.stderr
    shown = workspace.run("session", "show", new, "--json").json
    assert (shown["messages"], shown["forked_from"], shown["forked_from_turn"]) == (TALK[:4], "aaaa", 1)
    assert shown["cost_usd"] is None  # what was paid, the other one paid
    told = workspace.run("session", "fork", "aaaa", "--json").json
    assert (told["forked_from"], told["turn"], told["messages"]) == ("aaaa", 2, 6)
    assert told["session_id"] in {
        each["session_id"] for each in workspace.run("session", "list", "--json").json
    }


def test_wrong_references_are_told(workspace: Workspace, home: Path) -> None:
    assert workspace.run("session", "show").exit_code == 3  # there is no last one
    write_session(home, "abc-1")
    write_session(home, "abc-2")
    for words, code, said in (
        (("show", "nobody"), 3, "there is no session 'nobody'"),
        (("show", "abc"), 2, "ambiguous: it begins abc-"),
        (("show", "../abc-1"), 3, "cannot be a session's id"),
        (("fork", "nobody"), 3, "there is no session"),
        (("fork", "abc"), 2, "ambiguous"),
        (("fork", "abc-1", "--turn", "7"), 2, "Turn 7 out of range (1-2)"),
        (("fork", "abc-1", "--turn", "0"), 2, "expected a whole number"),
    ):
        answer = workspace.run("session", *words)
        assert (answer.exit_code, said in answer.stderr) == (code, True), (words, answer)
        assert workspace.run("session", *words, "--json").json["error"]["what"]


def test_a_session_that_was_cut_off_can_be_forked(workspace: Workspace, home: Path) -> None:
    write_session(home, "aaaa", TALK[:2])
    new = workspace.run("session", "fork", "aaaa", "--json")
    assert new.exit_code == 0, new.stderr
    roles = [
        each["role"]
        for each in workspace.run("session", "show", new.json["session_id"], "--json").json["messages"]
    ]
    assert roles == ["user", "assistant", "tool", "assistant"]  # the open call has an answer


def test_a_fork_has_the_results_that_were_kept_when_the_session_was_cut_off(
    workspace: Workspace, home: Path
) -> None:
    calls: list[dict[str, Any]] = [
        {"id": name, "tool": "bash", "arguments": {}} for name in ("ended", "open")
    ]
    talk = [
        *TALK,
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "", "tool_calls": calls},
    ]
    directory = write_session(home, "aaaa", talk)
    kept = {"role": "tool", "tool_call_id": "ended", "name": "bash", "content": "it was paid for"}
    (directory / "results.jsonl").write_text(json.dumps(kept) + "\n" + '{"role": "tool", "tool_call_')
    forked = workspace.run("session", "fork", "aaaa", "--json")
    assert "interrupted in its last turn" in forked.stderr
    messages = workspace.run("session", "show", forked.json["session_id"], "--json").json["messages"]
    results = {each["tool_call_id"]: each["content"] for each in messages[8:] if each["role"] == "tool"}
    assert results["ended"] == "it was paid for"
    assert "interrupted" in results["open"]
    earlier = workspace.run("session", "fork", "aaaa", "--turn", "2", "--json")
    assert "interrupted" not in earlier.stderr
    assert earlier.json["messages"] == len(TALK)


def test_forking_a_damaged_session_tells_what_the_fork_goes_without(workspace: Workspace, home: Path) -> None:
    directory = write_session(home, "aaaa")
    lines = (directory / "transcript.jsonl").read_text().splitlines(keepends=True)
    (directory / "transcript.jsonl").write_text("".join([*lines[:4], "garbage\n", *lines[4:]]))
    (directory / "metadata.json").write_text("{")
    forked = workspace.run("session", "fork", "aaaa", "--turn", "1")
    assert forked.exit_code == 0
    assert "line 5: the message cannot be read and is left out" in forked.stderr
    assert "metadata.json cannot be read" in forked.stderr


def test_a_session_whose_transcript_is_gone_says_so_everywhere(workspace: Workspace, home: Path) -> None:
    for name, turns in (("gone", 1), ("emptied", 2)):
        directory = write_session(home, name, turn_count=turns)
        transcript = directory / "transcript.jsonl"
        transcript.unlink()
        if name == "emptied":
            transcript.write_text("")
        (found,) = [
            each for each in workspace.run("session", "list", "--json").json if each["session_id"] == name
        ]
        assert found["status"] == "damaged"
        for words in (("show", name), ("fork", name)):
            assert "what was said in the session is lost" in workspace.run("session", *words).stderr


def test_forking_a_session_that_still_runs_says_so(workspace: Workspace, home: Path) -> None:
    directory = write_session(home, "aaaa", TALK[:2])
    with (directory / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        forked = workspace.run("session", "fork", "aaaa")
    assert forked.exit_code == 0
    assert "the last turn of aaaa still runs; the fork has what was said until now" in forked.stderr


# Removing ---------------------------------------------------------------------------------------------


def names(workspace: Workspace) -> list[str]:
    return [each["session_id"] for each in workspace.run("session", "list", "--all", "--json").json]


@pytest.mark.parametrize(
    "words", [(), ("--older-than", "soon"), ("--older-than", "30"), ("--keep", "-1"), ("--keep", "many")]
)
def test_what_should_go_must_be_said(workspace: Workspace, home: Path, words: tuple[str, ...]) -> None:
    write_session(home, "one")
    answer = workspace.run("session", "prune", *words)
    assert answer.exit_code == 2
    assert "fix:" in answer.stderr
    assert names(workspace) == ["one"]


def test_old_sessions_go_with_those_of_their_agents(workspace: Workspace, home: Path) -> None:
    write_session(home, "old", at=1_700_000_001)
    write_session(home, "old_child", at=1_700_000_002, parent_id="old", agent_name="helper")
    write_session(home, "older", at=1_600_000_001)
    now = time.time()
    write_session(home, "older_child", at=now, parent_id="older", agent_name="helper")
    write_session(home, "fork", at=now, parent_id="old", forked_from_turn=1)
    assert workspace.run("session", "prune", "--older-than", "900w").stdout == "removed 0 sessions\n"
    removed = workspace.run("session", "prune", "--older-than", "30d", "--json").json
    assert sorted(each["session_id"] for each in removed) == ["old", "old_child"]
    assert sorted(names(workspace)) == ["fork", "older", "older_child"]
    assert workspace.run("session", "prune", "--keep", "0").stdout == "removed 3 sessions\n"
    assert list((home / ".amplihack" / "sessions").iterdir()) == []


def test_sessions_can_be_removed_by_name(workspace: Workspace, home: Path) -> None:
    write_session(home, "11111111-aaaa", at=1_700_000_001)
    write_session(home, "22222222-bbbb", at=1_700_000_002)
    write_session(home, "33333333-cccc", at=1_700_000_003)
    write_session(home, "0-1_helper", agent_name="helper", parent_id="11111111-aaaa", at=1_700_000_004)
    write_session(home, "0-2_other", agent_name="other", parent_id="0-1_helper", at=1_700_000_005)
    assert workspace.run("session", "prune", "0-2_other").stdout == "removed 1 session\n"  # not its parent
    refused = workspace.run("session", "prune", "1111", "nobody")
    assert refused.exit_code == 3  # nothing is removed
    assert workspace.run("session", "prune", "1111", "--keep", "1").exit_code == 2
    assert len(workspace.run("session", "list", "--all", "--json").json) == 4
    gone = workspace.run("session", "prune", "1111", "last", "--json")
    assert gone.exit_code == 0, gone.stderr
    assert {each["session_id"] for each in gone.json} == {"11111111-aaaa", "0-1_helper", "33333333-cccc"}
    (left,) = workspace.run("session", "list", "--all", "--json").json
    with (home / ".amplihack" / "sessions" / left["session_id"] / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stays = workspace.run("session", "prune", "2222")
    assert stays.exit_code == 1
    assert "open elsewhere" in stays.stderr


def test_the_newest_are_kept_and_what_is_open_is_never_removed(workspace: Workspace, home: Path) -> None:
    for number, name in enumerate(("a", "b", "c"), 1):
        write_session(home, name, at=1_700_000_000 + number)
    left = home / ".amplihack" / "sessions" / ".removed-before"  # by a process that was killed
    left.mkdir()
    with (home / ".amplihack" / "sessions" / "a" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        answer = workspace.run("session", "prune", "--keep", "1")
        assert (answer.exit_code, answer.stdout) == (0, "removed 1 session\n")
        assert "not removed: the session a is open elsewhere" in answer.stderr
        assert names(workspace) == ["c", "a"]
    assert not left.exists()
