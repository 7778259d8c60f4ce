"""Begin to keep a run under a home root."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from amplihack.records import Record
from amplihack.system.locks import HeldLock
from amplihack.system.run_store.codec import dump
from amplihack.system.run_store.database import explained, open_database
from amplihack.system.run_store.journal import RunJournal
from amplihack.system.run_store.ownership import RunIsTaken, take, this_owner
from amplihack.system.run_store.rows import NewRun, path_column
from amplihack.system.run_store.values import ValueFiles

_NEW = (
    "INSERT INTO runs (run_id, recipe, path, working_dir, status, started, forked_from, request, inputs, "
    "owner) VALUES (?, ?, ?, ?, 'running', ?, ?, ?, ?, ?)"
)


class NewRuns(Record):
    """Where runs are kept. Opening it costs nothing; each method opens the database itself."""

    root: Path

    @property
    def database(self) -> Path:
        return self.root / "runs.sqlite3"

    def directory(self, run_id: str) -> Path:
        return self.root / "runs" / run_id

    def create(self, new: NewRun) -> RunJournal:
        """Begin to keep a run, which this process then owns. Raises StoreError."""
        connection = open_database(self.database)
        lock = take(self.directory(new.run_id))
        if lock is None:
            connection.close()
            raise RunIsTaken(f"another process has the run {new.run_id}", fix="give it another id")
        try:
            with explained(self.database):
                number = insert_run(connection, new)
                self.remove_leftovers(connection)
        except BaseException:
            connection.close()
            lock.release()
            raise
        return self._journal(connection, number, new.run_id, lock)

    def _journal(
        self, connection: sqlite3.Connection, number: int, run_id: str, lock: HeldLock
    ) -> RunJournal:
        return RunJournal(self.database, connection, number, values=self.values(run_id), lock=lock)

    def values(self, run_id: str) -> ValueFiles:
        return ValueFiles(self.directory(run_id) / "values")

    def remove_leftovers(self, connection: sqlite3.Connection) -> None:
        """Remove what killed commands left in the directory of runs, if it holds more than there are runs."""
        directory = self.root / "runs"
        (known,) = connection.execute("SELECT count(*) FROM runs").fetchone()
        with suppress(OSError):
            if sum(1 for _ in os.scandir(directory)) > known:
                from amplihack.system.run_store.leftovers import remove_leftovers  # deferred: seldom needed

                remove_leftovers(directory, is_kept=lambda run_id: _is_kept(connection, run_id))


def _is_kept(connection: sqlite3.Connection, run_id: str) -> bool:
    found = connection.execute("SELECT 1 FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    return found is not None


def insert_run(connection: sqlite3.Connection, new: NewRun) -> int:
    """Insert the row of a run that begins now, and return its number."""
    inputs = {"values": new.inputs.values, "left_out": new.inputs.left_out}
    path = None if new.path is None else path_column(new.path)
    known = (new.run_id, new.recipe, path, path_column(new.working_dir), time.time(), new.forked_from)
    told = (dump(new.request), dump(inputs), this_owner().to_json())
    return connection.execute(_NEW, (*known, *told)).lastrowid or 0


def log_file(store: NewRuns, run_id: str) -> int:
    """Open the file for what a run in the background prints, and return its descriptor."""
    directory = store.directory(run_id)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(directory / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
