"""Write the events of one run to the database as they happen, and read those of its earlier lives.

What ends something is on the disk before the run goes on: with the start of what comes next, in one commit,
or when the event loop gets its next turn. What begins is in the database before it does anything. The rest
follows with the next of them, in the same order.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias, TypeGuard, get_args

from amplihack.errors import AmplihackError
from amplihack.recipes.events import (
    AgentAsked,
    AgentPaid,
    AgentPaused,
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
from amplihack.system.run_store.codec import decode, encode
from amplihack.system.run_store.database import explained, wait_longer
from amplihack.system.run_store.live_lines import LiveLines
from amplihack.system.run_store.ownership import this_owner
from amplihack.system.run_store.row_writer import Change, RowWriter
from amplihack.system.run_store.rows import path_column, status_of
from amplihack.system.run_store.values import ValueFiles

_LASTS = 0.02  # seconds after which the process of a step is noted
_Beginning: TypeAlias = StepStarted | IterationStarted | ProcessStarted | AgentAsked
_BEGINNINGS = frozenset(get_args(_Beginning))
_AT_ONCE = frozenset((Retrying, AgentPaid, AgentPaused, GateReached, GateDecided, RunStarted, RunFinished))


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
        self._writer = RowWriter(database, connection)
        wait_longer(connection)
        self._seq = self._last_seq()
        self._processes: dict[str, tuple[int, float]] = {}  # of steps, with when they began; not written yet
        self._noting: asyncio.TimerHandle | None = None
        self._flush: asyncio.TimerHandle | None = None
        self._ended = False  # whether what waits ends something
        self._guarded: set[str] = set()  # steps that say `idempotent: false`
        self._lines = LiveLines(self._lines_due)

    # writing ----------------------------------------------------------------------------------------------

    def keep(self, event: Recorded, *, withheld: str = "") -> None:
        """Store an event. `withheld` names the step whose result a secret kept out of it.

        Raises StoreError, and from then on always: what comes after a gap could not be trusted.
        """
        if self._writer.broken is not None:
            raise self._writer.broken
        if type(event) is StepFinished or type(event) is IterationFinished:
            self._ended = True
            self._lines.ended(event.result.identity)
            self._processes.pop(event.result.identity, None)
        elif type(event) is Retrying:
            self._processes.pop(event.identity, None)
        elif type(event) is RunFinished:
            self._lines.flush()  # of steps that were cut off, so that they stand before the end
        self._put(event)
        if withheld:
            self._put(Withheld(withheld))
        if type(event) in _AT_ONCE:
            self._commit(*self._also(event))
        elif not _begins(event):
            self._commit_soon()
        elif self._must_last(event):
            self._commit()
        else:  # its work may be seen at once, so a kill must not leave unknown who did it
            self._writer.commit_lightly()

    def settle(self) -> None:
        """Put what has ended on the disk. Raises StoreError."""
        if self._ended:
            self._commit()

    def _must_last(self, event: _Beginning) -> bool:
        """Tell whether a beginning must survive a power cut: after an end, or if it may not run twice."""
        if type(event) is StepStarted and not event.idempotent:
            self._guarded.add(event.identity)
        return self._ended or self._is_guarded(event.identity)

    def _is_guarded(self, identity: str) -> bool:
        return bool(self._guarded) and any(
            identity == each or below(identity, each) for each in self._guarded
        )

    def process(self, identity: str, pid: int) -> None:
        """Note the process of a step, for whoever must end it after we are gone. Raises StoreError.

        It is written if it lasts: nobody looks for that of a step which has ended.
        """
        if self._is_guarded(identity):
            self.keep(ProcessStarted(identity, pid, _started(pid)))
            return
        self.settle()  # a hook runs after the end of a step, and nothing else tells that it begins
        self._processes[identity] = pid, time.monotonic()
        if self._noting is None:
            self._noting = asyncio.get_running_loop().call_later(_LASTS, self._note_processes)

    def _note_processes(self) -> None:
        """Write the processes that have lasted, and look at the others again later."""
        self._noting, now = None, time.monotonic()
        with suppress(AmplihackError):  # the writer keeps it: the next event of the run raises it
            for identity, (pid, since) in tuple(self._processes.items()):
                if now - since >= _LASTS / 2:
                    del self._processes[identity]
                    self.keep(ProcessStarted(identity, pid, _started(pid)))
        if self._processes:
            self._noting = asyncio.get_running_loop().call_later(_LASTS, self._note_processes)

    def lines(self, event: LinesPrinted) -> None:
        """Keep printed lines for those who follow the run, as far as there is room for them."""
        self._lines.add(event)

    def on_lines(self, mask: Callable[[LinesPrinted], LinesPrinted]) -> None:
        """Set what masks secrets in lines before they are written."""
        self._lines.mask = mask

    def _lines_due(self, event: LinesPrinted) -> None:
        if self._writer.broken is None:
            with suppress(AmplihackError):  # as above: nobody waits for lines
                self._put(event)
                self._commit_soon()

    def _put(self, event: Recorded) -> None:
        try:
            row = encode(event, self._files)
        except AmplihackError as error:
            self._writer.broken = error
            raise
        self._seq += 1
        self._writer.add((self._number, self._seq, time.time(), *row))

    def _commit_soon(self) -> None:
        if self._flush is not None:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # nothing runs meanwhile, so there is no reason to wait
            self._commit_waiting()
        else:
            # It stays where a commit comes first: to make one for each of many short steps takes longer.
            self._flush = loop.call_later(0, self._commit_waiting)

    def _commit_waiting(self) -> None:
        self._flush = None
        with suppress(AmplihackError):  # as above
            if self._ended:
                self._commit()
            elif self._writer.waits:
                self._writer.commit_lightly()

    def _commit(self, *also: Change) -> None:
        self._ended = False
        self._writer.commit(*also)

    def _also(self, event: Recorded) -> tuple[Change, ...]:
        """Return what changes in the row of the run together with the event."""
        match event:
            case RunStarted():
                change = (
                    "UPDATE runs SET status = 'running', ended = NULL, cost_usd = NULL, cancelled = NULL, "
                    "owner = ? WHERE number = ?"
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
        yield from (decode(row, self._files) for row in rows)

    def _last_seq(self) -> int:
        with explained(self._path):
            found = self._connection.execute(
                "SELECT max(seq) FROM events WHERE run = ?", (self._number,)
            ).fetchone()
        return found[0] or 0

    def answer(self, decided: GateDecided) -> None:
        """Store the answer to a gate. The denial of a stage ends the run for good, in the same commit."""
        if decided.ends_the_run:
            change = "UPDATE runs SET status = 'denied', ended = ? WHERE number = ?"
            self._writer.add_beside((change, (time.time(), self._number)))
        self.keep(decided)

    def cancel(self) -> None:
        """End a run that somebody wanted to end, and that no process runs any more."""
        change = "UPDATE runs SET status = 'cancelled', ended = coalesce(ended, ?) WHERE number = ?"
        self._commit((change, (time.time(), self._number)))

    # recipes ----------------------------------------------------------------------------------------------

    def recipe(self, path: str, sha256: str, text: str, stored: str) -> None:
        """Keep the text of a recipe file; `sha256` is of the file itself, `stored` of the text as kept."""
        place = (self._number, path_column(path), sha256)
        self._writer.add_beside(
            ("INSERT OR IGNORE INTO texts VALUES (?, ?)", (stored, json.dumps(text))),
            ("INSERT OR REPLACE INTO recipes VALUES (?, ?, ?, ?, ?)", (*place, stored, time.time())),
        )

    def close(self) -> None:
        """Write what waits, and give the run up."""
        self._lines.close()
        for timer in (self._noting, self._flush):
            if timer is not None:
                timer.cancel()
        try:
            self._commit()
        finally:
            self._connection.close()
            self._lock.release()


def _begins(event: Recorded) -> TypeGuard[_Beginning]:
    return type(event) in _BEGINNINGS


def _started(pid: int) -> str:
    """Return when a process of ours started; 0 where that cannot be known."""
    now = look_up(pid) if TABLE else None
    return now.started if now else "0"
