"""Hold what is known before a run: the values that steps start with, and the names that only it can tell."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from amplihack.recipes.placeholders import Placeholder, find_variables
from amplihack.recipes.semantics import BUILT_IN, LOOP
from amplihack.recipes.templates.preview import Shown
from amplihack.recipes.templates.text import render_value
from amplihack.recipes.values import KeyPath, Value, to_text
from amplihack.records import Record, field, replace

ANYTHING: Final = "*"  # stands among the unknown names after a sub-recipe that only the run can name


class Knowledge(Record):
    """The values known before the run, and the names that steps would set."""

    values: Mapping[str, Value]
    unknown: set[str]
    written: set[str] = field(default_factory=set)
    loop: Mapping[str, Value] | None = None  # what `loop` holds, in a round that is known
    mask: Callable[[str], str] = lambda text: text  # hides secrets in what is shown

    @property
    def view(self) -> Mapping[str, Value]:
        """Return every name that has a value; a variable called `loop` hides ours."""
        return self.values if self.loop is None else {LOOP: dict(self.loop), **self.values}

    def write(self, names: Iterable[str]) -> None:
        self.written.update(names)
        self.unknown.update(self.written)

    def certain(self) -> dict[str, Value]:
        return {name: value for name, value in self.view.items() if not self.open_names({name})}

    def copy(self) -> Knowledge:
        return replace(self, unknown=set(self.unknown), written=set(self.written))

    def open_names(self, mentioned: Collection[str]) -> list[str]:
        """Return, sorted, the given names whose values only the run can tell."""
        if ANYTHING in self.unknown:
            return sorted(mentioned)
        told_by_the_run = BUILT_IN - self.values.keys()
        return sorted(name for name in mentioned if name in self.unknown or name in told_by_the_run)

    def is_open(self, path: KeyPath) -> bool:
        """Tell whether only the run can tell the value of a placeholder; a constant is never open."""
        return bool(path[0]) and bool(self.open_names({path[0]}))

    def show(self, found: Placeholder) -> Shown | None:
        """Return what to show of a placeholder; None if only the run can tell its value."""
        if self.is_open(found.path):
            return None
        text = to_text(found.value(self.view))
        masked = self.mask(text)  # before it is quoted, which could hide it from the mask
        return Shown(masked, masked != text)

    def open_in(self, text: str) -> list[str]:
        """Return the names in a template whose values only the run can tell."""
        return self.open_names({found.path[0] for found in find_variables(text)})

    def render(self, value: Value) -> tuple[Value, bool]:
        """Return a value with its placeholders filled in, and whether all of it is known."""
        rendered, missing = render_value(value, self.certain())
        return rendered, not self.open_names({path[0] for path in missing})
