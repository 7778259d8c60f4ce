"""Find the word that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word within two typing mistakes (one, if short), or alike but for case, - and _.

    One letter is like every other.
    """
    candidates = sorted(known)
    plain = look(word)
    for candidate in candidates:
        if look(candidate) == plain:
            return candidate
    allowed = 0 if len(word) == 1 else 1 if len(word) <= 4 else 2
    near = [(distance(word, candidate, allowed), candidate) for candidate in candidates]
    best = min(near, default=(allowed + 1, ""))
    return best[1] if best[0] <= allowed else None


def alike(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the closest known word, else up to three that share whole words with it, or begin or end so.

    `task` is then `task_description`, and `cli_version` is `version`.
    """
    candidates = frozenset(known)
    if near := closest(word, candidates):
        return (near,)
    kin = [(kinship, each) for each in candidates if (kinship := _kinship(word, each))]
    best = min(kin, default=(0, ""))[0]
    return tuple(sorted(each for kinship, each in kin if kinship == best)[:3])


def _kinship(left: str, right: str) -> int:
    """Return how near two words are, 1 the nearest, if not by typing mistakes; 0 if they share nothing."""
    short, long = sorted((left.lower().replace("-", "_"), right.lower().replace("-", "_")), key=len)
    if len(short) < 3:
        return 0
    if long.startswith(short):
        return 1
    return 2 if long.endswith(f"_{short}") or f"_{short}_" in long else 0


def look(word: str) -> str:
    """Return a word as it reads at a glance: without its case, - and _."""
    return word.lower().replace("-", "").replace("_", "")


def distance(left: str, right: str, limit: int) -> int:
    """Count typing mistakes: a letter more, less, other, or two swapped; `limit + 1` if there are more."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and b == left[i - 2]:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]
