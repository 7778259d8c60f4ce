"""Decide what a start of the program does about the staged bundle: nothing, a line, or staging it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from amplihack.documents.durations import EXPECTED, fix_for, seconds_in
from amplihack.errors import UsageError

SKIP = "AMPLIHACK_SKIP_AUTO_INSTALL"
DEPTH = "AMPLIHACK_SESSION_DEPTH"
LOCK = ".install.lock"
LOCK_PATIENCE = "AMPLIHACK_INSTALL_LOCK_TIMEOUT_SECS"
DEFAULT_PATIENCE = 600.0  # seconds

HealAction: TypeAlias = Literal["nothing", "tell", "stage"]


def decide(*, stamp: str | None, current: str, is_staged: bool, bypass: bool) -> HealAction:
    """Return what to do: the stamp alone decides, and whether a staged bundle is there at all."""
    if stamp == current and is_staged:
        return "nothing"
    return "tell" if bypass else "stage"


def is_bypassed(environment: Mapping[str, str]) -> bool:
    """Tell whether the user wants no automatic install. An empty value means nothing."""
    return bool(environment.get(SKIP))


def is_nested(environment: Mapping[str, str]) -> bool:
    """Tell whether a run of ours started this process: then it must not change what the run works with."""
    return environment.get(DEPTH, "0") not in ("", "0")


def bypass_line(*, stamp: str | None, current: str, bundle: str) -> str:
    """Return the one line that tells of stale assets which the user wants to keep."""
    return f"amplihack: {SKIP} set; skipping re-stage ({_versions(stamp, current)}; {_bundle(bundle)})"


def nested_line(*, stamp: str | None, current: str, bundle: str) -> str:
    """Return the one line of a process inside a run that finds stale assets."""
    return f"amplihack: started by a run; skipping re-stage ({_versions(stamp, current)}; {_bundle(bundle)})"


def healed_line(version: str) -> str:
    return f"amplihack: framework assets re-staged for v{version}"


def malformed_line(path: str, contents: bytes) -> str:
    """Return the warning about a stamp that is none. Its contents are escaped and cut."""
    shown = ascii(contents[:80])[1:]
    return f"amplihack: ignoring malformed install stamp at {path} (contents={shown}); will re-stage"


def patience_of(environment: Mapping[str, str]) -> float:
    """Return how many seconds to wait for another install. Raises UsageError."""
    text = environment.get(LOCK_PATIENCE) or str(DEFAULT_PATIENCE)
    seconds = seconds_in(text)
    if seconds is None:
        raise UsageError(f"{LOCK_PATIENCE} must be {EXPECTED}", fix=fix_for(text))
    return seconds


def _versions(stamp: str | None, current: str) -> str:
    return f"stamp={stamp or '<missing>'} current={current}"


def _bundle(state: str) -> str:
    return f'installed_bundle="{state}"'
