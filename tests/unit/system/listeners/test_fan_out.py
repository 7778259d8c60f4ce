import asyncio
import errno
import io
import os
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from tests.unit.system.listeners.script import SCRIPT, Clock, finished, started

from amplihack.errors import AmplihackError
from amplihack.recipes.events import (
    Event,
    GateReached,
    LinesPrinted,
    OutputStored,
    Recorded,
    Retrying,
    RunFinished,
    RunStarted,
    Warned,
)
from amplihack.recipes.results import RunResult
from amplihack.recipes.secrets import Redactor
from amplihack.system.listeners.audit import AuditLog
from amplihack.system.listeners.fan_out import FanOut
from amplihack.system.listeners.json_lines import JsonLines
from amplihack.system.listeners.listener import Listener
from amplihack.system.listeners.live import LiveProgress
from amplihack.system.listeners.plain import PlainProgress
from amplihack.system.listeners.progress_file import ProgressFile

LINE = LinesPrinted("a", "stdout", ("the key is hunter2",))


class Ear(Listener):
    name: ClassVar[str] = "the ear"
    wants_lines = True

    def __init__(self) -> None:
        self.heard: list[Event] = []
        self.ticks = 0
        self.ticked = asyncio.Event()
        self.closed = 0

    def hear(self, event: Event) -> None:
        self.heard.append(event)

    def tick(self) -> None:
        self.ticks += 1
        if self.ticks == 3:
            self.ticked.set()

    def close(self) -> None:
        self.closed += 1


class Deaf(Ear):
    wants_lines = False


class FullDisk(Ear):
    name = "the log"

    def hear(self, event: Event) -> None:
        super().hear(event)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Remembering:
    def __init__(self) -> None:
        self.kept: list[tuple[Recorded, str]] = []
        self.printed: list[LinesPrinted] = []
        self.processes: list[tuple[str, int]] = []
        self.closed = self.settled = 0

    def process(self, identity: str, pid: int) -> None:
        self.processes.append((identity, pid))

    def keep(self, event: Recorded, *, withheld: str = "") -> None:
        self.kept.append((event, withheld))

    def settle(self) -> None:
        self.settled = len(self.kept)

    def lines(self, event: LinesPrinted) -> None:
        self.printed.append(event)

    def history(self) -> list[Recorded]:
        return [started("a")]

    def close(self) -> None:
        self.closed += 1


def test_an_event_is_settled_before_those_hear_it_who_may_act_on_it() -> None:
    class Screen(Ear):
        outlives = False

    for listener, settled in ((Ear(), 1), (Screen(), 0)):
        memory = Remembering()
        FanOut([listener], Redactor(), report=print, memory=memory).record(started("a"))
        assert (len(memory.kept), memory.settled) == (1, settled)


def test_the_memory_gets_masked_events_and_hears_what_a_secret_kept_out() -> None:
    ear, memory = Ear(), Remembering()
    journal = FanOut([ear], Redactor(["k"], values={"k": "hunter2"}), report=print, memory=memory)
    journal.record(LINE)
    journal.record(OutputStored("a", {"x": "hunter2"}))
    journal.record(OutputStored("b", {"x": "plain"}))
    assert ear.heard[0] == LinesPrinted("a", "stdout", ("the key is ***",))
    assert memory.printed == [LINE]  # whoever keeps lines masks them, if it keeps them at all
    assert memory.kept == [(OutputStored("a", {"x": "***"}), "a"), (OutputStored("b", {"x": "plain"}), "")]
    assert journal.history() == [started("a")]
    journal.close()
    journal.close()
    assert memory.closed == 1


def test_processes_are_noted_in_the_memory_alone() -> None:
    ear, memory = Ear(), Remembering()
    journal = FanOut([ear], Redactor(), report=print, memory=memory)
    journal.process_started("a", 7)
    assert (ear.heard, memory.processes) == ([], [("a", 7)])


def test_only_those_who_want_lines_hear_them() -> None:
    ear, deaf = Ear(), Deaf()
    journal = FanOut([deaf, ear], Redactor(), report=print)
    journal.record(LINE)
    journal.record(started("a"))
    assert (ear.heard, deaf.heard) == ([LINE, started("a")], [started("a")])


def test_without_a_memory_there_is_no_history() -> None:
    assert list(FanOut([], Redactor(), report=print).history()) == []


def test_a_listener_that_breaks_is_reported_once_and_the_others_go_on() -> None:
    reports: list[str] = []
    broken, ear = FullDisk(), Ear()
    journal = FanOut([broken, ear], Redactor(), report=reports.append)
    journal.record(LINE)
    journal.record(LINE)
    journal.close()
    assert (len(broken.heard), broken.closed) == (1, 1)
    assert (len(ear.heard), ear.closed) == (2, 1)
    assert reports == journal.problems == ["the log stopped: No space left on device"]


def test_the_result_is_masked_and_names_the_listeners_that_broke() -> None:
    ear, late = Ear(), FullDisk()
    journal = FanOut([FullDisk(), ear], Redactor(["k"], values={"k": "hunter2"}), report=lambda _: None)
    with pytest.raises(AmplihackError, match="before it began"):
        journal.result()
    journal.record(LINE)
    journal.add(late)
    result = RunResult(
        run_id="r", recipe_name="n", ending="completed", error="hunter2", warnings=("from the engine",)
    )
    journal.record(RunFinished(result))
    full = "the log stopped: No space left on device"
    heard = ear.heard[-1]
    assert isinstance(heard, RunFinished)
    assert (heard.result.error, heard.result.warnings) == ("***", ("from the engine", full))
    assert journal.result().warnings == ("from the engine", full, full)


