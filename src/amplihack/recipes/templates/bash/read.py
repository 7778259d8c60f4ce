"""The reader: a script in, the place of every placeholder out."""

from __future__ import annotations

from dataclasses import dataclass

from amplihack.recipes.placeholders import find_placeholders
from amplihack.recipes.templates.bash.commands import commands
from amplihack.recipes.templates.bash.cursor import Cursor, Rules, Script
from amplihack.recipes.templates.bash.parameters import parameter
from amplihack.recipes.templates.bash.places import Edit, Mark, Output, Place, Quoting, Refusal, hold, refuse
from amplihack.recipes.templates.bash.programs import input_language, name_language
from amplihack.recipes.templates.bash.variables import PROGRAM_VARIABLES

# Around a substitution whose output bash evaluates: it prints the output if that can only be a number, and
# else something that no arithmetic accepts. No quotes, so that it can stand in backticks in double quotes.
_NUMBER_BEGIN = "AMPLIHACK_N=$("
_NUMBER_END = (
    ");AMPLIHACK_S=$?;IFS=;case $AMPLIHACK_N in *[!-+.0-9[:space:]]*)"
    "echo amplihack: an output that is used in arithmetic is not a number >&2;AMPLIHACK_N=@;;"
    "esac;echo $AMPLIHACK_N;exit $AMPLIHACK_S"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """Where every placeholder stands, in the order of the script, and what else must change in it."""

    places: tuple[Place, ...] = ()
    edits: tuple[Edit, ...] = ()


def read_script(script: str) -> Reading:
    """Read a script as bash does. Raises TemplateError if the quoting never closes; a script without
    placeholders is not read at all."""
    placeholders = {found.start: found for found in find_placeholders(script)}
    if not placeholders:
        return Reading()
    found = Script()
    cursor = Cursor(script, placeholders, range(len(script) + 1), found, Rules(commands, parameter))
    commands(cursor, "", 0)
    for mark in found.marks:
        _settle(mark, found)
    for word, name, forced in found.declarations:
        if forced or found.variables.may_be_array(name):
            for mark in word.marks:
                for place in mark.places:
                    place.declared = word
    outputs = [mark for mark in found.marks if isinstance(mark, Output) and mark.numeric]
    edits = [*found.edits, *(edit for output in outputs for edit in _guard(script, output))]
    places = [mark for mark in found.marks if isinstance(mark, Place)]
    return Reading(tuple(sorted(places, key=lambda place: place.start)), tuple(edits))


def find_places(script: str) -> tuple[Place, ...]:
    """Where every placeholder stands, in the order of the script. Raises TemplateError as `read_script`."""
    return read_script(script).places


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
    if isinstance(mark, Place) and mark.command:
        name_language([mark], input_language(mark.command))


def _is_evaluated(mark: Mark) -> bool:
    return bool(mark.array) or mark.quoting is Quoting.ARITHMETIC


def _guard(script: str, output: Output) -> tuple[Edit, Edit]:
    inside = script[output.start : output.end]
    end = "\n" if "#" in inside or "<<" in inside else ""  # a comment, or the delimiter of a heredoc
    return (
        Edit(output.start, output.start, _NUMBER_BEGIN),
        Edit(output.end, output.end, end + _NUMBER_END),
    )
