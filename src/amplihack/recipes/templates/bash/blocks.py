"""Track the state of a command list and the compound commands that are open in it."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import ClassVar

from amplihack.recipes.templates.bash.cursor import Cursor
from amplihack.recipes.templates.bash.places import SimpleCommand
from amplihack.records import Record, field


class Expects(Record, eq=False):  # like the choices in `places`
    """What the next word of a list is."""

    words: str

    COMMAND: ClassVar[Expects]
    ARGUMENT: ClassVar[Expects]
    VARIABLE: ClassVar[Expects]
    IN: ClassVar[Expects]
    CASE_WORD: ClassVar[Expects]
    CASE_IN: ClassVar[Expects]
    FUNCTION: ClassVar[Expects]


Expects.COMMAND = Expects("a command")
Expects.ARGUMENT = Expects("an argument")
Expects.VARIABLE = Expects("the variable of `for` or `select`")
Expects.IN = Expects("`in` behind that variable")
Expects.CASE_WORD = Expects("the word of `case`")
Expects.CASE_IN = Expects("`in` behind that word")
Expects.FUNCTION = Expects("the name of a function")


class Block(Record, frozen=False, eq=False):
    """A part of a compound command, and the state of the list when it began."""

    kind: str  # "(", "pattern", "case", "{", or the reserved word that begins it
    element: int
    pipeline: int
    before: str
    function: str  # whose body it is
    start: int


class CommandList(Record, frozen=False, eq=False, repr=False):
    """The state of one list of commands: a script, or the inside of one substitution."""

    closer: str
    element: int  # the number of marks where this element of a pipeline began
    pipeline: int  # the number of marks where the whole pipeline began
    open: list[Block] = field(default_factory=list)  # innermost last
    kinds: dict[str, int] = field(default_factory=partial(defaultdict, int))  # open blocks of each kind
    expects: Expects = Expects.COMMAND
    command: SimpleCommand = field(default_factory=SimpleCommand)
    before: str = ""  # `&&`, `||` or `|` in front of the command
    fresh: bool = False  # an operator came last
    begun: bool = False  # an assignment or redirection has come: no reserved word can follow
    closed: bool = False
    function: str = ""  # the next block is the body of this function
    loop: str = ""  # the variable of `for` or `select`
    group: int = 0  # where the block began that was closed last
    piped: list[SimpleCommand] = field(default_factory=list)  # in front of this one, in the same pipeline
    descriptor: tuple[str, int] | None = None  # what stands right before a redirection, and where

    @property
    def innermost(self) -> str:
        return self.open[-1].kind if self.open else ""

    def begin(self, marks: int) -> None:
        """Begin a pipeline."""
        self.element = self.pipeline = marks
        self.before = ""
        self.piped = []


def open_block(c: Cursor, state: CommandList, kind: str) -> None:
    """Begin a block. What it declares may not hold after its end."""
    script = c.script
    state.open.append(Block(kind, state.element, state.pipeline, state.before, state.function, c.pos))
    state.kinds[kind] += 1
    script.functions += bool(state.function)
    state.function = ""
    state.begin(len(script.marks))
    script.variables.enter()


def close_block(c: Cursor, state: CommandList) -> None:
    script, block = c.script, state.open.pop()
    if block.function:
        script.bodies.setdefault(block.function, []).append((c.text, block.start, c.pos))
    state.kinds[block.kind] -= 1
    script.functions -= bool(block.function)
    state.group = block.start
    state.element, state.pipeline, state.before = block.element, block.pipeline, block.before
    script.variables.leave()


def reopen_block(c: Cursor, state: CommandList, kind: str) -> None:
    """Move from one part of a compound command to the next, such as from `then` to `else`."""
    state.function = state.open[-1].function
    close_block(c, state)
    open_block(c, state, kind)
