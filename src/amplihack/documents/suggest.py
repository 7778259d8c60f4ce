"""The word that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word within two typing mistakes (one, for short words), or alike but for case, - and _."""
    candidates = sorted(known)
    plain = _plain(word)
    for candidate in candidates:
        if _plain(candidate) == plain:
            return candidate
    allowed = 1 if len(word) <= 4 else 2
    near = [(distance(word, candidate, allowed), candidate) for candidate in candidates]
    best = min(near, default=(allowed + 1, ""))
    return best[1] if best[0] <= allowed else None


def _plain(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "")


def distance(left: str, right: str, limit: int) -> int:
    """Typing mistakes between two words: a letter more, less, other, or two swapped; `limit + 1` if more."""
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
