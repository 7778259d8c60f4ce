"""A bundle made ready: loaded, policies and settings laid over it, references resolved, agents read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from amplihack.app.bundles.completing import complete
from amplihack.app.bundles.composing import nodes_of
from amplihack.app.bundles.loading import Loader
from amplihack.app.bundles.locking import Closure, frozen_pins, pin, require_frozen
from amplihack.app.bundles.model import Loaded, Node
from amplihack.app.bundles.modules import with_sources
from amplihack.app.bundles.names import NameTable
from amplihack.app.bundles.settings_files import read_settings
from amplihack.app.workspace import Workspace
from amplihack.bundles.assemble import Prompt
from amplihack.bundles.errors import BundleError, BundleNotFoundError
from amplihack.bundles.graph import BUNDLE_FILES
from amplihack.bundles.model import Bundle
from amplihack.bundles.mount_plan import MountPlan, fingerprint, mount_plan
from amplihack.bundles.settings import Settings, apply_settings, compose_policies
from amplihack.bundles.tree import Items, Leaf
from amplihack.bundles.uris import parse_uri, shown, without_fragment
from amplihack.errors import AmplihackError, Location, Problem
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.bundle_state import read_registered, remember
from amplihack.system.search_dirs import PACKAGED_BUNDLE
from amplihack.system.sources import Sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which bundle, and how strictly."""

    source: str | None = None  # None: the active one of the settings, else the one in this directory
    offline: bool = False
    frozen: bool = False
    strict: bool = True
    tolerant: bool = False  # read on past what is wrong with a file; it is among the problems


@dataclass(frozen=True, slots=True, repr=False)
class Ready:
    """A bundle that a session could be opened with, and everything that is worth telling about it."""

    bundle: Bundle
    loaded: Loaded
    prompt: Prompt
    files: BundleFiles
    problems: tuple[Problem, ...]
    policies: tuple[Loaded, ...] = ()

    @property
    def nodes(self) -> Mapping[str, Node]:
        """Every bundle file that takes part, those of policies included."""
        return nodes_of((self.loaded, *self.policies))

    @property
    def closure(self) -> Closure:
        return Closure(self.nodes, self.bundle, self.prompt, self.files)

    @property
    def plan(self) -> MountPlan:
        """The mount plan; `${VARIABLES}` stand in it as they were written."""
        return mount_plan(self.bundle)

    @property
    def fingerprint(self) -> str:
        sources = {node.uri: node.source.commit for node in self.nodes.values() if node.source.commit}
        hashes = {part.name: part.sha256 for part in self.prompt.parts}
        return fingerprint(self.bundle, context_hashes=hashes, commits=sources)


def name_table(workspace: Workspace, settings: Settings) -> NameTable:
    folders = (
        workspace.directory / ".amplihack" / "bundles",
        workspace.home.root / "bundles",
        PACKAGED_BUNDLE.parent,
    )
    return NameTable(settings, folders, read_registered(workspace.home.root))


@asynccontextmanager
async def open_sources(workspace: Workspace, *, offline: bool) -> AsyncIterator[Sources]:
    async with Sources(
        workspace.home.root / "cache",
        environment=workspace.environment,
        base_path=workspace.directory,
        offline=offline,
    ) as sources:
        yield sources


