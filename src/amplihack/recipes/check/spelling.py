"""Report names that look like a slip of the keyboard, with the name that was meant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from amplihack.documents.suggest import distance, look
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
    """The names that exist, asked for the one that was probably meant.

    Names are kept by what is left without their digits: names that are far apart without digits are so with
    them, and hundreds of steps called `step_1`, `step_2` … are compared at once.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._without_digits: dict[str, list[str]] = {}
        self._by_look: dict[str, str] = {}
        for name in sorted(set(known)):
            self._without_digits.setdefault(_DIGITS.sub("", name), []).append(name)
            self._by_look.setdefault(look(name), name)
        self._answers: dict[str, str | None] = {}
        self._near: dict[tuple[str, int], list[str]] = {}
        self._left = _MOST_COMPARISONS

    def meant(self, name: str) -> str | None:
        """Return the known name that differs by a slip, and not on purpose as `round_1` and `round_2` do."""
        if name not in self._answers:
            self._answers[name] = self._search(name)
        return self._answers[name]

    def _search(self, name: str) -> str | None:
        alike = self._by_look.get(look(name))
        if alike is not None and alike != name:
            return alike
        if len(name) < 3 or self._left <= 0:
            return None
        allowed = 1 if len(name) <= _SHORT else 2
        best: tuple[int, str] | None = None
        for form in self._forms_near(_DIGITS.sub("", name), allowed):
            for candidate in self._without_digits[form] if self._left > 0 else ():
                apart = self._apart(name, candidate, allowed)
                if 0 < apart <= allowed and not _on_purpose(name, candidate):
                    best = min(best or (apart, candidate), (apart, candidate))
        return best[1] if best and self._left >= 0 else None

    def _forms_near(self, form: str, allowed: int) -> list[str]:
        """Return the forms without digits within reach. Another name of the same form is there on purpose."""
        asked = (form, allowed)
        if asked not in self._near:
            self._near[asked] = [
                other
                for other in self._without_digits
                if other != form and self._apart(form, other, allowed) <= allowed
            ]
        return self._near[asked]

    def _apart(self, name: str, candidate: str, allowed: int) -> int:
        """Count the slips between two names, as long as comparisons are left; more than allowed is enough."""
        if abs(len(name) - len(candidate)) > allowed:
            return allowed + 1
        self._left -= 1
        # Each slip changes two letters at most: cheaper to see than to count.
        if self._left < 0 or len(set(name) ^ set(candidate)) > 2 * allowed:
            return allowed + 1
        return distance(name, candidate, allowed)


def _on_purpose(left: str, right: str) -> bool:
    """Tell whether two names differ only in numbers or in short parts, as `out_a` and `out_b` do."""
    if _DIGITS.sub("", left) == _DIGITS.sub("", right):
        return True
    mine, other = _PARTS.split(left), _PARTS.split(right)
    if len(mine) != len(other):
        return _one_more(mine, other)
    return all(a == b or (len(a) <= 2 and len(b) <= 2) for a, b in zip(mine, other, strict=True))


def _one_more(mine: list[str], other: list[str]) -> bool:
    """Tell whether one name is the other with a short part added, as in `plan` and `plan_b`."""
    longer, shorter = sorted((mine, other), key=len, reverse=True)
    return any(longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer)))
