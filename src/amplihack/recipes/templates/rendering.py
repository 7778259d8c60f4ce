"""Render a bash script: each placeholder becomes a reference in the form that its place needs.

No value enters the text of the script, except in quoted heredocs, where bash expands nothing. There the value
stands as it is, and the heredoc gets a fresh delimiter if the value could end it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import NoReturn

from amplihack.errors import TemplateError
from amplihack.patterns import pattern
from amplihack.recipes.placeholders import Placeholder, find_literal, holds_only_placeholders, line_of, show
from amplihack.recipes.templates.bash import (
    Edit,
    Place,
    Quoting,
    Reading,
    Refusal,
    apply_edits,
    read_script,
)
from amplihack.recipes.templates.filled import fill
from amplihack.recipes.templates.names import unfit, variable_names
from amplihack.recipes.templates.scripts import (
    PREPARED,
    Hazard,
    ShellScript,
    fetched_name,
    is_number,
    may_run,
)
from amplihack.recipes.templates.text import literal_fix, literal_warnings
from amplihack.recipes.templates.variables import mentioned_names
from amplihack.recipes.values import MISSING, KeyPath, Value, to_text
from amplihack.records import Record

_NAME_CHARACTER = pattern(r"[A-Za-z0-9_]")


class _Template(Record):
    """All that a script says by itself, whatever the values."""

    reading: Reading
    placeholders: Mapping[KeyPath, Placeholder]
    names: Mapping[KeyPath, str]  # of the variables that carry the values
    used: frozenset[KeyPath]  # without those that stand in comments alone
    source: str | None  # the script to run, if no value can change it or be refused for what it is
    warnings: tuple[str, ...]
    fetches: bool  # whether the script runs a file that a value may name
    is_filled: bool  # whether each `{{` begins a placeholder


@lru_cache(maxsize=PREPARED)  # the check and the run ask about the same scripts
def _read(template: str) -> Reading:
    return read_script(template)


@lru_cache(maxsize=PREPARED)  # the rounds of a loop run one script; nothing changes one once it is made
def _prepared(template: str) -> _Template:
    reading = _read(template)
    places = reading.places
    placeholders = {place.placeholder.path: place.placeholder for place in places}
    names, source = variable_names(template, tuple(placeholders)), None
    if all(map(_is_plain, places)):
        source = apply_edits(template, [*reading.edits, *_place_edits(template, places, names)])
    return _Template(
        reading=reading,
        placeholders=placeholders,
        names=names,
        used=frozenset(place.placeholder.path for place in places if place.quoting is not Quoting.COMMENT),
        source=source,
        warnings=tuple(_source_warnings(places, _Lines(template))),
        fetches=any(place.fetched for place in places),
        is_filled=holds_only_placeholders(template),
    )


def prepare(template: str) -> None:
    """Work out beforehand what a script says by itself; what is wrong with it is told when it is rendered."""
    with suppress(TemplateError):
        if (source := _prepared(template).source) is not None:
            mentioned_names(source)


def _is_plain(place: Place) -> bool:
    """Tell whether every text is safe here and leads to the same script."""
    return not (
        place.refusal
        or place.declared
        or place.numeric
        or place.evaluated
        or place.redirection
        or place.quoting is Quoting.QUOTED_HEREDOC
    )


def render(template: str, scope: Mapping[str, Value], token: Callable[[], str]) -> ShellScript:
    """Return the script to run. Raises TemplateError for a value in a place where it cannot be safe."""
    read = _prepared(template)
    values = {path: found.value(scope) for path, found in read.placeholders.items()}
    texts = {path: to_text(value) for path, value in values.items()}
    source = read.source
    if source is None or any(map(unfit, texts.values())):
        source = _checked(template, read, texts, token, scope)
    warnings = read.warnings if read.is_filled else (*read.warnings, *literal_warnings(template, scope))
    if read.fetches:
        warnings = (*warnings, *_fetched_warnings(read.reading.places, texts, _Lines(template)))
    return ShellScript(
        source=source,
        variables={name: texts[path] for path, name in read.names.items() if path in read.used},
        missing=tuple([path for path, value in values.items() if value is MISSING and path in read.used]),
        warnings=warnings,
    )


def _checked(
    template: str,
    read: _Template,
    texts: Mapping[KeyPath, str],
    token: Callable[[], str],
    scope: Mapping[str, Value],
) -> str:
    """Return the script for these values. Raises TemplateError if one of them cannot be safe."""
    from amplihack.recipes.templates.heredoc_edits import Values, heredoc_edits  # deferred: seldom needed

    places, lines = read.reading.places, _Lines(template)
    for place in places:
        _check(place, texts, lines)
    _check_flow(places, texts, scope, lines)
    edits = [*read.reading.edits, *_file_edits(places, texts), *_place_edits(template, places, read.names)]
    return apply_edits(template, [*edits, *heredoc_edits(template, places, Values(texts, read.names, token))])


def _place_edits(template: str, places: Sequence[Place], names: Mapping[KeyPath, str]) -> Iterator[Edit]:
    for place in places:
        if place.quoting is not Quoting.QUOTED_HEREDOC:
            yield _edit(template, place, names[place.placeholder.path])


def is_read_at_once(template: str) -> bool:
    """Tell whether a script is of the plainest kind. Raises TemplateError if its quoting never closes."""
    return _read(template).plain


def find_hazards(template: str) -> tuple[Hazard, ...]:
    """Return what the check should tell the author, without knowing any value."""
    literal = tuple(_literal(template)) if "${{" in template else ()
    try:
        reading = _read(template)
    except TemplateError as error:
        return (Hazard("unclosed", (), error.line, 0, error.what, error.fix), *literal)
    lines = _Lines(template)
    return (*(found for place in reading.places for found in _hazards(place, lines)), *literal)


def _literal(template: str) -> Iterator[Hazard]:
    """Yield each `${{name}}`. Where bash expands something, it takes this for a bad substitution."""
    try:
        # Read as if a blank stood there: the quotes around it are the same.
        places = _read(template.replace("${{", " {{")).places
    except TemplateError:
        places = ()
    taken = {
        place.placeholder.start - 1
        for place in places
        if place.quoting not in (Quoting.SINGLE, Quoting.ANSI, Quoting.QUOTED_HEREDOC, Quoting.COMMENT)
    }
    for found in find_literal(template):
        escaped = template[max(0, found.start - 1) : found.start] == "\\"
        bad = found.start in taken and not escaped
        detail = "bash cannot expand it: a bad substitution" if bad else ""
        line, fix = line_of(template, found.start), literal_fix(template, found)
        yield Hazard("literal", found.path, line, found.start, detail, fix)


def _hazards(place: Place, lines: _Lines) -> Iterator[Hazard]:
    path, start = place.placeholder.path, place.placeholder.start
    line = lines.at(start)
    if refusal := place.refusal or _unknown_file(place):
        yield Hazard("refused", path, line, start, refusal.reason, refusal.fix)
    elif place.numeric:
        yield Hazard("arithmetic", path, line, start)
    elif place.evaluated:
        yield Hazard("evaluated", path, line, start, Refusal.EVALUATED.reason, Refusal.EVALUATED.fix)
    elif place.command_word or place.launcher:
        split = "bash splits it into words and runs the first" if place.variables else ""
        yield Hazard("command", path, line, start, split or "a value with spaces is one word there")
    if place.fetched:
        yield Hazard("fetched", path, line, start, " ".join(place.fetched))
    if place.language:
        yield Hazard("source", path, line, start, place.language)


def _source_warnings(places: Sequence[Place], lines: _Lines) -> Iterator[str]:
    told: set[KeyPath] = set()
    for place in places:
        path = place.placeholder.path
        if place.language == "bash" and path not in told:
            told.add(path)
            line = lines.at(place.placeholder.start)
            yield f"the value of {show(path)} is run as a bash program on line {line}"
        elif place.language == "native" and path not in told:
            told.add(path)
            line = lines.at(place.placeholder.start)
            yield f"the value of {show(path)} decides what code programs load on line {line}"
        elif place.launcher and path not in told:
            told.add(path)
            line = lines.at(place.placeholder.start)
            yield f"the value of {show(path)} is the command that {place.launcher} runs on line {line}"


def _fetched_warnings(places: Sequence[Place], texts: Mapping[KeyPath, str], lines: _Lines) -> Iterator[str]:
    for place in places:
        path = place.placeholder.path
        name = fetched_name(texts[path], place.fetched_as) if place.fetched else ""
        if name in place.fetched:
            line = lines.at(place.placeholder.start)
            yield f"the value of {show(path)} decides what {name} is, fetched on line {line} and then run"


class _Lines:
    """Gives line numbers for growing offsets, in one pass over the text."""

    def __init__(self, text: str) -> None:
        self.text, self.offset, self.line = text, 0, 1

    def at(self, offset: int) -> int:
        if offset < self.offset:
            return line_of(self.text, offset)
        self.line += self.text.count("\n", self.offset, offset)
        self.offset = offset
        return self.line


def _check(place: Place, texts: Mapping[KeyPath, str], lines: _Lines) -> None:
    """Raise TemplateError if this value, or any value, cannot be safe here."""
    name, text = show(place.placeholder.path), texts[place.placeholder.path]
    line = lines.at(place.placeholder.start)
    refusal = place.refusal or _unknown_file(place)
    if place.declared and fill(place.declared, texts).may_be_list:
        refusal = Refusal.COMPOUND
    if refusal:
        _refuse(place, refusal, lines)
    if (reason := unfit(text)) and place.quoting is not Quoting.COMMENT:
        raise TemplateError(
            f"the value of {name}, used on line {line}, holds {reason}, which no shell variable can carry",
            line=line,
            fix="store such data in a file and pass its path",
        )
    if place.numeric and not is_number(text):
        raise TemplateError(
            f"{name} is used in arithmetic on line {line} and its value is not a number;"
            " bash would evaluate it as code",
            line=line,
            fix="make it a number, or compare it as text, in quotes",
        )


def _check_flow(
    places: Sequence[Place], texts: Mapping[KeyPath, str], scope: Mapping[str, Value], lines: _Lines
) -> None:
    """Raise TemplateError if a value reaches a variable that bash evaluates and could run something.

    A word such as "auto" only counts as zero there. The name of a variable that carries a value leads to that
    value, so it is refused.
    """
    suspects = [place for place in places if place.evaluated and not is_number(texts[place.placeholder.path])]
    if not suspects:
        return
    carriers = {name for place in places for name in place.variables}
    carriers |= {name for key in scope for name in (key, key.upper())}
    for place in suspects:
        if may_run(texts[place.placeholder.path], carriers):
            _refuse(place, Refusal.EVALUATED, lines)


def _refuse(place: Place, refusal: Refusal, lines: _Lines) -> NoReturn:
    line = lines.at(place.placeholder.start)
    what = f"{{{{{show(place.placeholder.path)}}}}} on line {line}: {refusal.reason}"
    raise TemplateError(what, line=line, fix=refusal.fix)


def _unknown_file(place: Place) -> Refusal | None:
    """Refuse a `>&` if only the run can tell whether a file or a descriptor is meant."""
    if place.redirection and fill(place.redirection.word, {}).is_unclear:
        return Refusal.DESCRIPTOR
    return None


def _file_edits(places: Sequence[Place], texts: Mapping[KeyPath, str]) -> Iterator[Edit]:
    """Rewrite `>&file`, whose word bash would expand twice, as `>file 2>&1`."""
    for redirection in dict.fromkeys(place.redirection for place in places if place.redirection):
        if not fill(redirection.word, texts).is_descriptor:
            yield Edit(*redirection.operator, ">")
            yield Edit(redirection.word.end, redirection.word.end, " 2>&1")


def _edit(template: str, place: Place, name: str) -> Edit:
    text = _reference(place, name, template[place.placeholder.end : place.placeholder.end + 1])
    if place.escaped and place.quoting is Quoting.ANSI:
        # Not $'\\', which bash itself misreads in <((...) ...).
        text = f"'\"\\\\{_guard(place, name)}${{{name}}}\"$'"
    elif place.escaped:
        text = "\\\\" + text
    # Each level of backticks takes one level of backslashes away.
    return Edit(place.start, place.end, text.replace("\\", "\\" * 2**place.backticks))


def _reference(place: Place, name: str, following: str) -> str:
    guard = _guard(place, name)
    match place.quoting:
        case Quoting.BARE:
            return f'"{guard}${name}"'
        case Quoting.SINGLE:
            return f"'\"{guard}${name}\"'"
        case Quoting.ANSI:
            return f"'\"{guard}${name}\"$'"
        case Quoting.HEREDOC if not _NAME_CHARACTER.match(following):
            return f"{guard}${name}"
        case Quoting.COMMENT:
            return re.sub(r"[^A-Za-z0-9_.-]", "_", show(place.placeholder.path))
        case _:
            return f"{guard}${{{name}}}"


def _guard(place: Place, name: str) -> str:
    """Return what stops the script if the value goes to an integer or a command that only the run knows."""
    if not place.integers and not place.pattern:
        return ""
    # Deferred: seldom needed.
    from amplihack.recipes.templates.bash.number_guards import pattern_guard, value_guard

    guard = pattern_guard(name, place.pattern) if place.pattern else ""
    return guard + (value_guard(name, place.integers) if place.integers else "")
