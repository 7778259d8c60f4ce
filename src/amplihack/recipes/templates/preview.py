"""Show a template with the values that are known, for people to read; nothing runs what is made here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import TypeAlias

from amplihack.errors import TemplateError
from amplihack.patterns import pattern
from amplihack.recipes.placeholders import Placeholder, find_placeholders
from amplihack.recipes.templates.bash import Edit, Place, Quoting, apply_edits, read_script
from amplihack.records import Record

_IN_DOUBLE_QUOTES = pattern(r'[\\"$`]')
_IN_HEREDOC = pattern(r"[\\$`]")


class Shown(Record):
    """The text of a value. One that is `masked` stands for a secret, and needs no quotes."""

    text: str
    masked: bool = False


Show: TypeAlias = "Callable[[Placeholder], Shown | None]"  # None: its value is not known, so it stays


def preview_text(template: str, show: Show) -> str:
    """Return a text with its values; a placeholder whose value is not known stays as it is."""
    found = ((each, show(each)) for each in find_placeholders(template))
    return apply_edits(template, [Edit(each.start, each.end, shown.text) for each, shown in found if shown])


def preview_shell(template: str, show: Show) -> str:
    """Return a script with its values, each quoted as its place needs, so that it reads as bash would."""
    if "{{" not in template:
        return template
    try:
        places = read_script(template).places
    except TemplateError:  # the step will say what is wrong with it
        return preview_text(template, show)
    found = ((place, show(place.placeholder)) for place in places)
    return apply_edits(template, [_written(place, shown) for place, shown in found if shown])


def _written(place: Place, shown: Shown) -> Edit:
    text = shown.text if shown.masked else _quoted(place.quoting, shown.text)
    if place.escaped:
        text = f"\\\\{text}"
    return Edit(place.start, place.end, text.replace("\\", "\\" * 2**place.backticks))


def _quoted(quoting: Quoting, value: str) -> str:
    match quoting:
        case Quoting.BARE:
            return shlex.quote(value)
        case Quoting.DOUBLE:
            return _IN_DOUBLE_QUOTES.sub(r"\\\g<0>", value)
        case Quoting.SINGLE:
            return value.replace("'", "'\\''")
        case Quoting.ANSI:
            return value.replace("\\", "\\\\").replace("'", "\\'")
        case Quoting.HEREDOC:
            return _IN_HEREDOC.sub(r"\\\g<0>", value)
        case Quoting.COMMENT:
            return re.sub(r"\s+", " ", value)
        case _:
            return value
