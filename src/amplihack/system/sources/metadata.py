"""Store what is known of one version of a source: in its entry, written last, and in pointers to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from amplihack.errors import AmplihackError
from amplihack.records import Record, as_dict
from amplihack.system.files import read_bytes
from amplihack.system.replace import write_atomic

METADATA = ".amplifier_cache_meta.json"
_LIMIT = 65_536


class Metadata(Record, kw_only=True):
    """Facts about one version. `git_url` and `source` hold no secret; `inside` is the part that counts."""

    cached_at: str = ""
    kind: str = "git"
    entry: str = ""  # its name in the cache
    ref: str | None = None
    commit: str | None = None
    git_url: str | None = None
    source: str | None = None
    sha256: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    inside: str = ""
    origin_size: int | None = None  # of a local archive, to see that it has changed
    origin_mtime_ns: int | None = None

    @property
    def version(self) -> str:
        return self.commit or self.sha256 or ""


def write_metadata(file: Path, metadata: Metadata) -> None:
    values = {key: value for key, value in as_dict(metadata).items() if value not in (None, "")}
    write_atomic(file, json.dumps(values, indent=2, sort_keys=True).encode() + b"\n")


def read_metadata(file: Path) -> Metadata | None:
    """Return what the file says; None if it is missing, unreadable or invalid."""
    try:
        values = json.loads(read_bytes(file, limit=_LIMIT, kind="Cache metadata"))
    except (AmplihackError, ValueError):
        return None
    if not isinstance(values, dict):
        return None
    known: dict[str, Any] = {key: value for key, value in values.items() if _fits(key, value)}
    metadata = Metadata(**known)
    return metadata if metadata.version and not _leads_out(metadata.inside) else None


def _fits(key: str, value: object) -> bool:
    if key in ("origin_size", "origin_mtime_ns"):
        return isinstance(value, int)
    return key in Metadata.__dataclass_fields__ and isinstance(value, str)


def _leads_out(inside: str) -> bool:
    return Path(inside).is_absolute() or ".." in Path(inside).parts
