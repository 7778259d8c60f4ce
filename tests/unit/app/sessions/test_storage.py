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
from contextlib import suppress
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.ecosystem import DELEGATE, NAMES, House

from amplihack.app.sessions.family import children_of
from amplihack.app.sessions.prepared import HostParts, Prepared, prepare_bundle
from amplihack.sessions.diagnosis import diagnose_transcript
from amplihack.sessions.errors import (
    SessionError,
    SessionInUse,
    SessionNotFound,
    SessionNotStored,
    SpawnRefused,
)
from amplihack.sessions.kept_children import kept_children
from amplihack.system.kernel.session import LiveSession
from amplihack.system.replace import sync_path
from amplihack.system.session_store import log as log_module
from amplihack.system.session_store import store as store_module
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


def test_what_was_said_is_synced_while_the_turn_still_runs(
    house: House, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """
        import asyncio
        from amplifier_core import ToolResult
        class Wait:
            name, description, input_schema = "wait", "Waits for the disk.", {"type": "object"}
            def __init__(self, coordinator):
                self.coordinator = coordinator
            async def execute(self, input_data):
                await self.coordinator.get_capability("synced").wait()
                return ToolResult(success=True, output="synced")
        async def mount(coordinator, config=None):
            await coordinator.mount("tools", Wait(coordinator), name="wait")
    """
    house.add("tools", "tool-wait", code)

    async def story(prepared: Prepared) -> None:
        real, synced, loop = log_module._sync, asyncio.Event(), asyncio.get_running_loop()

        def sync(file: int) -> None:
            real(file)
            if os.fstat(file).st_ino == (home / "sessions" / "one" / "transcript.jsonl").stat().st_ino:
                loop.call_soon_threadsafe(synced.set)

        monkeypatch.setattr(log_module, "_sync", sync)
        async with asyncio.timeout(30), prepared.create_session("one") as session:
            session.coordinator.register_capability("synced", synced)
            assert await session.execute("call wait") == "tool said: synced"

    run(house, story)


def test_a_disk_that_takes_what_it_cannot_keep_is_told(
    house: House, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sync(file: int) -> None:
        del file
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    async def story(prepared: Prepared) -> None:
        async with prepared.create_session("one") as session:
            with monkeypatch.context() as patch:
                patch.setattr(log_module, "_sync", sync)
                with pytest.raises(SessionNotStored, match="Input/output error"):
                    await session.execute("hello")
            assert await session.execute("again") == "you said: again"

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
        ('{"role": "assistant", "content": "half', ["user", "assistant"]),
        (CALL, ANSWERED),
        (CALL + '{"role": "tool", "tool_call_id": "c", "content": "12', ANSWERED),
        (CALL + '{"role": "tool", "tool_call_id": "c", "content": "12"}\n', ANSWERED),
        ('not json at all\n{"role": "assistant", "content": "yes"}\n', ["user", "assistant"]),
        ("[1, 2]\n", ["user", "assistant"]),
        ("", ["user", "assistant"]),  # it never got to answer
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
        def write(*arguments: Any, **options: Any) -> Any:
            writes["count"] += 1
            if 0 <= writes["last"] < writes["count"]:
                if name == "write_all" and writes["count"] == writes["last"] + 1:
                    file, data = arguments
                    os.write(file, data[: len(data) // 2])
                raise Killed
            return real[name](*arguments, **options)

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


REPOSITORY = Path(__file__).parents[4]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="it looks at open files")
def test_processes_that_are_killed_at_each_change_of_the_disk_lose_nothing_that_was_said(
    house: House, home: Path
) -> None:
    """Each is really killed: before and in a write, before a rename or a removal. Nothing is cleaned up."""
    root = home / "sessions"
    argv = [sys.executable, "-m", "tests.support.killed_sessions", str(house.file), str(root)]
    done = subprocess.run(
        argv,
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    count, ended = done.stdout.split() or ("0", done.stderr)
    assert ended == "True", done.stderr
    assert int(count) > 40

    async def story(prepared: Prepared) -> None:
        seen = 0
        for number in range(1, int(count) + 1):
            directory = root / f"cut-{number}-"
            if not (directory / "transcript.jsonl").exists():
                continue  # killed before anything could be said
            said = [each["content"] for each in whole_lines(directory)]
            async with prepared.resume_session(directory.name) as session:
                messages = await session.messages()
                assert diagnose_transcript(messages)["status"] == "healthy"
                assert [each["content"] for each in messages[: len(said)]] == said
                assert await session.execute("and then") == "you said: and then"
            assert diagnose_transcript(lines(directory))["status"] == "healthy"
            assert not list(directory.glob(".new-*"))
            seen = max(seen, len(said))
        assert seen == 6  # two turns, one of them with a tool; the second was taken back

    run(house, story)


def whole_lines(directory: Path) -> list[dict[str, Any]]:
    """Return the messages that are on the disk as a whole."""
    found = []
    for line in (directory / "transcript.jsonl").read_bytes().split(b"\n"):
        with suppress(ValueError):
            found.append(json.loads(line))
    return found


def test_a_session_of_a_newer_program_is_shown_and_not_touched(house: House, home: Path) -> None:
    async def story(prepared: Prepared) -> None:
        async with prepared.create_session("one") as session:
            await session.execute("hello")
        file = home / "sessions" / "one" / "metadata.json"
        known = json.loads(file.read_text())
        assert known["format"] == 1
        file.write_text(json.dumps({**known, "format": 2}))
        before = {each.name: each.read_bytes() for each in file.parent.iterdir()}
        with pytest.raises(SessionError, match="newer amplihack") as caught:
            await prepared.resume_session("one")
        assert "update amplihack" in caught.value.fix
        assert {each.name: each.read_bytes() for each in file.parent.iterdir()} == before
        assert prepared.store is not None
        assert len(prepared.store.read("one").messages) == 2
        forked = await prepared.fork_session("one")
        async with prepared.resume_session(forked.session_id) as session:
            assert await session.execute("on") == "you said: on"

    run(house, story)


def test_of_two_processes_that_resume_at_once_one_is_told(house: House, home: Path) -> None:
    async def first(prepared: Prepared) -> None:
        async with prepared.create_session("one") as session:
            await session.execute("hello")

    run(house, first)
    script = (
        "import asyncio, sys\n"
        "from amplihack.app.sessions.prepared import prepare_bundle\n"
        "async def story():\n"
        f"    prepared = await prepare_bundle({str(house.file)!r})\n"
        "    print('ready', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    try:\n"
        "        async with prepared.resume_session('one') as session:\n"
        "            print(await session.execute('again'), flush=True)\n"
        "            sys.stdin.readline()\n"
        "    except Exception as error:\n"
        "        print(type(error).__name__, flush=True)\n"
        "asyncio.run(story())\n"
    )
    argv = [sys.executable, "-c", script]
    both = [
        subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    try:
        streams = [(each.stdin, each.stdout) for each in both if each.stdin and each.stdout]
        assert [out.readline() for _, out in streams] == ["ready\n", "ready\n"]
        for given, _ in streams:
            given.write("\n")
            given.flush()
        answers = sorted(out.readline().strip() for _, out in streams)
        assert answers == ["SessionInUse", "you said: again"]
    finally:
        for each in both:
            each.communicate("\n", timeout=60)
    assert len(lines(home / "sessions" / "one")) == 4


def killed(house: House, prompt: str) -> subprocess.CompletedProcess[bytes]:
    """Say something in a session of another process."""
    script = (
        "import asyncio\n"
        "from amplihack.app.sessions.prepared import prepare_bundle\n"
        "async def story():\n"
        f"    async with (await prepare_bundle({str(house.file)!r})).create_session('one') as session:\n"
        f"        await session.execute({prompt!r})\n"
        "asyncio.run(story())\n"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, timeout=60)


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
    assert killed(house, "call kill").returncode == -signal.SIGKILL

    async def story(prepared: Prepared) -> None:
        async with prepared.resume_session("one") as session:
            assert roles(await session.messages()) == ["user", "assistant", "tool", "assistant"]
            assert await session.execute("go on") == "you said: go on"

    run(house, story)


PAIR = """
__amplifier_module_type__ = "orchestrator"
import asyncio
class Loop:
    async def execute(self, prompt, context, providers, tools, hooks, coordinator=None, **kwargs):
        await context.add_message({"role": "user", "content": prompt})
        calls = [{"id": name, "tool": name, "arguments": {"text": "x"}} for name in ("echo", "kill")]
        await context.add_message({"role": "assistant", "content": "", "tool_calls": calls})
        async def one(call):
            result = await tools[call["tool"]].execute(call["arguments"])
            data = {"tool_name": call["tool"], "tool_call_id": call["id"], "result": result.model_dump()}
            await hooks.emit("tool:post", data)
            return result
        for call, result in zip(calls, await asyncio.gather(*map(one, calls))):
            said = {"role": "tool", "tool_call_id": call["id"], "content": str(result.output)}
            await context.add_message(said)
        await context.add_message({"role": "assistant", "content": "both"})
        return "both"
async def mount(coordinator, config=None):
    await coordinator.mount("orchestrator", Loop())
"""


def test_what_one_tool_gave_is_kept_when_another_kills_the_process(house: House, home: Path) -> None:
    """A loop stores the results of a step together: one that is there must not be lost with the others."""
    code = """
        import asyncio, os, pathlib, signal
        from amplifier_core import ToolResult
        class Kill:
            name, description, input_schema = "kill", "Kills its own process.", {"type": "object"}
            async def execute(self, input_data):
                place = pathlib.Path(os.environ["AMPLIHACK_HOME"]) / "sessions" / "one" / "results.jsonl"
                while not (place.exists() and place.read_text().endswith("\\n")):
                    await asyncio.sleep(0.01)
                os.kill(os.getpid(), signal.SIGKILL)
        async def mount(coordinator, config=None):
            await coordinator.mount("tools", Kill(), name="kill")
    """
    house.add("tools", "tool-kill", code)
    loop = house.directory / "modules/loop-plain/amplifier_module_loop_plain/__init__.py"
    plain = loop.read_text()
    loop.write_text(PAIR)
    assert killed(house, "both").returncode == -signal.SIGKILL
    loop.write_text(plain)

    async def story(prepared: Prepared) -> None:
        async with prepared.resume_session("one") as session:
            assert roles(await session.messages()) == ["user", "assistant", "tool", "tool", "assistant"]
            results = {
                each["tool_call_id"]: each["content"]
                for each in await session.messages()
                if each["role"] == "tool"
            }
            assert results["echo"] == f"x in {house.work}"
            assert "interrupted" in results["kill"]
            assert await session.execute("go on") == "you said: go on"
        assert not (home / "sessions" / "one" / "results.jsonl").exists()

    run(house, story)


def test_the_end_of_a_turn_puts_all_of_it_on_the_disk_and_the_way_to_it_once(
    house: House, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []

    def noted(work: Callable[[Any], None]) -> Callable[[Any], None]:
        def noting(place: Any) -> None:
            work(place)
            synced.append("a file" if isinstance(place, int) else place.name)

        return noting

    monkeypatch.setattr(log_module, "_sync", noted(log_module._sync))
    monkeypatch.setattr(log_module, "sync_path", noted(sync_path))

    async def story(prepared: Prepared) -> None:
        async with prepared.create_session("one") as session:
            assert synced == []  # nothing was said yet
            await session.execute("first")
            assert {"a file", "metadata.json", "one", "sessions"} <= set(synced)
            synced.clear()
            await session.execute("second")
            assert "a file" in synced
            assert not {"one", "sessions"} & set(synced)

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


@pytest.mark.parametrize(
    ("number", "helps"),
    [
        (errno.ENOSPC, "make room"),
        (errno.EROFS, "give write access"),
        (errno.EMFILE, "ulimit -n"),
        (errno.EISDIR, "plain file"),
        (errno.EIO, "make room or give write access"),
    ],
)
def test_what_helps_depends_on_what_is_wrong(
    house: House, home: Path, monkeypatch: pytest.MonkeyPatch, number: int, helps: str
) -> None:
    def failing(file: int, data: bytes) -> None:
        raise OSError(number, os.strerror(number))

    async def story(prepared: Prepared) -> None:
        async with prepared.create_session("one") as session:
            with monkeypatch.context() as patch:
                patch.setattr(log_module, "write_all", failing)
                with pytest.raises(SessionNotStored) as caught:
                    await session.execute("hello")
            assert os.strerror(number) in caught.value.what
            assert helps in caught.value.fix
            assert await session.execute("again") == "you said: again"

    run(house, story)


def test_a_session_that_waits_for_its_next_turn_holds_its_lock_alone(house: House, home: Path) -> None:
    def held() -> int:
        return len(os.listdir("/dev/fd"))  # noqa: PTH208 - names are numbers, and one is gone when they are read

    async def story(prepared: Prepared) -> None:
        sessions = [await prepared.create_session("first")]
        await sessions[0].execute("call echo x")
        before = held()
        for number in range(20):
            sessions.append(await prepared.create_session(f"s{number}"))
            await sessions[-1].execute("call echo x")
        assert held() - before <= 20 + 3  # a thread or two may have come
        for session in sessions:
            assert await session.execute("hello") == "you said: hello"
            await session.cleanup()

    run(house, story)


def test_a_session_that_cannot_be_begun_leaves_nothing_behind(
    house: House, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def story(prepared: Prepared) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(store_module, "write_metadata", full)
            with pytest.raises(SessionNotStored, match="No space left"):
                await prepared.create_session("one")
        assert list((home / "sessions").iterdir()) == []
        async with prepared.create_session("one") as session:
            assert await session.execute("hello") == "you said: hello"

    run(house, story)


def test_what_cannot_be_noted_of_a_model_fails_the_turn_once_and_says_nothing_else(
    house: House, home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    real = write_all

    def failing(file: int, data: bytes) -> None:
        if b"llm:response" in data:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(file, data)

    async def story(prepared: Prepared) -> None:
        async with prepared.create_session("one") as session:
            with monkeypatch.context() as patch:
                patch.setattr(log_module, "write_all", failing)
                with pytest.raises(SessionNotStored, match="No space left"):
                    await session.execute("hello")

    run(house, story)
    assert "Hook handler error" not in "".join(capfd.readouterr())


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
        for turn in (1, 2, 3):
            forked = await prepared.fork_session("one", turn=turn)
            assert len(lines(home / "sessions" / forked.session_id)) == 2 * turn
        for wrong in (0, -1, 4, 9):
            with pytest.raises(ValueError, match="out of range"):
                await prepared.fork_session("one", turn=wrong)

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


def test_agents_of_a_session_that_nothing_keeps_are_known_to_the_one_that_goes_on(
    house: House, home: Path
) -> None:
    house.change(
        "---\n\nYou are", "agents:\n  helper: {description: H, instruction: You help.}\n---\n\nYou are"
    )

    async def whole() -> None:
        prepared = await prepare_bundle(str(house.file), keep=False)
        async with prepared.create_session() as session:
            spawn = session.coordinator.get_capability("session.spawn")
            child = (await spawn("helper", "hello", session))["session_id"]
            kept = [each.to_json() for each in await children_of(session.coordinator)]
        assert [each["done"] for each in kept] == [True]
        host = HostParts(messages=[{"role": "user", "content": "q"}], children=kept_children(kept))
        async with prepared.create_session(host=host) as session:
            resume = session.coordinator.get_capability("session.resume")
            assert (await resume(child, "and now", parent_session=session))["output"] == "you said: and now"
            (known,) = await children_of(session.coordinator)
            assert [each["content"] for each in known.messages] == [
                "hello",
                "you said: hello",
                "and now",
                "you said: and now",
            ]

    asyncio.run(whole())


def test_a_child_of_a_session_that_goes_on_has_its_own_costs_and_problems(house: House, home: Path) -> None:
    house.change(
        "---\n\nYou are", "agents:\n  helper: {description: H, instruction: You help.}\n---\n\nYou are"
    )

    async def story(prepared: Prepared) -> None:
        async with prepared.create_session("one") as session:
            for word in ("first", "second"):
                await session.execute(word)
        with (home / "sessions" / "one" / "transcript.jsonl").open("a") as file:
            file.write('{"role": "user", "con')
        shown: list[str] = []
        display = SimpleNamespace(show_message=lambda text, *_: shown.append(text))
        host = HostParts(display_system=display)
        async with prepared.resume_session("one", host) as session:
            assert len(shown) == 1
            spawn = session.coordinator.get_capability("session.spawn")
            child = (await spawn(agent_name="helper", instruction="hi", parent_session=session))["session_id"]
            assert len(shown) == 1  # what is wrong with the parent is not told again
            assert session.usage.calls == 3
        metadata = json.loads((home / "sessions" / child / "metadata.json").read_text())
        assert metadata["usage"]["calls"] == 1
        with (home / "sessions" / child / "transcript.jsonl").open("a") as file:
            file.write('{"role": "user", "con')
        async with prepared.resume_session("one", host) as session:
            resume = session.coordinator.get_capability("session.resume")
            await resume(child, "and now", parent_session=session)
            assert any(child in text and "half-written" in text for text in shown)

    run(house, story)


def test_a_child_goes_on_with_what_its_caller_wished_for(house: House, home: Path) -> None:
    house.change(
        "---\n\nYou are", "agents:\n  helper: {description: H, instruction: You help.}\n---\n\nYou are"
    )
    wishes: dict[str, Any] = {
        "tool_inheritance": {"exclude_tools": ["tool-echo"]},
        "provider_preferences": [{"provider": "scripted", "model": "small-1"}],
    }

    async def gone_on(session: LiveSession, child: str) -> None:
        resume = session.coordinator.get_capability("session.resume")
        assert (await resume(child, "hi", parent_session=session))["output"] == "small-1you said: hi"
        with pytest.raises(KeyError, match="echo"):
            await resume(child, "call echo x", parent_session=session)

    async def story(prepared: Prepared) -> None:
        async with prepared.create_session("one") as session:
            spawn = session.coordinator.get_capability("session.spawn")
            found = await spawn("helper", "hi", parent_session=session, **wishes)
            assert found["output"] == "small-1you said: hi"
            await gone_on(session, found["session_id"])
        async with prepared.resume_session("one") as session:  # which knows only what is stored
            await gone_on(session, found["session_id"])

    run(house, story)


def with_family(house: House) -> None:
    """Let the house have agents that may spawn each other, and a policy."""
    house.add("tools", "tool-delegate", DELEGATE)
    house.add("tools", "tool-names", NAMES)
    agents = """
        agents:
          boss: {description: B, instruction: You lead., spawn: {exclude_tools: [tool-echo]}}
          helper: {description: H, instruction: You help.}
        spawn: {max_depth: 2, exclude_tools: [tool-nothing]}
        ---

        You are"""
    house.change("---\n\nYou are", dedent(agents).strip())


async def spawned(session: LiveSession, agent: str, instruction: str, **wishes: Any) -> str:
    spawn = session.coordinator.get_capability("session.spawn")
    return str((await spawn(agent, instruction, parent_session=session, **wishes))["session_id"])


def test_a_child_that_is_resumed_by_itself_is_as_deep_as_it_was_and_under_its_policy(
    house: House, home: Path
) -> None:
    with_family(house)

    async def story(prepared: Prepared) -> None:
        async with prepared.create_session("one") as session:
            boss = await spawned(session, "boss", "call delegate helper hello")
            plain = await spawned(session, "helper", "hi", tool_inheritance={"inherit_tools": ["tool-names"]})
        (below,) = (
            each.name
            for each in (home / "sessions").iterdir()
            if json.loads((each / "metadata.json").read_text())["parent_id"] == boss
        )
        fork = (await prepared.fork_session(below)).session_id
        for name in (below, fork):
            async with prepared.resume_session(name) as session:
                assert session.depth == 2
                assert await session.execute("call names x") == "tool said: delegate names"
                assert "You help." in await session.execute("system")
                with pytest.raises(SpawnRefused, match="session number 3 below the first one"):
                    await spawned(session, "helper", "hello")
        async with prepared.resume_session(boss) as session:
            assert session.depth == 1
            deeper = await spawned(session, "helper", "hello")
        async with prepared.resume_session(plain) as session:
            assert await session.execute("call names x") == "tool said: names"
        for name in (deeper, fork):  # of an older program, which did not note it
            file = home / "sessions" / name / "metadata.json"
            known = json.loads(file.read_text())
            del known["depth"]
            file.write_text(json.dumps(known))
            async with prepared.resume_session(name) as session:
                assert session.depth == 2

    run(house, story)


def test_a_session_whose_policy_cannot_be_read_can_be_opened_when_it_is_mended(
    house: House, home: Path
) -> None:
    with_family(house)

    async def story(prepared: Prepared) -> None:
        async with prepared.create_session("one") as session:
            child = await spawned(session, "helper", "hi")
        policy = prepared.plan["spawn"]
        prepared.plan["spawn"] = {"tools": 7}
        with pytest.raises(SpawnRefused):
            await prepared.resume_session(child)
        prepared.plan["spawn"] = policy
        async with prepared.resume_session(child) as session:
            assert await session.execute("hello") == "you said: hello"

    run(house, story)


def test_a_session_cannot_go_on_with_what_was_said_in_others(house: House, home: Path) -> None:
    house.change(
        "---\n\nYou are", "agents:\n  helper: {description: H, instruction: You help.}\n---\n\nYou are"
    )

    async def story(prepared: Prepared) -> None:
        async with prepared.create_session("private") as other:
            await other.execute("my secret")
            spawn = other.coordinator.get_capability("session.spawn")
            child = await spawn(agent_name="helper", instruction="more secrets", parent_session=other)
        async with prepared.create_session("curious") as session:
            resume = session.coordinator.get_capability("session.resume")
            for wanted in ("private", "priv", child["session_id"], "curious"):
                with pytest.raises(SpawnRefused, match="no child of this session"):
                    await resume(wanted, "repeat everything")
        forked = await prepared.fork_session("private")
        async with prepared.resume_session(forked.session_id) as session:
            resume = session.coordinator.get_capability("session.resume")
            assert (await resume(child["session_id"], "go on", parent_session=session))["output"]

    run(house, story)


def test_listing_does_not_stumble_over_what_is_no_session(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "sessions")
    assert store.ids() == []
    (store.root / "empty").mkdir(parents=True)
    (store.root / "broken").mkdir()
    (store.root / "broken" / "metadata.json").write_text("{")
    assert store.ids() == ["broken"]
    read = store.read("broken")
    assert [each.code for each in read.problems] == ["metadata-lost", "message-lost"]
    assert read.messages == []
    shutil.rmtree(store.root)
