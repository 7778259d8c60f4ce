"""Read scripts of the plainest kind at once: ordinary commands whose arguments are data to bash.

    script   = command { (newline | ";" | "&&" | "||" | "|") command }
    command  = name { argument }                                 a name that no table of the reader knows
    argument = { character | placeholder | '"' { text | placeholder } '"' | "'" text "'" }

Many short steps have such a script, and the whole reader of bash takes ten times as long for it. The reader
would find the same: in doubt, a script is not plain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from amplihack.patterns import pattern
from amplihack.recipes.placeholders import Placeholder
from amplihack.recipes.templates.bash.command_names import BUILTINS, RESERVED
from amplihack.recipes.templates.bash.places import Place, Quoting
from amplihack.recipes.templates.bash.program_tables import may_hold_code, may_run_files, takes_data

_PLACE = r"\{\{[^{}\n]*+\}\}"
_DOUBLE = rf'"(?:[^"\\$`{{}}\n]|{_PLACE})*+"'
_SINGLE = r"'[^'{}\n]*+'"
_NAME = r"[A-Za-z0-9_./-]++"
_ARGUMENT = rf"(?:[A-Za-z0-9_./:,@%+=^~*?-]|{_PLACE}|{_DOUBLE}|{_SINGLE})++"
_COMMAND = rf"[ \t]*+{_NAME}(?:[ \t]++{_ARGUMENT})*+[ \t]*+"
_SCRIPT = pattern(rf"(?:(?:\A\n*+|(?!\A)(?:\n++|;|&&|\|\|?+)){_COMMAND})++\n*+")
_FIRST_WORD = pattern(rf"(?:^|[\n;&|])[ \t]*+({_NAME})")  # in quotes too, where it is none
_QUOTED = pattern(rf"{_PLACE}|{_SINGLE}|({_DOUBLE})")
_SEPARATED = pattern(rf"{_PLACE}|{_SINGLE}|{_DOUBLE}|(\n++|;|&&|\|\|?+)")
_INSIDE = pattern(_PLACE)
_KNOWN = BUILTINS | RESERVED | {"esac", "in"}
_NO_QUOTES = str.maketrans("", "", "'\"")


def plain_places(script: str, placeholders: Sequence[Placeholder]) -> tuple[Place, ...] | None:
    """Return where the placeholders of a plain script stand; None if it is not plain."""
    if script.count("{") != 2 * len(placeholders) or not _SCRIPT.fullmatch(script):
        return None
    if not all(map(_is_ordinary, _FIRST_WORD.findall(script))):
        return None
    text = script.translate(_NO_QUOTES)
    if may_hold_code(text) or may_run_files(text):
        return None
    quoted = [found.span(1) for found in _QUOTED.finditer(script) if found[1]] if '"' in script else ()
    inside = {found.start() for start, end in quoted for found in _INSIDE.finditer(script, start, end)}
    places = tuple(
        _place(found, Quoting.DOUBLE if found.start in inside else Quoting.BARE) for found in placeholders
    )
    for start, end in _before_pipes(script) if "|" in script else ():
        for place in places:
            if start <= place.start < end:
                place.feeds = True
    return places


def _before_pipes(script: str) -> Iterator[tuple[int, int]]:
    """Yield where commands stand whose output is the input of the next."""
    start = 0
    for found in _SEPARATED.finditer(script):
        if found[1]:
            if found[1] == "|":
                yield start, found.start()
            start = found.end()


def _is_ordinary(name: str) -> bool:
    return name not in _KNOWN and takes_data(name)


def _place(found: Placeholder, quoting: Quoting) -> Place:
    span = (found.start, found.end, found.start, found.end - found.start)
    return Place(found, span, frame=1, quoting=quoting, backticks=0)
