"""The store of runs: everything comes back as it was, many processes share it, and damage is told."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplihack.errors import AmplihackError, NotFound
from amplihack.recipes.events import (
    AgentAsked,
    Event,
    IterationStarted,
    LinesPrinted,
    OutputStored,
    ProcessStarted,
    Recorded,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    Withheld,
)
from amplihack.recipes.results import RunResult, StepResult
from amplihack.system.process_table import own_start
from amplihack.system.run_store import live_lines
from amplihack.system.run_store.codec import decode, encode
from amplihack.system.run_store.ids import new_run_id
from amplihack.system.run_store.journal import RunJournal
from amplihack.system.run_store.ownership import RunIsTaken
from amplihack.system.run_store.rows import Inputs, NewRun
from amplihack.system.run_store.store import RunStore
from amplihack.system.run_store.values import LARGE, StoreError, ValueFiles


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "root")


def begin(store: RunStore, run_id: str = "run-1") -> RunJournal:
    new = NewRun(
        run_id=run_id, recipe="r", path=None, working_dir="/", request={}, inputs=Inputs({"x": 1}, ("token",))
    )
    return store.create(new)


def started(step: str, *, idempotent: bool = True) -> StepStarted:
    return StepStarted(step, step, "bash", step, "r", 0, 1, 1, idempotent)


def finished(step: str, output: str = "") -> StepFinished:
    result = StepResult(step_id=step, identity=step, kind="bash", status="completed", output=output)
    return StepFinished(result, "r", 0)


def ended(status: str = "completed") -> RunFinished:
    return RunFinished(RunResult(run_id="run-1", recipe_name="r", ending=status))  # type: ignore[arg-type]  # each is one


def kept(store: RunStore, name: str = "last", *, lines: bool = False) -> list[Recorded]:
    return [event for _, _, event in store.events(store.find(name), lines=lines)]


# events -----------------------------------------------------------------------------------------------------

long = st.integers(0, 3).map(lambda n: "ü" * (LARGE * n))
keys = st.sampled_from(["\0file", "\0map", "a", ""])
values = st.recursive(
    st.none() | st.integers() | st.text(max_size=3) | long | st.sampled_from(["\0", "\udc80", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=2),
    max_leaves=6,
)


@given(st.dictionaries(keys, values, max_size=3))
def test_values_come_back_exactly(tmp_path_factory: pytest.TempPathFactory, found: dict[str, object]) -> None:
    files = ValueFiles(tmp_path_factory.mktemp("values"))
    event = OutputStored("a", found, found)  # type: ignore[arg-type]  # any JSON value
    assert decode(encode(event, files), files) == event


def test_large_texts_are_kept_once(store: RunStore) -> None:
    journal = begin(store)
    text = "x" * 100_000
    journal.keep(started("a"))
    journal.keep(OutputStored("a", {"a": text, "b": text}))
    journal.keep(finished("a", text))
    journal.close()
    assert [path.stat().st_size for path in store.directory("run-1").glob("values/*")] == [100_000]
    assert kept(store)[1] == OutputStored("a", {"a": text, "b": text})


def test_results_inside_results_are_not_written_twice(tmp_path: Path) -> None:
    child = StepResult(step_id="c", identity="a/c", kind="bash", status="completed", output="hello")
    parent = StepResult(step_id="a", identity="a", kind="recipe", status="completed", children=(child,))
    _, data, _ = encode(StepFinished(parent, "r", 0), ValueFiles(tmp_path))
    assert "hello" not in (data or "")


def test_a_record_that_nobody_can_read_says_so(tmp_path: Path) -> None:
    for kind, data in (("Unheard", "{}"), ("StepStarted", "{"), ("Warned", "{}")):
        with pytest.raises(StoreError, match="cannot be read"):
            decode((kind, data, None), ValueFiles(tmp_path))


# the journal ------------------------------------------------------------------------------------------------


def test_what_was_withheld_is_noted_and_lines_are_no_history(store: RunStore) -> None:
    journal = begin(store)
    journal.keep(started("a"))
    journal.keep(OutputStored("a", {"a": "***"}), withheld="a")
    journal.lines(LinesPrinted("a", "stdout", ("hello",)))
    journal.keep(ended())
    journal.close()
    assert [type(event) for event in kept(store)] == [StepStarted, OutputStored, Withheld, RunFinished]
    assert LinesPrinted("a", "stdout", ("hello",)) in kept(store, lines=True)


def test_the_last_lines_of_a_step_that_was_cut_off_stand_before_the_end_of_the_run(store: RunStore) -> None:
    async def cut_off() -> None:
        journal = begin(store)
        journal.keep(started("a"))
        journal.lines(LinesPrinted("a", "stdout", ("hello",)))
        journal.keep(ended("interrupted"))
        journal.close()

    asyncio.run(cut_off())
    assert [type(event) for event in kept(store, lines=True)] == [StepStarted, LinesPrinted, RunFinished]


async def soon(store: RunStore, events: list[Recorded]) -> None:
    """Wait until this is what the journal holds."""
    async with asyncio.timeout(10):
        while kept(store) != events:
            await asyncio.sleep(0.001)


@pytest.mark.asyncio
async def test_the_process_of_a_step_is_noted_unless_the_step_ends_at_once(store: RunStore) -> None:
    journal, pid = begin(store), os.getpid()
    for identity in ("short", "long"):
        journal.keep(started(identity))
        journal.process(identity, pid)
    journal.keep(finished("short"))
    noted = ProcessStarted("long", pid, own_start())
    await soon(store, [started("short"), started("long"), finished("short"), noted])
    journal.close()


def test_the_process_of_a_step_that_must_not_run_twice_is_noted_at_once(store: RunStore) -> None:
    journal, pid = begin(store), os.getpid()
    journal.keep(started("a", idempotent=False))
    journal.process("a[0]", pid)
    assert kept(store)[-1] == ProcessStarted("a[0]", pid, own_start())
    journal.close()


@pytest.mark.asyncio
async def test_what_is_kept_is_written_when_the_loop_gets_a_turn(store: RunStore) -> None:
    journal = begin(store)
    journal.keep(started("a"))
    journal.keep(finished("a"))
    assert kept(store) == [started("a")]
    await soon(store, [started("a"), finished("a")])
    journal.close()


@pytest.mark.asyncio
@pytest.mark.parametrize("event", [started("b"), IterationStarted("b", 0, 1), AgentAsked("b", "say hi")])
async def test_what_begins_is_known_before_it_does_anything(store: RunStore, event: Recorded) -> None:
    journal = begin(store)
    journal.keep(event)
    assert kept(store) == [event]
    journal.close()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "next_one", [started("b"), IterationStarted("b", 0, 1), AgentAsked("b", "say hi"), ended()]
)
async def test_an_end_is_on_the_disk_before_anything_new_begins(store: RunStore, next_one: Recorded) -> None:
    journal = begin(store)
    journal.keep(started("a"))
    journal.keep(OutputStored("a", {"a": 1}))
    journal.keep(finished("a"))
    journal.keep(next_one)
    assert kept(store) == [started("a"), OutputStored("a", {"a": 1}), finished("a"), next_one]
    journal.close()


@pytest.mark.asyncio
async def test_an_end_is_on_the_disk_before_a_hook_runs_and_before_others_hear_of_it(store: RunStore) -> None:
    journal = begin(store)
    journal.keep(finished("a"))
    journal.process("hook", os.getpid())
    assert kept(store) == [finished("a")]
    journal.keep(finished("b"))
    journal.settle()
    assert kept(store) == [finished("a"), finished("b")]
    journal.close()


@pytest.mark.asyncio
async def test_the_start_of_what_must_not_run_twice_is_written_at_once(store: RunStore) -> None:
    journal = begin(store)
    for event in (started("b", idempotent=False), started("b/c"), IterationStarted("b", 0, 1)):
        journal.keep(event)
        assert kept(store)[-1] == event
    journal.close()


@pytest.mark.parametrize(
    ("ending", "status"), [("completed", "completed"), ("failed", "failed"), ("waiting", "waiting")]
)
def test_the_row_of_a_run_follows_its_events(store: RunStore, ending: str, status: str) -> None:
    journal = begin(store)
    journal.keep(RunStarted("run-1", "r", "1", 1))
    assert store.find("last").status == "running"
    assert store.find("last").taken
    journal.keep(ended(ending))
    journal.close()
    run = store.find("last")
    assert (run.status, run.taken, run.inputs) == (status, False, Inputs({"x": 1}, ("token",)))
    assert run.ended is not None


def test_a_run_whose_process_is_gone_was_interrupted(store: RunStore) -> None:
    journal = begin(store)
    journal.keep(RunStarted("run-1", "r", "1", 1))
    journal.close()
    assert store.find("last").status == "interrupted"


def test_a_full_disk_ends_the_run_for_good_and_loses_nothing(store: RunStore) -> None:
    journal = begin(store)
    journal.keep(finished("a"))
    pages = journal._connection.execute("PRAGMA page_count").fetchone()[0]
    journal._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="is full"):
        for number in range(1000):
            journal.keep(finished(f"b{number}", "y" * 10_000))
    journal._connection.execute(f"PRAGMA max_page_count = {pages * 1000}")
    with pytest.raises(StoreError, match="is full"):  # what comes after a gap could not be trusted
        journal.keep(finished("c"))
    journal.close()
    assert kept(store)[0] == finished("a")
    assert finished("c") not in kept(store)


def test_a_value_that_cannot_be_written_ends_the_run(store: RunStore) -> None:
    journal = begin(store)
    (store.directory("run-1") / "values").write_text("in the way")
    for _ in range(2):
        with pytest.raises(AmplihackError, match="cannot write"):
            journal.keep(finished("a", "x" * 100_000))
    journal.close()


def test_lines_come_in_batches_that_do_not_grow_without_end() -> None:
    told: list[LinesPrinted] = []
    lines = live_lines.LiveLines(told.append)
    heard = tuple(f"{number:09}" for number in range(100_000))

    async def print_all() -> None:
        lines.add(LinesPrinted("a", "stdout", heard))
        lines.add(LinesPrinted("quick", "stdout", ("x",)))
        lines.ended("quick")
        lines.flush()
        lines.add(LinesPrinted("a", "stdout", ("z" * 10_000,)))
        lines.ended("a")

    asyncio.run(print_all())
    assert [event.identity for event in told] == ["a", "a"]
    assert told[0].lines[0] == f"… {100_000 - len(told[0].lines) + 1} lines left out here"
    assert told[0].lines[-1] == heard[-1]
    assert len(told[1].lines[0]) == 4_001


def test_lines_of_hooks_are_kept_though_no_result_has_them() -> None:
    told: list[LinesPrinted] = []
    lines = live_lines.LiveLines(told.append)

    async def print_all() -> None:
        lines.add(LinesPrinted("quick", "pre_step", ("x",)))
        lines.add(LinesPrinted("quick", "stdout", ("y",)))
        lines.ended("quick")

    asyncio.run(print_all())
    assert [event.stream for event in told] == ["pre_step"]


# several processes ------------------------------------------------------------------------------------------


def test_a_run_that_has_begun_waits_longer_than_a_command(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amplihack.system.run_store.database.PATIENCE", 0.1)
    journal = begin(store)
    other = sqlite3.connect(store.database, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked by another program"):
        begin(store, "run-2")
    later = threading.Timer(0.5, other.execute, ["COMMIT"])
    later.start()
    journal.keep(RunStarted("run-1", "r", "1", 1))
    later.join()
    other.close()
    journal.close()
    assert len(kept(store)) == 1


def test_one_process_has_a_run_at_a_time(store: RunStore) -> None:
    journal = begin(store)
    journal.keep(RunStarted("run-1", "r", "1", 1))
    with pytest.raises(RunIsTaken, match=f"process {os.getpid()} on"):
        store.claim(store.find("last"))
    assert not store.remove(store.find("last"))
    journal.close()
    store.claim(store.find("last")).close()


def _child(work: Iterator[None]) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for _ in work:
                pass
            code = 0
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(code)
    return child


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_fifty_processes_write_at_once_and_nothing_is_lost(store: RunStore) -> None:
    processes, steps = 50, 100

    def work(number: int) -> Iterator[None]:
        journal = begin(store, f"run-{number:02}")
        journal.keep(RunStarted(f"run-{number:02}", "r", "1", steps))
        for step in range(steps):
            journal.keep(started(f"s{step}"))
            journal.keep(OutputStored(f"s{step}", {"s": step}))
            journal.keep(finished(f"s{step}"))
            yield
        journal.keep(ended())
        journal.close()

    children = [_child(work(number)) for number in range(processes)]
    assert {os.waitpid(child, 0)[1] for child in children} == {0}
    assert [run.status for run in store.listing().runs] == ["completed"] * processes
    for run in store.listing().runs:
        assert len(kept(store, run.run_id)) == 2 + 3 * steps


# finding ----------------------------------------------------------------------------------------------------


def test_ids_sort_by_time_and_differ() -> None:
    ids = [new_run_id() for _ in range(20)]
    assert len(set(ids)) == 20  # of 33 million for each second
    assert [each[:6] for each in ids] == sorted(each[:6] for each in ids)
    assert {len(each) for each in ids} == {12}


def test_a_name_is_an_id_or_a_beginning_that_fits_one(store: RunStore) -> None:
    with pytest.raises(NotFound, match="no runs yet"):
        store.find("last")
    for name in ("aa-1", "aa-12", "ab-1"):
        begin(store, name).close()
    assert store.find("aa-1").run_id == "aa-1"
    assert store.find("ab").run_id == "ab-1"
    assert store.find("last").run_id == "ab-1"
    for name in ("aa", "", "zz", "a%", "\U0010ffff"):
        with pytest.raises(NotFound):
            store.find(name)


# damage -----------------------------------------------------------------------------------------------------


def test_runs_beside_a_damaged_page_are_still_listed(store: RunStore) -> None:
    for number in range(300):
        begin(store, f"run-{number:03}").close()
    with sqlite3.connect(store.database) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        pages = (
            connection.execute(
                "SELECT pageno FROM dbstat WHERE name = 'runs' AND pagetype = 'leaf'"
            ).fetchall()
            if "ENABLE_DBSTAT_VTAB" in str(connection.execute("PRAGMA compile_options").fetchall())
            else []
        )
    connection.close()
    if not pages:
        pytest.skip("this SQLite cannot tell which page holds what")
    page = pages[len(pages) // 2][0]
    data = bytearray(store.database.read_bytes())
    data[(page - 1) * size : page * size] = b"\xff" * size
    store.database.write_bytes(data)
    listing = store.listing()
    assert listing.problem is not None
    assert "damaged" in listing.problem.what
    assert {"run-000", "run-299"} <= {run.run_id for run in listing.runs}
    assert 100 < len(listing.runs) < 300
    assert store.database.read_bytes() == data


def test_a_value_that_was_changed_is_not_taken_for_the_truth(store: RunStore) -> None:
    journal = begin(store)
    journal.keep(finished("a", "x" * 100_000))
    journal.close()
    (value,) = store.directory("run-1").glob("values/*")
    value.write_text("y" * 100_000)
    with pytest.raises(StoreError, match="not what its name says"):
        kept(store)


def test_a_read_only_disk_can_be_read(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(store).close()
    connect = sqlite3.connect

    def refusing(path: object, **named: object) -> sqlite3.Connection:
        if "immutable" not in str(path):
            error = sqlite3.OperationalError("unable to open database file")
            error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
            raise error
        return connect(path, **named)  # type: ignore[call-overload, no-any-return]  # as it came

    monkeypatch.setattr(sqlite3, "connect", refusing)
    assert [run.run_id for run in store.listing().runs] == ["run-1"]


def test_nothing_of_a_removed_run_is_left(store: RunStore) -> None:
    journal = begin(store)
    journal.recipe("/a.yaml", "1", "text", "2")
    journal.keep(finished("a", "x" * 100_000))
    journal.close()
    assert json.dumps([each.text for each in store.recipes(store.find("last"))]) == '["text"]'
    assert store.remove(store.find("last"))
    with sqlite3.connect(store.database) as connection:
        tables = ("runs", "events", "recipes", "texts")
        counts = [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]  # noqa: S608 - our own words
    connection.close()
    assert counts == [0, 0, 0, 0]
    assert not store.directory("run-1").exists()


def test_every_event_of_the_engine_can_be_kept(store: RunStore) -> None:
    journal = begin(store)
    told: list[Event] = [RunStarted("run-1", "r", "1", 1), started("a"), finished("a"), ended()]
    for event in told:
        journal.keep(event)
    assert list(journal.history()) == told
    journal.close()
