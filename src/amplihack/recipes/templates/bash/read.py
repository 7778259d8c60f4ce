"""Read a script of any kind as bash does, to the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from amplihack.errors import TemplateError
from amplihack.patterns import pattern
from amplihack.recipes.placeholders import Placeholder, find_placeholders
from amplihack.recipes.templates.bash.builtins import is_one_expansion
from amplihack.recipes.templates.bash.command_names import DECLARES
from amplihack.recipes.templates.bash.commands import commands
from amplihack.recipes.templates.bash.cursor import Cursor, Grammar, Script
from amplihack.recipes.templates.bash.dispatch import settle_dispatched
from amplihack.recipes.templates.bash.function_arguments import EvaluatedArguments, evaluated_words
from amplihack.recipes.templates.bash.joined_names import Joint, runs
from amplihack.recipes.templates.bash.number_guards import (
    Guard,
    Kept,
    Keyed,
    Operand,
    Sink,
    keep,
    operands,
    preamble,
    printed_guards,
)
from amplihack.recipes.templates.bash.parameters import parameter
from amplihack.recipes.templates.bash.places import (
    Edit,
    Output,
    Place,
    Quoting,
    Refusal,
    SimpleCommand,
    Word,
    apply_edits,
    hold,
    refuse,
)
from amplihack.recipes.templates.bash.programs import input_language, name_language
from amplihack.recipes.templates.bash.reading import Reading
from amplihack.recipes.templates.bash.value_flow import Suspects, ValueFlow, identifiers
from amplihack.recipes.templates.bash.variable_attributes import PROGRAM_VARIABLES
from amplihack.recipes.templates.bash.written_scripts import settle_written, written_scripts
from amplihack.records import Record, replace

_GRAMMAR = Grammar(commands, parameter)
# A variable that bash or a program runs, named without a look at its value and without an assignment to it.
_PROGRAM_NAME = pattern(rf"(?<![\w$\{{])(?:{'|'.join(sorted(PROGRAM_VARIABLES))})\b(?!\+?=)")


@lru_cache(maxsize=512)  # the rounds of a loop run one script
def guard_script(script: str) -> str:
    """Return a script without placeholders with guards for the variables that it evaluates."""
    try:
        edits = read_fully(script, ()).edits
    except TemplateError:  # bash will say what is wrong with it
        return script
    return apply_edits(script, edits)


class Uses(Record):
    """What a script does with the variables that it finds in its environment."""

    evaluated: frozenset[str]  # as arithmetic or as a name
    executed: frozenset[str]  # as a script
    blind: bool  # a variable that only the run knows is evaluated
    unread: frozenset[str]  # evaluated where no guard can be put
    reads_integers: bool  # any text may be evaluated before a guard can look at it

    def evaluates(self, name: str) -> bool:
        return self.blind or name in self.evaluated

    def is_unguarded(self, name: str) -> bool:
        return self.blind or self.reads_integers or name in self.unread


def uses_of(script: str) -> Uses:
    """Return what a script does with its variables. Raises TemplateError if the quoting never closes."""
    found = _collect(script, find_placeholders(script))
    return Uses(
        frozenset(found.flow.evaluated),
        frozenset(found.flow.executed),
        found.flow.blind,
        frozenset(found.flow.unread),
        found.variables.reads_integers(),
    )


def calls_of(script: str) -> tuple[Sequence[Sequence[Word]], AbstractSet[str]]:
    """Return the commands that are not bash's own and use values or variables, and the script's functions.

    Raises TemplateError if the quoting never closes.
    """
    found = _collect(script, find_placeholders(script))
    return [words for _, words in found.flow.calls], found.flow.functions


def _commands(script: str, placeholders: Sequence[Placeholder]) -> Script:
    found = Script()
    starts = {each.start: each for each in placeholders}
    cursor = Cursor(script, starts, range(len(script) + 1), found, _GRAMMAR)
    commands(cursor, "", 0)
    return found


def _passed(found: Script) -> Callable[[str, list[Word]], Sequence[Word]]:
    """Return what tells which words of a call the function may evaluate."""
    arguments = EvaluatedArguments(found.bodies, _flow)
    return lambda name, words: evaluated_words(words, arguments.of(name))


def _flow(body: str) -> ValueFlow | None:
    found = _alone(body)
    return found.flow if found else None


def _alone(part: str) -> Script | None:
    """Return what a function or another script does; None if it cannot be read by itself."""
    try:
        found = _commands(part, find_placeholders(part))
    except TemplateError:
        return None
    found.flow.settle(found.variables.integers, found.variables.from_input, lambda _, words: words)
    return found


def _collect(script: str, placeholders: Sequence[Placeholder]) -> Script:
    found = _commands(script, placeholders)
    settle_dispatched(found)
    _settle_keys(found)
    settle_written(found, _alone)
    found.flow.executed |= found.flow.reaches_programs(found.variables.references)
    found.flow.settle(found.variables.integers, found.variables.from_input, _passed(found))
    found.flow.evaluated |= found.variables.leading_to_integers()
    found.flow.blind |= any(
        _calculates(name, found) or found.variables.is_bound_later(name) for name in found.flow.unguarded
    )
    found.flow.blind |= any(_is_lost(sink) for sink in found.sinks)
    if found.flow.unknown and _PROGRAM_NAME.search(script):  # the name that the run makes may be that one
        name_language((mark for mark in found.marks if mark.quoting is not Quoting.COMMENT), "bash")
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


def _calculates(name: str, found: Script) -> bool:
    """Tell whether bash takes what is assigned to this variable for a number."""
    variables = found.variables
    return name in variables.integers or (
        name in variables.references and bool(variables.leading_to_integers())
    )


def _sinks(found: Script, keyed: Keyed) -> Iterator[Sink]:
    """Yield all that bash evaluates, also because of what the whole script says about a variable."""
    variables = found.variables
    for sink in found.sinks:
        yield replace(sink, guard=Guard.TEXT) if keyed.check(sink.text, sink.array) else sink
    for word, is_array in found.declared_whole:  # name and value come from one expansion
        if is_array or variables.may_be_array(""):
            yield Sink(word.start, word.text, Guard.ASSIGNED, "", quoted=False, places=word.places)
    for name, sink in found.flow.received:
        if sink.guard is not Guard.NUMBER or _calculates(name, found):
            yield sink
        elif found.flow.blind or variables.is_bound_later(name):
            yield replace(sink, guard=Guard.NAME)


def _guards(script: str, found: Script) -> list[Edit]:
    """Return the edits that keep bash from running what variables hold and commands print."""
    suspects = found.flow.suspects(found.variables.from_input, opaque=found.variables.opaque)
    edits: dict[Edit, None] = {}
    kept: dict[Kept, None] = {}
    keyed = Keyed(found.variables.keyed, found.variables.opaque, not found.starts_shells)
    for sink in _sinks(found, keyed):
        together = list(runs(sink.text, keyed)) if sink.guard is Guard.NUMBER else []
        kept.update(dict.fromkeys(_named(sink, together)))
        around = _around(together)
        proven = {name for name in sink.proven if found.variables.keeps_keys(name)}
        taken = sink.once and sink.guard is Guard.TEXT  # as a key, whatever it holds
        for operand in () if taken else operands(sink.text, sink.guard, keyed, proven=proven):
            if operand.changed and (made := _changed(sink, operand, found)):
                kept[made] = None
            elif operand.changed or _needs_guard(operand, around, suspects):
                text = operand.text.replace("$", "\\$") if sink.quoted else operand.text
                edits[Edit(sink.offset, sink.offset, text)] = None
        if sink.guard is Guard.TEXT and sink.array in keyed:
            text = _checked_subscript(sink, suspects, keyed)
            edits.update({Edit(sink.offset, sink.offset, text): None} if text else {})
    edits.update(dict.fromkeys(keep(kept)))
    outputs = [mark for mark in found.marks if isinstance(mark, Output)]
    checked = ((output, guard) for output in outputs if (guard := _of_output(output, found)))
    guards = [*edits, *printed_guards(script, checked)]
    definitions = preamble("".join(edit.text for edit in guards), exported=found.starts_shells)
    return [Edit(0, 0, definitions), *guards] if guards else []


def _checked_subscript(sink: Sink, suspects: Suspects, keyed: Keyed) -> str:
    """Return what checks a subscript while the script runs: its array may be associative or not."""
    found = list(operands(sink.text, Guard.NUMBER))
    if not any(operand.name in suspects for operand in found) and not any(
        run.is_name or run.is_joined for run in runs(sink.text, ())
    ):
        return ""
    text = keyed.check(sink.text, sink.array)
    return text.replace("$", "\\$") if sink.quoted else text


def _named(sink: Sink, together: Iterable[Joint]) -> Iterator[Kept]:
    """Yield the names of variables that a text joins from pieces."""
    for run in together:
        start, end = sink.position(run.start), sink.position(run.end)
        if run.is_name and not run.torn and start is not None and end is not None:
            yield Kept(start, end, run.name, sink.quoted, joined=True)


def _changed(sink: Sink, operand: Operand, found: Script) -> Kept | None:
    """Return where the expansion of an operand stands; None if that is not known."""
    start = sink.position(operand.start)
    end = found.ends.get(start) if start is not None else None
    return None if start is None or end is None else Kept(start, end, operand.name, sink.quoted)


def _around(together: Sequence[Joint]) -> dict[int, Joint]:
    """Return the innermost run at each position of an expression, which may be long."""
    return {position: run for run in reversed(together) for position in range(run.start, run.end)}


def _needs_guard(operand: Operand, around: Mapping[int, Joint], suspects: Suspects) -> bool:
    """Tell whether an operand may name another variable, or hold any text."""
    run = around.get(operand.start)
    if run and run.is_joined:
        return True
    return operand.name in suspects and not (operand.bare and run and run.is_name)


def _of_output(output: Output, found: Script) -> Guard | None:
    """Return what to check about the text that a substitution prints, if no variable is checked later."""
    integers = found.variables.leading_to_integers()  # an assignment to a nameref may be one to an integer
    if (
        output.numeric
        or not integers.isdisjoint(output.variables)
        or (output.evaluated and not found.variables.keyed.isdisjoint(output.variables))
    ):
        return Guard.NUMBER
    if output.runs or output.expanded:
        return Guard.WORD if output.runs else Guard.LIST if output.listed else Guard.TEXT
    if not found.flow.unread.isdisjoint(output.variables):
        return Guard.NUMBER
    unknown = output.evaluated and found.flow.blind  # it may go to an integer that only the run knows
    return Guard.NAME if unknown or (output.named and not output.places) else None


def read_fully(script: str, placeholders: Sequence[Placeholder]) -> Reading:
    """Return where every placeholder stands. Raises TemplateError if the quoting never closes."""
    found = _collect(script, placeholders)
    for mark in found.marks:
        _settle(mark, found)
        mark.evaluated |= found.variables.reads_integers()
    for each in found.declarations:
        word, name, variables = each.word, each.name, found.variables
        if each.forced or name in variables.arrays or (not each.fresh and variables.may_be_array(name)):
            for mark in word.marks:
                mark.listed, mark.expanded = is_one_expansion(word), True
                for place in mark.places:
                    place.declared = word
            found.receives(word, name, Guard.LIST if is_one_expansion(word) else Guard.TEXT)
    for command in written_scripts(found):
        words = (*command.words, *command.strings)
        name_language((mark for word in words for mark in word.marks), "bash")
        name_language((mark for mark in found.marks if _written_by(mark, command)), "bash")
    if not found.flow.printing.isdisjoint(found.flow.functions):
        name_language((mark for mark in found.marks if isinstance(mark, Place) and mark.in_function), "bash")
    edits = [*_guards(script, found), *found.edits]
    places = [mark for mark in found.marks if isinstance(mark, Place)]
    return Reading(tuple(sorted(places, key=lambda place: place.start)), tuple(edits))


def _written_by(mark: Place | Output, command: SimpleCommand) -> bool:
    """Tell whether a mark stands in a heredoc of the command."""
    return any(place.command is command for place in mark.places)


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
    mark.evaluated |= script.flow.is_evaluated(mark, variables.from_input)
    received = variables.from_input.union(mark.variables) if mark.feeds else mark.variables
    if not script.flow.executed.isdisjoint(received) or not PROGRAM_VARIABLES.isdisjoint(received):
        name_language([mark], "bash")
    if not script.flow.launched.isdisjoint(mark.variables):
        for place in mark.places:
            place.launcher = place.launcher or "the script"
