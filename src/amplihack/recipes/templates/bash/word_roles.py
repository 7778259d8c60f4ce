"""Handle a word by its role: reserved words, functions, assignments, the first word of a command."""

from __future__ import annotations

import re
from collections.abc import Callable

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.blocks import (
    CommandList,
    Expects,
    close_block,
    open_block,
    reopen_block,
)
from amplihack.recipes.templates.bash.command_names import DECLARES, RESERVED
from amplihack.recipes.templates.bash.cursor import Cursor
from amplihack.recipes.templates.bash.double_brackets import condition
from amplihack.recipes.templates.bash.places import Refusal, Word, refuse
from amplihack.recipes.templates.bash.value_flow import identifiers

_FUNCTION_PARENTHESES = pattern(r"(?:[ \t]|\\\n)*\((?:[ \t]|\\\n)*\)")
_WORD = pattern(r"\w+")
_IN = pattern(r"(?:\s|\\\n)*in\s")
_ASSIGNED = pattern(r"""([A-Za-z0-9_\0\1"']++)(?:\[.*\])?\+?=""", re.DOTALL)
_TIME_OPTION = pattern(r"(?:[ \t]+-p(?=[ \t]))?(?:[ \t]+--(?=[ \t]))?")
_COPROC_NAME = pattern(
    r"[ \t]+([A-Za-z_][A-Za-z0-9_]*)(?=[ \t]+(?:\{[ \t\n]|\(|\[\[|(?:if|while|until|for|case|select)[ \t\n]))"
)


def take(c: Cursor, state: CommandList, found: Word) -> None:
    """Handle a word by what the list expects at this point."""
    _TAKE[state.expects](c, state, found)


def _take_command(c: Cursor, state: CommandList, found: Word) -> None:
    text = found.text
    if state.begun and text in RESERVED:
        _first_word(c, state, found)
    elif text in _BLOCKS:
        _BLOCKS[text](c, state, text)
    elif text in _PREFIXES:
        _PREFIXES[text](c)
    elif text in _BEGINS:
        state.expects = _BEGINS[text]
    elif text == "[[":
        condition(c, c.pos - 2)
    elif text == "esac" and state.kinds["case"]:
        while state.innermost != "case":
            close_block(c, state)
        close_block(c, state)
    elif parentheses := _FUNCTION_PARENTHESES.match(c.text, c.pos, c.end):
        c.pos = parentheses.end()
        state.function = found.plain
        c.script.flow.functions.add(found.plain)
        refuse(found.marks, Refusal.FUNCTION)
    elif (assigned := _ASSIGNED.match(text)) and not assigned.group(1).isprintable():
        refuse(found.marks, Refusal.NAME)
    elif found.assigns:
        state.begun = True
    else:
        _first_word(c, state, found)


def _first_word(c: Cursor, state: CommandList, found: Word) -> None:
    command = state.command
    if "\1" in found.text or found.text.startswith("${"):
        printed = [c.text[each.position : each.position + each.length] for each in found.marks]
        c.script.command_words[found.start] = {*identifiers(found.text), *_WORD.findall(" ".join(printed))}
    command.words.append(found)
    command.marked = command.marked or bool(found.marks)
    command.declares = found.plain in DECLARES
    state.expects = Expects.ARGUMENT
    if found.text.startswith("\0"):
        found.marks[0].places[0].command_word = True


def _take_argument(_: Cursor, state: CommandList, found: Word) -> None:
    command = state.command
    if found.marks:
        command.marked = True
    if found.text in DECLARES and command.words and command.words[0].text in ("command", "builtin"):
        command.declares = True
    command.words.append(found)


def _take_variable(c: Cursor, state: CommandList, found: Word) -> None:
    refuse(found.marks, Refusal.NAME)
    c.script.variables.loops.add(found.text)
    if not _IN.match(c.text, c.pos, c.end):
        c.script.flow.assign(found.text, "$@")
        c.script.flow.unguarded.add(found.text)
    state.loop = found.text
    state.expects = Expects.IN


def _take_in(c: Cursor, state: CommandList, found: Word) -> None:
    """Read `in`. The words after it are like those of an ordinary command; `do` begins the body."""
    state.expects = Expects.COMMAND
    if found.text == "in":
        state.command.loop = state.loop
        state.expects = Expects.ARGUMENT
    elif found.text in _BLOCKS:
        _BLOCKS[found.text](c, state, found.text)


def _take_case_word(_: Cursor, state: CommandList, __: Word) -> None:
    state.expects = Expects.CASE_IN


def _take_case_in(c: Cursor, state: CommandList, found: Word) -> None:
    state.expects = Expects.COMMAND
    if found.text == "in":
        open_block(c, state, "pattern")


def _take_function(c: Cursor, state: CommandList, found: Word) -> None:
    refuse(found.marks, Refusal.FUNCTION)
    if parentheses := _FUNCTION_PARENTHESES.match(c.text, c.pos, c.end):
        c.pos = parentheses.end()
    state.function = found.plain
    c.script.flow.functions.add(found.plain)
    state.expects = Expects.COMMAND


def _begin(c: Cursor, state: CommandList, text: str) -> None:
    open_block(c, state, text)


def _go_on(c: Cursor, state: CommandList, text: str) -> None:
    """Read `then`, `elif`, `else` or `do`, which begin another part of the same command."""
    if state.innermost in ("if", "then", "elif", "while", "until"):
        reopen_block(c, state, text)
    else:
        open_block(c, state, text)


def _finish(c: Cursor, state: CommandList, text: str) -> None:
    if state.innermost in _FINISHES[text]:
        close_block(c, state)


def _name_coproc(c: Cursor) -> None:
    if found := _COPROC_NAME.match(c.text, c.pos, c.end):
        c.pos = found.end()
        c.script.variables.saw_array(found[1])


_FINISHES = {"fi": ("if", "then", "elif", "else"), "done": ("do",), "}": ("{",)}
_BLOCKS: dict[str, Callable[[Cursor, CommandList, str], None]] = {
    **dict.fromkeys(("if", "while", "until", "{"), _begin),
    **dict.fromkeys(("then", "elif", "else", "do"), _go_on),
    **dict.fromkeys(_FINISHES, _finish),
}
_PREFIXES: dict[str, Callable[[Cursor], object]] = {
    "!": lambda _: None,
    "time": lambda c: c.skip(_TIME_OPTION),
    "coproc": _name_coproc,
}
_BEGINS = {
    "for": Expects.VARIABLE,
    "select": Expects.VARIABLE,
    "case": Expects.CASE_WORD,
    "function": Expects.FUNCTION,
}
_TAKE: dict[Expects, Callable[[Cursor, CommandList, Word], None]] = {
    Expects.COMMAND: _take_command,
    Expects.ARGUMENT: _take_argument,
    Expects.VARIABLE: _take_variable,
    Expects.IN: _take_in,
    Expects.CASE_WORD: _take_case_word,
    Expects.CASE_IN: _take_case_in,
    Expects.FUNCTION: _take_function,
}
