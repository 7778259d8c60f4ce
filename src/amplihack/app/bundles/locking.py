"""`bundle.lock`: what every source and every file of a bundle was, and loading exactly that or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from amplihack.app.bundles.model import Node
from amplihack.app.bundles.modules import present_modules
from amplihack.bundles.assemble import Prompt
from amplihack.bundles.context import is_within
from amplihack.bundles.errors import BundleDependencyError, BundleNotFoundError, Subject, error_from
from amplihack.bundles.lock import Drift, Lock, LockEntry, drift, make_lock, print_lock, read_lock
from amplihack.bundles.model import Bundle
from amplihack.bundles.ports import Text
from amplihack.bundles.tree import leaves
from amplihack.bundles.uris import canonical, parse_uri, print_uri, shown, without_fragment
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.files import read_text
from amplihack.system.kernel import kernel_version
from amplihack.system.replace import write_atomic
from amplihack.system.sources import content_hash

LOCK_FILE = "bundle.lock"


@dataclass(frozen=True, slots=True, repr=False)
class Closure:
    """Everything that a bundle is made of."""

    nodes: Mapping[str, Node]
    bundle: Bundle
    prompt: Prompt
    files: BundleFiles


def lock_of(closure: Closure, modules: Iterable[LockEntry], directory: Path) -> Lock:
    """The closure as it is now: commits and hashes of remote sources, hashes of local files."""
    whole = (*_remote(closure.nodes.values()), *_local(closure), *modules)
    return make_lock([_from(entry, directory) for entry in whole], kernel=kernel_version())


def _from(entry: LockEntry, directory: Path) -> LockEntry:
    """Files below the lock by their path from it, so that a checkout may lie anywhere."""
    path = Path(entry.uri.removeprefix("file://"))
    below = entry.uri.startswith("file://") and path.is_relative_to(directory)
    return replace(entry, uri=f"./{path.relative_to(directory)}") if below else entry


def write_lock(lock: Lock, directory: Path) -> Path:
    path = directory / LOCK_FILE
    write_atomic(path, print_lock(lock).encode(), mode=0o644)
    return path


def stored_lock(directory: Path) -> Lock:
    """The lock of a directory. Raises BundleNotFoundError when there is none."""
    path = directory / LOCK_FILE
    if not path.is_file():
        raise BundleNotFoundError(
            f"there is no {LOCK_FILE} in {directory}", fix="`amplihack bundle lock` writes it"
        )
    return read_lock(read_text(path, limit=10_000_000, kind="Lock file"), str(path))


def lock_drift(directory: Path, closure: Closure) -> tuple[Drift, ...]:
    """Every difference between the lock file and what was loaded."""
    stored = stored_lock(directory)
    now = lock_of(closure, present_modules(closure.bundle, stored), directory)
    return drift(stored, now.entries)


def frozen_pins(directory: Path) -> Mapping[str, str]:
    """For each locked repository and archive, the address that names exactly the locked version."""
    pins: dict[str, str] = {}
    for entry in stored_lock(directory).entries:
        parsed = parse_uri(entry.uri)
        if parsed.is_git and entry.commit:
            pins[canonical(entry.uri)] = print_uri(replace(parsed, ref=entry.commit))
        elif entry.sha256 and (parsed.is_zip or parsed.is_http):
            pins[canonical(entry.uri)] = print_uri(replace(parsed, sha256=entry.sha256))
    return pins


def pin(uri: str, pins: Mapping[str, str]) -> str | None:
    """The address of the locked version of a source; None when it is not locked."""
    locked = pins.get(canonical(shown(without_fragment(uri))))
    if locked is None:
        return None
    exact = parse_uri(locked)
    return print_uri(replace(parse_uri(uri), ref=exact.ref, sha256=exact.sha256))


def require_frozen(directory: Path, closure: Closure) -> None:
    """Raises BundleDependencyError, naming every difference, unless all is as it was locked."""
    found = lock_drift(directory, closure)
    if found:
        raise error_from(
            BundleDependencyError,
            tuple(replace(each.problem, severity="error") for each in found),
            Subject(path=str(directory / LOCK_FILE)),
        )


def _remote(nodes: Iterable[Node]) -> Iterator[LockEntry]:
    seen: set[str] = set()
    for node in nodes:
        address = shown(without_fragment(node.uri))
        if node.is_local or address in seen:
            continue
        seen.add(address)
        content = content_hash(node.source.source_root)
        yield LockEntry(address, node.source.commit or "", node.source.sha256 or "", content)


def _local(closure: Closure) -> Iterator[LockEntry]:
    """Bundle, context, mentioned and agent files that are not part of something fetched."""
    fetched = {str(node.source.source_root) for node in closure.nodes.values() if not node.is_local}
    paths = {node.file for node in closure.nodes.values()} | set(_read_files(closure))
    for path in sorted(paths):
        text = None if any(is_within(path, root) for root in fetched) else closure.files.read(path)
        if isinstance(text, Text):
            yield LockEntry(f"file://{path}", content=text.sha256)


def _read_files(closure: Closure) -> Iterator[str]:
    """Files that a bundle reads besides its own: context, mentions, agents."""
    yield from closure.bundle.resolved_context.values()
    yield from (part.path for part in closure.prompt.parts)
    settings = {leaf.origin.file for _, agent in closure.bundle.agents for _, leaf in leaves(agent)}
    yield from (file for file in settings if file.endswith(".md"))


def remote_sources(nodes: Iterable[Node]) -> tuple[str, ...]:
    """Every source of a graph that is fetched, each once."""
    return tuple({without_fragment(node.uri): None for node in nodes if not node.is_local})