def test_a_question_pauses_every_listener_and_drops_those_that_break() -> None:
    class Screen(Ear):
        def pause(self) -> None:
            told.append("pause")

        def resume(self) -> None:
            told.append("resume")

    class Broken(Ear):
        def pause(self) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    told: list[str] = []
    journal = FanOut([Broken(), Screen()], Redactor(), report=told.append)
    journal.pause()
    journal.resume()
    assert told == ["the ear stopped: Input/output error", "pause", "resume"]


def test_a_reader_of_stderr_that_goes_away_does_not_end_the_run() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    stderr = os.fdopen(writing, "w", encoding="utf-8", buffering=1)

    def report(text: str) -> None:
        stderr.write(text + "\n")
        stderr.flush()

    ear = Ear()
    journal = FanOut([PlainProgress(stderr, clock=Clock()), ear], Redactor(), report=report)
    for event in SCRIPT:
        journal.record(event)
    assert journal.problems == ["the progress display stopped: Broken pipe"]
    assert len(ear.heard) == len(SCRIPT)
    with pytest.raises(BrokenPipeError):
        stderr.close()


def test_a_stream_that_was_closed_under_us_is_a_problem_not_a_crash() -> None:
    stream = io.BytesIO()
    stream.close()
    journal = FanOut([JsonLines(stream, now=Clock())], Redactor(), report=lambda _: None)
    journal.record(LINE)
    assert journal.problems == ["the event stream stopped: I/O operation on closed file."]


def test_an_audit_log_that_disappears_is_a_problem(tmp_path: Path) -> None:
    log = AuditLog(tmp_path, "build", now=Clock())
    log.paths[0].unlink()
    journal = FanOut([log], Redactor(), report=lambda _: None)
    journal.record(finished("a"))
    assert journal.problems == ["the audit log stopped: No such file or directory"]


def test_closing_twice_closes_once() -> None:
    ear = Ear()
    journal = FanOut([ear], Redactor(), report=print)
    journal.close()
    journal.close()
    assert ear.closed == 1


@pytest.mark.asyncio
async def test_ticks_come_while_the_run_goes_on_and_stop_with_it() -> None:
    ear = Ear()
    journal = FanOut([ear], Redactor(), report=print)
    async with asyncio.timeout(10), journal.ticking(every=0.001):
        await ear.ticked.wait()
    ticks = ear.ticks
    await asyncio.sleep(0.01)
    assert ear.ticks == ticks


secrets = st.text(alphabet="QXZqxzé\"'\\ \n", min_size=7, max_size=24).filter(
    lambda text: len(text.strip()) > 6  # a shorter one is told as a problem
)


@settings(max_examples=40, deadline=None)
@given(secret=secrets, before=st.text(max_size=8), after=st.text(max_size=8))
def test_no_listener_ever_writes_a_secret(
    secret: str, before: str, after: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory = tmp_path_factory.mktemp("out")
    text = f"{before}{secret}{after}"
    plain, screen, events = io.StringIO(), io.StringIO(), io.BytesIO()
    console = Console(file=screen, force_terminal=True, width=200, color_system=None)
    live = LiveProgress(console, clock=Clock(), verbose=True)
    journal = FanOut(
        [
            PlainProgress(plain, clock=Clock(), verbose=True),
            live,
            JsonLines(events, now=Clock()),
            AuditLog(directory, "build", now=Clock()),
            ProgressFile(directory, "build", pid=7, now=Clock()),
        ],
        Redactor(["token"]),
        report=lambda _: None,
    )
    result = finished("a", "failed", output=text, error=text, skip_reason=text, warnings=(text,)).result
    script: list[Event] = [
        RunStarted("run-1", "build", "1", 1),
        started("a"),
        OutputStored("get", {"token": secret, "other": [text]}),
        *(LinesPrinted("a", "stdout", (line,)) for line in (text, f"{{{text!r}}}")),
        Warned("a", text),
        Retrying("a", 1, 2, 1.0, text),
        GateReached("s", text),
        finished("a", "failed", output=text, error=text, skip_reason=text, warnings=(text,)),
        RunFinished(
            RunResult(
                run_id="run-1",
                recipe_name="build",
                ending="failed",
                step_results=(result,),
                context={"token": secret, "x": text},
                error=text,
                summary=text,
            )
        ),
    ]
    for event in script:
        journal.record(event)
    journal.close()
    assert journal.problems == []
    written = [plain.getvalue(), screen.getvalue(), events.getvalue().decode()]
    written += [path.read_text("utf-8") for path in directory.iterdir()]
    assert not [each for each in written if secret in each or secret.strip() in each]


def test_what_nobody_hears_is_not_masked_but_its_secrets_are_learnt() -> None:
    class Ends(Ear):
        def wants(self, kind: type[Event]) -> bool:
            return kind is RunFinished

    ear = Ends()
    journal = FanOut([ear], Redactor(["key"]), report=print)
    journal.record(OutputStored("make", {"key": "hunter2"}))
    journal.record(
        RunFinished(RunResult(run_id="r", recipe_name="n", ending="failed", error="it was hunter2"))
    )
    assert [type(event) for event in ear.heard] == [RunFinished]
    assert "hunter2" not in str(journal.result())
    assert "it was" in journal.result().error
