"""Write rows to the run database, all that came together in one commit."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from amplihack.errors import AmplihackError
from amplihack.system.run_store.database import explained, in_words

Row: TypeAlias = tuple[Any, ...]  # the number of the run, of the event, its time, kind, data and file
Change: TypeAlias = tuple[str, tuple[Any, ...]]  # a statement and its values

_FEW = 16  # rows that one statement inserts


class RowWriter:
    """Gathers rows and commits them. After a failure it writes nothing more: a gap could not be trusted."""

    def __init__(self, database: Path, connection: sqlite3.Connection) -> None:
        self._path, self._connection = database, connection
        self._rows: list[Row] = []
        self._beside: list[Change] = []
        self.broken: AmplihackError | None = None

    def add(self, row: Row) -> None:
        self._rows.append(row)

    @property
    def waits(self) -> bool:
        """Tell whether rows are not written yet."""
        return bool(self._rows)

    def add_beside(self, *changes: Change) -> None:
        """Add what goes with the next commit."""
        self._beside += changes

    def commit(self, *also: Change) -> None:
        """Write everything or nothing; it is on the disk then. Raises StoreError."""
        rows, changes = self._rows, (*self._beside, *also)
        self._rows, self._beside = [], []
        if self.broken is not None or not (rows or changes):
            return
        try:
            _write(self._connection, rows, changes)
        except (sqlite3.Error, UnicodeDecodeError) as error:  # as `explained`, which every step would pay for
            self.broken = in_words(self._path, error)
            raise self.broken from error

    def commit_lightly(self) -> None:
        """Write what waits so that it survives the end of this process, though perhaps not a power cut."""
        self._set_sync("NORMAL")
        self.commit()
        self._set_sync("FULL")

    def _set_sync(self, how: str) -> None:
        with explained(self._path):
            self._connection.execute(f"PRAGMA synchronous = {how}")


def write_rows(connection: sqlite3.Connection, rows: list[Row]) -> None:
    """Insert events, however many."""
    connection.executemany(_insert(1), rows)


def _write(connection: sqlite3.Connection, rows: list[Row], also: tuple[Change, ...]) -> None:
    if 0 < len(rows) <= _FEW and not also:  # as at the end of every step
        connection.execute(_insert(len(rows)), tuple(chain.from_iterable(rows)))
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        write_rows(connection, rows)
        for statement, values in also:
            connection.execute(statement, values)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # SQLite may have rolled back by itself, as on a full disk
            connection.execute("ROLLBACK")
        raise


@cache
def _insert(rows: int) -> str:
    """Return the statement that inserts so many rows. It is a transaction of its own where none is open."""
    values = ", ".join(["(?, ?, ?, ?, ?, ?)"] * rows)
    return f"INSERT INTO events (run, seq, at, kind, data, file) VALUES {values}"  # noqa: S608 - our own words
