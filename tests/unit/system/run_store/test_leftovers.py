"""What killed commands left of runs goes away; what somebody may still need stays."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.unit.system.run_store.test_store import begin, ended, finished

from amplihack.system.run_store.leftovers import say_not_kept
from amplihack.system.run_store.ownership import take
from amplihack.system.run_store.store import RunStore


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    store = RunStore(tmp_path / "root")
    begin(store).close()
    return store


def left(store: RunStore, *names: str) -> Path:
    """Make the directory of a run that has no record, with these files in it."""
    directory = store.directory("left")
    for name in names:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text("x")
    return directory


def test_the_next_run_removes_the_directory_of_one_that_never_began(store: RunStore) -> None:
    directory = left(store, "lock")
    begin(store, "run-2").close()
    assert directory.exists()  # as yet, it may be that of a process that is about to lock it
    os.utime(directory, (1, 1))
    begin(store, "run-3").close()
    assert not directory.exists()
    assert store.directory("run-1").exists()


def test_processes_that_begin_at_once_do_not_take_each_others_directories(store: RunStore) -> None:
    def many(first: int) -> None:
        for number in range(first, first + 15):
            begin(store, f"many-{number}").close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(many, range(100, 900, 100)))
    assert len(store.listing().runs) == 1 + 8 * 15


def test_values_without_a_record_stay_as_the_database_may_be_an_older_copy(store: RunStore) -> None:
    directory = left(store, "lock", "values/abc")
    begin(store, "run-2").close()
    assert (directory / "values" / "abc").exists()


def test_what_says_that_it_is_not_kept_goes_with_its_values(store: RunStore) -> None:
    directory = left(store, "lock", "values/abc")
    say_not_kept(directory)
    store.give_back()
    assert not directory.exists()


def test_a_run_that_goes_on_removes_what_an_earlier_try_of_it_left(store: RunStore) -> None:
    directory = left(store, "lock", "values/abc")
    say_not_kept(directory)
    store.claim(store.find("run-1")).close()
    assert not directory.exists()


def test_a_run_that_is_being_made_stays(store: RunStore) -> None:
    directory = left(store, "values/abc")
    say_not_kept(directory)
    lock = take(directory)
    assert lock is not None
    begin(store, "run-2").close()
    assert directory.exists()
    lock.release()


def test_a_kept_run_stays_whatever_its_directory_says(store: RunStore) -> None:
    say_not_kept(store.directory("run-1"))
    left(store, "lock")
    store.give_back()
    assert store.directory("run-1").exists()


def test_who_takes_a_run_removes_values_that_were_half_written(store: RunStore) -> None:
    values = store.directory("run-1") / "values"
    values.mkdir()
    (values / ".new-abc").write_text("half")
    (values / "whole").write_text("whole")
    store.claim(store.find("run-1")).close()
    assert [path.name for path in values.iterdir()] == ["whole"]


def test_a_run_that_has_gone_on_since_it_was_listed_is_not_removed(store: RunStore) -> None:
    listed = store.find("run-1")
    journal = store.claim(listed)
    journal.keep(finished("a", "x" * 100_000))
    journal.keep(ended("waiting"))
    journal.close()
    assert not store.remove(listed)
    assert store.find("run-1").status == "waiting"
    assert list((store.directory("run-1") / "values").iterdir())
