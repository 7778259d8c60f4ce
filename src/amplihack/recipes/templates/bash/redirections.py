"""Read redirections.

redirection = [number | "{" name "}"] (">" | ">>" | ">|" | "<" | "<>" | "<<<" | "&>" | ">&" ...) word
            | heredoc
"""

from __future__ import annotations

import re

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.blocks import CommandList
from amplihack.recipes.templates.bash.cursor import BLANKS, Cursor, Script
from amplihack.recipes.templates.bash.file_names import file_name
from amplihack.recipes.templates.bash.heredocs import open_heredoc
from amplihack.recipes.templates.bash.number_guards import Guard
from amplihack.recipes.templates.bash.places import Redirection, Refusal, Word, refuse
from amplihack.recipes.templates.bash.value_flow import INPUT, files_in, references
from amplihack.recipes.templates.bash.words import word

_OPERATOR = pattern(r"&>>|&>|<<<|<>|<&|>&|>>|>\||<|>")
_LONG = 1024  # no name of a file is longer
_WRITES = (">", ">>", ">|", "&>", "&>>", "<>")
_DESCRIPTOR = pattern(r"[0-9]+|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<subscript>\[.*\])?\}", re.DOTALL)


def is_descriptor(found: Word, script: Script) -> bool:
    """Tell whether a word right before `<` or `>` belongs to it. Its subscript can hold no value."""
    descriptor = _DESCRIPTOR.fullmatch(found.text)
    if descriptor and descriptor["subscript"]:
        refuse(found.marks, Refusal.NAME)
        script.takes_name(found)
        script.variables.saw_array(descriptor["name"])
    return descriptor is not None


def redirection(c: Cursor, state: CommandList) -> bool:
    """Read the redirection here, or return False if there is none."""
    following = c.ahead(3)
    if following.startswith("<<") and following != "<<<":
        open_heredoc(c, state.command)
        state.begun = True
        return True
    found = _OPERATOR.match(following)
    if not found:
        return False
    descriptor, start = state.descriptor or ("1", c.pos)
    state.descriptor = None
    c.advance(len(found.group()))
    operator = (c.origin[start], c.origin[c.pos])
    state.begun = True
    c.skip(BLANKS)
    if (char := c.peek()) and (char not in "\n;&|()<>" or c.ahead(2) in ("<(", ">(")):
        begins = c.pos
        _settle(state, c.script, (found.group(), operator, descriptor), word(c))
        if found.group() == "<":  # also `< <(tail f)`
            c.script.read_files.update(files_in(c.text[begins : min(c.pos, begins + _LONG)]))
    return True


def _variable(descriptor: str) -> str:
    """Return how a later redirection names a descriptor: `3`, or `$fd` for `{fd}`."""
    return f"${descriptor[1:-1]}" if descriptor.startswith("{") else descriptor


def _settle(
    state: CommandList, script: Script, redirected: tuple[str, tuple[int, int], str], target: Word
) -> None:
    operator, span, descriptor = redirected
    if operator == "<<<" or (operator == "<" and any(mark.feeds for mark in target.marks)):
        state.command.is_fed = True
    if operator == "<<<":
        state.command.strings.append(target)
        script.flow.assign(INPUT, target.text)
        for mark in target.marks:
            mark.feeds = mark.is_input = True
    if operator in ("<<<", "<"):
        state.command.inputs.append(target)
        state.command.marked = state.command.marked or bool(target.marks)
    if operator in _WRITES:
        file = file_name(target.plain)
        state.command.outputs.append(file)
        if descriptor not in ("1", "2") or [word.plain for word in state.command.words] == ["exec"]:
            script.descriptors[_variable(descriptor)] = file
    elif operator == ">&":
        named = file_name(target.plain)
        state.command.outputs.append(script.descriptors.get(named, named))
    if operator == ">&" and descriptor.lstrip("0") == "1":
        script.flow.evaluated.update(references(target.text))
        if not any(mark.places for mark in target.marks):  # else it is written as `>`, and expanded once
            script.evaluates(target, Guard.TEXT)
            for mark in target.marks:
                mark.expanded = True
        found = Redirection(span, target)
        for mark in target.marks:
            for place in mark.places:
                place.redirection = found
