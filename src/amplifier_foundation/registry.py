"""Register, load and remember bundles by name, in `registry.json` of Amplifier's home."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal, overload

from amplifier_foundation.bundle._dataclass import Bundle, log_problems
from amplifier_foundation.paths.resolution import get_amplifier_home
from amplifier_foundation.sources._handler import open_sources
from amplihack.app.bundles.load import LoadedBundle, LoadRequest, load
from amplihack.bundles.errors import BundleError
from amplihack.bundles.foundation.bundle_states import BundleState
from amplihack.bundles.foundation.seen import seen_in
from amplihack.bundles.names import KnownNames
from amplihack.bundles.reach import ESCAPES
from amplihack.bundles.uris import shown
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.foundation.app_paths import normalize_path
from amplihack.system.foundation.bundle_registry import Lasting, load_key, open_registry, registered_address
from amplihack.system.home import this_process
from amplihack.system.sources.sharing import Shared

__all__ = ["BundleRegistry", "BundleState", "UpdateInfo", "load_bundle"]

_logger = logging.getLogger(__name__)
_AT_ONCE = 8


@dataclass
class UpdateInfo:
    """A version that is newer than ours. Versions are commits if there are any."""

    name: str
    current_version: str | None
    available_version: str
    uri: str


class BundleRegistry:
    """Loads bundles and remembers them.

    `strict` makes a failed include fail the load, and `"all"` a circular one too. `persist` decides what
    later processes learn: everything with a name (True), only bundles that are not on this machine or were
    registered before ("named"), or nothing (False).
    """

    def __init__(
        self,
        home: Path | str | None = None,
        *,
        strict: bool | Literal["all"] = False,
        include_source_resolver: Callable[[str], str | None] | None = None,
        persist: Lasting = True,
    ) -> None:
        self.home = normalize_path(home) if home is not None else get_amplifier_home()
        self._strict, self._include_source_resolver = strict, include_source_resolver
        self._register = open_registry(self.home, lasting=persist, warn=_logger.warning)
        self._loaded: dict[tuple[str, bool], Bundle] = {}
        self._loads: Shared[Bundle] = Shared(_AT_ONCE)

    @property
    def _registry(self) -> dict[str, BundleState]:
        return self._register.states

    def register(self, bundles: Mapping[str, str]) -> None:
        """Give names to addresses. An existing entry keeps everything but its address. `save` stores them."""
        self._register.add(bundles)

    def find(self, name: str) -> str | None:
        return self._register.addresses.get(name)

    def list_registered(self) -> list[str]:
        return sorted(self._registry)

    def unregister(self, name: str) -> bool:
        """Forget a name, and its includes in both directions. `save` stores that."""
        return self._register.drop(name)

    @overload
    async def load(self, name_or_uri: str | Path, *, auto_register: bool = True) -> Bundle: ...

    @overload
    async def load(self, name_or_uri: None = None, *, auto_register: bool = True) -> dict[str, Bundle]: ...

    async def load(
        self, name_or_uri: str | Path | None = None, *, auto_register: bool = True
    ) -> Bundle | dict[str, Bundle]:
        """Load a bundle by name, address or path; without any, all registered ones that can be loaded."""
        if name_or_uri is None:
            return await self._load_every(auto_register=auto_register)
        bundle = await self._load_single(name_or_uri, auto_register=auto_register)
        asked = str(name_or_uri)
        self._register.request(asked if asked in self._registry else bundle.name)
        await self._keep()
        return bundle

    async def check_update(self, name: str | None = None) -> UpdateInfo | list[UpdateInfo] | None:
        """Return what is newer at the origin of a bundle, or of all; None if nothing is known to be."""
        if name is not None and name not in self._registry:
            return None
        names = [name] if name is not None else self.list_registered()
        async with open_sources(self.home / "cache") as sources:
            statuses = await sources.status([self._registry[each].uri for each in names])
        found: list[UpdateInfo] = []
        for each, status in zip(names, statuses, strict=True):
            state = self._registry[each]
            self._register.checked(each, _now())
            if status.has_update:
                current = status.cached_commit or state.version
                available = status.remote_commit or "unknown"
                found.append(UpdateInfo(each, current, available, state.uri))
        await self._keep()
        return found if name is None else next(iter(found), None)

    @overload
    async def update(self, name: str) -> Bundle: ...

    @overload
    async def update(self, name: None = None) -> dict[str, Bundle]: ...

    async def update(self, name: str | None = None) -> Bundle | dict[str, Bundle]:
        """Fetch what is new and load again. Raises KeyError for a name that is not registered."""
        if name is not None and name not in self._registry:
            raise KeyError(f"Bundle '{name}' not registered")
        names = [name] if name is not None else self.list_registered()
        async with open_sources(self.home / "cache") as sources:
            for each in names:
                report = await sources.update(self._registry[each].uri)
                if report.error is not None:
                    _logger.warning("%s was not updated: %s", each, report.error.what)
        if name is None:
            return await self._load_every(refresh=True)
        bundle = await self._load_single(name, refresh=True)
        await self._keep()
        return bundle

    @overload
    def get_state(self, name: str) -> BundleState | None: ...

    @overload
    def get_state(self, name: None = None) -> dict[str, BundleState]: ...

    def get_state(self, name: str | None = None) -> BundleState | dict[str, BundleState] | None:
        return dict(self._registry) if name is None else self._registry.get(name)

    def save(self) -> None:
        """Write everything to `registry.json`. Entries that other processes added stay."""
        self._register.save()

    def set_include_source_resolver(self, resolver: Callable[[str], str | None] | None) -> None:
        """Set a function that may give another address for an include; None removes it."""
        self._include_source_resolver = resolver

    # loading ----------------------------------------------------------------------------------------------

    async def _load_every(self, *, auto_register: bool = True, refresh: bool = False) -> dict[str, Bundle]:
        names = self.list_registered()
        answers = await asyncio.gather(
            *(self._load_single(name, auto_register=auto_register, refresh=refresh) for name in names),
            return_exceptions=True,
        )
        found: dict[str, Bundle] = {}
        for name, answer in zip(names, answers, strict=True):
            if isinstance(answer, Bundle):
                found[name] = answer
            elif isinstance(answer, BundleError):
                _logger.warning("Failed to load bundle '%s': %s", name, answer.what)
            else:
                raise answer
        await self._keep()
        return found

    async def _load_single(
        self,
        name_or_uri: str | Path,
        *,
        auto_register: bool = True,
        auto_include: bool = True,
        refresh: bool = False,
    ) -> Bundle:
        """Load one bundle. Concurrent and repeated requests load it once."""
        registered = self._register.addresses
        environment, cwd = this_process()
        source = registered_address(name_or_uri, registered, cwd)
        request = LoadRequest(
            source=source,
            base=cwd,
            cache_dir=self.home / "cache",
            environment=environment,
            names=KnownNames(files=BundleFiles(), registered=registered),
            redirector=_for_includes(self._include_source_resolver, source),
            follow=auto_include,
            strict=bool(self._strict),
            no_circles=self._strict == "all",
            whole_agents=bool(self._strict),
        )
        key = (load_key(source), auto_include)
        if key in self._loaded and not refresh:
            return self._loaded[key]
        work = partial(self._load_now, request, key, auto_register=auto_register, refresh=refresh)
        return await self._loads.get(f"{key} {refresh}", work)

    async def _load_now(
        self, request: LoadRequest, key: tuple[str, bool], *, auto_register: bool, refresh: bool
    ) -> Bundle:
        loaded = await load(request)
        place = (loaded.composition.root.key, request.follow)
        if place not in self._loaded or refresh:
            log_problems(_logger, loaded.problems)
            if auto_register:
                self._register.take(seen_in(loaded.composition), _now())
            self._loaded[place] = _bundle(loaded)
        self._loaded[key] = self._loaded[place]
        return self._loaded[key]

    async def _keep(self) -> None:
        await asyncio.to_thread(self._register.keep)


async def load_bundle(
    source: str | Path,
    *,
    auto_include: bool = True,
    registry: BundleRegistry | None = None,
    strict: bool | Literal["all"] = False,
) -> Bundle:
    """Load the bundle at a name, an address or a path, with its includes. Raises BundleError."""
    if registry is not None and strict:
        raise ValueError("Cannot pass strict=True together with a registry: make the registry strict")
    chosen = registry or BundleRegistry(strict=strict, persist="named")
    bundle = await chosen._load_single(source, auto_include=auto_include)
    await chosen._keep()
    return bundle


def _for_includes(resolver: Callable[[str], str | None] | None, asked: str) -> Callable[[str], str | None]:
    """Redirect includes only: the requested bundle itself is loaded from the given address."""
    return lambda source: resolver(source) if resolver is not None and source != asked else None


def _bundle(loaded: LoadedBundle) -> Bundle:
    composition = loaded.composition
    bundle = Bundle._from_core(loaded.bundle)
    bundle._source_uri = composition.root.uri
    bundle._commits = {
        shown(node.uri): node.checkout.commit for node in composition.nodes.values() if node.checkout.commit
    }
    bundle.load_report = [
        {"source": each.source, "chain": list(each.chain), "reason": each.reason, "exception": each.error}
        for each in composition.skipped
    ]
    for circle in composition.order.circles:
        chain = [composition.nodes[key].label for key in circle.chain]
        reason = f"Circular Include Skipped: {' -> '.join(chain)}"
        entry = {"source": chain[-1], "chain": chain, "reason": reason, "exception": None}
        bundle.load_report.append(entry)
    bundle._note(each for each in loaded.problems if each.code == ESCAPES)
    return bundle


def _now() -> datetime:
    return datetime.now()  # without a zone, as `registry.json` has always held it
