"""Write and read `bundle.lock`, which pins every source and file of a bundle by commit or hash."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from amplihack.bundles.errors import BundleDependencyError, BundleNotFoundError, Subject, error_from
from amplihack.bundles.include_graph import Node
from amplihack.bundles.lock import BundleLock, Drift, LockEntry, drift, make_lock, print_lock, read_lock
from amplihack.bundles.model import Bundle
from amplihack.bundles.module_sources import module_sources
from amplihack.bundles.ports import FileText
from amplihack.bundles.prompt import Prompt
from amplihack.bundles.reach import is_within
from amplihack.bundles.tree import leaves
from amplihack.bundles.uris import canonical, parse_uri, shown, without_fragment
from amplihack.errors import AmplihackError
from amplihack.records import Record, replace
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.files import read_text
from amplihack.system.kernel import kernel_version
from amplihack.system.replace import write_atomic
from amplihack.system.sources import Sources, SourceStatus, content_hash

LOCK_FILE = "bundle.lock"
_BUILT = ("__pycache__", ".venv", "build", "dist")  # what installing or running a module leaves in it


class Closure(Record, repr=False):
    """Everything that a bundle consists of."""

    nodes: Mapping[str, Node]
    bundle: Bundle
    prompt: Prompt
    files: BundleFiles


def write_lock(lock: BundleLock, directory: Path) -> Path:
    """Replace the lock file of a directory."""
    path = directory / LOCK_FILE
    write_atomic(path, print_lock(lock).encode(), mode=0o644)
    return path


def stored_lock(directory: Path) -> BundleLock:
    """Read the lock file of a directory. Raises BundleNotFoundError when there is none."""
    path = directory / LOCK_FILE
    if not path.is_file():
        raise BundleNotFoundError(
            f"there is no {LOCK_FILE} in {directory}", fix="`amplihack bundle lock` writes it"
        )
    return read_lock(read_text(path, limit=10_000_000, kind="Lock file"), str(path))


def lock_of(closure: Closure, modules: Iterable[LockEntry], directory: Path) -> BundleLock:
    """Lock the closure as it is now: commits and hashes of remote sources, hashes of local files."""
    whole = (*_remote(closure.nodes.values()), *_local(closure), *modules)
    return make_lock([_from(entry, directory) for entry in whole], kernel=kernel_version())


def lock_drift(directory: Path, closure: Closure) -> tuple[Drift, ...]:
    """Return every difference between the lock file and what was loaded."""
    stored = stored_lock(directory)
    now = lock_of(closure, _present_modules(closure.bundle, stored), directory)
    return tuple(_with_damage(drift(stored, now.entries), closure.nodes.values()))


def _with_damage(found: tuple[Drift, ...], nodes: Iterable[Node]) -> Iterator[Drift]:
    """Tell the same version with another content apart: a version never changes, but a cache can."""
    moved = {each.uri for each in found if each.change in ("commit", "sha256")}
    roots = {
        canonical(shown(without_fragment(node.uri))): node.checkout.root
        for node in nodes
        if not node.is_local
    }
    for each in found:
        is_damaged = each.change == "content" and each.uri in roots and each.uri not in moved
        yield replace(each, damaged=roots[each.uri]) if is_damaged else each


def moved_modules(directory: Path, statuses: Iterable[SourceStatus]) -> Iterator[Drift]:
    """Yield the cached sources that are another commit than the lock file says."""
    stored = stored_lock(directory)
    for each in statuses:
        entry = stored.find(each.source_uri)
        if entry is not None and entry.commit and each.cached_commit not in (None, entry.commit):
            yield Drift(entry.uri, "commit", entry.commit, each.cached_commit or "")


def require_frozen(directory: Path, closure: Closure) -> None:
    """Raise BundleDependencyError with every difference, unless everything is as it was locked."""
    found = lock_drift(directory, closure)
    if found:
        raise error_from(
            BundleDependencyError,
            tuple(replace(each.problem, severity="error") for each in found),
            Subject(path=str(directory / LOCK_FILE)),
        )


async def lock_modules(sources: Sources, bundle: Bundle) -> tuple[list[LockEntry], dict[str, AmplihackError]]:
    """Return the lock entries of the modules, fetched if needed, and the errors of sources that fail."""
    wanted = [source for source in module_sources(bundle) if not _is_expanded_later(source)]
    answers = await asyncio.gather(*(_module_entry(sources, source) for source in wanted))
    found = [answer for answer in answers if isinstance(answer, LockEntry)]
    failed = zip(wanted, answers, strict=True)
    return found, {source: answer for source, answer in failed if isinstance(answer, AmplihackError)}


def _is_expanded_later(source: str) -> bool:
    return parse_uri(source).is_package and "${" in source


async def _module_entry(sources: Sources, source: str) -> LockEntry | AmplihackError:
    try:
        resolved = await sources.resolve(source)
        if resolved.kind == "local":
            return await asyncio.to_thread(_local_module, source)
        content = await asyncio.to_thread(content_hash, resolved.source_root)
    except AmplihackError as error:
        return error
    return LockEntry(shown(without_fragment(source)), resolved.commit or "", resolved.sha256 or "", content)


def _local_module(source: str) -> LockEntry:
    """Lock a module on this disk by its address and the hash of its files. Raises SourceError."""
    path = parse_uri(source).path
    return LockEntry(f"file://{path}", content=content_hash(Path(path), ignore=_BUILT))


def _present_modules(bundle: Bundle, lock: BundleLock) -> Iterator[LockEntry]:
    """Yield the lock entries of the modules, as far as this disk tells.

    A module that would have to be fetched counts as locked, because a pinned source cannot change. One that
    is not in the lock is new.
    """
    for source in module_sources(bundle):
        parsed = parse_uri(source)
        if parsed.is_file:
            yield _local_module(source)
        elif not parsed.is_package:
            address = shown(without_fragment(source))
            yield lock.find(address) or LockEntry(address)


def _from(entry: LockEntry, directory: Path) -> LockEntry:
    """Name files below the lock by their relative path, so that a checkout can be anywhere."""
    path = Path(entry.uri.removeprefix("file://"))
    below = entry.uri.startswith("file://") and path.is_relative_to(directory)
    return replace(entry, uri=f"./{path.relative_to(directory)}") if below else entry


def _remote(nodes: Iterable[Node]) -> Iterator[LockEntry]:
    seen: set[str] = set()
    for node in nodes:
        address = shown(without_fragment(node.uri))
        if node.is_local or address in seen:
            continue
        seen.add(address)
        content = content_hash(Path(node.checkout.root))
        yield LockEntry(address, node.checkout.commit, node.checkout.sha256, content)


def _local(closure: Closure) -> Iterator[LockEntry]:
    """Lock bundle, context, mentioned and agent files that are not part of a fetched source."""
    # Files of a fetched source are covered by its commit or hash.
    fetched = {node.checkout.root for node in closure.nodes.values() if not node.is_local}
    paths = {node.file for node in closure.nodes.values()} | set(_read_files(closure))
    for path in sorted(paths):
        text = None if any(is_within(path, root) for root in fetched) else closure.files.read(path)
        if isinstance(text, FileText):
            yield LockEntry(f"file://{path}", content=text.sha256)


def _read_files(closure: Closure) -> Iterator[str]:
    """Yield files that a bundle reads besides its own: context, mentions, agents."""
    yield from closure.bundle.resolved_context.values()
    yield from (part.path for part in closure.prompt.parts)
    settings = {leaf.origin.file for _, agent in closure.bundle.agents for _, leaf in leaves(agent)}
    yield from (file for file in settings if file.endswith(".md"))
