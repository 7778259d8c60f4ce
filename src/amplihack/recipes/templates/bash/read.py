"""Read a script of any kind as bash does, to the end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from amplihack.errors import TemplateError
from amplihack.patterns import pattern
from amplihack.recipes.placeholders import Placeholder, find_placeholders
from amplihack.recipes.templates.bash.builtins import is_one_expansion
from amplihack.recipes.templates.bash.command_names import DECLARES
from amplihack.recipes.templates.bash.commands import commands
from amplihack.recipes.templates.bash.computed_names import settle_given
from amplihack.recipes.templates.bash.cursor import Cursor, Grammar, Script
from amplihack.recipes.templates.bash.dispatch import settle_dispatched
from amplihack.recipes.templates.bash.function_arguments import EvaluatedArguments, evaluated_words
from amplihack.recipes.templates.bash.hidden_declarations import settle_hidden
from amplihack.recipes.templates.bash.joined_names import Joint, runs
from amplihack.recipes.templates.bash.number_guards import (
    Guard,
    Kept,
    Keyed,
    Operand,
    Sink,
    by_pattern,
    if_integer,
    keep,
    operands,
    preamble,
    printed_guards,
    value_guard,
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
from amplihack.recipes.templates.bash.variable_attributes import PROGRAM_VARIABLES, Variables
from amplihack.recipes.templates.bash.written_scripts import settle_written, written_scripts
from amplihack.records import Record, replace

_GRAMMAR = Grammar(commands, parameter)
# A variable that bash or a program runs, named without a look at its value and without an assignment to it.
_UNEXPANDED = (Quoting.SINGLE, Quoting.ANSI, Quoting.QUOTED_HEREDOC, Quoting.COMMENT)
_QUOTED_PIECE = pattern(r"""\w["'\\]+\w""")
_NO_QUOTES = str.maketrans("", "", "\"'\\")
_GLOB = pattern(r"[*?]|(?<!\w)\[")  # for the names of files, which may be any
_MANY = pattern(r"\[[@*]\]|\{[@*]")
_BRACES = pattern(r"(?<![$\w])[A-Za-z_]\w*\{[^{}]*(?:,|\.\.)")  # `name_{a,b}`
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
        found.variables.reads_integers() or found.flow.lost,
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
    settle_given(found)
    found.flow.settle(found.variables.integers, found.variables.from_input, lambda _, words: words)
    return found


def _collect(script: str, placeholders: Sequence[Placeholder]) -> Script:
    found = _commands(script, placeholders)
    settle_dispatched(found)
    settle_hidden(script, found)
    settle_given(found)
    _settle_keys(found)
    settle_written(found, _alone)
    found.variables.integers |= {
        name
        for name in found.variables.references
        if not found.variables.integers.isdisjoint(found.flow.named(name))
    }
    found.flow.executed |= found.flow.reaches_programs(found.variables.references)
    found.flow.settle(found.variables.integers, found.variables.from_input, _passed(found))
    found.flow.evaluated |= found.variables.leading_to_integers()
    found.flow.blind |= any(
        _calculates(name, found)
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
        _calculates(name, found) or found.variables.makes_integer(name) for name in found.flow.made
    )
    found.flow.lost |= any(
        (_is_made(sink.text) or (name in found.variables.loops and _GLOB.search(sink.text)))
        and (_calculates(name, found) or found.variables.makes_integer(name))
        for name, sink in found.flow.received
    )
    unknown = found.flow.unknown and _PROGRAM_NAME.search(
        script
    )  # the name that the run makes may be that one
    if unknown or found.reads_program:
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


def _is_made(text: str) -> bool:
    """Tell whether a text for an integer is written with codes or braces, so that its names are not seen."""
    return ("$'" in text and "\\" in text) or _BRACES.search(text) is not None


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
        elif keyed.alone and variables.may_become_integer(name):
            yield replace(sink, target=name)
        elif found.flow.blind or variables.is_bound_later(name):
            yield replace(sink, guard=Guard.NAME)