async def open_bundle(workspace: Workspace, asked: Asked) -> Ready:
    """Loads, composes and completes a bundle. Raises BundleError."""
    settings = await asyncio.to_thread(read_settings, workspace)
    names = await asyncio.to_thread(name_table, workspace, settings)
    source = asked.source or _default_source(workspace, settings)
    pins = await asyncio.to_thread(frozen_pins, workspace.directory) if asked.frozen else None
    async with open_sources(workspace, offline=asked.offline) as sources:
        loader = Loader(sources, names, strict=asked.strict, tolerant=asked.tolerant, pins=pins)
        await _learn_here(loader, source, workspace)
        loaded = await loader.load(source, workspace.directory)
        policies, problems = await _policies(settings, loader, workspace)
        whole = compose_policies(loaded.bundle, [each.bundle for each in policies], root_session=True)
        done = await asyncio.to_thread(complete, workspace, apply_settings(whole, settings), loader.files)
    told = (*settings.problems, *loaded.problems, *problems, *done.problems)
    ready = Ready(done.bundle, loaded, done.prompt, loader.files, tuple(dict.fromkeys(told)), policies)
    if pins is not None:
        await asyncio.to_thread(require_frozen, workspace.directory, ready.closure)
        ready = replace(ready, bundle=with_sources(ready.bundle, lambda uri: pin(uri, pins) or uri))
    forgotten = await asyncio.to_thread(_remember, workspace, ready.nodes)
    return replace(ready, problems=(*ready.problems, *forgotten))


def _default_source(workspace: Workspace, settings: Settings) -> str:
    active = settings.at("bundle").text("active")
    if active:
        return active
    for name in BUNDLE_FILES:
        if (workspace.directory / name).is_file():
            return f"./{name}"
    raise BundleNotFoundError(
        "there is no bundle here, and settings name none",
        fix="name one, or set `bundle: {active: …}` in settings.yaml",
    )


def remote_address(workspace: Workspace, asked: Asked) -> str | None:
    """Where the bundle that was asked for is fetched from, as far as its name tells; None if it is not."""
    settings = read_settings(workspace)
    source = asked.source or _default_source(workspace, settings)
    known = name_table(workspace, settings).lookup(source.partition(":")[0])
    parsed = parse_uri(known.uri if known and "://" not in source else source)
    return None if parsed.is_file or parsed.is_package else without_fragment(str(parsed))


async def _learn_here(loader: Loader, source: str, workspace: Workspace) -> None:
    """The bundle in this directory may be meant by its name, as in `my-bundle:behaviors/x`."""
    named = not source.startswith((".", "/", "~")) and "://" not in source
    if named and any((workspace.directory / name).is_file() for name in BUNDLE_FILES):
        await loader.learn(f"file://{workspace.directory}", source.partition(":")[0])


async def _policies(
    settings: Settings, loader: Loader, workspace: Workspace
) -> tuple[tuple[Loaded, ...], list[Problem]]:
    """The app-wide behaviours of the settings; one that fails is reported and left out."""
    found: list[Loaded] = []
    problems: list[Problem] = []
    listed = settings.at("bundle").get("app")
    for item in listed.items if isinstance(listed, Items) else ():
        if not isinstance(item, Leaf) or not isinstance(item.value, str):
            continue
        try:
            found.append(await loader.load(item.value, workspace.directory))
            problems += found[-1].problems
        except BundleError as error:
            what = f"the policy {item.value} is left out: {error.what}"
            where = Location(item.origin.file, item.line, item.column)
            problems.append(Problem(what, where, error.fix, "warning", "policy-failed"))
    return tuple(found), problems


def _remember(workspace: Workspace, nodes: Mapping[str, Node]) -> tuple[Problem, ...]:
    """Names of remote bundles, for later commands; that they cannot be noted stops nothing."""
    try:
        remember(workspace.home.root, remembered(nodes))
    except AmplihackError as error:
        what = f"the names of these bundles are not remembered: {error.what}"
        return (Problem(what, None, error.fix, "warning", "not-remembered"),)
    return ()


def remembered(nodes: Mapping[str, Node]) -> dict[str, str]:
    """Remote root bundles by name; of a nested one, its root. Local paths are not worth a name, and an
    address that holds a secret is never written down.
    """
    found: dict[str, str] = {}
    for node in nodes.values():
        if node.is_local or shown(node.uri) != node.uri:
            continue
        if node.standing.is_root and node.own.name:
            found.setdefault(node.own.name, node.uri)
        elif node.standing.root_name:
            found.setdefault(node.standing.root_name, without_fragment(node.uri))
    return found
