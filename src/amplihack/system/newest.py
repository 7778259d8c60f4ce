"""The words for the newest of what is kept: a run, a session."""

from __future__ import annotations

_WORDS = ("last", "latest", "newest")


def is_newest(reference: str) -> bool:
    """Tell whether a reference means the newest one, whichever word for it was typed."""
    return reference.lower() in _WORDS
