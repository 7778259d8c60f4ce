"""Download a framework bundle, check its hash and unpack it, in a directory that is removed afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from amplihack.bundles.uris import parse_uri, shown
from amplihack.errors import UsageError
from amplihack.install.contract import BUNDLE, IDENTITY
from amplihack.install.errors import InstallFailed
from amplihack.install.release import BundleRelease
from amplihack.records import replace
from amplihack.system.files import remove_tree
from amplihack.system.random_tokens import token
from amplihack.system.sources import FetchLimits
from amplihack.system.sources.address import Address, address_of
from amplihack.system.sources.archives import top_of
from amplihack.system.sources.errors import SourceError, SourceRefused
from amplihack.system.sources.fetching import Fetcher
from amplihack.system.sources.resolver import is_offline

MOST_DOWNLOADED = 64 * 1024 * 1024  # bytes
LIMITS = FetchLimits(
    http_seconds=300.0,
    download_bytes=MOST_DOWNLOADED,
    unpacked_bytes=256 * 1024 * 1024,
    unpacked_entries=20_000,
    unpacked_ratio=100,
)


def shown_release(release: BundleRelease) -> str:
    """Return the address of a release as it may be shown."""
    return shown(release.url)


@contextmanager
def downloaded(release: BundleRelease, folder: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """Give the directory that a release was unpacked to; it is gone at the end. Raises InstallFailed.

    Whatever a killed process leaves in `folder` has a name by which the next install knows it.
    """
    address = release_address(release)
    if is_offline(environment):
        what = f"{address.uri} must be downloaded, and AMPLIHACK_OFFLINE is set"
        raise InstallFailed(what, fix="take AMPLIHACK_OFFLINE away, or name a bundle with --local")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = folder / f".new-download-{token(8)}"
    place.mkdir(mode=0o700)
    try:
        yield _root_of(_fetch(address, place / "bundle", environment))
    finally:
        remove_tree(place)


def release_address(release: BundleRelease) -> Address:
    """Return what to ask which host for. Raises UsageError unless it is https, or http to us."""
    parsed = parse_uri(f"{release.url}#sha256={release.sha256}")
    if parsed.scheme not in ("https", "http"):
        what = f"{release.said_by} is no web address: {shown(release.url)}"
        raise UsageError(what, fix="use https://… of a .tar.gz or .zip; `install --local` takes a directory")
    try:
        return replace(address_of(parsed), kind="archive")
    except SourceRefused as error:
        raise UsageError(f"{release.said_by}: {error.what}", fix=error.fix) from error


def _fetch(address: Address, into: Path, environment: Mapping[str, str]) -> Path:
    warnings: list[str] = []  # only git has any
    fetcher = Fetcher(
        environment, LIMITS, warn=warnings.append, now=lambda: datetime.now(UTC), allow_http=False
    )
    try:
        asyncio.run(fetcher.fetch(address, into))
    except SourceError as error:
        raise InstallFailed(error.what, fix=error.fix) from error
    return into


def _root_of(tree: Path) -> Path:
    """Return the directory that holds the bundle, or is it: hosts pack a whole repository into one."""
    for place in (tree, tree / top_of(tree)):
        if (place / BUNDLE).is_dir() or (place / IDENTITY).is_file() or place.name == BUNDLE:
            return place
    return tree
