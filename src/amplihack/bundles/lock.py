"""Compare a bundle with its lock: what each source was when it was locked, and whether it still is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from amplihack.bundles.errors import BundleLoadError, Subject
from amplihack.bundles.uris import canonical, parse_uri, print_uri, shown, without_fragment
from amplihack.errors import Location, Problem
from amplihack.records import Record, field, replace

FORMAT = 1
Change: TypeAlias = Literal["new", "gone", "commit", "sha256", "content"]


class LockEntry(Record, order=True):
    """One source: the commit of a repository or the sha256 of a download, and the hash of its files."""

    uri: str
    commit: str = ""
    sha256: str = ""
    content: str = ""


class BundleLock(Record):
    """What every source was when it was locked."""

    entries: tuple[LockEntry, ...] = ()
    modules: Mapping[str, str] = field(default_factory=dict)  # module package to version
    kernel: str = ""

    def find(self, uri: str) -> LockEntry | None:
        wanted = _key(uri)
        return next((entry for entry in self.entries if _key(entry.uri) == wanted), None)


class Drift(Record):
    """A source that is not what the lock says."""

    uri: str
    change: Change
    locked: str = ""
    now: str = ""
    damaged: str = ""  # the directory of a cached version that is no longer what was fetched

    @property
    def problem(self) -> Problem:
        what = {
            "new": f"{self.uri} is not in the lock file",
            "gone": f"{self.uri} is in the lock file and is not used any more",
        }.get(self.change, f"{self.uri}: the {self.change} was {self.locked[:12]} and is {self.now[:12]}")
        severity: Literal["error", "warning"] = "warning" if self.change == "gone" else "error"
        fix = "lock again if this is what you want"
        if self.damaged:
            what = f"{self.uri}: somebody changed what was fetched"
            fix = f"remove {self.damaged}: it is fetched again"
        return Problem(what, fix=fix, severity=severity, code="lock-drift")


def _key(uri: str) -> str:
    return canonical(shown(uri))


def make_lock(
    entries: Iterable[LockEntry], *, modules: Mapping[str, str] | None = None, kernel: str = ""
) -> BundleLock:
    """Make a lock in one order, each source once and without secrets."""
    unique = {_key(entry.uri): LockEntry(shown(entry.uri), entry.commit, entry.sha256, entry.content)
              for entry in entries}  # fmt: skip
    return BundleLock(tuple(sorted(unique.values())), dict(sorted((modules or {}).items())), kernel)


def print_lock(lock: BundleLock) -> str:
    """Print the lock as JSON, the same text for the same lock."""
    data: dict[str, Any] = {
        "version": FORMAT,
        "kernel": lock.kernel,
        "sources": [
            {key: value for key, value in _fields(entry).items() if value} for entry in sorted(lock.entries)
        ],
        "modules": dict(sorted(lock.modules.items())),
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _fields(entry: LockEntry) -> dict[str, str]:
    return {"uri": entry.uri, "commit": entry.commit, "sha256": entry.sha256, "content": entry.content}


def read_lock(text: str, file: str = "bundle.lock") -> BundleLock:
    """Read a lock. Raises BundleLoadError when it is none."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        line, column = getattr(error, "lineno", 1), getattr(error, "colno", 1)
        raise BundleLoadError(
            f"the lock file is not JSON: {getattr(error, 'msg', 'it cannot be read')}",
            where=Location(file, line, column),
            fix="lock again",
        ) from error
    if not isinstance(data, dict) or data.get("version") != FORMAT:
        raise _wrong(file, f"the lock file should have version {FORMAT}")
    sources, modules, kernel = data.get("sources"), data.get("modules", {}), data.get("kernel", "")
    if not isinstance(sources, list) or not isinstance(modules, dict) or not isinstance(kernel, str):
        raise _wrong(file, "the lock file should have `sources`, `modules` and `kernel`")
    if not all(isinstance(version, str) for version in modules.values()):
        raise _wrong(file, "`modules` should map names to versions")
    return BundleLock(tuple(_entry(item, file) for item in sources), modules, kernel)


def _entry(item: object, file: str) -> LockEntry:
    fields = ("uri", "commit", "sha256", "content")
    if not isinstance(item, dict) or not isinstance(item.get("uri"), str):
        raise _wrong(file, "each source should have a uri")
    values = [item.get(key, "") for key in fields]
    if not all(isinstance(value, str) for value in values):
        raise _wrong(file, f"the source {item['uri']} should hold texts only")
    return LockEntry(*values)


def _wrong(file: str, what: str) -> BundleLoadError:
    return BundleLoadError(what, where=Location(file, 1, 1), fix="lock again", subject=Subject(path=file))


def drift(lock: BundleLock, now: Iterable[LockEntry]) -> tuple[Drift, ...]:
    """Return every difference between what was locked and what is there, in the order of the addresses."""
    locked = {_key(entry.uri): entry for entry in lock.entries}
    present = {_key(entry.uri): entry for entry in now}
    found: list[Drift] = []
    for key in sorted({*locked, *present}):
        before, after = locked.get(key), present.get(key)
        if before is None or after is None:
            found.append(Drift(key, "new" if before is None else "gone"))
        else:
            found.extend(_changes(key, before, after))
    return tuple(found)


def _changes(key: str, before: LockEntry, after: LockEntry) -> Iterable[Drift]:
    pairs: tuple[tuple[Change, str, str], ...] = (
        ("commit", before.commit, after.commit),
        ("sha256", before.sha256, after.sha256),
        ("content", before.content, after.content),
    )
    return (Drift(key, change, was, now) for change, was, now in pairs if was and was != now)


def pins_of(lock: BundleLock) -> dict[str, str]:
    """Return, for each locked repository and archive, the address that names exactly the locked version."""
    pins: dict[str, str] = {}
    for entry in lock.entries:
        parsed = parse_uri(entry.uri)
        if parsed.is_git and entry.commit:
            pins[canonical(entry.uri)] = print_uri(replace(parsed, ref=entry.commit))
        elif entry.sha256 and (parsed.is_zip or parsed.is_http):
            pins[canonical(entry.uri)] = print_uri(replace(parsed, sha256=entry.sha256))
    return pins


def pinned(uri: str, pins: Mapping[str, str]) -> str | None:
    """Return the address of the locked version of a source; None when it is not locked."""
    locked = pins.get(canonical(shown(without_fragment(uri))))
    if locked is None:
        return None
    exact = parse_uri(locked)
    return print_uri(replace(parse_uri(uri), ref=exact.ref, sha256=exact.sha256))
