"""Decide from an error message whether another attempt can succeed."""

from __future__ import annotations

from typing import Literal, TypeAlias

Outlook: TypeAlias = Literal["recoverable", "unrecoverable", "unknown"]

_UNRECOVERABLE = (
    "permission denied",
    "authentication failed",
    "not found: 404",
    "out of memory",
    "disk full",
    "unrecoverable",
    "fatal:",
    "cannot find module",
)
_RECOVERABLE = (
    "test failed",
    "compilation error",
    "syntax error",
    "lint error",
    "type error",
    "assertion failed",
    "command exited with code 1",
)
# What bash reports for "not executable", "not found" and a process ended by SIGKILL (often: out of memory).
_HOPELESS_CODES = (126, 127, 137)
MAX_ATTEMPTS = 2


def classify(error: str, exit_code: int | None = None) -> Outlook:
    text = error.lower()
    if exit_code in _HOPELESS_CODES or any(phrase in text for phrase in _UNRECOVERABLE):
        return "unrecoverable"
    return "recoverable" if any(phrase in text for phrase in _RECOVERABLE) else "unknown"


def may_attempt(error: str, attempt: int, *, exit_code: int | None = None, most: int = MAX_ATTEMPTS) -> bool:
    """Tell whether another recovery attempt makes sense; attempts count from 0."""
    return attempt < most and classify(error, exit_code) != "unrecoverable"
