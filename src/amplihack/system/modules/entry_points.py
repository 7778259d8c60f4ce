"""Know the modules that installed distributions offer. Looking for them reads every distribution: once."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from amplihack.records import Record
from amplihack.system.modules.package import ENTRY_POINTS

_known: dict[frozenset[str], Mapping[str, InstalledModule]] = {}  # by the path that was searched


class InstalledModule(Record):
    """What has to be imported for a module, and the name of its `mount` in there."""

    package: str
    attribute: str


def installed_module(name: str) -> InstalledModule | None:
    """Return the module that an installed distribution offers under a name, or None.

    A distribution that is installed later, in a directory that was searched before, is found after `forget`.
    """
    place = frozenset(sys.path)  # modules change its order all the time
    if place not in _known:
        _known.clear()
        _known[place] = _searched()
    return _known[place].get(name)


def forget() -> None:
    """Search again the next time: something was installed."""
    _known.clear()


def _searched() -> dict[str, InstalledModule]:
    from importlib import metadata  # slow, and most bundles bring their modules

    found: dict[str, InstalledModule] = {}
    for each in metadata.entry_points(group=ENTRY_POINTS):
        found.setdefault(each.name, InstalledModule(each.module, each.attr))
    return found