def _guards(script: str, found: Script) -> list[Edit]:
    """Return the edits that keep bash from running what variables hold and commands print."""
    suspects = found.flow.suspects(found.variables.from_input, opaque=found.variables.opaque)
    edits: dict[Edit, None] = {}
    kept: dict[Kept, None] = {}
    keyed = Keyed(found.variables.keyed, found.variables.opaque, not found.starts_shells)
    for sink in _sinks(found, keyed):
        # What a text makes for an integer of another file is not kept: nearly no variable is one.
        is_kept = not sink.target or found.variables.makes_integer(sink.target)
        together = list(runs(sink.text, keyed)) if sink.guard is Guard.NUMBER and is_kept else []
        kept.update(dict.fromkeys(_named(sink, together)))
        around = _around(together)
        proven = {name for name in sink.proven if found.variables.keeps_keys(name)}
        taken = sink.once and sink.guard is Guard.TEXT  # as a key, whatever it holds
        for operand in () if taken else _operands(sink, keyed, proven):
            if operand.changed and not is_kept:
                continue
            if operand.changed and (made := _changed(sink, operand, found)):
                kept[made] = None
            elif operand.changed or _needs_guard(operand, around, suspects):
                text = if_integer(operand.text, (sink.target,)) if sink.target else operand.text
                text = text.replace("$", "\\$") if sink.quoted else text
                edits[Edit(sink.offset, sink.offset, text)] = None
        kept.update(dict.fromkeys(_printed(sink) if sink.target and is_kept else ()))
        if sink.guard is Guard.TEXT and sink.array in keyed:
            text = _checked_subscript(sink, suspects, keyed)
            edits.update({Edit(sink.offset, sink.offset, text): None} if text else {})
    for sink, harmless in found.patterned if keyed.alone else ():
        for operand in operands(sink.text, Guard.NUMBER):
            if _MANY.search(operand.text):  # what is left of several words has blanks between them
                continue
            if operand.name in suspects and (not operand.bare or operand.name in found.flow.written):
                text = by_pattern(operand.text.replace(Guard.NUMBER.name, Guard.TEXT.name), harmless)
                edits[Edit(sink.offset, sink.offset, text.replace("$", "\\$") if sink.quoted else text)] = (
                    None
                )
        if found.variables.has_integers():
            kept.update(dict.fromkeys(_printed(sink, harmless)))
    edits.update(dict.fromkeys(keep(kept)))
    outputs = [mark for mark in found.marks if isinstance(mark, Output)]
    checked = [(output, guard) for output in outputs if (guard := _of_output(output, found))]
    checked += [(each, Guard.NUMBER) for each in outputs if each.integers and each.is_process(script)]
    guards = [*edits, *printed_guards(script, checked)]
    places = [mark for mark in found.marks if isinstance(mark, Place)]
    given = [value_guard("", place.integers) for place in places if place.integers]
    given += [place.pattern for place in places if place.pattern]
    text = "".join((*(edit.text for edit in guards), *given))
    definitions = preamble(text, exported=found.starts_shells, integers=found.variables.integers)
    return [Edit(0, 0, definitions), *guards] if definitions else []


def _operands(sink: Sink, keyed: Keyed, proven: Collection[str]) -> Iterator[Operand]:
    """Yield the variables that bash evaluates in a text, also those whose names are partly in quotes."""
    yield from operands(sink.text, sink.guard, keyed, proven=proven)
    if sink.guard is Guard.NUMBER and _QUOTED_PIECE.search(sink.text):
        for operand in operands(sink.text.translate(_NO_QUOTES), sink.guard, keyed, proven=proven):
            if operand.bare and operand.name not in sink.text:
                yield operand


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
            yield Kept(start, end, run.name, sink.quoted, joined=True, target=sink.target)


def _changed(sink: Sink, operand: Operand, found: Script) -> Kept | None:
    """Return where the expansion of an operand stands; None if that is not known."""
    start = sink.position(operand.start)
    end = found.ends.get(start) if start is not None else None
    if start is None or end is None:
        return None
    return Kept(start, end, operand.name, sink.quoted, target=sink.target)


