"""Define the tables of the run database, and how older ones become today's.

`user_version` of the database counts the migrations that it has had. To change the schema, append one: an
existing row of this list has been applied on other people's machines and never changes.

    runs      one row for each run: what `runs list` shows, how to start it again, and who runs it
    events    what happened, in order; `data` is JSON, or `file` names the value file that holds it
    recipes   the recipe files of a run, as last read; `sha256` is of the file, `stored` names its text
    texts     those texts, masked where they held secrets, each once
"""

from __future__ import annotations

_FIRST = """
CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    recipe TEXT NOT NULL,
    path TEXT,
    working_dir TEXT NOT NULL,
    status TEXT NOT NULL,
    started REAL NOT NULL,
    ended REAL,
    cost_usd REAL,
    forked_from TEXT,
    request TEXT NOT NULL,
    inputs TEXT NOT NULL,
    owner TEXT,
    cancelled TEXT
);
CREATE INDEX runs_by_start ON runs (started, number);
CREATE TABLE events (
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    data TEXT,
    file TEXT,
    PRIMARY KEY (run, seq)
) WITHOUT ROWID;
CREATE TABLE recipes (
    run INTEGER NOT NULL,
    path TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    stored TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (run, path)
) WITHOUT ROWID;
CREATE TABLE texts (
    sha256 TEXT PRIMARY KEY,
    text TEXT NOT NULL
) WITHOUT ROWID;
"""

MIGRATIONS: tuple[str, ...] = (_FIRST,)
VERSION = len(MIGRATIONS)
