"""Make text of others safe to show: it never controls a terminal, and never hides what it says."""

from __future__ import annotations

from amplihack.patterns import pattern

_CONTROL = pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def for_terminal(text: str) -> str:
    """Return the text without control characters; tabs and line ends stay."""
    return _CONTROL.sub("", text)


def spelled_out(text: str) -> str:
    """Return the text with escapes for what cannot be seen: a person is asked about all of it."""
    return "".join(char if char.isprintable() or char in "\n\t" else _escape(char) for char in text)


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
