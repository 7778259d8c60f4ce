"""A load for a registry: names are what is registered, and what was found becomes registered."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from amplihack.app.bundles.loading import Loader
from amplihack.app.bundles.model import Loaded, Node
from amplihack.app.bundles.names import Known, NameTable
from amplihack.bundles.agents import fill_roster
from amplihack.bundles.context import repair_sources
from amplihack.bundles.errors import BundleDependencyError, BundleLoadError, Subject, error_from
from amplihack.bundles.graph import BUNDLE_FILES, looks_like_path
from amplihack.bundles.model import Bundle
from amplihack.bundles.roots import resource_root, root_directories
from amplihack.bundles.settings import Settings
from amplihack.bundles.states import Seen
from amplihack.bundles.uris import canonical, file_uri, parse_uri, shown, without_fragment
from amplihack.errors import Problem
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.files import real
from amplihack.system.sources import Sources

Redirect: TypeAlias = Callable[[str], str | None]
_AGENT_CODES = frozenset({"agent-not-found", "agent-unreadable", "agent-file", "agent-access"})


@dataclass(slots=True)
class RegistryNames(NameTable):
    """Only what is registered has a name: which bundles are well known is for an app to say."""

    redirector: Redirect | None = None
    asked: str = ""  # what was asked for itself; only includes are redirected

    def redirect(self, source: str) -> str | None:
        return self.redirector(source) if self.redirector is not None and source != self.asked else None

    def lookup(self, name: str) -> Known | None:
        uri = self.registered.get(name)
        return Known(name, uri, "registry") if uri else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to load, from where, and how strictly."""

    source: str
    base: Path
    cache_dir: Path
    environment: Mapping[str, str] = field(repr=False)
    registered: Mapping[str, str]
    redirector: Redirect | None = None
    strict: bool = False
    no_circles: bool = False
    follow: bool = True  # False: the bundle alone, without what it includes


@dataclass(frozen=True, slots=True)
class Found:
    """The bundle with its agents read and its sources in place, and everything that is worth telling."""

    bundle: Bundle
    loaded: Loaded
    problems: tuple[Problem, ...]


async def load_wanted(wanted: Wanted) -> Found:
    """Loads and composes a bundle. Raises BundleError."""
    names = RegistryNames(
        Settings(), (), wanted.registered, redirector=wanted.redirector, asked=wanted.source
    )
    async with _sources(wanted) as sources:
        loader = Loader(sources, names, strict=wanted.strict)
        loaded = await loader.load(wanted.source, wanted.base, follow=wanted.follow)
        if wanted.no_circles and loaded.order.circles:
            circles = tuple(each for each in loaded.problems if each.code == "circular-include")
            raise BundleDependencyError(f"strict mode: {circles[0].what}", found=circles)
        found = await asyncio.to_thread(_complete, loaded, loader.files)
    if wanted.strict:
        _require_agents(found)
    return found


def _sources(wanted: Wanted) -> Sources:
    return Sources(wanted.cache_dir, environment=wanted.environment, base_path=wanted.base)


def _complete(loaded: Loaded, files: BundleFiles) -> Found:
    bundle = loaded.bundle
    root = bundle.source_base_paths.get(bundle.name) or bundle.base_path or ""
    repaired = repair_sources(bundle, root, files)
    filled = fill_roster(repaired.bundle, files)
    problems = (*loaded.problems, *repaired.problems, *filled.problems)
    return Found(filled.bundle, loaded, tuple(dict.fromkeys(problems)))


def _require_agents(found: Found) -> None:
    """Raises BundleLoadError for an agent that would be less than what was asked for."""
    wrong = tuple(replace(each, severity="error") for each in found.problems if each.code in _AGENT_CODES)
    if wrong:
        raise error_from(BundleLoadError, wrong, Subject(uri=shown(found.loaded.root.uri)))


def address(source: str | Path, registered: Mapping[str, str], base: Path) -> str:
    """What a caller means: a registered name's address, a path that is there as `file://`, else the text."""
    text = str(source)
    if text in registered:
        return registered[text]
    parsed = parse_uri(text)
    is_path = isinstance(source, Path) or parsed.is_file or ("://" not in text and looks_like_path(text))
    if not is_path or text.startswith("git+") or (parsed.subpath and parsed.is_file):
        return text
    path = base / Path(parsed.path if parsed.is_file else text).expanduser()
    return file_uri(str(real(path))) if path.exists() else text


def cache_key(uri: str) -> str:
    """One spelling for one place: links are followed."""
    parsed = parse_uri(uri)
    if not parsed.is_file or not parsed.path.startswith("/"):
        return canonical(uri)
    return canonical(file_uri(str(real(Path(parsed.path))), parsed.subpath))


def seen_in(loaded: Loaded) -> tuple[Seen, ...]:
    """Every bundle with a name that a load has met, roots before what lies below them."""
    nodes = [node for node in loaded.nodes.values() if node.own.name]
    names = {node.own.name for node in nodes if not _is_twin(node)}
    roots = {
        name: seen
        for node in nodes
        if (name := node.own.name if _is_twin(node) else node.standing.root_name) and name not in names
        for seen in _root_above(node, name)
    }
    own = (_seen(node, loaded) for node in nodes if not _is_twin(node))
    return (*roots.values(), *own)


def _is_twin(node: Node) -> bool:
    """Whether a bundle lies below a root of its own name: the name is the root's."""
    own = resource_root(node.directory, node.own.namespace_root)
    return node.own.source_base_paths.get(node.own.name, own) != own


def _seen(node: Node, loaded: Loaded) -> Seen:
    included = (loaded.nodes[key].own.name for key in loaded.order.includes.get(node.key, ()))
    return Seen(
        name=node.own.name,
        uri=node.uri,
        version=node.own.shown_version,
        local_path=node.own.source_base_paths.get(node.own.name) or node.directory,
        is_root=node.standing.is_root,
        root_name=node.standing.root_name,
        is_local=node.is_local,
        includes=tuple(name for name in included if name),
    )


def _root_above(node: Node, name: str) -> Iterator[Seen]:
    """The root that a nested bundle belongs to, under the address of its own directory."""
    top = str(node.source.source_root)
    for directory in root_directories(node.directory, top):
        if any(Path(directory, each).is_file() for each in BUNDLE_FILES):
            inside = posixpath.relpath(directory, top)
            whole = without_fragment(node.uri)
            remote = whole if inside == "." else f"{whole}#subdirectory={inside}"
            uri = file_uri(directory) if node.is_local else remote
            path = node.own.source_base_paths.get(name, directory)
            yield Seen(name, uri, None, path, is_local=node.is_local)
            return
