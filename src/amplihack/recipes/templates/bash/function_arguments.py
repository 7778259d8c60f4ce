"""Find which arguments a function of the script calculates with or takes for names.

retry() { local n=$1; shift; for (( i = 0; i < n; i++ )); do "$@" && return; done; }        the first

Only these tell a value that must not be passed. What the function does in the end is guarded while it runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.cursor import Body
from amplihack.recipes.templates.bash.places import Word
from amplihack.recipes.templates.bash.value_flow import ARGUMENTS, ValueFlow, references

_POSITION = pattern(r"(\$\{?[#!]?)([1-9])(?![0-9])")
_NAMED = pattern(r"amplihack_([1-9])")
_SHIFT = pattern(r"\bshift\b")
_LOOP = pattern(r"\b(?:while|until|for)\b.*\bshift\b", re.DOTALL)
_MOST = 8  # definitions of one function
_DEEPEST = 40  # functions that call each other: Python's stack has an end
_LONGEST = 20_000  # no body that a person writes; functions may stand in functions
_MANY = pattern(r"\$(?:@|\*|\{[@*]|\{\w+\[)|(?<!\")\$")  # may be more words than one, or none

Positions: TypeAlias = AbstractSet[int] | None  # None: any of them
Read: TypeAlias = Callable[[str], ValueFlow | None]


class EvaluatedArguments:
    """Tells which arguments of the functions of a script bash evaluates, and looks at each function once."""

    def __init__(self, bodies: Mapping[str, Sequence[Body]], read: Read) -> None:
        self._bodies, self._read = bodies, read
        self._known: dict[str, Positions] = {}
        self._asked: set[str] = set()  # functions that are being looked at, each called by another of them

    def of(self, name: str) -> Positions:
        """Return the positions for a function, as far as its text shows."""
        if name not in self._known:
            if name in self._asked or len(self._asked) >= _DEEPEST:
                return None
            self._asked.add(name)
            self._known[name] = self._look_at(name)
            self._asked.remove(name)
        return self._known[name]

    def _look_at(self, name: str) -> Positions:
        if not 0 < len(self._bodies.get(name, ())) < _MOST:
            return None
        found: set[int] = set()
        for text, start, end in self._bodies[name]:
            if end - start > _LONGEST:
                return None
            body = text[start:end]
            flow = self._read(_POSITION.sub(r"\1amplihack_\2", body))
            if flow is None or ARGUMENTS in flow.evaluated:
                return None
            here = {int(known[1]) for each in flow.evaluated if (known := _NAMED.fullmatch(each))}
            passed = self._passed_on(flow)
            if passed is None or (here | passed and _LOOP.search(body)):
                return None
            shifts = len(_SHIFT.findall(body))
            found.update(each + by for each in here | passed for by in range(shifts + 1))
        return found

    def _passed_on(self, flow: ValueFlow) -> Positions:
        """Return the arguments that a function passes on to others, which evaluate them."""
        found: set[int] = set()
        for callee, words in flow.calls:
            if callee in self._bodies:
                for word in evaluated_words(words, self.of(callee)):
                    names = set(references(word.text))
                    if ARGUMENTS in names:
                        return None
                    found.update(int(known[1]) for each in names if (known := _NAMED.fullmatch(each)))
        return found


def evaluated_words(words: Sequence[Word], positions: Positions) -> Sequence[Word]:
    """Return the words of a call that are the arguments at these positions, or may be."""
    known = next((i for i, word in enumerate(words) if i and _MANY.search(word.text)), len(words))
    if positions is None:
        return words[1:]
    return [word for i, word in enumerate(words) if i in positions or (positions and i >= known)]
