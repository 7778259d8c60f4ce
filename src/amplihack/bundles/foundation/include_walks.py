"""Follow a bundle back to those that included it, by the entries of a registry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any


def walk_back(
    name: str, entries: Mapping[str, Any], *, most: int, warn: Callable[[str], None] = lambda _: None
) -> list[list[str]]:
    """Return up to `most` ways from a root down to a bundle; those that users asked for come first."""
    found: list[list[str]] = []
    told: set[str] = set()

    def cycle(at: str) -> None:
        if at not in told:
            told.add(at)
            warn(f"the includes of {at} lead back to it")

    for way in _ways(name, entries, (), cycle):
        found.append(way)
        if len(found) >= most:
            break
    return found


def _ways(
    name: str, entries: Mapping[str, Any], below: tuple[str, ...], cycle: Callable[[str], None]
) -> Iterator[list[str]]:
    parents = [each for each in _get(entries.get(name), "included_by", ()) if each in entries]
    above = [each for each in parents if each != name and each not in below]
    if len(above) < len(parents):
        cycle(name)
    if not above:
        yield [name, *below]
    for each in sorted(above, key=lambda parent: _rank(entries[parent])):
        yield from _ways(each, entries, (name, *below), cycle)


def _rank(entry: Any) -> tuple[bool, bool]:
    return not _get(entry, "explicitly_requested", False), not _get(entry, "is_root", False)


def _get(entry: Any, key: str, default: Any) -> Any:
    found = entry.get(key) if isinstance(entry, Mapping) else getattr(entry, key, None)
    return default if found is None else found
