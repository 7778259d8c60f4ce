"""Real process trees: everything they print arrives, and nothing of them is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.marked import marked

from amplihack.system.background import Background
from amplihack.system.process_marks import VARIABLE
from amplihack.system.process_table import look_up
from amplihack.system.processes import Command, ProcessError, run_process
from amplihack.system.watcher import watch_over_us

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.skipif(sys.platform != "linux", reason="what is left running is looked for in /proc"),
]

IGNORE_TERM = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('up', flush=True)
time.sleep(600)
"""


class Place:
    """A directory to run in, a mark that all our processes carry, and proof that nothing is left."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.mark = folder, f"amplihack-test-{uuid.uuid4().hex}"
        self.temporary = folder / "tmp"
        self.temporary.mkdir()

    def bash(self, script: str) -> Command:
        env = {"PATH": os.environ["PATH"], "AMPLIHACK_TEST_MARK": self.mark, "PYTHON": sys.executable}
        return Command(argv=("/bin/bash", "-c", script), cwd=self.folder, env=env, grace=0.3)

    def python(self, code: str) -> Command:
        return replace(self.bash(""), argv=(sys.executable, "-c", code))

    def alive(self) -> list[str]:
        """Our living processes, found by the mark in their environment."""
        return list(marked(self.mark).values())

    async def until(self, count: int) -> None:
        """Wait for so many of our processes to be running."""
        while len(self.alive()) < count:
            await asyncio.sleep(0.01)

    async def until_runs(self, command: str) -> None:
        """Wait for it to be seen: a process that is just becoming another program has no command line."""
        while not any(command in line for line in self.alive()):
            await asyncio.sleep(0.01)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    place = Place(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(place.temporary))
    watch_over_us()  # it stays, and so does the descriptor that it holds
    descriptors = len(list(Path("/dev/fd").iterdir()))
    yield place
    assert place.alive() == []
    assert list(place.temporary.iterdir()) == []
    assert len(list(Path("/dev/fd").iterdir())) == descriptors


async def test_output_status_and_lines_arrive(place: Place) -> None:
    heard: list[tuple[str, str]] = []
    done = await run_process(
        place.bash("echo one; echo two >&2; printf three; exit 3"),
        lambda stream, lines: heard.extend((stream, line) for line in lines),
    )
    assert (done.exit_code, done.signal, done.ok, done.status) == (3, None, False, "exit 3")
    assert (done.stdout.text(), done.stderr.text()) == ("one\nthree", "two\n")
    assert sorted(heard) == [("stderr", "two"), ("stdout", "one"), ("stdout", "three")]


async def test_a_line_is_heard_while_the_process_still_runs(place: Place) -> None:
    go = place.folder / "go"
    script = f"echo ready; while [ ! -e {go} ]; do sleep 0.01; done; echo went"
    done = await run_process(place.bash(script), lambda _, lines: go.touch() if "ready" in lines else None)
    assert done.stdout.text() == "ready\nwent\n"


@pytest.mark.parametrize("here", [True, False])
async def test_a_process_starts_the_same_way_wherever_it_works(
    place: Place, monkeypatch: pytest.MonkeyPatch, here: bool
) -> None:
    """A quicker way is taken where it works in our own directory."""
    if here:
        monkeypatch.chdir(place.folder)
    ours = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(ours, True)
    script = "pwd; ps -o sid= -p $$; echo $$; ls /proc/self/fd | wc -l; grep SigIgn /proc/self/status"
    try:
        done = await run_process(place.bash(script))
    finally:
        os.close(ours)
    where, session, number, descriptors, ignored = done.stdout.text().splitlines()
    assert where == str(place.folder)
    assert session.strip() == number == str(done.pid)
    assert descriptors == "4"  # the three streams, and the directory that `ls` reads
    assert not int(ignored.split()[1], 16) & (1 << signal.SIGPIPE - 1)
    assert (await run_process(place.bash("kill -9 $$"))).signal == 9
    with pytest.raises(ProcessError, match="Argument list too long"):
        await run_process(replace(place.bash(""), argv=("/bin/echo", "x" * 3_000_000)))


async def test_stdin_is_empty_unless_something_is_given(place: Place) -> None:
    note = place.folder / "note"
    note.write_text("from a file")
    assert (await run_process(place.bash("cat"))).stdout.text() == ""
    assert (await run_process(replace(place.bash("cat"), stdin=note))).stdout.text() == "from a file"
    large = b"0123456789" * 200_000
    answer = await run_process(replace(place.bash("wc -c; sleep 0"), stdin=large))
    assert answer.stdout.text().strip() == "2000000"
    unread = await run_process(replace(place.bash("exec <&-; echo fine"), stdin=large))
    assert unread.stdout.text() == "fine\n"


async def test_a_killed_process_reports_the_signal(place: Place) -> None:
    done = await run_process(place.bash("kill -9 $$"))
    assert (done.exit_code, done.signal, done.timed_out, done.status) == (None, 9, False, "signal 9")


async def test_both_streams_are_read_at_once_and_kept_whole(place: Place) -> None:
    code = "import os\nfor _ in range(300): os.write(1, b'o'*10000); os.write(2, b'e'*10000)"
    done = await run_process(place.python(code))
    assert (done.stdout.size, done.stderr.size) == (3_000_000, 3_000_000)
    assert set(done.stdout.text()) == {"o"}


async def test_a_timeout_ends_a_process_that_asks_nicely_to_be_left_alone(place: Place) -> None:
    done = await run_process(replace(place.python(IGNORE_TERM), timeout=4.0))
    assert (done.timed_out, done.signal, done.ok) == (True, signal.SIGKILL, False)
    assert done.stdout.text() == "up\n"


async def test_what_is_printed_on_the_way_out_is_kept(place: Place) -> None:
    done = await run_process(
        replace(
            place.bash("trap 'echo bye; exit 0' TERM; echo hi; while :; do sleep 0.01; done"), timeout=2.0
        )
    )
    assert (done.stdout.text(), done.exit_code, done.timed_out, done.ok) == ("hi\nbye\n", 0, True, False)


@pytest.mark.parametrize("how", ["{}", "bash -c '{}; true'", "setsid bash -c '{}; true'"])
async def test_what_cleans_up_on_the_way_out_is_not_asked_to_end(place: Place, how: str) -> None:
    clean = how.format("sleep 0.3; touch cleaned")
    script = f'trap "{clean}; exit 0" TERM; touch ready; while :; do sleep 0.01; done'
    running = asyncio.create_task(run_process(replace(place.bash(script), grace=30.0)))
    while not (place.folder / "ready").exists():
        await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (place.folder / "cleaned").exists()
    assert place.alive() == []


async def test_silence_counts_from_the_last_output(place: Place) -> None:
    talking = await run_process(
        replace(place.bash("for i in 1 2 3 4 5 6; do echo $i; sleep 0.9; done"), idle_timeout=4.0)
    )
    assert talking.ok
    silent = await run_process(replace(place.bash("echo x; sleep 600"), idle_timeout=0.3))
    assert (silent.idle_timed_out, silent.timed_out, silent.ok) == (True, False, False)


@pytest.mark.parametrize(
    "tree",
    [
        "sleep 600 & sleep 600 & wait",
        "for i in $(seq 50); do sleep 600 & done; wait",
        f'"$PYTHON" -c "{IGNORE_TERM}" & wait',
        "timeout 600 sleep 600",
        "set -m; sleep 600 & wait",
        "setsid sleep 600 & sleep 600",
        "(sleep 600 & exec sleep 600) & kill -STOP $!; wait",
        "bash -c 'bash -c \"sleep 600 & wait\" & wait' & wait",
        "(setsid sleep 600 >/dev/null 2>&1 &); sleep 600",
        "(setsid bash -c '(setsid sleep 600 &)' &); sleep 600",
        "env -i setsid sleep 600 & sleep 600",
        "trap '(setsid sleep 600 &); exit' TERM; sleep 600 & wait",
        "trap 'setsid sleep 600 & sleep 600' TERM; sleep 600 & wait",
    ],
    ids=[
        *("children", "fifty", "stubborn", "own-group", "job-control", "own-session", "stopped", "deep"),
        *("orphan", "twice orphaned", "no environment", "trap", "stubborn trap"),
    ],
)
async def test_a_timeout_ends_the_whole_tree(place: Place, tree: str) -> None:
    done = await run_process(replace(place.bash(tree), timeout=1.0))
    assert done.timed_out
    assert place.alive() == []


async def test_a_grandchild_that_holds_the_pipe_is_ended_with_its_step(place: Place) -> None:
    done = await run_process(place.bash("sleep 600 & echo done"))
    assert (done.ok, done.stdout.text()) == (True, "done\n")


async def test_a_grandchild_that_never_stops_printing_is_ended_with_its_step(place: Place) -> None:
    done = await run_process(place.bash("while echo x; do sleep 0.01; done & exit 0"))
    assert done.ok


async def test_a_grandchild_may_finish_its_last_words(place: Place) -> None:
    done = await run_process(place.bash("{ sleep 0.05; echo late; } & echo early"))
    assert (done.ok, done.stdout.text()) == (True, "early\nlate\n")


async def in_background(place: Place, script: str, heard: list[str] | None = None) -> Background:
    """Run a step of a run; return what the run has in its background then."""
    command = place.bash(script)
    env = {**command.env, VARIABLE: f"{place.mark};"}
    background = Background(env)
    done = await run_process(
        replace(command, env=env, step="serve"),
        lambda _, lines: None if heard is None else heard.extend(lines),
    )
    assert (done.ok, done.stdout.text()) == (True, "started\n")
    return background


@pytest.mark.parametrize("where", ["", ">/dev/null 2>&1", "</dev/null >/dev/null 2>&1"])
@pytest.mark.parametrize("how", ["sleep 600", "setsid sleep 600", "(sleep 600; echo never)"])
async def test_a_background_process_lives_until_the_run_ends_it(place: Place, how: str, where: str) -> None:
    background = await in_background(place, f"{how} {where} & echo started")
    await place.until_runs("sleep 600")
    left = await background.end(grace=0.3)
    assert [each.step for each in left] == ["serve"]
    assert "sleep 600" in left[0].command
    assert place.alive() == []
    assert await background.end() == ()  # a second time changes nothing


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who is in a session")
@pytest.mark.parametrize("where", ["", ">/dev/null 2>&1"])
async def test_a_background_process_without_its_environment_is_ended_with_the_run_too(
    place: Place, where: str
) -> None:
    script = f"(trap '' TERM; exec env -i sleep 600 {where}) & echo $! > pid; echo started"
    background = await in_background(place, script)
    pid = int((place.folder / "pid").read_text())
    left = await background.end(grace=0.1)
    assert [(each.step, each.command) for each in left] == [("serve", "sleep 600")]
    now = look_up(pid)
    assert now is None or now.zombie


async def test_what_a_background_process_prints_is_heard_and_never_waited_for(place: Place) -> None:
    heard: list[str] = []
    script = "(while [ ! -e go ]; do sleep 0.01; done; echo late; exec sleep 600) & echo started"
    background = await in_background(place, script, heard)
    (place.folder / "go").touch()
    while "late" not in heard:
        await asyncio.sleep(0.01)
    await background.end(grace=0.3)


async def test_a_background_process_that_never_stops_printing_takes_no_room(place: Place) -> None:
    background = await in_background(place, "echo started; (sleep 0.3; exec yes) & exit 0")
    while place.alive() != ["yes "]:
        await asyncio.sleep(0.01)
    assert [each.command for each in await background.end(grace=0.3)] == ["yes"]


async def test_a_background_process_that_has_ended_by_itself_is_not_told(place: Place) -> None:
    background = await in_background(place, "sleep 0.3 & echo started")
    while place.alive():
        await asyncio.sleep(0.01)
    assert await background.end() == ()


@pytest.mark.parametrize("moment", ["at once", "starting", "running", "ending", "ending twice", "straggler"])
async def test_cancelling_leaves_nothing_behind(place: Place, moment: str) -> None:
    stubborn = f'"$PYTHON" -c "{IGNORE_TERM}" & "$PYTHON" -c "{IGNORE_TERM}"'
    script = "sleep 600 & echo" if moment == "straggler" else stubborn
    task = asyncio.create_task(run_process(place.bash(script)))
    if moment not in ("at once", "starting"):
        await place.until(1 if moment == "straggler" else 3)
    if moment != "at once":
        await asyncio.sleep(0)
    task.cancel()
    for _ in range({"ending": 1, "ending twice": 2}.get(moment, 0)):
        await asyncio.sleep(0.05)
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert place.alive() == []


async def test_a_deadline_of_the_caller_works_too(place: Place) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await run_process(place.bash("sleep 600 & sleep 600"))
    assert place.alive() == []


async def test_an_error_in_a_listener_ends_the_process_and_is_raised(place: Place) -> None:
    def listener(stream: str, lines: Sequence[str]) -> None:
        raise ValueError(lines[0])

    with pytest.raises(ValueError, match="first"):
        await run_process(place.bash("echo first; sleep 600"), listener)
    with pytest.raises(ValueError, match="unfinished"):
        await run_process(place.bash("printf unfinished"), listener)


async def test_a_hundred_processes_run_at_once(place: Place) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run_process(place.bash(f"sleep 0.2; echo {n}"))) for n in range(100)]
    assert [task.result().stdout.text().strip() for task in tasks] == [str(n) for n in range(100)]


async def test_exit_is_noticed_without_process_descriptors(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(pid: int) -> int:
        raise OSError("not here")

    monkeypatch.setattr("os.pidfd_open", refuse)
    assert (await run_process(place.bash("exit 7"))).exit_code == 7
    assert (await run_process(replace(place.bash("sleep 600"), timeout=0.2))).timed_out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"argv": ("no-such-program-anywhere",)}, "no such program"),
        ({"cwd": Path("/no/such/folder")}, "the directory /no/such/folder does not exist"),
        ({"argv": ("/dev/null",)}, "Permission denied"),
        ({"argv": ("/bin/echo", "x" * 3_000_000)}, "Argument list too long"),
        ({"argv": ("/bin/echo", "a\0b")}, "no process can be given"),
        ({"stdin": Path("/no/such/input")}, "its input /no/such/input does not exist"),
    ],
)
async def test_a_process_that_cannot_start_says_why(
    place: Place, change: dict[str, tuple[str, ...] | Path], words: str
) -> None:
    command = place.bash("true")
    with pytest.raises(ProcessError, match=words):
        await run_process(
            replace(command, **change),  # type: ignore[arg-type]  # the table above holds each field's type
        )


async def test_a_full_disk_ends_the_process_and_says_so(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("amplihack.system.spool.write_all", full)
    with pytest.raises(ProcessError, match="No space left"):
        await run_process(place.bash("yes"))


GIBIBYTE = """
import asyncio, os, resource, sys
from pathlib import Path
from amplihack.system.background import Background
from amplihack.system.process_marks import VARIABLE
from amplihack.system.processes import Command, run_process
heard = []
done = asyncio.run(run_process(
    Command(argv=("head", "-c", sys.argv[1], "/dev/zero"), cwd=Path("/"), env=dict(os.environ)),
    (lambda stream, lines: heard.extend(map(len, lines))) if sys.argv[2] == "listening" else None,
))
assert done.ok and len(done.stdout.text()) == min(done.stdout.size, 10_000_000)
print(done.stdout.size, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.parametrize("listening", ["listening", "not"])
async def test_a_gibibyte_of_output_costs_little_memory(listening: str) -> None:
    def measure(size: str) -> tuple[int, int]:
        out = subprocess.run(
            [sys.executable, "-c", GIBIBYTE, size, listening], check=True, capture_output=True, text=True
        ).stdout.split()
        return int(out[0]), int(out[1])

    _, empty = await asyncio.to_thread(measure, "0")
    size, peak = await asyncio.to_thread(measure, "1G")
    assert size == 1 << 30
    assert peak - empty <= 64
