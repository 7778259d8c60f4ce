"""Decide what only the whole script tells about its values: whether bash evaluates or a shell runs one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from amplihack.recipes.placeholders import Placeholder
from amplihack.recipes.templates.bash.builtins import is_one_expansion
from amplihack.recipes.templates.bash.cursor import Script
from amplihack.recipes.templates.bash.number_guards import Guard
from amplihack.recipes.templates.bash.places import (
    Output,
    Place,
    Quoting,
    Refusal,
    hold,
    refuse,
)
from amplihack.recipes.templates.bash.programs import input_language, name_language, variable_language
from amplihack.recipes.templates.bash.unpacked_files import may_be_fetched, runs_unpacked
from amplihack.recipes.templates.bash.variable_attributes import Variables, git_key
from amplihack.recipes.templates.bash.whole_script import read_whole
from amplihack.recipes.templates.bash.written_scripts import content, written_scripts

_BEFORE = 64  # of a value in an assignment, what is looked at


def settle_values(script: str, placeholders: Sequence[Placeholder]) -> Script:
    """Return a script of which every mark is settled. Raises TemplateError if the quoting never closes."""
    found = read_whole(script, placeholders)
    strict = found.variables.reads_integers() or found.flow.lost
    run = frozenset(file.name for file in found.started)
    for mark in found.marks:
        _settle(mark, found, script)
        if isinstance(mark, Place):  # `f={{v}}; bash "$f"`
            mark.is_script |= any(f"${name}" in run for name in _receiving(mark, found.variables))
        mark.evaluated |= strict
        if found.flow.blind and mark.evaluated:  # a name that is printed passes the guard there
            for place in mark.places:
                place.evaluated = True
    for each in found.declarations:
        word, name, variables = each.word, each.name, found.variables
        if each.forced or name in variables.arrays or (not each.fresh and variables.may_be_array(name)):
            for mark in word.marks:
                mark.listed, mark.expanded = is_one_expansion(word), True
                for place in mark.places:
                    place.declared = word
            found.receives(word, name, Guard.LIST if is_one_expansion(word) else Guard.TEXT)
    printing: dict[str, str] = {}
    in_heredocs: dict[int, list[Place | Output]] = {}
    for mark in found.marks:
        for place in mark.places:
            in_heredocs.setdefault(id(place.command), []).append(mark)
    for written in written_scripts(found):
        command = written.command
        name_language((mark for word in content(written, found) for mark in word.marks), written.language)
        name_language(in_heredocs.get(id(command), ()), written.language)
        printing.update(dict.fromkeys((word.plain for word in command.words[:1]), written.language))
    for name, language in printing.items():
        name_language(_in_body(name, found, script), language)
    for unpacked in found.unpacked:
        if any(runs_unpacked(unpacked, file, found.entered) for file in found.started):
            name_language((mark for word in unpacked.sources for mark in word.marks), "bash")
    for word in found.fetched:
        last = word.plain.rpartition("/")[2]
        files = tuple(sorted({file.name for file in found.started if may_be_fetched(file, last)}))
        for place in (place for mark in word.marks for place in mark.places):
            place.fetched, place.fetched_as = files, last
    if not found.flow.printing.isdisjoint(found.flow.functions):
        name_language((mark for mark in found.marks if isinstance(mark, Place) and mark.in_function), "bash")
    return found


def _settle(mark: Place | Output, script: Script, source: str) -> None:
    """Decide what only the whole script can tell."""
    if (mark.array or mark.quoting is Quoting.ARITHMETIC) and not script.variables.is_key(mark):
        hold([mark])
    if mark.variables or mark.feeds or mark.is_input:  # most values go to no variable
        _settle_assigned(mark, script, source)
    if isinstance(mark, Place) and mark.command:
        name_language([mark], input_language(mark.command))


def _in_body(name: str, found: Script, script: str) -> Iterator[Place | Output]:
    """Yield the marks in a function of that name, if there is one, outside of backticks."""
    for text, start, end in found.bodies.get(name, ()):
        if len(text) == len(script):
            yield from (mark for mark in found.marks if start <= mark.start < end)


def _receiving(mark: Place | Output, variables: Variables) -> Collection[str]:
    """Return the variables that get a value, or read what a command prints."""
    return variables.from_input.union(mark.variables) if mark.feeds else mark.variables


def _may_become_integers(mark: Place | Output, variables: Variables) -> set[str]:
    """Return what gets a value, or reads what a command prints, and may be an integer by then."""
    if isinstance(mark, Place):
        read = variables.from_input if mark.feeds or mark.is_input else ()
        return {name for name in (*mark.variables, *read) if variables.may_become_integer(name)}
    return {name for name in variables.from_input if mark.feeds and variables.makes_integer(name)}


def _settle_assigned(mark: Place | Output, script: Script, source: str) -> None:
    """Decide about a value that a variable, or the input of a command, receives."""
    variables = script.variables
    if variables.is_integer(mark):
        hold([mark])
    if variables.is_name(mark):
        refuse([mark], Refusal.NAME)
    mark.evaluated |= script.flow.is_evaluated(mark, variables.from_input)
    if not script.starts_shells:
        mark.integers = tuple(sorted(_may_become_integers(mark, variables)))
    received = _receiving(mark, variables)
    if not script.flow.executed.isdisjoint(received):
        name_language([mark], "bash")
    for name in received:
        keys = script.file_names.get(git_key(name), ())
        if language := variable_language(name, keys, source[max(0, mark.start - _BEFORE) : mark.start]):
            name_language([mark], language)
    if not script.flow.launched.isdisjoint(received):
        for place in mark.places:
            place.launcher = place.launcher or "the script"
