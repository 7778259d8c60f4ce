"""Answer what others ask about a script of any kind, read as bash does to the end."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from amplihack.errors import TemplateError
from amplihack.recipes.placeholders import Placeholder, find_placeholders
from amplihack.recipes.templates.bash.placed_guards import placed_guards
from amplihack.recipes.templates.bash.places import Output, Place, Quoting, Word, apply_edits
from amplihack.recipes.templates.bash.reading import Reading
from amplihack.recipes.templates.bash.settled_values import settle_values
from amplihack.recipes.templates.bash.whole_script import read_whole
from amplihack.records import Record

_UNEXPANDED = (Quoting.SINGLE, Quoting.ANSI, Quoting.QUOTED_HEREDOC, Quoting.COMMENT)


def read_fully(script: str, placeholders: Sequence[Placeholder]) -> Reading:
    """Return where every placeholder stands. Raises TemplateError if the quoting never closes."""
    found = settle_values(script, placeholders)
    edits = [*placed_guards(script, found), *found.edits]
    places = [mark for mark in found.marks if isinstance(mark, Place)]
    return Reading(tuple(sorted(places, key=lambda place: place.start)), tuple(edits))


@lru_cache(maxsize=512)  # the rounds of a loop run one script
def guard_script(script: str) -> str:
    """Return a script without placeholders with guards for the variables that it evaluates."""
    try:
        edits = read_fully(script, ()).edits
    except TemplateError:  # bash will say what is wrong with it
        return script
    return apply_edits(script, edits)


class Uses(Record):
    """What a script does with the variables that it finds in its environment."""

    evaluated: frozenset[str]  # as arithmetic or as a name
    executed: frozenset[str]  # as a script
    blind: bool  # a variable that only the run knows is evaluated
    unread: frozenset[str]  # evaluated where no guard can be put
    reads_integers: bool  # any text may be evaluated before a guard can look at it

    def evaluates(self, name: str) -> bool:
        return self.blind or name in self.evaluated

    def is_unguarded(self, name: str) -> bool:
        return self.blind or self.reads_integers or name in self.unread


def uses_of(script: str) -> Uses:
    """Return what a script does with its variables. Raises TemplateError if the quoting never closes."""
    found = read_whole(script, find_placeholders(script))
    return Uses(
        frozenset(found.flow.evaluated),
        frozenset(found.flow.executed),
        found.flow.blind,
        frozenset(found.flow.unread),
        found.variables.reads_integers() or found.flow.lost,
    )


def calls_of(script: str) -> tuple[Sequence[Sequence[Word]], AbstractSet[str]]:
    """Return the commands that are not bash's own and use values or variables, and the script's functions.

    Raises TemplateError if the quoting never closes.
    """
    found = read_whole(script, find_placeholders(script))
    return [words for _, words in found.flow.calls], found.flow.functions


class HandedOn(Record):
    """What a script hands to interpreters, as far as its text shows."""

    places: Sequence[Place]
    quoted: frozenset[int]  # where placeholders stand in texts that bash does not expand, and in comments
    printed: frozenset[int]  # where they stand in commands whose output goes on
    executed: AbstractSet[str]  # the variables that a shell runs


def handed_on(script: str, placeholders: Sequence[Placeholder]) -> HandedOn:
    """Return what a script hands to interpreters. Raises TemplateError if the quoting never closes."""
    found = settle_values(script, placeholders)
    places = [mark for mark in found.marks if isinstance(mark, Place)]
    inside = [place for mark in found.marks if isinstance(mark, Output) for place in mark.places]
    executed = set(found.flow.executed)
    for name in found.flow.executed:  # `n=RECIPE_VAR_x; eval "${!n}"`
        executed |= found.flow.named(name)
    return HandedOn(
        places,
        frozenset(place.placeholder.start for place in places if place.quoting in _UNEXPANDED),
        frozenset(place.placeholder.start for place in (*inside, *(each for each in places if each.feeds))),
        executed,
    )
