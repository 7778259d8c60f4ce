"""Name the generations of the staged bundle, and recognise the link that makes one of them the active one.

`<home root>/amplifier-bundle` is a link to `generations/<id>/amplifier-bundle`. Replacing a link is one step:
nobody ever sees no bundle, or a part of one.
"""

from __future__ import annotations

from amplihack.install.contract import BUNDLE
from amplihack.patterns import pattern

GENERATIONS = "generations"
_ID = pattern(r"[0-9A-Za-z][0-9A-Za-z._+-]{0,199}")


def is_generation_id(text: str) -> bool:
    return bool(_ID.fullmatch(text))


def link_text(generation: str) -> str:
    """Return the text of the link to a generation, as seen from the home root."""
    return f"{GENERATIONS}/{generation}/{BUNDLE}"


def linked_generation(text: str) -> str | None:
    """Return the generation that the text of a link names; None for a link that is not one of ours."""
    parts = text.split("/")
    if len(parts) == 3 and (parts[0], parts[2]) == (GENERATIONS, BUNDLE) and is_generation_id(parts[1]):
        return parts[1]
    return None
