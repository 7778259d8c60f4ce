"""Put values into quoted heredocs, the only text of a script that values enter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from amplihack.errors import TemplateError
from amplihack.patterns import pattern
from amplihack.recipes.placeholders import line_of
from amplihack.recipes.templates.bash import Edit, Heredoc, Place, Quoting
from amplihack.recipes.values import KeyPath
from amplihack.records import Record

_TOKEN = pattern(r"[A-Za-z0-9_]+", re.ASCII)
_ATTEMPTS = 16
_LOST_BY_BASH = pattern("[\x01\x7f]")  # its own marks in strings; in `$(...)` a heredoc may lose them
# In `$((a); b)`, and in any `$(...)` for older versions, bash counts quotes and parentheses before it knows
# that they stand in a heredoc: there a value with such characters must not be in the text.
_SYNTAX = pattern(r"""[\\'"`$(){}<>#&|;\x01\x7f]""")
_CONTINUED = pattern(r"(?<!\\)((?:\\\\)*+)\\\n")
_LEADING_TABS = pattern(r"^\t+", re.MULTILINE)


class Values(Record):
    """The texts and variable names of all paths, and the source of fresh words."""

    texts: Mapping[KeyPath, str]
    names: Mapping[KeyPath, str]
    token: Callable[[], str]


def heredoc_edits(template: str, places: Sequence[Place], values: Values) -> Iterator[Edit]:
    """Yield the edits that put values into quoted heredocs and keep a value from ending one."""
    inside: dict[Heredoc, list[Place]] = {}
    for place in places:
        if place.heredoc and place.quoting is Quoting.QUOTED_HEREDOC:
            inside.setdefault(place.heredoc, []).append(place)
    for heredoc, found in inside.items():
        unsafe = _SYNTAX if heredoc.nested else _LOST_BY_BASH
        if heredoc.within or any(unsafe.search(values.texts[place.placeholder.path]) for place in found):
            yield from _referring(template, heredoc, found, values)
        else:
            yield from _inlining(template, heredoc, found, values)


def _inlining(template: str, heredoc: Heredoc, places: Sequence[Place], values: Values) -> Iterator[Edit]:
    texts = [values.texts[place.placeholder.path] for place in places]
    pieces = _pieces(template, heredoc, places)
    body, unindented = _joined(pieces, texts), _joined(_without_tabs(pieces), texts)
    if heredoc.strips_tabs and _LEADING_TABS.sub("", body) != unindented:
        # Bash would strip tabs from the value too: strip the author's here, and open with `<<`.
        body = unindented
        yield Edit(*heredoc.operator, "<< ")
        yield Edit(_line_start(template, heredoc.closing[0]), heredoc.closing[0], "")
    yield Edit(*heredoc.body, body)
    if _could_end(body, heredoc.delimiter):
        fresh = _fresh(body, values.token, template, heredoc)
        yield Edit(*heredoc.word, f"'{fresh}'")
        yield Edit(*heredoc.closing, fresh)


def _referring(template: str, heredoc: Heredoc, places: Sequence[Place], values: Values) -> Iterator[Edit]:
    """Yield edits for the heredoc without quotes: its text escaped, with references instead of values."""
    pieces = _pieces(template, heredoc, places)
    if heredoc.within:  # whose lines bash joins while it reads the outer one
        pieces = [_CONTINUED.sub(r"\1", piece) for piece in pieces]
    pieces = [re.sub(r"[\\$`]", r"\\\g<0>", piece) for piece in pieces]
    body = _joined(pieces, [f"${{{values.names[place.placeholder.path]}}}" for place in places])
    fresh = _fresh(body, values.token, template, heredoc)
    yield Edit(*heredoc.body, body)
    yield Edit(*heredoc.word, fresh)
    yield Edit(*heredoc.closing, fresh)


def _pieces(template: str, heredoc: Heredoc, places: Sequence[Place]) -> list[str]:
    """Return the author's text before, between and after the placeholders."""
    bounds = [
        heredoc.body[0],
        *(edge for place in places for edge in (place.start, place.end)),
        heredoc.body[1],
    ]
    return [template[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)]


def _joined(pieces: Sequence[str], values: Sequence[str]) -> str:
    return pieces[0] + "".join(value + piece for value, piece in zip(values, pieces[1:], strict=True))


def _without_tabs(pieces: Sequence[str]) -> list[str]:
    later = [re.sub(r"(?<=\n)\t+", "", piece) for piece in pieces[1:]]
    return [_LEADING_TABS.sub("", pieces[0]), *later]


def _could_end(body: str, delimiter: str) -> bool:
    """Tell whether a line begins with the delimiter: in `$(...)` that is enough for bash to end there."""
    return re.search(rf"^\t*{re.escape(delimiter)}", body, re.MULTILINE) is not None


def _fresh(body: str, token: Callable[[], str], template: str, heredoc: Heredoc) -> str:
    for _ in range(_ATTEMPTS):
        word = token()
        if _TOKEN.fullmatch(word) and word not in body:
            return word
    line = line_of(template, heredoc.operator[0])
    raise TemplateError(
        f"no delimiter could be found for the heredoc on line {line} that its values do not contain",
        line=line,
        fix="write the value to a file with printf, outside the heredoc",
    )


def _line_start(template: str, offset: int) -> int:
    return template.rfind("\n", 0, offset) + 1
