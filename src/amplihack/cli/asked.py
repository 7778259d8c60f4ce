"""Find out how an answer is wanted from words that no parser may have understood.

Only an error needs this: it is told as the command line asks for it, even where that is the error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

_SHORTEST = 3  # of an abbreviated flag, with its dashes


def wants_json(words: Sequence[str]) -> bool:
    """Tell whether the words ask for one JSON document."""
    formats = (*_values(words, "--output-format"), *_values(words, "--format"))
    return any(True for _ in _values(words, "--json")) or "json" in formats


def wanted_colour(words: Sequence[str]) -> str:
    """Return the value of `--color`, if there is a sensible one, else `auto`."""
    return next((value for value in _values(words, "--color") if value in ("always", "never")), "auto")


def _values(words: Sequence[str], flag: str) -> Iterator[str]:
    """Yield the value of each mention of a flag, perhaps abbreviated: behind `=`, or the next word."""
    for word, following in pairwise((*words, "")):
        if word == "--":
            return
        name, equals, value = word.partition("=")
        if len(name) >= _SHORTEST and flag.startswith(name):
            yield value if equals else following
