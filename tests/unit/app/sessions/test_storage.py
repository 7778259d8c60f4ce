"""Sessions are written as they happen, and go on after whatever ended them."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.ecosystem import House

from amplihack.app.sessions.prepared import Prepared, prepare_bundle
from amplihack.sessions.diagnosis import diagnose_transcript
from amplihack.sessions.errors import SessionInUse, SessionNotFound, SessionNotStored
from amplihack.system.session_store import log as log_module
from amplihack.system.session_store.store import SessionStore
from amplihack.system.spool import write_all


@pytest.fixture
def home(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AMPLIHACK_HOME", str(tmp_path / "ours"))
    monkeypatch.chdir(house.work)
    return tmp_path / "ours"


def run(house: House, story: Callable[[Prepared], Awaitable[None]]) -> None:
    async def whole() -> None:
        await story(await prepare_bundle(str(house.file)))

    asyncio.run(whole())


def lines(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (directory / "transcript.jsonl").read_text().splitlines()]


def roles(messages: list[dict[str, Any]]) -> list[str]:
    return [each["role"] for each in messages]


def test_each_message_is_on_the_disk_when_it_is_said(house: House, home: Path) -> None:
    code = """
        from pathlib import Path
        from amplifier_core import ToolResult
        class Look:
            name, description, input_schema = "look", "Reads the transcript.", {"type": "object"}
            async def execute(self, input_data):
                found = next(Path(input_data["text"]).glob("*/transcript.jsonl"))
                return ToolResult(success=True, output=str(len(found.read_text().splitlines())))
        async def mount(coordinator, config=None):
            await coordinator.mount("tools", Look(), name="look")
    """
    house.add("tools", "tool-look", code)

    async def story(prepared: Prepared) -> None:
        async with prepared.create_session("one") as session:
            assert await session.execute(f"call look {home}/sessions") == "tool said: 2"
            directory = home / "sessions" / "one"
            assert roles(lines(directory)) == ["user", "assistant", "tool", "assistant"]
            metadata = json.loads((directory / "metadata.json").read_text())
            assert (metadata["turn_count"], metadata["bundle"]) == (1, "house")
            assert metadata["working_dir"] == str(house.work)
            assert metadata["usage"]["cost_usd"] == "0.02"
            assert (
                directory.stat().st_mode & 0o777,
                (directory / "transcript.jsonl").stat().st_mode & 0o777,
            ) == (
                0o700,
                0o600,
            )

    run(house, story)


def test_a_session_goes_on_with_its_messages_its_directory_and_its_cost(
    house: House, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def first(prepared: Prepared) -> None:
        async with prepared.create_session("one-two-three") as session:
            await session.execute("remember this")

    async def second(prepared: Prepared) -> None:
        monkeypatch.chdir(house.directory)
        async with prepared.resume_session("one-t") as session:
            assert session.session_id == "one-two-three"
            assert session.is_resumed
            assert session.problems == ()
            assert (await session.messages())[0]["content"] == "remember this"
            assert await session.execute("call echo x") == f"tool said: x in {house.work}"
            assert session.usage.calls == 3
            assert str(await session.cost_usd()) == "0.03"

    run(house, first)
    run(house, second)
    assert len(lines(home / "sessions" / "one-two-three")) == 6


def test_only_one_process_has_a_session_open(house: House, home: Path) -> None:
    async def story(prepared: Prepared) -> None:
        async with prepared.create_session("one"):
            with pytest.raises(SessionInUse, match="open elsewhere"):
                await prepared.resume_session("one")
            with pytest.raises(SessionInUse, match="already"):
                await prepared.create_session("one")
        async with prepared.resume_session("one") as session:
            assert await session.execute("hello") == "you said: hello"

    run(house, story)


def test_an_unknown_or_ambiguous_id_is_told(house: House, home: Path) -> None:
    async def story(prepared: Prepared) -> None:
        for name in ("ab-1", "ab-2"):
            await (await prepared.create_session(name)).cleanup()
        with pytest.raises(SessionNotFound, match="ambiguous: it begins ab-"):
            await prepared.resume_session("ab")
        for wrong in ("nobody", "", "../ab-1", ".hidden"):
            with pytest.raises(SessionNotFound):
                await prepared.resume_session(wrong)

    run(house, story)


CALL = '{"role": "assistant", "tool_calls": [{"id": "c", "tool": "echo", "arguments": {}}], "content": ""}\n'
ANSWERED = ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize(
    ("damage", "left"),
    [
        ('{"role": "assistant", "content": "half', ["user"]),
        (CALL, ANSWERED),
        (CALL + '{"role": "tool", "tool_call_id": "c", "content": "12', ANSWERED),
        (CALL + '{"role": "tool", "tool_call_id": "c", "content": "12"}\n', ANSWERED),
        ('not json at all\n{"role": "assistant", "content": "yes"}\n', ["user", "assistant"]),
        ("[1, 2]\n", ["user"]),
    ],
)
def test_whatever_a_crash_left_a_session_goes_on(
    house: House, home: Path, damage: str, left: list[str]
) -> None:
    async def first(prepared: Prepared) -> None:
        await (await prepared.create_session("one")).cleanup()

    run(house, first)
    file = home / "sessions" / "one" / "transcript.jsonl"
    file.write_text('{"role": "user", "content": "hello"}\n' + damage)

    async def second(prepared: Prepared) -> None:
        async with prepared.resume_session("one") as session:
            messages = await session.messages()
            assert roles(messages) == left
            assert session.problems
            assert await session.execute("go on") == "you said: go on"
            assert diagnose_transcript(await session.messages())["status"] == "healthy"

    run(house, second)
    assert diagnose_transcript(lines(home / "sessions" / "one"))["status"] == "healthy"
    assert list(file.parent.glob("transcript.jsonl.bak-*"))


class Killed(BaseException):
    """The process is gone: nothing that follows reaches the disk."""


def test_killed_at_every_write_a_session_goes_on(
    house: House, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = {name: getattr(log_module, name) for name in ("write_all", "write_metadata", "write_transcript")}
    writes = {"count": 0, "last": -1}

    def counted(name: str) -> Callable[..., Any]:
        def write(*arguments: Any) -> Any:
            writes["count"] += 1
            if 0 <= writes["last"] < writes["count"]:
                if name == "write_all" and writes["count"] == writes["last"] + 1:
                    file, data = arguments
                    os.write(file, data[: len(data) // 2])
                raise Killed
            return real[name](*arguments)

        return write

    async def talk(prepared: Prepared, name: str) -> None:
        session = await prepared.create_session(name)
        try:
            await session.execute("call echo one")
            await session.execute("two")
        finally:
            await session.cleanup()

    async def story(prepared: Prepared) -> None:
        with monkeypatch.context() as patch:
            for name in real:
                patch.setattr(log_module, name, counted(name))
            await talk(prepared, "whole")
            total = writes["count"]
            assert total > 8
            for last in range(total):
                writes.update(count=0, last=last)
                with pytest.raises((Killed, Exception)):
                    await talk(prepared, f"cut-{last}")
        for last in range(total):
            async with prepared.resume_session(f"cut-{last}") as session:
                messages = await session.messages()
                assert diagnose_transcript(messages)["status"] == "healthy"
                assert await session.execute("and then") == "you said: and then"
                stored = lines(home / "sessions" / f"cut-{last}")
                assert diagnose_transcript(stored)["status"] == "healthy"
                assert stored[-1]["content"] == "you said: and then"

    run(house, story)


def test_killed_by_the_system_in_the_middle_of_a_tool(house: House, home: Path) -> None:
    code = """
        import os, signal
        from amplifier_core import ToolResult
        class Kill:
            name, description, input_schema = "kill", "Kills its own process.", {"type": "object"}
            async def execute(self, input_data):
                os.kill(os.getpid(), signal.SIGKILL)
        async def mount(coordinator, config=None):
            await coordinator.mount("tools", Kill(), name="kill")
    """
    house.add("tools", "tool-kill", code)
    script = (
        "import asyncio\n"
        "from amplihack.app.sessions.prepared import prepare_bundle\n"
        "async def story():\n"
        f"    async with (await prepare_bundle({str(house.file)!r})).create_session('one') as session:\n"
        "        await session.execute('call kill')\n"
        "asyncio.run(story())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL

    async def story(prepared: Prepared) -> None:
        async with prepared.resume_session("one") as session:
            assert roles(await session.messages()) == ["user", "assistant", "tool", "assistant"]
            assert await session.execute("go on") == "you said: go on"

    run(house, story)


def test_a_full_disk_stops_the_turn_and_loses_nothing_that_was_said(
    house: House, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int, data: bytes) -> None:
        write_all(file, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def story(prepared: Prepared) -> None:
        async with prepared.create_session("one") as session:
            await session.execute("first")
            with monkeypatch.context() as patch:
                patch.setattr(log_module, "write_all", full)
                with pytest.raises(SessionNotStored, match="No space left") as caught:
                    await session.execute("second")
                assert "make room" in caught.value.fix
            directory = home / "sessions" / "one"
            assert roles(lines(directory))[:2] == ["user", "assistant"]
            assert await session.execute("room again") == "you said: room again"
            contents = [each["content"] for each in lines(directory)]
            assert contents[:2] == ["first", "you said: first"]
            assert contents[-1] == "you said: room again"
        async with prepared.resume_session("one") as session:
            assert await session.execute("third") == "you said: third"

    run(house, story)


def test_a_store_that_cannot_be_written_is_told_before_anything_is_asked(house: House, home: Path) -> None:
    home.mkdir()
    (home / "sessions").write_text("a file where a directory should be")

    async def story(prepared: Prepared) -> None:
        with pytest.raises(Exception, match="sessions"):
            await prepared.create_session("one")

    run(house, story)


def test_a_fork_goes_on_from_a_turn_and_leaves_the_first_alone(house: House, home: Path) -> None:
    async def story(prepared: Prepared) -> None:
        async with prepared.create_session("one") as session:
            for word in ("first", "second", "third"):
                await session.execute(word)
        forked = await prepared.fork_session("one", turn=2)
        async with prepared.resume_session(forked.session_id) as session:
            contents = [each["content"] for each in await session.messages()]
            assert contents == ["first", "you said: first", "second", "you said: second"]
            assert session.parent_id == "one"
            await session.execute("elsewhere")
        assert len(lines(home / "sessions" / "one")) == 6
        with pytest.raises(ValueError, match="out of range"):
            await prepared.fork_session("one", turn=9)

    run(house, story)


def test_children_are_stored_under_their_own_ids_and_can_be_resumed(house: House, home: Path) -> None:
    house.change(
        "---\n\nYou are", "agents:\n  helper: {description: H, instruction: You help.}\n---\n\nYou are"
    )

    async def first(prepared: Prepared) -> str:
        async with prepared.create_session("one") as session:
            spawn = session.coordinator.get_capability("session.spawn")
            answer = await spawn(agent_name="helper", instruction="hello", parent_session=session)
            return str(answer["session_id"])

    async def story(prepared: Prepared) -> None:
        child = await first(prepared)
        metadata = json.loads((home / "sessions" / child / "metadata.json").read_text())
        assert (metadata["parent_id"], metadata["agent_name"]) == ("one", "helper")
        async with prepared.resume_session("one") as session:
            assert session.usage.calls == 1
            resume = session.coordinator.get_capability("session.resume")
            again = await resume(child, "and now", parent_session=session)
            assert again["output"] == "you said: and now"
            assert session.usage.calls == 2
        assert len(lines(home / "sessions" / child)) == 4

    run(house, story)


def test_listing_does_not_stumble_over_what_is_no_session(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "sessions")
    assert store.ids() == []
    (store.root / "empty").mkdir(parents=True)
    (store.root / "broken").mkdir()
    (store.root / "broken" / "metadata.json").write_text("{")
    assert store.ids() == ["broken"]
    with pytest.raises(SessionNotFound, match="is no session"):
        store.read("broken")
    shutil.rmtree(store.root)
