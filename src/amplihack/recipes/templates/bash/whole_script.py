"""Read a whole script, and decide about its variables what only all of it can tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from amplihack.errors import TemplateError
from amplihack.patterns import pattern
from amplihack.recipes.placeholders import Placeholder, find_placeholders
from amplihack.recipes.templates.bash.command_names import DECLARES
from amplihack.recipes.templates.bash.commands import commands
from amplihack.recipes.templates.bash.computed_names import settle_given
from amplihack.recipes.templates.bash.cursor import Cursor, Grammar, Script
from amplihack.recipes.templates.bash.dispatch import settle_dispatched
from amplihack.recipes.templates.bash.file_names import ProgramFile
from amplihack.recipes.templates.bash.function_arguments import EvaluatedArguments, evaluated_words
from amplihack.recipes.templates.bash.hidden_declarations import settle_hidden
from amplihack.recipes.templates.bash.joined_names import runs
from amplihack.recipes.templates.bash.number_guards import Guard, Sink, operands
from amplihack.recipes.templates.bash.parameters import parameter
from amplihack.recipes.templates.bash.places import Quoting, Word
from amplihack.recipes.templates.bash.programs import name_language
from amplihack.recipes.templates.bash.value_flow import FILE_NAMES, ValueFlow, identifiers
from amplihack.recipes.templates.bash.variable_attributes import PROGRAM_VARIABLES
from amplihack.recipes.templates.bash.written_scripts import follow_files, settle_written

_GRAMMAR = Grammar(commands, parameter)
_KEYWORDS = pattern(r"\bset\s[^\n;&|]*?(?:-[a-zA-Z]*k|\bkeyword\b)")
_HISTORY = pattern(r"\bset\s[^\n;&|]*?(?:-[a-zA-Z]*H|\bhistexpand\b)")  # `!!` runs what a heredoc holds
_STARTUP_FILES = ("BASH_ENV", "ENV")  # variables with the name of a file that a shell runs first
_BRACES = pattern(r"(?<![$\w])[A-Za-z_]\w*\{[^{}]*(?:,|\.\.)")  # `name_{a,b}`
# A variable that bash or a program runs, named without a look at its value and without an assignment to it.
_PROGRAM_NAME = pattern(rf"(?<![\w$\{{])(?:{'|'.join(sorted(PROGRAM_VARIABLES))})\b(?!\+?=)")


def read_whole(script: str, placeholders: Sequence[Placeholder]) -> Script:
    """Return all that a script says. Raises TemplateError if the quoting never closes."""
    found = _commands(script, placeholders)
    settle_dispatched(found)
    settle_hidden(script, found)
    settle_given(found)
    _settle_keys(found)
    for name in _STARTUP_FILES:
        found.started += (ProgramFile(file, "bash") for file in sorted(found.file_names.get(name, ())))
    settle_written(found, _alone)
    if found.writers:
        follow_files(found)
    found.variables.integers |= {
        name
        for name in found.variables.references
        if not found.variables.integers.isdisjoint(found.flow.named(name))
    }
    found.flow.executed |= found.flow.reaches_programs(found.variables.references)
    found.flow.settle(found.variables.integers, found.variables.from_input, _passed(found))
    found.flow.evaluated |= found.variables.leading_to_integers()
    found.flow.blind |= any(
        found.variables.calculates(name)
        or found.variables.is_bound_later(name)
        or found.variables.makes_integer(name)
        for name in found.flow.unguarded
    )
    if found.variables.made_integers:
        # Other shells have no table for guards that ask what a variable is, and some texts no place for one.
        found.flow.blind |= found.starts_shells or any(
            "\1" in sink.text and not sink.places and found.variables.makes_integer(name)
            for name, sink in found.flow.received
        )
    found.flow.blind |= any(_is_lost(sink) for sink in found.sinks)
    found.flow.lost |= any(
        found.variables.calculates(name) or found.variables.makes_integer(name) for name in found.flow.made
    )
    found.flow.lost |= any(
        (_is_made(sink.text) or (name in found.variables.loops and FILE_NAMES.search(sink.text)))
        and (found.variables.calculates(name) or found.variables.makes_integer(name))
        for name, sink in found.flow.received
    )
    unknown = found.flow.unknown and _PROGRAM_NAME.search(
        script
    )  # the name that the run makes may be that one
    if unknown or found.reads_program:
        name_language((mark for mark in found.marks if mark.quoting is not Quoting.COMMENT), "bash")
    return found


def _commands(script: str, placeholders: Sequence[Placeholder]) -> Script:
    found = Script(
        keywords=_KEYWORDS.search(script) is not None, reads_program=_HISTORY.search(script) is not None
    )
    starts = {each.start: each for each in placeholders}
    cursor = Cursor(script, starts, range(len(script) + 1), found, _GRAMMAR)
    commands(cursor, "", 0)
    return found


def _passed(found: Script) -> Callable[[str, list[Word]], Sequence[Word]]:
    """Return what tells which words of a call the function may evaluate."""
    arguments = EvaluatedArguments(found.bodies, flow_of)
    return lambda name, words: evaluated_words(words, arguments.of(name))


def flow_of(body: str) -> ValueFlow | None:
    found = _alone(body)
    return found.flow if found else None


def _alone(part: str) -> Script | None:
    """Return what a function or another script does; None if it cannot be read by itself."""
    try:
        found = _commands(part, find_placeholders(part))
    except TemplateError:
        return None
    settle_given(found)
    found.flow.settle(found.variables.integers, found.variables.from_input, lambda _, words: words)
    return found


def _settle_keys(found: Script) -> None:
    """Take keys for what bash evaluates where the script may make another variable of their array."""
    found.variables.any_undone |= not DECLARES.isdisjoint(found.flow.functions)
    for sink in found.keys:
        if not found.variables.keeps_keys(sink.array):
            found.sinks.append(sink)
            found.flow.evaluated.update(identifiers(sink.text))


def _is_lost(sink: Sink) -> bool:
    """Tell whether a text makes a name or a number of pieces, and nothing can be put around it."""
    if sink.guard is not Guard.NUMBER:
        return False
    if any(run.is_name and (run.torn or not sink.places) for run in runs(sink.text, ())):
        return True
    return not sink.places and any(operand.changed for operand in operands(sink.text, sink.guard))


def _is_made(text: str) -> bool:
    """Tell whether a text for an integer is written with codes or braces, so that its names are not seen."""
    return ("$'" in text and "\\" in text) or _BRACES.search(text) is not None
