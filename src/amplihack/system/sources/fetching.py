"""Fetch one source of any kind into a directory of ours."""

from __future__ import annotations

import asyncio
import hashlib
import posixpath
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from amplihack.records import replace
from amplihack.system.sources.address import Address
from amplihack.system.sources.archives import open_archive, top_of, unpack
from amplihack.system.sources.cache import discard, explained
from amplihack.system.sources.errors import PIN_FIX, SourceRefused, SourceUnavailable
from amplihack.system.sources.git import GitClient
from amplihack.system.sources.hosts import Destination, Hosts, destination_of
from amplihack.system.sources.http import Downloaded, Request, download
from amplihack.system.sources.metadata import METADATA, Metadata
from amplihack.system.sources.model import FetchLimits
from amplihack.system.sources.threads import Stop, in_thread
from amplihack.system.undisturbed import undisturbed

_PACKED = "-packed"
_CHUNK = 1_048_576


class Fetcher:
    """Fetches sources. It knows nothing of the cache."""

    def __init__(
        self,
        environment: Mapping[str, str],
        limits: FetchLimits,
        *,
        warn: Callable[[str], None],
        now: Callable[[], datetime],
        allow_http: bool,
    ) -> None:
        self.hosts = Hosts()
        self._git = GitClient(environment, limits, warn)
        self._environment, self._limits, self._now, self._allow_http = environment, limits, now, allow_http

    async def fetch(self, address: Address, into: Path, known: Metadata | None = None) -> Metadata | None:
        """Fetch into the new directory `into` and describe it; None if `known` is still current.

        A transient failure is tried again, but not on a host that is down.
        """
        pauses = iter(self._limits.pauses)
        while True:
            destination = await self._destination(address)
            await self.hosts.check(destination, address.uri)
            try:
                return await self._attempt(address, into, known)
            except SourceUnavailable as error:
                pause = next(pauses, None) if error.again else None
                if pause is None:
                    self._blame(destination, error)
                    raise
            await asyncio.sleep(pause)

    async def remote_commit(self, address: Address) -> str | None:
        """Return the commit that a ref means now, or None if there is no such ref any more."""
        destination = await self._destination(address)
        await self.hosts.check(destination, address.uri)
        try:
            return await self._git.remote_commit(address)
        except SourceUnavailable as error:
            self._blame(destination, error)
            raise

    async def unchanged(self, address: Address, known: Metadata) -> bool | None:
        """Tell whether a download is still what `known` says; None if the server does not tell."""
        if not known.etag and not known.last_modified:
            return None
        await self.hosts.check(await self._destination(address), address.uri)
        found = await download(replace(self._request(address, known), method="HEAD"), None)
        if found.unchanged:
            return True
        same = [now == then for now, then in _validators(found, known) if then]
        return all(same) if same else None

    async def _destination(self, address: Address) -> Destination:
        """Return the host that is really asked. For git, the user's settings decide that."""
        if address.kind == "git" and address.is_networked:
            return await self._git.destination(address)
        return destination_of(address.url, self._environment)

    def _blame(self, destination: Destination, error: SourceUnavailable) -> None:
        if error.host_down:
            self.hosts.failed(destination, error.what.rpartition(": ")[2])

    async def _attempt(self, address: Address, into: Path, known: Metadata | None) -> Metadata | None:
        try:
            with explained(f"cannot fetch {address.uri}"):
                metadata = await self._bring(address, into, known)
        except BaseException:
            await undisturbed(in_thread(lambda _: discard(into)))
            raise
        return metadata and replace(metadata, cached_at=self._now().isoformat(timespec="seconds"))

    async def _bring(self, address: Address, into: Path, known: Metadata | None) -> Metadata | None:
        if address.kind == "git":
            commit = await self._git.clone(address, into)
            return Metadata(kind="git", ref=address.ref, commit=commit, git_url=address.url)
        if not address.is_networked:
            return await in_thread(lambda stop: self._unpack_local(address, into, stop))
        if address.kind == "archive":
            return await self._download_archive(address, into, known)
        return await self._download_file(address, into, known)

    async def _download_file(self, address: Address, into: Path, known: Metadata | None) -> Metadata | None:
        name = file_name(address.path)
        await asyncio.to_thread(into.mkdir, parents=True)
        got = await download(self._request(address, known), into / name)
        return None if got.unchanged else _downloaded("file", address, got, inside=name)

    async def _download_archive(
        self, address: Address, into: Path, known: Metadata | None
    ) -> Metadata | None:
        packed = into.with_name(into.name + _PACKED)
        try:
            got = await download(self._request(address, known), packed)
            if got.unchanged:
                return None
            await in_thread(lambda stop: unpack(packed, into, self._limits, stop=stop, uri=address.uri))
            return _downloaded("archive", address, got, inside=top_of(into))
        finally:
            packed.unlink(missing_ok=True)

    def _unpack_local(self, address: Address, into: Path, stop: Stop) -> Metadata:
        archive = open_archive(address.path, address.uri)
        before = archive.stat()
        digest = _hash(archive, stop)
        if address.sha256 not in (None, digest):
            raise SourceRefused(
                f"{address.uri}: its sha256 is {digest}, not {address.sha256}",
                uri=address.uri,
                fix=PIN_FIX,
            )
        unpack(archive, into, self._limits, stop=stop, uri=address.uri)
        metadata = Metadata(
            kind="archive",
            source=address.path,
            sha256=digest,
            inside=top_of(into),
            origin_size=before.st_size,
            origin_mtime_ns=before.st_mtime_ns,
        )
        # Compared again after unpacking: the hash and the content must be of the same file.
        after = archive.stat()
        if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
            raise SourceRefused(f"{address.uri}: it changed while it was being unpacked", uri=address.uri)
        return metadata

    def _request(self, address: Address, known: Metadata | None) -> Request:
        return Request(
            url=address.secret_url,
            uri=address.uri,
            environment=self._environment,
            seconds=self._limits.http_seconds,
            most_bytes=self._limits.download_bytes,
            allow_http=self._allow_http,
            sha256=address.sha256,
            etag=known.etag if known else None,
            last_modified=known.last_modified if known else None,
        )


def file_name(path: str) -> str:
    """Return the name of a downloaded file: its own, with its suffix, made safe."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", posixpath.basename(path.rstrip("/"))).lstrip(".")[-120:]
    return name if name and name != METADATA.lstrip(".") else "file"


def _downloaded(kind: str, address: Address, got: Downloaded, *, inside: str) -> Metadata:
    return Metadata(
        kind=kind,
        source=address.url,
        sha256=got.sha256,
        etag=got.etag,
        last_modified=got.last_modified,
        inside=inside,
    )


def _validators(found: Downloaded, known: Metadata) -> tuple[tuple[str | None, str | None], ...]:
    return ((found.etag, known.etag), (found.last_modified, known.last_modified))


def _hash(archive: Path, stop: Stop) -> str:
    digest = hashlib.sha256()
    with archive.open("rb") as file:
        while chunk := file.read(_CHUNK):
            stop.check()
            digest.update(chunk)
    return digest.hexdigest()
