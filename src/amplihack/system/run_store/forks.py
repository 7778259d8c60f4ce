"""Copy the beginning of a run into a new one: all of it or nothing, whatever ends this process."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing, suppress

from amplihack.recipes.events import Recorded
from amplihack.system.files import remove_tree
from amplihack.system.run_store.codec import encode
from amplihack.system.run_store.database import explained, open_database
from amplihack.system.run_store.leftovers import say_kept, say_not_kept
from amplihack.system.run_store.new_runs import insert_run
from amplihack.system.run_store.ownership import RunIsTaken, take
from amplihack.system.run_store.row_writer import write_rows
from amplihack.system.run_store.rows import KeptRun, NewRun
from amplihack.system.run_store.store import RunStore

_RECIPES = "INSERT INTO recipes SELECT ?, path, sha256, stored, at FROM recipes WHERE run = ?"


def create_fork(
    store: RunStore, new: NewRun, source: KeptRun, events: Iterable[tuple[float, Recorded]]
) -> KeptRun:
    """Keep a run that begins with these events and the recipes of its source. Raises StoreError.

    Its values are files of its own, so that the source may be removed.
    """
    lock = take(store.directory(new.run_id))
    if lock is None:
        raise RunIsTaken(f"another process has the run {new.run_id}", fix="try again")
    try:
        say_not_kept(store.directory(new.run_id))
        files = store.values(new.run_id)
        stored = [(at, encode(event, files)) for at, event in events]
        with closing(open_database(store.database)) as connection, explained(store.database):
            connection.execute("BEGIN IMMEDIATE")
            number = insert_run(connection, new)
            write_rows(connection, [(number, seq, at, *row) for seq, (at, row) in enumerate(stored, 1)])
            connection.execute(_RECIPES, (number, source.number))
            connection.execute("COMMIT")
            store.remove_leftovers(connection)
        say_kept(store.directory(new.run_id))
    except BaseException:
        with suppress(OSError):
            remove_tree(store.directory(new.run_id))
        raise
    finally:
        lock.release()
    return store.find(new.run_id)
