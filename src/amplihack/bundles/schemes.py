"""List every scheme that the address of a source may have, for all readers of addresses.

A scheme that is fetched in one of the known ways needs one more row here, and nothing else.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from amplihack.records import Record

Way: TypeAlias = Literal["local", "git", "archive", "download"]


class Scheme(Record):
    """`name` is what stands before `://`, `way` how it is fetched, `transport` what carries it."""

    name: str
    way: Way
    transport: str


_TABLE = (
    Scheme("file", "local", "file"),
    Scheme("https", "download", "https"),
    Scheme("http", "download", "http"),
    Scheme("git+https", "git", "https"),
    Scheme("git+http", "git", "http"),
    Scheme("git+ssh", "git", "ssh"),
    Scheme("git+file", "git", "file"),
    Scheme("zip+https", "archive", "https"),
    Scheme("zip+http", "archive", "http"),
    Scheme("zip+file", "archive", "file"),
)
SCHEMES = {scheme.name: scheme for scheme in _TABLE}

# A download with one of these names is unpacked, whatever its scheme.
ARCHIVE_SUFFIXES = (".tar.gz", ".tgz", ".zip")

_PREFIXES = tuple({f"{name.partition('+')[0]}+" for name in SCHEMES if "+" in name})


def way_of(scheme: str) -> Way | None:
    """Return how a scheme is fetched, or None for one that nobody knows."""
    known = SCHEMES.get(scheme)
    return known.way if known else None


def is_address(text: str) -> bool:
    """Tell an address with a scheme from a path, a name or `namespace:path`."""
    return "://" in text or text.startswith(_PREFIXES)


def repository_address(transport: str, rest: str) -> str:
    """Return the address of a repository: what carries it, and everything that follows `://`."""
    return f"git+{transport}://{rest}"
