"""Tell which recipe files runs read again when they go on."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from amplihack.system.run_store.database import explained, open_to_read
from amplihack.system.run_store.rows import path_of

_RECIPES = (
    "SELECT DISTINCT recipes.path FROM recipes JOIN runs ON runs.number = recipes.run"
    " WHERE runs.status NOT IN ('completed', 'degraded')"
)


def needed_files(database: Path) -> frozenset[str]:
    """Return the recipe files of all runs that are not over. Raises StoreError."""
    connection = open_to_read(database)
    if connection is None:
        return frozenset()
    with closing(connection), explained(database):
        return frozenset(path_of(path) for (path,) in connection.execute(_RECIPES))
