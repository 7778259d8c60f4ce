"""Bringing a cached source up to date: the new beside the old, then one swap, or no change at all."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from amplihack.system.sources.address import Address
from amplihack.system.sources.cache import Cache
from amplihack.system.sources.metadata import Metadata, read_metadata
from amplihack.system.sources.model import Limits, Outcome, UpdateReport
from amplihack.system.sources.stored import is_good, local_archive_unchanged
from amplihack.system.sources.threads import in_thread

if TYPE_CHECKING:
    from amplihack.system.sources.fetching import Fetcher


class Updating:
    def __init__(self, cache: Cache, fetcher: Fetcher, limits: Limits, *, force: bool) -> None:
        self._cache, self._fetcher, self._limits, self._force = cache, fetcher, limits, force

    async def run(self, address: Address, slot: asyncio.Semaphore) -> UpdateReport:
        """The report of a source that was fetched, swapped or left as it is. Raises a SourceError."""
        # The lock first, as everywhere: one who has a slot must never wait for one who waits for a slot.
        async with self._cache.held(address.entry, self._limits.lock_seconds), slot:
            known = await asyncio.to_thread(read_metadata, self._cache.entry(address.entry))
            if known is None or not await asyncio.to_thread(self._is_usable, address, known):
                return await self._swap(address, known, conditional=False)
            if address.pin or address.sha256:
                return _report(address, "pinned", known, known)
            if await self._is_current(address, known):
                return _report(address, "unchanged", known, known)
            return await self._swap(address, known, conditional=True)

    def _is_usable(self, address: Address, known: Metadata) -> bool:
        """A local archive that has changed is no reason to distrust what came from it."""
        entry = self._cache.entry(address.entry)
        if address.is_networked or address.kind == "git":
            return is_good(address, entry, known)
        return (entry / known.inside).exists() and address.sha256 in (None, known.sha256)

    async def _is_current(self, address: Address, known: Metadata) -> bool:
        """Known without fetching; a download tells while it is being fetched."""
        if address.kind == "git":
            return await self._fetcher.remote_commit(address) == known.commit
        if not address.is_networked:
            return local_archive_unchanged(address, known) is not False
        return False

    async def _swap(self, address: Address, known: Metadata | None, *, conditional: bool) -> UpdateReport:
        async with self._cache.fresh(address.entry) as new:
            fetched = await self._fetcher.fetch(address, new, known if conditional else None)
            if fetched is None or (conditional and known is not None and fetched.version == known.version):
                return _report(address, "unchanged", known, known)
            publish = partial(self._cache.publish, address.entry, new, fetched, force=self._force)
            if not await in_thread(lambda _: publish()):
                return _report(address, "in use", known, known)
            return _report(address, "fetched" if known is None else "updated", known, fetched)


def _report(
    address: Address, outcome: Outcome, before: Metadata | None, after: Metadata | None
) -> UpdateReport:
    return UpdateReport(
        uri=address.uri,
        outcome=outcome,
        before=before.version if before else None,
        after=after.version if after else None,
    )
