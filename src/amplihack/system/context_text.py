"""Write all variables of a run as one JSON map, again for every step, at the cost of what changed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence

from amplihack.recipes.tracked_variables import Follower
from amplihack.recipes.values import Value, to_bytes, to_json

_BLOCK = 16  # variables that are joined together; twice as many are divided


class ContextText:
    """The variables by name, sorted, in blocks. Only blocks with a changed variable are made again."""

    def __init__(self) -> None:
        self._follower = Follower()
        self._values: dict[str, Value] = {}
        self._members: dict[str, bytes] = {}  # `"name":value` of each variable
        self._first: list[str] = []  # the first name of each block
        self._blocks: list[list[str]] = []
        self._texts: list[bytes] = []

    def parts(self, scope: Mapping[str, Value]) -> Sequence[bytes]:
        """Return the text in parts, as they follow each other."""
        changed = self._follower.changes(scope)
        if changed is None:
            self._compare(scope)
        else:
            self._change(scope, dict.fromkeys(changed))
        return (b"{", *self._texts, b"}") if self._texts else (b"{}",)

    def _compare(self, scope: Mapping[str, Value]) -> None:
        """Look at every variable. One that is the same object as before has the same text."""
        for name, value in scope.items():
            if name not in self._members or self._values[name] is not value:
                self._encode(name, value)
        if self._members.keys() != scope.keys():
            for name in self._members.keys() - scope.keys():
                del self._members[name], self._values[name]
        self._divide()

    def _change(self, scope: Mapping[str, Value], names: Collection[str]) -> None:
        stale: set[int] = set()
        for name in names:
            if (name in scope) != (name in self._members):
                stale.add(self._move(name, scope))
            elif name in scope and self._values[name] is not scope[name]:
                self._encode(name, scope[name])
                stale.add(self._place(name))
        for number in sorted(stale, reverse=True):  # from the end: what is divided moves those after it
            self._renew(number)

    def _renew(self, number: int) -> None:
        """Make the text of a block again; one that is too large becomes several, an empty one none."""
        names = self._blocks[number]
        parts = [names] if 0 < len(names) <= 2 * _BLOCK else _divided(names)
        self._blocks[number : number + 1] = parts
        self._first[number : number + 1] = [part[0] for part in parts]
        self._texts[number : number + 1] = [self._joined(at) for at in range(number, number + len(parts))]
        if number == 0 and not parts and self._blocks:  # another one begins the text
            self._texts[0] = self._joined(0)

    def _move(self, name: str, scope: Mapping[str, Value]) -> int:
        """Add a variable that is new or remove one that is gone, and return its block."""
        if not self._blocks:
            self._first, self._blocks, self._texts = [name], [[]], [b""]
        number = self._place(name)
        if name in scope:
            self._encode(name, scope[name])
            self._blocks[number].append(name)
            self._blocks[number].sort()
        else:
            del self._members[name], self._values[name]
            self._blocks[number].remove(name)
        return number

    def _place(self, name: str) -> int:
        return max(0, bisect_right(self._first, name) - 1)

    def _encode(self, name: str, value: Value) -> None:
        text = f"{to_json(name)}:{to_json(value)}"
        self._values[name], self._members[name] = value, to_bytes(text)

    def _divide(self) -> None:
        self._blocks = _divided(sorted(self._members))
        self._first = [block[0] for block in self._blocks]
        self._texts = [self._joined(number) for number in range(len(self._blocks))]

    def _joined(self, number: int) -> bytes:
        members = self._members
        text = b",".join([members[name] for name in self._blocks[number]])
        return text if number == 0 else b"," + text


def _divided(names: Sequence[str]) -> list[list[str]]:
    return [list(names[start : start + _BLOCK]) for start in range(0, len(names), _BLOCK)]
