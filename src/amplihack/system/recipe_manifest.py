"""Store the hashes of a directory's recipes in `_recipe_manifest.json`, to see later which changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, TypeAlias

from amplihack.errors import DocumentError, Location, NotFound
from amplihack.records import Record
from amplihack.system.files import read_bytes, short_hash
from amplihack.system.recipe_files import recipe_files
from amplihack.system.replace import write_atomic

MANIFEST = "_recipe_manifest.json"
ChangeStatus: TypeAlias = Literal["new", "modified", "deleted"]


class ManifestChange(Record):
    """A difference between a recipe file and the manifest. A missing hash is an empty text."""

    name: str
    status: ChangeStatus
    local_hash: str
    stored_hash: str


def update_manifest(directory: Path) -> Path:
    """Write the hash of every `.yaml` file in the directory; return the manifest's path."""
    text = json.dumps(_hashes(directory), indent=2, sort_keys=True, ensure_ascii=False)
    path = directory / MANIFEST
    write_atomic(path, f"{text}\n".encode(), mode=0o644)
    return path


def check_upstream_changes(directory: Path | None) -> tuple[ManifestChange, ...]:
    """Return what changed since the manifest was written; without a manifest every file is new."""
    if directory is None:
        return ()
    local, stored = _hashes(directory), _stored(directory / MANIFEST)
    return tuple(
        ManifestChange(name, _status(name, local, stored), local.get(name, ""), stored.get(name, ""))
        for name in sorted(local.keys() | stored.keys())
        if local.get(name) != stored.get(name)
    )


def _status(name: str, local: dict[str, str], stored: dict[str, str]) -> ChangeStatus:
    if name not in stored:
        return "new"
    return "modified" if name in local else "deleted"


def _hashes(directory: Path) -> dict[str, str]:
    if not directory.is_dir():
        raise NotFound(f"Recipe directory not found: {directory}", fix="check the path")
    return {
        path.stem: short_hash(read_bytes(path)) for path in recipe_files(directory) if path.suffix == ".yaml"
    }


def _stored(path: Path) -> dict[str, str]:
    try:
        data = read_bytes(path, limit=10_000_000, kind="Recipe manifest")
    except NotFound:
        return {}
    where = Location(str(path), 1, 1)
    fix = "delete it and write it again"
    try:
        stored: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DocumentError("the recipe manifest is not JSON", where=where, fix=fix) from error
    if not isinstance(stored, dict) or not all(isinstance(value, str) for value in stored.values()):
        raise DocumentError("the recipe manifest is not a mapping of names to hashes", where=where, fix=fix)
    return stored
