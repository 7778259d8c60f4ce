"""Follow the rounds of a running loop: which item, and how many are done."""

from __future__ import annotations

from amplihack.recipes.events import IterationStarted
from amplihack.recipes.values import one_line, to_text
from amplihack.records import Record, field

_WIDEST_ITEM = 60
_LOOKED_AT = 1_000  # characters of an item; the rest is never shown
_SHOWN_AT_ONCE = 3  # items that run at the same time, on one line


class LoopProgress(Record, frozen=False):
    """The rounds of one loop; `running` holds what each unfinished one is called, by its index."""

    of: int | None
    done: int = 0
    running: dict[int, str] = field(default_factory=dict)
    side_by_side: bool = False  # whether rounds of this loop ever ran at the same time

    def begin(self, index: int, item: str) -> str:
        """Note that a round begins, and return what to call it."""
        of = f" of {self.of}" if self.of is not None else ""
        if self.running:
            self.side_by_side = True
        elif not self.side_by_side:
            self.done = max(self.done, index)  # a run that goes on does not tell the rounds of before again
        self.running[index] = name = f"round {index + 1}{of}" + (f" — {item}" if item else "")
        return name

    def end(self, index: int) -> str:
        """Note that a round is over, and return what it was called."""
        self.done += 1
        return self.running.pop(index, f"round {index + 1}")

    def name_in(self, below: str) -> str:
        """Return what the round is called that a path below the loop begins with, such as `[2]/build`."""
        index = below[1:].partition("]")[0] if below.startswith("[") else ""
        return self.running.get(int(index), "") if index.isdecimal() else ""

    @property
    def count(self) -> str:
        """Return how many are done, such as `2 of 5 done`."""
        return f"{self.done} of {self.of} done" if self.of is not None else f"{self.done} done"

    @property
    def names(self) -> str:
        """What the rounds are called that run now."""
        shown = list(self.running.values())[:_SHOWN_AT_ONCE]
        more = len(self.running) - len(shown)
        return ", ".join([*shown, f"{more} more"] if more else shown)

    def __str__(self) -> str:
        """Say what runs now and how many are done, for a loop at work."""
        return f"{self.names} ({self.count})" if self.names else self.count


def shown_item(event: IterationStarted) -> str:
    """Return the item of a round on one short line; empty where the loop has none."""
    return one_line(", ".join(to_text(value)[:_LOOKED_AT] for value in event.item.values()), _WIDEST_ITEM)
