"""Define limits, results and reports of fetching sources."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from amplihack.bundles.includes import BUNDLE_FILES
from amplihack.bundles.uris import is_commit
from amplihack.records import Record
from amplihack.system.sources.errors import SourceError

Kind: TypeAlias = Literal["local", "git", "archive", "file"]
UpdateOutcome: TypeAlias = Literal["fetched", "updated", "unchanged", "pinned", "local", "failed"]

ROOT_FILES = (*BUNDLE_FILES, "pyproject.toml", "setup.py", "setup.cfg", "amplifier.toml")


class FetchLimits(Record, kw_only=True):
    """Limits on size, time and attempts, in seconds and bytes."""

    concurrent: int = 8
    clone_seconds: float = 300.0
    status_seconds: float = 30.0
    http_seconds: float = 60.0
    pauses: tuple[float, ...] = (1.0, 2.0)  # before the second and the third attempt
    lock_seconds: float = 900.0  # for another process that fetches the same thing
    download_bytes: int = 256 * 1024 * 1024
    unpacked_bytes: int = 1024 * 1024 * 1024
    unpacked_entries: int = 50_000
    unpacked_ratio: int = 200  # looked at only once an archive has given `ratio_floor` bytes
    ratio_floor: int = 32 * 1024 * 1024


class ResolvedSource(Record):
    """Where a source is on the disk, and its exact version."""

    active_path: Path
    source_root: Path
    uri: str = ""  # without any secret
    kind: Kind = "local"
    commit: str | None = None
    sha256: str | None = None  # of the downloaded file, for archives and single files

    @property
    def is_subdirectory(self) -> bool:
        return self.active_path != self.source_root


class SourceStatus(Record, kw_only=True):
    """A cached source compared with its origin. `has_update` None means unknown."""

    source_uri: str
    is_cached: bool = False
    cached_at: str | None = None
    cached_ref: str | None = None
    cached_commit: str | None = None
    remote_ref: str | None = None
    remote_commit: str | None = None
    has_update: bool | None = None
    error: str | None = None
    summary: str = ""
    fix: str = ""  # what to do about the error

    @property
    def is_pinned(self) -> bool:
        return self.cached_ref is not None and is_pinned(self.cached_ref)


class UpdateReport(Record, kw_only=True):
    """The result of an update; `before` and `after` are commits or hashes. A failed one changed nothing."""

    uri: str
    outcome: UpdateOutcome
    before: str | None = None
    after: str | None = None
    error: SourceError | None = None


class CacheEntry(Record, kw_only=True):
    """An entry of the cache. `complete` is False for what a dead process left unfinished."""

    name: str
    path: Path
    size: int
    in_use: bool
    complete: bool = True
    kind: str = "unfinished"
    source: str = ""  # the address that it came from, "" where that is not known
    ref: str | None = None
    version: str | None = None
    cached_at: str | None = None


def is_pinned(ref: str) -> bool:
    """Tell whether a ref is expected never to move: a full commit id, or a version such as v1.2."""
    return is_commit(ref) or (ref.startswith("v") and any(character.isdigit() for character in ref))
