"""Read whole numbers from texts, as templates give them."""

from __future__ import annotations

import re
from typing import Final

from amplihack.patterns import pattern

COUNT: Final = "{least} or more, of at most 15 digits"
_WHOLE = pattern(r"\+?[0-9]{1,15}(?:\.0*)?", re.ASCII)


def whole_number(text: str, *, least: int) -> int | None:
    """Return the whole number that a text says; None if it says none, or one that is too small."""
    value = int(text.partition(".")[0]) if _WHOLE.fullmatch(text) else -1
    return value if value >= least else None
