"""Find, take, list, read and remove the runs that are kept under a home root."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from typing import Any

from amplihack.documents.suggest import closest
from amplihack.errors import AmplihackError, NotFound
from amplihack.recipes.events import Recorded
from amplihack.records import Record
from amplihack.system.files import remove_tree
from amplihack.system.newest import is_newest
from amplihack.system.run_store.codec import StoredEvent, decode
from amplihack.system.run_store.database import explained, open_database, open_to_read
from amplihack.system.run_store.journal import RunJournal
from amplihack.system.run_store.leftovers import (
    lost_runs,
    remove_run_directory,
    say_kept,
    say_not_kept,
)
from amplihack.system.run_store.new_runs import NewRuns
from amplihack.system.run_store.ownership import RunIsTaken, holder_of, is_taken, take
from amplihack.system.run_store.rows import COLUMNS, KeptRun, kept_run, path_of
from amplihack.system.run_store.values import DiskIsFull, ReadableValues, StoreError, ValueFiles

_CUT_OFF = ("running", "interrupted", "cancelled")
_NEWEST = "ORDER BY number DESC LIMIT 1000"  # among which a mistyped name is looked for
_DELETIONS = (
    "DELETE FROM events WHERE run = ?",
    "DELETE FROM recipes WHERE run = ?",
    "DELETE FROM runs WHERE number = ?",
)


class Listing(Record):
    """The runs that could be read, newest first, and what kept others from being read."""

    runs: tuple[KeptRun, ...]
    problem: StoreError | None = None
    lost: StoreError | None = None  # runs of which nothing but their values is there


class RecordedRecipe(Record):
    """A recipe file as it was when a run read it. `masked` means that secrets in its text are hidden."""

    path: str
    sha256: str
    text: str
    masked: bool


class RunStore(NewRuns):
    """All runs under a home root, those that were kept before too."""

    def claim(self, run: KeptRun) -> RunJournal:
        """Take a run that nobody has now. Raises RunIsTaken with who has it."""
        lock = take(self.directory(run.run_id))
        if lock is None:
            raise self.taken(run.run_id)
        try:
            say_kept(self.directory(run.run_id))
            connection = open_database(self.database)
            try:
                with explained(self.database):
                    self.remove_leftovers(connection)
            except BaseException:
                connection.close()
                raise
        except BaseException:
            lock.release()
            raise
        return self._journal(connection, run.number, run.run_id, lock)

    def taken(self, run_id: str) -> RunIsTaken:
        holder = holder_of(self.directory(run_id)) or self.find(run_id).holder
        who = holder.shown() if holder else "another process"
        return RunIsTaken(
            f"run {run_id} is taken: {who} has it",
            fix=f"`amplihack runs tail {run_id}` follows it, `amplihack runs cancel {run_id}` ends it",
        )

    def mark_cancelled(self, run: KeptRun, by: str) -> None:
        """Note that somebody wants the run to end, before it is told to."""
        with closing(open_database(self.database)) as connection, explained(self.database):
            told = json.dumps({"by": by, "at": time.time()})
            connection.execute("UPDATE runs SET cancelled = ? WHERE number = ?", (told, run.number))

    def is_taken(self, run_id: str) -> bool:
        """Tell whether a process has the run at this moment."""
        return is_taken(self.directory(run_id))

    # finding ----------------------------------------------------------------------------------------------

    def find(self, name: str) -> KeptRun:
        """Return the run of that id, of a unique beginning of it, or the last one. Raises NotFound."""
        if is_newest(name):
            # By number: the clock may have been set back between two runs.
            rows = self._rows("ORDER BY number DESC LIMIT 1", ())
            if not rows:
                raise NotFound("there are no runs yet", fix="`amplihack recipe run RECIPE` makes one")
            return self._kept(rows[0])
        typed = name.encode("utf-8", "replace").decode()  # a command line may hold what is no text
        # Not LIKE: `%` and `_` in a name would mean something.
        where = "WHERE substr(run_id, 1, ?) = ? ORDER BY run_id"
        rows = self._rows(where, (len(typed), typed)) if name else []
        exact = [row for row in rows if row[1] == name]
        if not exact and len(rows) > 1:
            some = ", ".join(row[1] for row in rows[:5])
            more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
            raise NotFound(f"'{name}' begins {len(rows)} runs: {some}{more}", fix="give more of the id")
        if not rows:
            newest = self._rows(_NEWEST, ())
            of_recipe = next((row[1] for row in newest if row[2] == name), None)  # the third column
            meant = of_recipe or closest(name.lower(), [row[1] for row in newest])
            hint = f"did you mean '{meant}'? " if meant else ""
            raise NotFound(
                f"there is no run '{name}'",
                fix=f"{hint}`amplihack runs list` shows them; `last` is the newest",
            )
        return self._kept((exact or rows)[0])

    def listing(self) -> Listing:
        """Return every run that can be read, newest first. Damage is part of the answer."""
        found: dict[int, KeptRun] = {}
        problem: StoreError | None = None
        # From both ends: where a page in the middle is damaged, the runs on either side of it are found.
        for order in ("DESC", "ASC"):
            try:
                for row in self._each_row(f"ORDER BY number {order}"):
                    if row[0] in found:
                        break
                    try:
                        found[row[0]] = self._kept(row)
                    except StoreError as error:
                        problem = error
            except StoreError as error:
                problem = error
            if problem is None:
                break
        runs = sorted(found.values(), key=lambda run: run.number, reverse=True)
        return Listing(tuple(runs), problem, None if problem else self._lost(runs))

    def _lost(self, runs: Iterable[KeptRun]) -> StoreError | None:
        """Tell of runs that have values and no record, as where the end of the database was lost."""
        listed = {run.run_id for run in runs}
        lost = lost_runs(self.root / "runs", is_kept=lambda name: name in listed or self._has(name))
        if not lost:
            return None
        some = f"{', '.join(lost[:5])}{' …' if len(lost) > 5 else ''}"
        return StoreError(
            f"the run database {self.database} has no record of {len(lost)} "
            f"run{'s' if len(lost) != 1 else ''} that left values in {self.root / 'runs'}: {some}",
            fix=f"put {self.database.name} back with its -wal file, or remove what they left there",
        )

    def _has(self, run_id: str) -> bool:
        """Tell whether there is such a run now: it may have begun after the others were listed."""
        return bool(self._rows("WHERE run_id = ?", (run_id,)))

    def _rows(self, where: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        return list(self._each_row(where, values))

    def _each_row(self, where: str, values: tuple[object, ...] = ()) -> Iterator[tuple[Any, ...]]:
        connection = open_to_read(self.database)
        if connection is None:
            return
        with closing(connection), explained(self.database):
            yield from connection.execute(f"SELECT {COLUMNS} FROM runs {where}", values)  # noqa: S608 - our own words

    def _kept(self, row: tuple[Any, ...]) -> KeptRun:
        try:
            directory = self.directory(str(row[1]))
            taken = row[5] == "running" and is_taken(directory)
            return kept_run(row, taken=taken, holder=holder_of(directory) if taken else None)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise StoreError(
                f"the record of a run cannot be read: {error}", fix="it may be damaged"
            ) from error

    # reading ----------------------------------------------------------------------------------------------

    def told(self, run: KeptRun, damage: list[AmplihackError]) -> Iterator[tuple[float, Recorded]]:
        """Yield what there is to show of a run, with times: lines only where a step may have no result."""
        lines = run.status in _CUT_OFF
        return ((at, event) for _, at, event in self.events(run, lines=lines, damage=damage))

    def events(
        self,
        run: KeptRun,
        after: int = 0,
        *,
        lines: bool = False,
        damage: list[AmplihackError] | None = None,
    ) -> Iterator[tuple[int, float, Recorded]]:
        """Yield what happened after that number, with numbers and times. Raises StoreError.

        What steps printed is part of it with `lines`; their results are in any case. With `damage`, what can
        be read is yielded, and the list receives what cannot.
        """
        directory = self.directory(run.run_id) / "values"
        files = ValueFiles(directory) if damage is None else ReadableValues(directory, damage)
        try:
            for seq, at, stored in self._each_event(run, after, lines=lines):
                try:
                    yield seq, _moment(seq, at), decode(stored, files)
                except StoreError as error:
                    if damage is None:
                        raise
                    damage.append(error)
        except StoreError as error:  # of the database itself: there is nothing behind it
            if damage is None:
                raise
            damage.append(error)

    def _each_event(self, run: KeptRun, after: int, *, lines: bool) -> Iterator[tuple[int, Any, StoredEvent]]:
        connection = open_to_read(self.database)
        if connection is None:
            return
        with closing(connection), explained(self.database):
            rows = connection.execute(
                "SELECT seq, at, kind, data, file FROM events WHERE run = ? AND seq > ? AND kind != ? "
                "ORDER BY seq",
                (run.number, after, "" if lines else "LinesPrinted"),
            )
            for seq, at, kind, data, file in rows:
                yield seq, at, (kind, data, file)

    def recipes(self, run: KeptRun) -> tuple[RecordedRecipe, ...]:
        """Return the recipe files that a run has read, in no order."""
        connection = open_to_read(self.database)
        if connection is None:
            return ()
        with closing(connection), explained(self.database):
            rows = connection.execute(
                "SELECT path, recipes.sha256, text, stored != recipes.sha256 FROM recipes"
                " JOIN texts ON texts.sha256 = stored WHERE run = ?",
                (run.number,),
            ).fetchall()
        return tuple(_recorded(path_of(path), *row) for path, *row in rows)

    # removing ---------------------------------------------------------------------------------------------

    def remove(self, run: KeptRun) -> bool:
        """Remove all that is kept of a run; False if a process has it, or had it since it was listed."""
        directory = self.directory(run.run_id)
        lock = take(directory)
        if lock is None:
            return False
        try:
            say_not_kept(directory)
            try:
                gone = self._delete(run)
            except DiskIsFull:  # to forget something needs room as well, which its values may give
                if self.find(run.run_id).ended != run.ended:
                    raise
                remove_tree(directory / "values")
                gone = self._delete(run)
            remove_run_directory(directory) if gone else say_kept(directory)
        finally:
            lock.release()
        return gone

    def _delete(self, run: KeptRun) -> bool:
        with closing(open_database(self.database)) as connection, explained(self.database):
            return _delete(connection, run)

    def give_back(self) -> None:
        """Return the room of removed runs, and what killed commands left, to the disk."""
        if not self.database.exists():
            return
        unless_full = suppress(DiskIsFull)  # it needs a little room itself
        with unless_full, closing(open_database(self.database)) as connection, explained(self.database):
            self.remove_leftovers(connection)
            connection.execute("PRAGMA incremental_vacuum").fetchall()


def _recorded(path: object, sha256: object, stored: Any, masked: object) -> RecordedRecipe:
    """Return a row of what was read. Raises StoreError for one that was damaged."""
    try:
        text = json.loads(stored)
    except (ValueError, TypeError, RecursionError):
        text = None
    if not isinstance(text, str) or not isinstance(path, str) or not isinstance(sha256, str):
        raise StoreError(f"the text of the recipe {path!s:.200} cannot be read", fix="it may be damaged")
    return RecordedRecipe(path, sha256, text, bool(masked))


def _moment(seq: int, at: object) -> float:
    if not isinstance(at, float | int):
        raise StoreError(f"the time of record {seq} of the run cannot be read", fix="it may be damaged")
    return at


def _delete(connection: sqlite3.Connection, run: KeptRun) -> bool:
    """Delete every row of a run in one transaction, unless it has gone on meanwhile."""
    connection.execute("BEGIN IMMEDIATE")
    same = connection.execute(
        "SELECT 1 FROM runs WHERE number = ? AND run_id = ? AND ended IS ?",
        (run.number, run.run_id, run.ended),
    ).fetchone()
    for statement in _DELETIONS if same else ():
        connection.execute(statement, (run.number,))
    connection.execute("DELETE FROM texts WHERE sha256 NOT IN (SELECT stored FROM recipes)")
    connection.execute("COMMIT")
    return same is not None
