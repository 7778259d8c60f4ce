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
_LONGEST = 20_000  # no body that a person writes; functions may stand in functions
_MANY = pattern(r"\$(?:@|\*|\{[@*]|\{\w+\[)|(?<!\")\$")  # may be more words than one, or none

Positions: TypeAlias = AbstractSet[int] | None  # None: any of them
Read: TypeAlias = Callable[[str], ValueFlow | None]


def evaluated_positions(
    name: str, bodies: Mapping[str, Sequence[Body]], read: Read, within: tuple[str, ...] = ()
) -> Positions:
    """Return the arguments of a function that bash evaluates, as far as its text shows."""
    if not 0 < len(bodies.get(name, ())) < _MOST or name in within:
        return None
    found: set[int] = set()
    for text, start, end in bodies[name]:
        if end - start > _LONGEST:
            return None
        body = text[start:end]
        flow = read(_POSITION.sub(r"\1amplihack_\2", body))
        if flow is None or ARGUMENTS in flow.evaluated:
            return None
        here = {int(known[1]) for each in flow.evaluated if (known := _NAMED.fullmatch(each))}
        passed = _passed_on(flow, bodies, read, (*within, name))
        if passed is None or (here | passed and _LOOP.search(body)):
            return None
        shifts = len(_SHIFT.findall(body))
        found.update(each + by for each in here | passed for by in range(shifts + 1))
    return found


def _passed_on(
    flow: ValueFlow, bodies: Mapping[str, Sequence[Body]], read: Read, within: tuple[str, ...]
) -> Positions:
    """Return the arguments that a function passes on to others, which evaluate them."""
    found: set[int] = set()
    for callee, words in flow.calls:
        if callee in bodies:
            for word in evaluated_words(words, evaluated_positions(callee, bodies, read, within)):
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
