"""Open the run database: create it, bring an older one up to date, and explain what is wrong with it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from amplihack.system.locks import locked
from amplihack.system.run_store.schema import MIGRATIONS, VERSION
from amplihack.system.run_store.values import EPHEMERAL, StoreError, cannot_write, disk_is_full

PATIENCE = 60.0  # seconds that a command waits for those who write
_LONG = 600.0  # seconds that a run waits which has begun: giving up would cost its work
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_LITTLE = 65_536  # bytes: with less, SQLite cannot make the index of its log
_READ_ONLY = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)


def open_database(path: Path) -> sqlite3.Connection:
    """Open the database for writing, after creating or migrating it. Raises StoreError."""
    with explained(path):
        _create_directory(path.parent)
        _create_file(path)
        connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        try:
            if _version(connection) != VERSION:
                _bring_up_to_date(path, connection)
            connection.execute("PRAGMA synchronous = FULL")
        except BaseException:
            connection.close()
            raise
        return connection


def wait_longer(connection: sqlite3.Connection) -> None:
    """Let a connection wait for those who write as long as a run that has begun should."""
    connection.execute(f"PRAGMA busy_timeout = {_LONG * 1000:.0f}")


def open_to_read(path: Path) -> sqlite3.Connection | None:
    """Open the database to read it, also on a disk that cannot be written; None if there is none yet."""
    if not os.path.lexists(path):
        _refuse_if_lost(path)
        return None
    with explained(path):
        try:
            connection, writable = _connected(path.absolute().as_uri()), True
        except sqlite3.OperationalError as error:
            if _code(error) not in (*_READ_ONLY, sqlite3.SQLITE_CANTOPEN) and not _has_no_room(path, error):
                raise
            connection, writable = _beside_its_log(path), False
        if _version(connection) == VERSION:
            return connection
        connection.close()
        if writable:
            return open_database(path)
    raise cannot_write(path, "it has to be brought up to date first")


def _beside_its_log(path: Path) -> sqlite3.Connection:
    """Open a database on a disk where nothing can be written, also if its log could not be put into it."""
    log = Path(f"{path}-wal")
    if not log.exists() or log.stat().st_size == 0:
        return _connected(f"{path.absolute().as_uri()}?mode=ro&immutable=1")
    import shutil  # deferred, as the next: almost no disk is full
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="amplihack-runs-") as folder:  # an open file stays after it was removed
        copy = Path(folder) / path.name
        for source, target in ((path, copy), (log, Path(f"{copy}-wal"))):
            shutil.copyfile(source, target)
        return _connected(copy.as_uri())


def _has_no_room(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> bool:
    """Tell whether an error means a full disk, also where SQLite does not know."""
    code = _code(error) if isinstance(error, sqlite3.Error) else 0
    if code != sqlite3.SQLITE_IOERR:
        return code == sqlite3.SQLITE_FULL
    room = os.statvfs(path.parent)
    return room.f_bavail * room.f_frsize < _LITTLE


def _connected(uri: str) -> sqlite3.Connection:
    """Return a connection that has proven to work."""
    connection = sqlite3.connect(uri, timeout=PATIENCE, isolation_level=None, uri=True)
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _create_directory(directory: Path) -> None:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(directory, error.strerror or str(error)) from error


def _create_file(path: Path) -> None:
    """Make an empty private file where there is none: SQLite would make one that others can read."""
    if path.exists() and path.stat().st_size > 0:
        return
    _refuse_if_lost(path)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise cannot_write(path, error.strerror or str(error)) from error


def _refuse_if_lost(path: Path) -> None:
    """Raise StoreError if there were runs: an empty history must not take the place of a lost one."""
    with suppress(OSError):
        left = [each.name for each in os.scandir(path.parent / "runs") if each.is_dir()]
        if left:
            raise StoreError(
                f"the run database {path} is {'empty' if path.exists() else 'missing'}, though {len(left)} "
                f"run{'s' if len(left) != 1 else ''} left values in {path.parent / 'runs'}",
                fix="put it back with its -wal file, or move that directory away to begin a new history",
            )


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _bring_up_to_date(path: Path, connection: sqlite3.Connection) -> None:
    # Changing to WAL does not wait for others, so the first processes take turns.
    with locked(path.with_name(".runs.lock"), patience=PATIENCE):
        version = _version(connection)
        if version > VERSION:
            raise StoreError(
                f"{path} was written by a newer amplihack (schema {version}, this one knows {VERSION})",
                fix="update amplihack; nothing was changed",
            )
        if version == 0:
            _refuse_if_lost(path)  # the file may be there without its -wal, which held everything
            # So that removing runs can give room back; later it would be too late.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        for number in range(version, VERSION):
            script = f"BEGIN IMMEDIATE; {MIGRATIONS[number]} PRAGMA user_version = {number + 1}; COMMIT;"
            connection.executescript(script)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into ours: what is wrong with which file, and what to do."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter from a message about damaged names
        raise in_words(path, error) from error


def in_words(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> StoreError:
    """Return what an error of SQLite means for us."""
    code = _code(error) if isinstance(error, sqlite3.Error) else sqlite3.SQLITE_CORRUPT
    if code in _BUSY:
        return StoreError(
            f"the run database {path} is locked by another program",
            fix=f"wait for it to finish, then try again, {EPHEMERAL}",
        )
    if code in _DAMAGED:
        return StoreError(
            f"the run database {path} is damaged: {error}",
            fix="nothing was changed; put a backup back, or move it and the directory `runs` beside it away",
        )
    if _has_no_room(path, error):
        return disk_is_full(path)
    if code in (*_READ_ONLY, sqlite3.SQLITE_CANTOPEN):
        return cannot_write(path, str(error))
    return StoreError(f"the run database {path} cannot be used: {error}", fix=f"check its disk, {EPHEMERAL}")


def _code(error: sqlite3.Error) -> int:
    """Return SQLite's primary code; the upper bits tell details."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
