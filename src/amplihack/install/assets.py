"""Name the assets of the framework bundle that other programs ask for, and check paths that they give."""

from __future__ import annotations

from typing import Literal, TypeAlias

from amplihack.errors import AmplihackError, UsageError
from amplihack.install.contract import BUNDLE
from amplihack.patterns import pattern
from amplihack.records import Record

AssetKind: TypeAlias = Literal["file", "directory", "any"]
_ALLOWED = pattern(r"[A-Za-z0-9_./-]+")


class Asset(Record):
    """Something in the bundle: its path from the directory that holds the bundle, and what it must be."""

    path: str
    kind: AssetKind


_ORCHESTRATOR = Asset(f"{BUNDLE}/bin/multitask-orchestrator.sh", "file")

# In the order in which messages list them.
NAMED_ASSETS = {
    "hooks-dir": Asset(f"{BUNDLE}/tools/amplihack/hooks", "directory"),
    "helper-path": _ORCHESTRATOR,
    "session-tree-path": Asset(f"{BUNDLE}/tools/amplihack/session", "directory"),
    "multitask-orchestrator": _ORCHESTRATOR,
}


def asset_of(text: str) -> Asset:
    """Return the asset that a name or a path means. Raises UsageError for a path that is not allowed.

    A name that nobody knows is an AmplihackError.
    """
    if text in NAMED_ASSETS:
        return NAMED_ASSETS[text]
    fault = _fault(text)
    if not fault and "/" not in text:
        what = f'ERROR: Unknown asset name "{text}". Expected one of: {", ".join(NAMED_ASSETS)}'
        raise AmplihackError(what, fix=f"use one of these names, or a path that begins with {BUNDLE}/")
    fault = fault or _path_fault(text)
    if fault:
        raise UsageError(f"ERROR: Invalid asset path: {fault}", fix=f"write {BUNDLE}/… without . and ..")
    return Asset(text, "any")


def _fault(text: str) -> str:
    if "\0" in text:
        return "it holds a NUL"
    if not text:
        return "it is empty"
    if text.startswith(("/", "~")):
        return f"it begins with {text[0]}"
    return "it has a part . or .." if {".", ".."} & set(text.split("/")) else ""


def _path_fault(text: str) -> str:
    if not text.startswith(f"{BUNDLE}/"):
        return f"it does not begin with {BUNDLE}/"
    return "" if _ALLOWED.fullmatch(text) else "it holds a character other than letters, digits and _ - . /"
