"""Read requirements of packages, as far as it takes to see that one is met already.

Whatever is too clever for this (markers, pre-releases, `===`) counts as not met, and goes to the installer,
which knows all of it.
"""

from __future__ import annotations

import re

from amplihack.patterns import pattern
from amplihack.records import Record

_REQUIREMENT = pattern(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(\[[^\]]*\])?\s*(.*)")
_CLAUSE = pattern(r"\s*(~=|==|!=|<=|>=|<|>)\s*([0-9]+(?:\.[0-9]+)*)(\.\*)?\s*")
_VERSION = pattern(r"v?([0-9]+(?:\.[0-9]+)*)")


class Requirement(Record):
    """One line of requirements: a name, what may follow it, and the line itself.

    A file that says more than names and versions is one requirement without a name.
    """

    name: str
    rest: str
    text: str
    extras: str = ""

    @property
    def is_address(self) -> bool:
        return self.rest.startswith("@")

    @property
    def is_bound(self) -> bool:
        """Tell whether it says nothing but a name and versions of it."""
        return bool(self.rest) and not (self.is_address or self.extras or ";" in self.rest)


def parse_requirement(text: str) -> Requirement | None:
    """Return the requirement of a line; None for comments, options and paths."""
    line = re.sub(r"(^|\s)#.*$", "", text).strip()
    found = _REQUIREMENT.fullmatch(line) if line and line[0].isalnum() else None
    return Requirement(canonical(found[1]), found[3].strip(), line, found[2] or "") if found else None


def canonical(name: str) -> str:
    """Return one spelling for all spellings of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def is_met(requirement: Requirement, version: str | None) -> bool:
    """Tell whether an installed version certainly meets a requirement; an address is met by any."""
    if version is None or requirement.extras:
        return False
    if not requirement.rest or requirement.is_address:
        return True
    clauses = requirement.rest.strip("()").split(",")
    return all(_meets(version, clause) for clause in clauses)


def is_unclear(requirement: Requirement, version: str | None) -> bool:
    """Tell whether only the installer knows if a requirement is met: it has a marker, or extras, say."""
    if ";" in requirement.rest or not requirement.name:
        return True
    if version is None or requirement.is_address:
        return False
    clauses = requirement.rest.strip("()").split(",") if requirement.rest else []
    known = all(_CLAUSE.fullmatch(each) for each in clauses) and _VERSION.fullmatch(version)
    return bool(requirement.extras) or not known


def is_refused(clauses: str, version: str) -> bool:
    """Tell whether a version is certainly outside of what `>=3.11,<4` or the like allows."""
    known = (each for each in clauses.split(",") if _CLAUSE.fullmatch(each))
    return not all(_meets(version, each) for each in known)


def installed_version(name: str) -> str | None:
    """Return the version of a package that this process can import, or None."""
    from importlib import metadata  # slow, and most modules require nothing

    try:
        return metadata.version(name)
    except (metadata.PackageNotFoundError, ValueError):
        return None


def _meets(version: str, clause: str) -> bool:
    wanted, has = _CLAUSE.fullmatch(clause), _VERSION.fullmatch(version)
    if wanted is None or has is None:
        return False
    sign, bound = wanted[1], _numbers(wanted[2])
    mine = _numbers(has[1])
    if wanted[3]:
        starts = _padded(mine, len(bound))[: len(bound)] == bound
        return {"==": starts, "!=": not starts}.get(sign, False)
    if sign == "~=":
        return (
            len(bound) > 1
            and _compare(mine, bound) >= 0
            and _padded(mine, len(bound))[: len(bound) - 1] == bound[:-1]
        )
    order = _compare(mine, bound)
    if sign in ("==", "!="):
        return (order == 0) == (sign == "==")
    return (order == 0 and "=" in sign) or (order < 0 if sign.startswith("<") else order > 0)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _padded(version: tuple[int, ...], length: int) -> tuple[int, ...]:
    return version + (0,) * (length - len(version))


def _compare(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    length = max(len(one), len(other))
    left, right = _padded(one, length), _padded(other, length)
    return (left > right) - (left < right)
