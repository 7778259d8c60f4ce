"""Define what a check of the doctor looks at, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from amplihack.records import Record, field
from amplihack.system.home import Home


class CheckResult(Record):
    """One thing that was looked at. `mends` says that staging the bundle again would put it right."""

    name: str
    ok: bool
    what: str
    fix: str = ""
    mends: bool = False


class CheckPlace(Record, kw_only=True):
    """Where to look."""

    home: Home
    environment: Mapping[str, str]
    versions: Mapping[str, str] = field(default_factory=dict)  # of the agent tools on the PATH


Check: TypeAlias = Callable[[CheckPlace], Iterator[CheckResult]]
