"""Resolve addresses to paths. A source that is not in the cache is fetched once for all who ask."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from amplihack.bundles.uris import parse_uri, shown
from amplihack.system.files import real
from amplihack.system.sources.address import Address, address_of
from amplihack.system.sources.cache import Cache
from amplihack.system.sources.cleaning import CleanReport, clean, entries_of
from amplihack.system.sources.errors import SourceError, SourceNotFound, SourceOffline, SourceUnavailable
from amplihack.system.sources.local import inside_source, resolve_local
from amplihack.system.sources.metadata import Metadata
from amplihack.system.sources.model import (
    ROOT_FILES,
    CacheEntry,
    FetchLimits,
    ResolvedSource,
    SourceStatus,
    UpdateReport,
)
from amplihack.system.sources.status import status_of, unchecked
from amplihack.system.sources.store import Store

if TYPE_CHECKING:
    from amplihack.system.sources.fetching import Fetcher

_OFFLINE = ("AMPLIHACK_OFFLINE", "AMPLIFIER_OFFLINE")


def is_offline(environment: Mapping[str, str]) -> bool:
    """Tell whether the user wants no network."""
    return any(environment.get(name, "") not in ("", "0", "false") for name in _OFFLINE)


class Sources:
    """The sources of one load. While it is open, nothing that it returned is changed or removed.

    Relative paths start at `base_path` if `resolve` gets no `base`. `allow_http` accepts unprotected
    connections to other machines. `warn` is told about settings that were not used.
    """

    def __init__(
        self,
        cache_dir: Path,
        *,
        environment: Mapping[str, str],
        base_path: Path | None = None,
        offline: bool = False,
        allow_http: bool = False,
        limits: FetchLimits = FetchLimits(),  # noqa: B008 - frozen
        warn: Callable[[str], None] = lambda _: None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.offline = offline or is_offline(environment)
        self._base, self._limits, self._allow_http = base_path, limits, allow_http
        home = environment.get("HOME")
        self._home = real(Path(home)) if home else None
        self._cache = Cache(cache_dir)
        self._environment, self._warn, self._now = environment, warn, now
        self._store = Store(self._cache, limits, self._make_fetcher)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop running fetches, and release everything that was returned."""
        await self._store.close()

    async def resolve(self, uri: str, *, base: Path | None = None) -> ResolvedSource:
        """Return where the source is on the disk, fetched if needed. Raises a SourceError."""
        parsed = parse_uri(uri)
        if parsed.is_package:
            fix = "give an address or a path, such as git+https://host/repository or ./directory"
            raise SourceNotFound(f"not found: {uri!r} is a name, not an address", uri=uri, fix=fix)
        if parsed.is_file:
            return await asyncio.to_thread(self.local, uri, base=base)
        address = address_of(parsed, allow_http=self._allow_http)
        # The cache is asked first, so that a cached source needs no network.
        metadata = await self._store.stored(address)
        if metadata is None:
            if self.offline and address.is_networked:
                raise SourceOffline(address.uri)
            metadata = await self._store.get(address)
        return await asyncio.to_thread(self._resolved, address, metadata)

    def local(self, uri: str, *, base: Path | None = None) -> ResolvedSource:
        """Find what a path or a file:// address means. Blocks, and never fetches. Raises a SourceError."""
        return resolve_local(
            parse_uri(uri), base=base or self._base, home=self._home, cache_roots=(self._cache.root,)
        )

    def at_home(self, path: str) -> str:
        """Return a path of the user's with a `~` at its start replaced by the home; others as they are."""
        if self._home is None or not (path == "~" or path.startswith("~/")):
            return path
        return str(self._home / path[2:])

    def has_cached(self, path: Path) -> bool:
        """Tell whether a path lies in the cache, however it was named."""
        return path.is_relative_to(self._cache.root)

    async def missing(self, uris: Iterable[str]) -> tuple[str, ...]:
        """Return the addresses, without secrets, that would need the network."""
        parsed = [one for one in map(parse_uri, uris) if one.is_remote]
        addresses = [address_of(one, allow_http=self._allow_http) for one in parsed]
        return tuple(dict.fromkeys([one.uri for one in addresses if await self._store.stored(one) is None]))

    async def is_cached(self, uri: str) -> bool:
        """Tell whether some version of a source is here; an address that means nothing is not."""
        try:
            address = address_of(parse_uri(uri), allow_http=self._allow_http)
        except SourceError:
            return False
        return await self._store.stored(address) is not None

    async def status(self, uris: Iterable[str], *, ask_tags: bool = False) -> tuple[SourceStatus, ...]:
        """Return each source compared with its origin, in order. A failure is part of the answer.

        `ask_tags` asks about tags as well, which usually stay where they are.
        """
        slots = asyncio.Semaphore(self._limits.concurrent)

        async def one(uri: str) -> SourceStatus:
            async with slots:
                return await self._status(uri, ask_tags)

        return tuple(await asyncio.gather(*(one(uri) for uri in uris)))

    async def update(self, uri: str) -> UpdateReport:
        """Fetch what is new. What was returned before stays as it is. A failure is in the report."""
        parsed = parse_uri(uri)
        if parsed.is_file or parsed.is_package:
            return UpdateReport(uri=shown(uri), outcome="local")
        try:
            address = address_of(parsed, allow_http=self._allow_http)
            if self.offline and address.is_networked:
                raise SourceUnavailable(
                    f"offline: {address.uri} cannot be updated",
                    uri=address.uri,
                    fix="ask again without `--offline`",
                )
            return await self._store.update(address)
        except SourceError as error:
            return UpdateReport(uri=shown(uri), outcome="failed", error=error)

    def entries(self) -> tuple[CacheEntry, ...]:
        """Return the entries of the cache with their sizes. Blocking."""
        return entries_of(self._cache)

    def clean(self, *, keep: Iterable[str] = (), dry_run: bool = False) -> CleanReport:
        """Remove what nobody uses or fetches, except for the addresses in `keep`. Blocking."""
        parsed = [one for one in map(parse_uri, keep) if one.way not in (None, "local")]
        addresses = [address_of(one, allow_http=True) for one in parsed]
        return clean(self._cache, keep=addresses, dry_run=dry_run)

    def _make_fetcher(self) -> Fetcher:
        # Imported when something has to be fetched: web and archive code is slow to import, and a load
        # of local bundles needs none of it.
        from amplihack.system.sources.fetching import Fetcher

        return Fetcher(
            self._environment, self._limits, warn=self._warn, now=self._now, allow_http=self._allow_http
        )

    def _resolved(self, address: Address, metadata: Metadata) -> ResolvedSource:
        root = self._cache.path(metadata)
        active = root / metadata.inside
        if metadata.kind != "file":
            root = active
            active = inside_source(root, address.subpath, address.uri)
            if address.kind == "git" and not address.subpath:
                _check_root(root, address)
        elif address.subpath:
            what = f"{address.uri}: not found: it is a single file"
            raise SourceNotFound(what, uri=address.uri, fix="leave out #subdirectory")
        return ResolvedSource(
            active_path=active,
            source_root=root,
            uri=address.uri,
            kind=address.kind,
            commit=metadata.commit,
            sha256=metadata.sha256,
        )

    async def _status(self, uri: str, ask_tags: bool) -> SourceStatus:
        parsed = parse_uri(uri)
        if parsed.is_file or parsed.is_package:
            return SourceStatus(source_uri=shown(uri), summary="not supported")
        try:
            address = address_of(parsed, allow_http=self._allow_http)
            stored = await self._store.stored(address)
        except SourceError as error:
            return unchecked(SourceStatus(source_uri=shown(uri)), error)
        return await status_of(address, stored, self._store, offline=self.offline, ask_tags=ask_tags)


def _check_root(root: Path, address: Address) -> None:
    """Raise SourceNotFound if a whole repository was asked for and nothing at its top can be used."""
    if not any((root / name).is_file() for name in ROOT_FILES):
        raise SourceNotFound(
            f"{address.uri}: not found: there is no {ROOT_FILES[0]} at its top, and nothing else to use",
            uri=address.uri,
            fix="name the directory that is meant: #subdirectory=<path>",
        )
