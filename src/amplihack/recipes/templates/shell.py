"""Placeholders in a bash script: each becomes a reference to a variable, whatever quotes are around it.

No value enters the script's text, except in quoted heredocs, where bash expands nothing: there the
value stands as it is, and the heredoc gets a fresh delimiter if the value could end it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from amplihack.errors import TemplateError
from amplihack.recipes.placeholders import line_of, show
from amplihack.recipes.templates.bash import Place, Quoting, find_places
from amplihack.recipes.templates.heredocs import Edit, Values, apply_edits, heredoc_edits
from amplihack.recipes.templates.names import unfit, variable_names
from amplihack.recipes.values import MISSING, KeyPath, Value, lookup, to_text

_NUMBER = re.compile(r"\s*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)?\s*", re.ASCII)
_NAME_CHARACTER = re.compile(r"[A-Za-z0-9_]")


@dataclass(frozen=True, slots=True)
class ShellScript:
    """A script without placeholders, and the variables that it needs.

    Texts hold bytes that are not UTF-8 as surrogates: encode with errors="surrogateescape".
    """

    source: str
    variables: Mapping[str, str]
    missing: tuple[KeyPath, ...] = ()


Kind: TypeAlias = Literal["command", "arithmetic", "source", "refused", "unclosed"]


@dataclass(frozen=True, slots=True)
class Hazard:
    """A placeholder that deserves a second look; `detail` is the language or the reason."""

    kind: Kind
    path: KeyPath
    line: int
    start: int
    detail: str = ""


def render_shell(template: str, scope: Mapping[str, Value], *, token: Callable[[], str]) -> ShellScript:
    """The script to run, with references for values; `token` gives fresh words for delimiters."""
    places = find_places(template)
    names = variable_names(template, [place.placeholder.path for place in places])
    used = {place.placeholder.path for place in places if place.quoting is not Quoting.COMMENT}
    values = {path: lookup(scope, path) for path in names}
    texts = {path: to_text(value) for path, value in values.items()}
    lines = _Lines(template)
    for place in places:
        _check(place, texts[place.placeholder.path], lines)
    edits = [
        _edit(template, place, names[place.placeholder.path])
        for place in places
        if place.quoting is not Quoting.QUOTED_HEREDOC
    ]
    edits += heredoc_edits(template, places, Values(texts, names, token))
    return ShellScript(
        source=apply_edits(template, edits),
        variables={name: texts[path] for path, name in names.items() if path in used},
        missing=tuple(path for path, value in values.items() if value is MISSING and path in used),
    )


def hazards(template: str) -> tuple[Hazard, ...]:
    """What a lint should tell the author, without knowing any value."""
    try:
        places = find_places(template)
    except TemplateError as error:
        return (Hazard("unclosed", (), error.line, 0, error.what),)
    lines = _Lines(template)
    return tuple(
        Hazard(
            kind, place.placeholder.path, lines.at(place.placeholder.start), place.placeholder.start, detail
        )
        for place in places
        for kind, detail in _kinds(place)
    )


def _kinds(place: Place) -> list[tuple[Kind, str]]:
    found: list[tuple[Kind, str]] = []
    if place.refusal:
        found.append(("refused", place.refusal.reason))
    elif place.numeric:
        found.append(("arithmetic", ""))
    elif place.command_word:
        found.append(("command", "the whole value is one word"))
    if place.language:
        found.append(("source", place.language))
    return found


class _Lines:
    """Line numbers for growing offsets, in one pass over the text."""

    def __init__(self, text: str) -> None:
        self.text, self.offset, self.line = text, 0, 1

    def at(self, offset: int) -> int:
        if offset < self.offset:
            return line_of(self.text, offset)
        self.line += self.text.count("\n", self.offset, offset)
        self.offset = offset
        return self.line


def _check(place: Place, text: str, lines: _Lines) -> None:
    """Raises where this value, or any value, cannot stand."""
    name = show(place.placeholder.path)
    line = lines.at(place.placeholder.start)
    if place.refusal:
        raise TemplateError(
            f"{{{{{name}}}}} on line {line}: {place.refusal.reason}",
            line=line,
            fix=place.refusal.fix,
        )
    if (reason := unfit(text)) and place.quoting is not Quoting.COMMENT:
        raise TemplateError(
            f"the value of {name}, used on line {line}, holds {reason}, which no shell variable can carry",
            line=line,
            fix="store such data in a file and pass its path",
        )
    if place.numeric and not _NUMBER.fullmatch(text):
        raise TemplateError(
            f"{name} is used in arithmetic on line {line} and its value is not a number;"
            " bash would evaluate it as code",
            line=line,
            fix="make it a number, or compare it as text, in quotes",
        )


def _edit(template: str, place: Place, name: str) -> Edit:
    text = _reference(place, name, template[place.placeholder.end : place.placeholder.end + 1])
    if place.escaped and place.quoting is Quoting.ANSI:
        text = f"'\"\\\\${{{name}}}\"$'"  # not $'\\', which bash itself misreads in <((...) ...)
    elif place.escaped:
        text = "\\\\" + text
    return Edit(place.start, place.end, text.replace("\\", "\\" * 2**place.backticks))


def _reference(place: Place, name: str, following: str) -> str:
    match place.quoting:
        case Quoting.BARE:
            return f'"${name}"'
        case Quoting.SINGLE:
            return f"'\"${name}\"'"
        case Quoting.ANSI:
            return f"'\"${name}\"$'"
        case Quoting.HEREDOC if not _NAME_CHARACTER.match(following):
            return f"${name}"
        case Quoting.COMMENT:
            return re.sub(r"[^A-Za-z0-9_.-]", "_", show(place.placeholder.path))
        case _:
            return f"${{{name}}}"