def _printed(sink: Sink, harmless: str = "") -> Iterator[Kept]:
    """Yield what commands print for a variable of which only the run knows whether it is an integer."""
    for index, sign in enumerate(sink.text if sink.places else ""):
        if sign == "\1":
            start, end = sink.places[index], sink.places[index + 1]
            what = "what a command printed"
            yield Kept(start, end, what, sink.quoted, target=sink.target, harmless=harmless)


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


class HandedOn(Record):
    """What a script hands to interpreters, as far as its text shows."""

    places: Sequence[Place]
    quoted: frozenset[int]  # where placeholders stand in texts that bash does not expand, and in comments
    printed: frozenset[int]  # where they stand in commands whose output goes on
    executed: AbstractSet[str]  # the variables that a shell runs


def handed_on(script: str, placeholders: Sequence[Placeholder]) -> HandedOn:
    """Return what a script hands to interpreters. Raises TemplateError if the quoting never closes."""
    found = _settled(script, placeholders)
    places = [mark for mark in found.marks if isinstance(mark, Place)]
    inside = [place for mark in found.marks if isinstance(mark, Output) for place in mark.places]
    executed = set(found.flow.executed)
    for name in found.flow.executed:  # `n=RECIPE_VAR_x; eval "${!n}"`
        executed |= found.flow.named(name)
    return HandedOn(
        places,
        frozenset(place.placeholder.start for place in places if place.quoting in _UNEXPANDED),
        frozenset(place.placeholder.start for place in (*inside, *(each for each in places if each.feeds))),
        executed,
    )


def read_fully(script: str, placeholders: Sequence[Placeholder]) -> Reading:
    """Return where every placeholder stands. Raises TemplateError if the quoting never closes."""
    found = _settled(script, placeholders)
    edits = [*_guards(script, found), *found.edits]
    places = [mark for mark in found.marks if isinstance(mark, Place)]
    return Reading(tuple(sorted(places, key=lambda place: place.start)), tuple(edits))


def _settled(script: str, placeholders: Sequence[Placeholder]) -> Script:
    """Return a script of which every mark is settled. Raises TemplateError if the quoting never closes."""
    found = _collect(script, placeholders)
    strict = found.variables.reads_integers() or found.flow.lost
    for mark in found.marks:
        _settle(mark, found)
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
    for command in written_scripts(found):
        words = (*command.words, *command.strings)
        name_language((mark for word in words for mark in word.marks), "bash")
        name_language((mark for mark in found.marks if _written_by(mark, command)), "bash")
    if not found.flow.printing.isdisjoint(found.flow.functions):
        name_language((mark for mark in found.marks if isinstance(mark, Place) and mark.in_function), "bash")
    return found


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


def _may_become_integers(mark: Place | Output, variables: Variables) -> set[str]:
    """Return what gets a value, or reads what a command prints, and may be an integer by then."""
    if isinstance(mark, Place):
        read = variables.from_input if mark.feeds or mark.is_input else ()
        return {name for name in (*mark.variables, *read) if variables.may_become_integer(name)}
    return {name for name in variables.from_input if mark.feeds and variables.makes_integer(name)}


def _settle_assigned(mark: Place | Output, script: Script) -> None:
    """Decide about a value that a variable, or the input of a command, receives."""
    variables = script.variables
    if variables.is_integer(mark):
        hold([mark])
    if variables.is_name(mark):
        refuse([mark], Refusal.NAME)
    mark.evaluated |= script.flow.is_evaluated(mark, variables.from_input)
    if not script.starts_shells:
        mark.integers = tuple(sorted(_may_become_integers(mark, variables)))
    received = variables.from_input.union(mark.variables) if mark.feeds else mark.variables
    if not script.flow.executed.isdisjoint(received) or not PROGRAM_VARIABLES.isdisjoint(received):
        name_language([mark], "bash")
    if not script.flow.launched.isdisjoint(received):
        for place in mark.places:
            place.launcher = place.launcher or "the script"
