"""Return the place of every placeholder of a script."""

from __future__ import annotations

from amplihack.recipes.placeholders import find_placeholders
from amplihack.recipes.templates.bash.places import Edit, Place
from amplihack.recipes.templates.bash.plain_script import plain_places
from amplihack.records import Record


class Reading(Record):
    """Where every placeholder stands, in script order, and what else must change in the script."""

    places: tuple[Place, ...] = ()
    edits: tuple[Edit, ...] = ()
    plain: bool = False  # ordinary commands, which are certainly right by bash's grammar


def read_script(script: str) -> Reading:
    """Read a script as bash does. Raises TemplateError if the quoting never closes.

    A script without placeholders is not read at all.
    """
    placeholders = find_placeholders(script)
    if not placeholders:
        return Reading()
    if (places := plain_places(script, placeholders)) is not None:
        return Reading(places, plain=True)
    from amplihack.recipes.templates.bash.read import read_fully  # deferred: most scripts are plain

    return read_fully(script, placeholders)
