"""Write the events of one run to the database as they happen, and read those of its earlier lives.

What ends something is on the disk before the run goes on. The rest is in the database a moment later, in the
same order, in one commit for all that came together.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from amplihack.errors import AmplihackError
from amplihack.recipes.events import (
    GateDecided,
    GateReached,
    IterationFinished,
    IterationStarted,
    LinesPrinted,
    ProcessStarted,
    Recorded,
    Retrying,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    Withheld,
    below,
)
from amplihack.system.locks import HeldLock
from amplihack.system.process_table import TABLE, look_up
from amplihack.system.run_store.codec import StoredEvent, decode, encode
from amplihack.system.run_store.database import explained
from amplihack.system.run_store.live_lines import LiveLines
from amplihack.system.run_store.ownership import this_owner
from amplihack.system.run_store.rows import status_of
from amplihack.system.run_store.values import StoreError, ValueFiles

_LASTS = 0.02  # seconds after which the process of a step is noted
_PARTS = (StepFinished, IterationFinished)
_BEGINNINGS = (StepStarted, IterationStarted, ProcessStarted)
_ENDS = (StepFinished, IterationFinished, Retrying, GateReached, GateDecided, RunStarted, RunFinished)
_Change: TypeAlias = tuple[str, tuple[Any, ...]]  # a statement and its values
_INSERT = "INSERT INTO events (run, seq, at, kind, data, file) VALUES (?, ?, ?, ?, ?, ?)"


class RunJournal:
    """The journal of one run, for the process that holds its lock."""

    def __init__(
        self,
        database: Path,
        connection: sqlite3.Connection,
        number: int,
        *,
        values: ValueFiles,
        lock: HeldLock,
    ) -> None:
        self._path, self._number, self._lock = database, number, lock
        self._files, self._connection = values, connection
        self._seq = self._last_seq()
        self._waiting: list[tuple[Any, ...]] = []
        self._beside: list[_Change] = []  # what goes with the next commit
        self._processes: dict[str, int] = {}  # of steps, not written yet
        self._flush: asyncio.Handle | None = None
        self._noting: asyncio.TimerHandle | None = None
        self._broken: AmplihackError | None = None
        self._guarded: set[str] = set()  # steps that say `idempotent: false`
        self._lines = LiveLines(self._lines_due)

    # writing ----------------------------------------------------------------------------------------------

    def keep(self, event: Recorded, *, withheld: str = "") -> None:
        """Store an event. `withheld` names the step whose result a secret kept out of it.

        Raises StoreError, and from then on always: what comes after a gap could not be trusted.
        """
        if self._broken is not None:
            raise self._broken
        if isinstance(event, _PARTS):
            self._lines.ended(event.result.identity)
            self._processes.pop(event.result.identity, None)
        elif isinstance(event, Retrying):
            self._processes.pop(event.identity, None)
        self._put(event)
        if withheld:
            self._put(Withheld(withheld))
        if isinstance(event, _ENDS) or self._must_not_be_forgotten(event):
            self._commit(self._also(event))
        else:
            self._commit_soon()

    def _must_not_be_forgotten(self, event: Recorded) -> bool:
        """Tell whether it is the start of a step, or of a part of one, that must not run twice unasked."""
        if isinstance(event, StepStarted) and not event.idempotent:
            self._guarded.add(event.identity)
        if not self._guarded or not isinstance(event, _BEGINNINGS):
            return False
        return self._is_guarded(event.identity)

    def _is_guarded(self, identity: str) -> bool:
        return any(identity == each or below(identity, each) for each in self._guarded)

    def process(self, identity: str, pid: int) -> None:
        """Note the process of a step, for whoever must end it after we are gone. Raises StoreError.

        It is written if it lasts: nobody looks for that of a step which has ended.
        """
        if self._is_guarded(identity):
            self.keep(ProcessStarted(identity, pid, _started(pid)))
            return
        self._processes[identity] = pid
        if self._noting is None:
            self._noting = asyncio.get_running_loop().call_later(_LASTS, self._note_processes)

    def _note_processes(self) -> None:
        self._noting = None
        processes, self._processes = self._processes, {}
        with suppress(AmplihackError):  # as below
            for identity, pid in processes.items():
                self.keep(ProcessStarted(identity, pid, _started(pid)))

    def lines(self, event: LinesPrinted) -> None:
        """Keep printed lines for those who follow the run, as far as there is room for them."""
        self._lines.add(event)

    def on_lines(self, mask: Callable[[LinesPrinted], LinesPrinted]) -> None:
        """Set what masks secrets in lines before they are written."""
        self._lines.mask = mask

    def _lines_due(self, event: LinesPrinted) -> None:
        if self._broken is None:
            self._put(event)
            self._commit_soon()

    def _put(self, event: Recorded) -> None:
        try:
            row = encode(event, self._files)
        except AmplihackError as error:
            self._broken = error
            raise
        self._seq += 1
        self._waiting.append((self._number, self._seq, time.time(), row.kind, row.data, row.file))

    def _commit_soon(self) -> None:
        if self._flush is not None:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # nothing runs meanwhile, so there is no reason to wait
            self._commit_waiting()
            return
        self._flush = loop.call_soon(self._commit_waiting)

    def _commit_waiting(self) -> None:
        """Write what waits, so that it survives the end of this process, though perhaps not a power cut."""
        self._flush = None
        with suppress(StoreError):  # kept in `_broken`: the next event of the run raises it
            self._set_sync("NORMAL")
            self._commit()
            self._set_sync("FULL")

    def _set_sync(self, how: str) -> None:
        with explained(self._path):
            self._connection.execute(f"PRAGMA synchronous = {how}")

    def _commit(self, also: tuple[_Change, ...] = ()) -> None:
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        rows, changes = self._waiting, (*self._beside, *also)
        self._waiting, self._beside = [], []
        if self._broken is not None or not (rows or changes):
            return
        try:
            with explained(self._path):
                _write(self._connection, rows, changes)
        except AmplihackError as error:
            self._broken = error
            raise

    def _also(self, event: Recorded) -> tuple[_Change, ...]:
        """Return what changes in the row of the run together with the event."""
        match event:
            case RunStarted():
                change = (
                    "UPDATE runs SET status = 'running', ended = NULL, cancelled = NULL, owner = ? "
                    "WHERE number = ?"
                )
                return ((change, (this_owner().to_json(), self._number)),)
            case RunFinished(result):
                cancelled = self._connection.execute(
                    "SELECT cancelled FROM runs WHERE number = ?", (self._number,)
                ).fetchone()
                status = status_of(result, cancelled=bool(cancelled and cancelled[0]))
                change = "UPDATE runs SET status = ?, ended = ?, cost_usd = ? WHERE number = ?"
                return ((change, (status, time.time(), result.cost_usd, self._number)),)
            case _:
                return ()

    # reading ----------------------------------------------------------------------------------------------

    def history(self) -> Iterator[Recorded]:
        """Yield the events of earlier lives, without what was printed. Raises StoreError."""
        with explained(self._path):
            rows = self._connection.execute(
                "SELECT kind, data, file FROM events WHERE run = ? AND kind != 'LinesPrinted' ORDER BY seq",
                (self._number,),
            ).fetchall()
        yield from (decode(StoredEvent(*row), self._files) for row in rows)

    def _last_seq(self) -> int:
        with explained(self._path):
            found = self._connection.execute(
                "SELECT max(seq) FROM events WHERE run = ?", (self._number,)
            ).fetchone()
        return found[0] or 0

    def answer(self, decided: GateDecided) -> None:
        """Store the answer to a gate. A denial ends the run for good, in the same commit."""
        if not decided.approved:
            change = "UPDATE runs SET status = 'denied', ended = ? WHERE number = ?"
            self._beside.append((change, (time.time(), self._number)))
        self.keep(decided)

    def cancel(self) -> None:
        """End a run that somebody wanted to end, and that no process runs any more."""
        change = "UPDATE runs SET status = 'cancelled', ended = coalesce(ended, ?) WHERE number = ?"
        self._commit(((change, (time.time(), self._number)),))

    # recipes ----------------------------------------------------------------------------------------------

    def recipe(self, path: str, sha256: str, text: str, stored: str) -> None:
        """Keep the text of a recipe file; `sha256` is of the file itself, `stored` of the text as kept."""
        place = (self._number, path, sha256)
        self._beside += [
            ("INSERT OR IGNORE INTO texts VALUES (?, ?)", (stored, json.dumps(text))),
            ("INSERT OR REPLACE INTO recipes VALUES (?, ?, ?, ?, ?)", (*place, stored, time.time())),
        ]

    def close(self) -> None:
        """Write what waits, and give the run up."""
        self._lines.close()
        if self._noting is not None:
            self._noting.cancel()
        try:
            if self._broken is None:
                self._commit()
        finally:
            self._connection.close()
            self._lock.release()


def write_rows(connection: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> None:
    """Insert events: the number of the run, of the event, its time, its kind, and its data or file."""
    connection.executemany(_INSERT, rows)


def _started(pid: int) -> str:
    """Return when a process of ours started; 0 where that cannot be known."""
    now = look_up(pid) if TABLE else None
    return now.started if now else "0"


def _write(
    connection: sqlite3.Connection,
    rows: list[tuple[Any, ...]],
    also: tuple[_Change, ...] = (),
) -> None:
    """Write everything or nothing."""
    if len(rows) == 1 and not also:
        connection.execute(_INSERT, rows[0])
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
