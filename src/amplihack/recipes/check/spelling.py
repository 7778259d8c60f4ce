"""Names that look like a slip of the keyboard, and the name that was meant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from amplihack.documents.suggest import distance
from amplihack.patterns import pattern

USUAL_INPUTS: Final = frozenset({"task_description", "repo_path", "existing_branch"})

_DIGITS = pattern(r"[0-9]+")
_PARTS = pattern(r"[_-]")
_MOST_COMPARISONS = 40_000  # so that a huge recipe full of unknown names is still checked at once
_SHORT = 7


def plain(name: str) -> str:
    """Return a name as it reads in the environment of a script, in lower case."""
    return name.lower().replace("-", "_")


class Spelling:
    """The names that exist, asked for the one that was probably meant."""

    def __init__(self, known: Iterable[str]) -> None:
        self._by_length: dict[int, list[str]] = defaultdict(list)
        self._by_look: dict[str, str] = {}
        for name in sorted(set(known)):
            self._by_length[len(name)].append(name)
            self._by_look.setdefault(_look(name), name)
        self._answers: dict[str, str | None] = {}
        self._left = _MOST_COMPARISONS

    def meant(self, name: str) -> str | None:
        """Return the known name that differs by a slip, and not on purpose as `round_1` and `round_2` do."""
        if name not in self._answers:
            self._answers[name] = self._search(name)
        return self._answers[name]

    def _search(self, name: str) -> str | None:
        alike = self._by_look.get(_look(name))
        if alike is not None and alike != name:
            return alike
        if len(name) < 3:
            return None
        allowed = 1 if len(name) <= _SHORT else 2
        best: tuple[int, str] | None = None
        for length in range(len(name) - allowed, len(name) + allowed + 1):
            for candidate in self._by_length.get(length, ()):
                self._left -= 1
                if self._left < 0:
                    return None
                if len(set(name) ^ set(candidate)) > 2 * allowed:
                    continue  # each slip changes two letters at most: cheaper to see than to count
                apart = distance(name, candidate, allowed)
                if 0 < apart <= allowed and not _on_purpose(name, candidate):
                    best = min(best or (apart, candidate), (apart, candidate))
        return best[1] if best else None


def _look(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _on_purpose(left: str, right: str) -> bool:
    """Whether two names differ only in numbers or in short parts, as `out_a` and `out_b` do."""
    if _DIGITS.sub("", left) == _DIGITS.sub("", right):
        return True
    mine, other = _PARTS.split(left), _PARTS.split(right)
    if len(mine) != len(other):
        return _one_more(mine, other)
    return all(a == b or (len(a) <= 2 and len(b) <= 2) for a, b in zip(mine, other, strict=True))


def _one_more(mine: list[str], other: list[str]) -> bool:
    """Whether one name is the other with a short part added, as in `plan` and `plan_b`."""
    longer, shorter = sorted((mine, other), key=len, reverse=True)
    return any(longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer)))
