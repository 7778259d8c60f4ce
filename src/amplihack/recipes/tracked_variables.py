"""Hold variables that tell what was written to them, so that nobody must compare all of them to find out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from amplihack.recipes.values import Value

_LONGEST = 1_000  # names in the list of changes, or four times as many as there are variables


class TrackedValues(dict[str, Value]):
    """Variables with a list of the names that were set or removed, in order.

    When the list becomes too long, a new one begins, and a follower has to look at everything once.
    """

    __slots__ = ("changed",)

    def __init__(self, values: Mapping[str, Value]) -> None:
        super().__init__(values)
        self.changed: list[str] = []

    def __setitem__(self, name: str, value: Value) -> None:
        super().__setitem__(name, value)
        self._note((name,))

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._note((name,))

    def update(self, values: Mapping[str, Value]) -> None:  # type: ignore[override] # a map is all we need
        super().update(values)
        self._note(values)

    def pop(self, name: str, default: Value = None) -> Value:  # type: ignore[override] # as above
        if name in self:
            self._note((name,))
        return super().pop(name, default)

    def _note(self, names: Collection[str]) -> None:
        if len(self.changed) > max(_LONGEST, 4 * len(self)):
            self.changed = []
        self.changed += names

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("variables are written by `[name] =`, `del`, `update` and `pop`, which keep track")

    clear = popitem = setdefault = __ior__ = _refuse


class Follower:
    """Tells what was written to variables since it asked last."""

    def __init__(self) -> None:
        self._changed: list[str] | None = None
        self._seen = 0

    def changes(self, values: Mapping[str, Value]) -> Collection[str] | None:
        """Return the names that were set or removed; None if only a look at all of them can tell.

        That is so the first time, after a look at others, and for a map that keeps no track.
        """
        changed = values.changed if isinstance(values, TrackedValues) else None
        known, seen = self._changed, self._seen
        self._changed, self._seen = changed, len(changed or ())
        return None if changed is None or changed is not known else changed[seen:]
