"""Place guards in a script: before what bash evaluates there, around what commands print for it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.cursor import Script
from amplihack.recipes.templates.bash.guard_definitions import preamble
from amplihack.recipes.templates.bash.joined_names import Joint, runs
from amplihack.recipes.templates.bash.number_guards import (
    Guard,
    Kept,
    Keyed,
    Operand,
    Sink,
    as_code,
    by_pattern,
    if_integer,
    keep,
    operands,
    printed_guards,
    stop_integer,
    value_guard,
)
from amplihack.recipes.templates.bash.places import Edit, Output, Place
from amplihack.recipes.templates.bash.value_flow import FILE_NAMES, Suspects
from amplihack.records import replace

_QUOTED_PIECE = pattern(r"""\w["'\\]+\w""")
_NO_QUOTES = str.maketrans("", "", "\"'\\")
_BRACES = pattern(r"(?<![$\w])([A-Za-z_]\w*)\{([\w,]+)\}")
_MANY = pattern(r"\[[@*]\]|\{[@*]")


def placed_guards(script: str, found: Script) -> list[Edit]:
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
        for operand in () if taken else _operands(sink, keyed, proven):
            if operand.changed and (made := _changed(sink, operand, found)):
                kept[made] = None
            elif operand.changed or _needs_guard(operand, around, suspects):
                text = if_integer(operand.text, (sink.target,)) if sink.target else operand.text
                edits[_before(sink, text)] = None
        kept.update(dict.fromkeys(_printed(sink) if sink.target else ()))
        if sink.guard is Guard.TEXT and sink.array in keyed:
            text = _checked_subscript(sink, suspects, keyed)
            edits.update({_before(sink, text): None} if text else {})
    for sink, harmless in found.patterned if keyed.alone else ():
        for operand in operands(sink.text, Guard.NUMBER):
            if _MANY.search(operand.text):  # what is left of several words has blanks between them
                continue
            if operand.name in suspects and (not operand.bare or found.flow.may_hold_value(operand.name)):
                text = by_pattern(operand.text.replace(Guard.NUMBER.name, Guard.TEXT.name), harmless)
                edits[_before(sink, text)] = None
        if found.variables.has_integers():
            kept.update(dict.fromkeys(_printed(sink, harmless)))
    for sink in _unseen(found) if keyed.alone else ():
        edits[_before(sink, stop_integer(sink.target))] = None
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


def _before(sink: Sink, guard: str) -> Edit:
    return Edit(sink.offset, sink.offset, as_code(guard, quoted=sink.quoted))


def _sinks(found: Script, keyed: Keyed) -> Iterator[Sink]:
    """Yield all that bash evaluates, also because of what the whole script says about a variable."""
    variables = found.variables
    for sink in found.sinks:
        yield replace(sink, guard=Guard.TEXT) if keyed.check(sink.text, sink.array) else sink
    for word, is_array in found.declared_whole:  # name and value come from one expansion
        if is_array or variables.may_be_array(""):
            yield Sink(word.start, word.text, Guard.ASSIGNED, "", quoted=False, places=word.places)
    for name, sink in found.flow.received:
        if sink.guard is not Guard.NUMBER or found.variables.calculates(name):
            yield sink
            for before, inside in _BRACES.findall(sink.text):  # `name_{a,b}` names two
                yield replace(sink, text=" ".join(before + each for each in inside.split(",")), places=())
        elif keyed.alone and variables.may_become_integer(name):
            yield replace(sink, target=name)
        elif found.flow.blind or variables.is_bound_later(name):
            yield replace(sink, guard=Guard.NAME)


def _unseen(found: Script) -> Iterator[Sink]:
    """Yield where a variable that may be an integer gets a text at which no guard can look before."""
    variables = found.variables
    for sink in found.reads:
        if variables.may_become_integer(sink.target):
            yield sink
    for name, sink in found.flow.received:
        if name in variables.loops and FILE_NAMES.search(sink.text) and variables.may_become_integer(name):
            yield replace(sink, target=name)


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
    return keyed.check(sink.text, sink.array)


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
