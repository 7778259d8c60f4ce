"""Order the places that a framework bundle may come from, and say why one of them is not taken.

Compatible is not enough. A bundle of another version that fulfils the contract would be staged under the
version of the running program, and the stale recipes could never be seen again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from amplihack.install.validate import BundleReport
from amplihack.records import Record

# named: the user asked for it. own: it came with the program. version: it must be of the running version, and
# every file as it was shipped. checkout: it must be a checkout of the program, of the running version.
# pinned: the user gave the hash of its bytes; what says that it is of another version is not taken.
Trust: TypeAlias = Literal["named", "own", "version", "checkout", "pinned"]


class Candidate(Record):
    """A directory that holds a bundle, or is one; `label` says how we came to it."""

    label: str
    root: Path
    trust: Trust


class SourcePlaces(Record, kw_only=True):
    """Where bundles can be on this machine. `around` are directories with one, nearest first."""

    home_variable: Path | None = None  # AMPLIHACK_HOME, if it is set
    around: tuple[Path, ...] = ()
    own_checkout: Path | None = None  # the program runs from it
    packaged: Path | None = None
    home_root: Path


def explicit_candidates(places: SourcePlaces) -> tuple[Candidate, ...]:
    """Return where `amplihack install` looks, in order."""
    return (
        *_one("AMPLIHACK_HOME", places.home_variable, "version"),
        *(Candidate("current directory", path, "checkout") for path in places.around),
        *own_candidates(places),
        *(() if places.home_variable == places.home_root else _one("home root", places.home_root, "version")),
    )


def automatic_candidates(places: SourcePlaces) -> tuple[Candidate, ...]:
    """Return where self-heal looks, in order. The current directory is never one of these.

    Otherwise any command in somebody's repository would stage what lies there.
    """
    return (*own_candidates(places), *_one("home root", places.home_root, "version"))


def own_candidates(places: SourcePlaces) -> tuple[Candidate, ...]:
    """Return the bundles that came with the running program."""
    return (
        *_one("checkout", places.own_checkout, "own"),
        *_one("packaged bundle", places.packaged, "own"),
    )


def _one(label: str, root: Path | None, trust: Trust) -> tuple[Candidate, ...]:
    return () if root is None else (Candidate(label, root, trust),)


def refusal(candidate: Candidate, report: BundleReport, *, known_version: str | None, running: str) -> str:
    """Return why a candidate is not taken, or an empty text. `known_version` is what it is known to be of."""
    if report.violations:
        return report.violations[0].what
    if candidate.trust == "named" or known_version == running:
        return ""
    if known_version is None and candidate.trust == "own":
        return ""
    if not known_version and candidate.trust == "pinned":
        return ""
    if known_version is None and candidate.trust == "checkout":
        return "it is no checkout of amplihack; name it with --local if you mean it"
    if not known_version:
        return "nobody can tell its version"
    return f"it is for version {known_version}, this is {running}"


def skipped_line(candidate: Candidate, why: str) -> str:
    """Return the warning about a candidate that is not taken: both the label and the path."""
    return f"⚠️  Skipping incompatible framework bundle from {candidate.label} at {candidate.root}: {why}"
