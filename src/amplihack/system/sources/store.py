"""Find sources in the cache, fetch missing ones, and update them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from amplihack.system.sources.address import Address
from amplihack.system.sources.cache import Cache
from amplihack.system.sources.errors import SourceUnavailable
from amplihack.system.sources.metadata import Metadata
from amplihack.system.sources.model import FetchLimits, UpdateOutcome, UpdateReport
from amplihack.system.sources.sharing import Shared
from amplihack.system.sources.threads import in_thread

if TYPE_CHECKING:
    from amplihack.system.sources.fetching import Fetcher


class Store:
    """One cache, and one fetcher that is made when something must be fetched."""

    def __init__(self, cache: Cache, limits: FetchLimits, make_fetcher: Callable[[], Fetcher]) -> None:
        self._cache, self._limits, self._make_fetcher = cache, limits, make_fetcher
        self._fetcher: Fetcher | None = None
        self._shared: Shared[Metadata] = Shared(limits.concurrent)

    @property
    def fetcher(self) -> Fetcher:
        if self._fetcher is None:
            self._fetcher = self._make_fetcher()
        return self._fetcher

    async def close(self) -> None:
        """Stop running fetches, and release everything that was returned."""
        await self._shared.close()
        if self._fetcher is not None:
            await self._fetcher.hosts.close()
        self._cache.release()

    async def stored(self, address: Address) -> Metadata | None:
        """Return what the cache has for a source, now in use; None if a local archive has changed since."""

        def look() -> Metadata | None:
            found = self._cache.take(address)
            return None if found is None or archive_changed(address, found) else found

        return await in_thread(lambda _: look())

    async def get(self, address: Address) -> Metadata:
        """Fetch what is not stored, once for all who ask. Raises a SourceError."""
        return await self._shared.get(address.pointer, partial(self._get, address))

    async def update(self, address: Address) -> UpdateReport:
        """Fetch what is new as a version of its own, then point the source to it. Raises a SourceError."""
        async with self._cache.held(address, self._limits.lock_seconds):
            known = await in_thread(lambda _: self._cache.known(address))
            usable = await in_thread(lambda _: self._cache.take(address))
            if usable is not None and address.version is not None:
                return _report(address, "pinned", usable, usable)
            if usable is not None and await self._is_current(address, usable):
                return _report(address, "unchanged", usable, usable)
            fetched = await self._fetch(address, usable)
        if usable is not None and (fetched is None or fetched.version == usable.version):
            return _report(address, "unchanged", usable, usable)
        return _report(address, "fetched" if known is None else "updated", known, fetched)

    async def _get(self, address: Address) -> Metadata:
        """Fetch under the lock of the source. Another process may have fetched it while we waited."""
        async with self._cache.held(address, self._limits.lock_seconds):
            found = await self.stored(address) or await self._fetch(address)
        if found is None:
            raise SourceUnavailable(f"{address.uri}: the server sent nothing", uri=address.uri)
        return found

    async def _fetch(self, address: Address, known: Metadata | None = None) -> Metadata | None:
        """Fetch a source into the cache; None if `known` is still current."""
        # A slot only now, with the lock: who has a slot must never wait for one who waits for a slot.
        async with self._cache.fresh(address) as new:
            async with self._shared.slot():
                fetched = await self.fetcher.fetch(address, new, known)
            if fetched is None:
                return None
            return await in_thread(lambda _: self._cache.publish(address, new, fetched))

    async def _is_current(self, address: Address, known: Metadata) -> bool:
        """Tell whether the stored version is current without fetching. Downloads find out while fetching."""
        if address.kind == "git":
            async with self._shared.slot():
                return await self.fetcher.remote_commit(address) == known.commit
        return not address.is_networked and not await asyncio.to_thread(archive_changed, address, known)


def archive_changed(address: Address, known: Metadata) -> bool | None:
    """Tell whether a local archive has changed since it was unpacked; None if it is gone."""
    if address.is_networked or address.kind == "git" or address.version is not None:
        return False
    try:
        now = Path(address.path).stat()
    except OSError:
        return None
    return (now.st_size, now.st_mtime_ns) != (known.origin_size, known.origin_mtime_ns)


def _report(
    address: Address, outcome: UpdateOutcome, before: Metadata | None, after: Metadata | None
) -> UpdateReport:
    return UpdateReport(
        uri=address.uri,
        outcome=outcome,
        before=before.version if before else None,
        after=after.version if after else None,
    )
