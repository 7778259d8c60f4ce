"""Read a script and return the place of every placeholder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from amplihack.recipes.placeholders import Placeholder, find_placeholders
from amplihack.recipes.templates.bash.commands import commands
from amplihack.recipes.templates.bash.cursor import Cursor, Grammar, Script
from amplihack.recipes.templates.bash.parameters import parameter
from amplihack.recipes.templates.bash.places import Edit, Output, Place, Quoting, Refusal, hold, refuse
from amplihack.recipes.templates.bash.plain_script import plain_places
from amplihack.recipes.templates.bash.programs import input_language, name_language
from amplihack.recipes.templates.bash.variable_attributes import PROGRAM_VARIABLES
from amplihack.records import Record

# Begins a substitution whose output bash evaluates: the output passes if nothing in it can be run, and else
# something is printed that no arithmetic accepts. Nothing is put behind the author's commands, where a
# comment or a heredoc may stand. Without double quotes, it can stand in backticks inside them; without
# `case`, which bash misreads before a heredoc in $(( $(...) )), it can stand there too.
_GUARD = (
    "exec > >(AMPLIHACK_N=$(cat);if [[ {bad} ]];then AMPLIHACK_N=@;"
    "echo amplihack: line {line}: what a command printed is evaluated by bash and {what} >&2;fi;"
    "IFS=;set -f;printf %s $AMPLIHACK_N);"
)
_NO_NUMBER = ("$AMPLIHACK_N == *[!-+.0-9[:space:]]*", "is not a number")
_EXPANDS = (
    r"$AMPLIHACK_N == *[$'\44\140']* || $AMPLIHACK_N == *RECIPE_VAR_* || $AMPLIHACK_N == *[$'\74\76']$'\50'*",
    "could run commands",
)


_GRAMMAR = Grammar(commands, parameter)


class Reading(Record):
    """Where every placeholder stands, in script order, and what else must change in the script."""

    places: tuple[Place, ...] = ()
    edits: tuple[Edit, ...] = ()


def read_script(script: str) -> Reading:
    """Read a script as bash does. Raises TemplateError if the quoting never closes.

    A script without placeholders is not read at all.
    """
    placeholders = find_placeholders(script)
    if not placeholders:
        return Reading()
    if (places := plain_places(script, placeholders)) is not None:
        return Reading(places)
    return read_fully(script, placeholders)


class Uses(Record):
    """What a script does with the variables that it finds in its environment."""

    evaluated: frozenset[str]  # as arithmetic or as a name
    executed: frozenset[str]  # as a script
    blind: bool  # a variable that only the run knows is evaluated

    def evaluates(self, name: str) -> bool:
        return self.blind or name in self.evaluated


def uses_of(script: str) -> Uses:
    """Return what a script does with its variables. Raises TemplateError if the quoting never closes."""
    found = _collect(script, find_placeholders(script))
    return Uses(frozenset(found.flow.evaluated), frozenset(found.flow.executed), found.flow.blind)


def _collect(script: str, placeholders: Sequence[Placeholder]) -> Script:
    found = Script()
    starts = {each.start: each for each in placeholders}
    cursor = Cursor(script, starts, range(len(script) + 1), found, _GRAMMAR)
    commands(cursor, "", 0)
    found.flow.settle(found.variables.integers, found.variables.from_input)
    found.flow.evaluated |= found.variables.leading_to_integers()
    return found


def read_fully(script: str, placeholders: Sequence[Placeholder]) -> Reading:
    """Read a script of any kind."""
    found = _collect(script, placeholders)
    for mark in found.marks:
        _settle(mark, found)
    for word, name, forced in found.declarations:
        if forced or found.variables.may_be_array(name):
            for mark in word.marks:
                for place in mark.places:
                    place.declared = word
    edits = [*found.edits, *_guards(script, found.marks)]
    places = [mark for mark in found.marks if isinstance(mark, Place)]
    return Reading(tuple(sorted(places, key=lambda place: place.start)), tuple(edits))


def _settle(mark: Place | Output, script: Script) -> None:
    """Decide what only the whole script can tell."""
    if (mark.array or mark.quoting is Quoting.ARITHMETIC) and not script.variables.is_key(mark):
        hold([mark])
    if mark.variables or mark.feeds or mark.is_input:  # most values go to no variable
        _settle_assigned(mark, script)
    if isinstance(mark, Place) and mark.command:
        name_language([mark], input_language(mark.command))


def _settle_assigned(mark: Place | Output, script: Script) -> None:
    """Decide about a value that a variable, or the input of a command, receives."""
    variables = script.variables
    if variables.is_integer(mark):
        hold([mark])
    if variables.is_name(mark):
        refuse([mark], Refusal.NAME)
    if not PROGRAM_VARIABLES.isdisjoint(mark.variables):
        name_language([mark], "bash")
    mark.evaluated = script.flow.is_evaluated(mark, variables.from_input)
    if isinstance(mark, Place) and not script.flow.executed.isdisjoint(mark.variables):
        name_language([mark], "bash")


def _guards(script: str, marks: Sequence[Place | Output]) -> Iterator[Edit]:
    outputs = [mark for mark in marks if isinstance(mark, Output) and (mark.numeric or mark.evaluated)]
    if not outputs:
        return
    # A printed name leads to any variable of the script: one that holds another value would be run for it.
    others = any(mark.variables or mark.is_input for mark in marks if not mark.evaluated)
    line, position = 1, 0
    for output in sorted(outputs, key=lambda output: output.start):
        line, position = line + script.count("\n", position, output.start), output.start
        bad, what = _NO_NUMBER if output.numeric or others else _EXPANDS
        text = _GUARD.replace("{bad}", bad).replace("{what}", what).replace("{line}", str(line))
        yield Edit(output.start, output.start, text)
