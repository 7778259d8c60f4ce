"""Find out which bundle the user wants to be downloaded: an address, and the hash that its bytes must have.

Without a hash nothing is downloaded. Only the user decides: settings of a project, which may be anybody's,
are never asked.
"""

from __future__ import annotations

from collections.abc import Mapping

from amplihack.errors import UsageError
from amplihack.patterns import pattern
from amplihack.records import Record, field

URL, SHA256 = "AMPLIHACK_BUNDLE_URL", "AMPLIHACK_BUNDLE_SHA256"
URL_SETTING, SHA256_SETTING = "install.bundle_url", "install.bundle_sha256"
_DIGEST = pattern(r"[0-9a-fA-F]{64}")
_FIX = f"set {SHA256}, or {SHA256_SETTING}, or end the address with #sha256=…"


class BundleRelease(Record, kw_only=True):
    """A bundle to download. `url` may hold a password, and has no fragment; `said_by` tells who wants it."""

    url: str = field(repr=False)
    sha256: str
    said_by: str


def wanted_release(environment: Mapping[str, str], settings: Mapping[str, str]) -> BundleRelease | None:
    """Return the release that the environment names, or else the settings; None if neither does.

    Raises UsageError for one without a hash, or with hashes that contradict each other.
    """
    said_by = URL if environment.get(URL) else URL_SETTING
    address = environment.get(URL) or settings.get(URL_SETTING, "")
    if not address:
        return None
    url, _, fragment = address.partition("#")
    hashes = {SHA256: environment.get(SHA256, ""), "the address": _fragment_hash(fragment)}
    if said_by == URL_SETTING:
        hashes[SHA256_SETTING] = settings.get(SHA256_SETTING, "")
    return BundleRelease(url=url, sha256=_agreed(hashes, said_by), said_by=said_by)


def _fragment_hash(fragment: str) -> str:
    parts = (part.partition("=") for part in fragment.split("&"))
    return next((value for key, _, value in parts if key == "sha256"), "")


def _agreed(hashes: Mapping[str, str], said_by: str) -> str:
    given = {who: digest.strip().lower() for who, digest in hashes.items() if digest.strip()}
    for who, digest in given.items():
        if not _DIGEST.fullmatch(digest):
            raise UsageError(f"{who}: a sha256 has 64 hexadecimal digits", fix=_FIX)
    if not given:
        raise UsageError(f"{said_by} names a bundle without its sha256, so nothing is installed", fix=_FIX)
    if len(set(given.values())) > 1:
        raise UsageError(f"{' and '.join(given)} name different sha256 of one bundle", fix="keep one of them")
    return next(iter(given.values()))
