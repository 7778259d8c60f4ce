"""Read a script and return the place of every placeholder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from amplihack.recipes.placeholders import find_placeholders
from amplihack.recipes.templates.bash.commands import commands
from amplihack.recipes.templates.bash.cursor import Cursor, Grammar, Script
from amplihack.recipes.templates.bash.parameters import parameter
from amplihack.recipes.templates.bash.places import Edit, Mark, Output, Place, Quoting, Refusal, hold, refuse
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


class Reading(Record):
    """Where every placeholder stands, in script order, and what else must change in the script."""

    places: tuple[Place, ...] = ()
    edits: tuple[Edit, ...] = ()


def read_script(script: str) -> Reading:
    """Read a script as bash does. Raises TemplateError if the quoting never closes.

    A script without placeholders is not read at all.
    """
    placeholders = {found.start: found for found in find_placeholders(script)}
    if not placeholders:
        return Reading()
    found = Script()
    cursor = Cursor(script, placeholders, range(len(script) + 1), found, Grammar(commands, parameter))
    commands(cursor, "", 0)
    found.flow.settle(found.variables.integers)
    found.flow.evaluated |= found.variables.leading_to_integers()
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
    variables = script.variables
    if _is_evaluated(mark) and not variables.is_key(mark):
        hold([mark])
    if variables.is_integer(mark):
        hold([mark])
    if variables.is_name(mark):
        refuse([mark], Refusal.NAME)
    if not PROGRAM_VARIABLES.isdisjoint(mark.variables):
        name_language([mark], "bash")
    mark.evaluated = script.flow.is_evaluated(mark, variables.from_input)
    if isinstance(mark, Place):
        if not script.flow.executed.isdisjoint(mark.variables):
            name_language([mark], "bash")
        if mark.command:
            name_language([mark], input_language(mark.command))


def _is_evaluated(mark: Mark) -> bool:
    return bool(mark.array) or mark.quoting is Quoting.ARITHMETIC


def _guards(script: str, marks: Sequence[Place | Output]) -> Iterator[Edit]:
    outputs = [mark for mark in marks if isinstance(mark, Output) and (mark.numeric or mark.evaluated)]
    # A printed name leads to any variable of the script: one that holds another value would be run for it.
    others = any(mark.variables or mark.is_input for mark in marks if not mark.evaluated)
    line, position = 1, 0
    for output in sorted(outputs, key=lambda output: output.start):
        line, position = line + script.count("\n", position, output.start), output.start
        bad, what = _NO_NUMBER if output.numeric or others else _EXPANDS
        text = _GUARD.replace("{bad}", bad).replace("{what}", what).replace("{line}", str(line))
        yield Edit(output.start, output.start, text)
