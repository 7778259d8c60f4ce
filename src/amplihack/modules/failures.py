"""Make the kernel's errors of providers, with how to fix them in their text: they have no place for it."""

from __future__ import annotations

from typing import Any


def failure(kind: Any, what: str, *, fix: str, **facts: Any) -> Exception:
    """Return an error of the kernel's, such as ConfigurationError, that says what to do about it."""
    error: Exception = kind(f"{what}; {fix}" if fix else what, **facts)
    error.__dict__["what"], error.__dict__["fix"] = what, fix  # for hosts that show them apart
    return error
