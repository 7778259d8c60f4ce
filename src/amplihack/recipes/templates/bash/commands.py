"""Lists of commands: which word is a command, which parenthesis closes what, where a heredoc opens."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto

from amplihack.recipes.templates.bash.conditions import Conditions
from amplihack.recipes.templates.bash.places import Command, Refusal, Word
from amplihack.recipes.templates.bash.roles import DECLARES, settle_command
from amplihack.recipes.templates.bash.words import BLANKS

_REDIRECTION = re.compile(r"&>>|&>|<<<|<>|<&|>&|>>|>\||<|>")
_SEPARATOR = re.compile(r";;&|;;|;&|;|&&|&|\|\||\|&|\|")
_FUNCTION_PARENTHESES = re.compile(r"[ \t]*\([ \t]*\)")
_DESCRIPTOR = re.compile(r"[0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\}")
_ASSIGNED = re.compile(r"""([A-Za-z0-9_\0"']++)(?:\[.*\])?\+?=""", re.DOTALL)
_KEEPS_COMMAND = frozenset(
    ("if", "then", "else", "elif", "fi", "while", "until", "do", "done", "{", "}", "!", "time", "coproc")
)


class Expects(Enum):
    """What the next word of a list is."""

    COMMAND = auto()
    ARGUMENT = auto()
    VARIABLE = auto()  # behind `for` and `select`
    IN = auto()  # behind the variable of `for`
    CASE_WORD = auto()
    CASE_IN = auto()
    FUNCTION = auto()


@dataclass(slots=True)
class List:
    """The state of one list of commands: a script, or the inside of one substitution."""

    closer: str
    open: list[str] = field(default_factory=list)  # "(", "pattern" and "case", innermost last
    expects: Expects = Expects.COMMAND
    command: Command = field(default_factory=Command)
    closed: bool = False
    begun: bool = False  # an assignment or redirection has come: no reserved word can follow

    @property
    def innermost(self) -> str:
        return self.open[-1] if self.open else ""


class Commands(Conditions):
    def commands(self, closer: str, opened: int) -> None:
        """A list up to its closing parenthesis, or to the end of the text if `closer` is empty."""
        findings = self.findings
        outer = (findings.frame, self.waiting, self.closer)
        findings.frames += 1
        findings.frame, self.waiting, self.closer = findings.frames, (), closer
        state = List(closer)
        with self.deeper():
            while self.step(state):
                pass
        self.end_command(state)
        if closer and not state.closed:
            raise self.unclosed(f"the {self.text[opened : opened + 2]}", opened)
        if self.waiting:
            heredoc = self.waiting[0]
            raise self.unclosed(f"the heredoc {heredoc.delimiter}", heredoc.operator[0])
        findings.frame, self.waiting, self.closer = outer

    def step(self, state: List) -> bool:
        """One token; False behind the closing parenthesis and at the end."""
        self.skip(BLANKS)
        char = self.peek()
        if not char:
            return False
        if char == "\n":
            self.newline_token(state)
        elif char == "#":
            self.comment()
        elif char == "(":
            self.open_parenthesis(state)
        elif char == ")":
            return self.close_parenthesis(state)
        elif self.peek(2) not in ("<(", ">(") and self.redirection(state):
            pass
        elif char in ";&|":
            self.separator(state)
        else:
            self.next_word(state)
        return True

    def end_command(self, state: List) -> None:
        settle_command(state.command, self.findings)
        state.command, state.begun = Command(), False

    def newline_token(self, state: List) -> None:
        self.newline()
        self.end_command(state)
        if state.expects not in (Expects.IN, Expects.CASE_IN):
            state.expects = Expects.COMMAND

    def separator(self, state: List) -> None:
        found = _SEPARATOR.match(self.text, self.pos, self.end)
        operator = found.group() if found else self.peek()
        self.pos += len(operator)
        self.end_command(state)
        state.expects = Expects.COMMAND
        if operator in (";;", ";&", ";;&") and state.innermost == "case":
            state.open[-1] = "pattern"

    def open_parenthesis(self, state: List) -> None:
        opened = self.pos
        if self.peek(2) == "((" and state.innermost != "pattern" and self.is_arithmetic(opened):
            self.pos += 2
            self.arithmetic("))", "the ((", opened)
            state.expects = Expects.COMMAND
            return
        self.pos += 1
        if state.innermost != "pattern":
            state.open.append("(")
            state.expects = Expects.COMMAND

    def close_parenthesis(self, state: List) -> bool:
        self.pos += 1
        self.end_command(state)
        if state.innermost == "pattern":
            state.open[-1] = "case"
        elif state.innermost == "(":
            state.open.pop()
        elif not state.open and state.closer:
            state.closed = True
            return False
        state.expects = Expects.COMMAND
        return True

    def redirection(self, state: List) -> bool:
        if self.peek(2) == "<<" and self.peek(3) != "<<<":
            self.open_heredoc(state.command)
            state.begun = True
            return True
        found = _REDIRECTION.match(self.text, self.pos, self.end)
        if not found:
            return False
        self.pos = found.end()
        state.begun = True
        self.skip(BLANKS)
        if (following := self.peek()) and (following not in "\n;&|()<>" or self.peek(2) in ("<(", ">(")):
            self.word()
        return True

    def next_word(self, state: List) -> None:
        start = self.pos
        argument = state.expects is Expects.ARGUMENT
        word = self.word(assignable=self.may_assign(state), argument=argument)
        if self.pos == start:
            self.pos += 1
        elif self.peek() in ("<", ">") and _DESCRIPTOR.fullmatch(word.text):
            return
        elif state.innermost == "pattern":
            if word.text == "esac":
                state.open.pop()
                state.expects = Expects.COMMAND
        else:
            _TAKE[state.expects](self, state, word)

    def may_assign(self, state: List) -> bool:
        if state.innermost == "pattern":
            return False
        if state.expects is not Expects.ARGUMENT:
            return state.expects is Expects.COMMAND
        return state.command.words[0].plain in DECLARES

    def take_command(self, state: List, word: Word) -> None:
        if state.begun and word.text in _RESERVED:
            self.first_word(state, word)
        elif word.text in _KEEPS_COMMAND:
            return
        elif word.text in _BEGINS:
            state.expects = _BEGINS[word.text]
        elif word.text == "[[":
            self.condition(self.pos - 2)
        elif word.text == "esac" and state.innermost == "case":
            state.open.pop()
        elif found := _FUNCTION_PARENTHESES.match(self.text, self.pos, self.end):
            self.pos = found.end()
            _refuse(word, Refusal.FUNCTION)
        elif (assigned := _ASSIGNED.match(word.text)) and "\0" in assigned.group(1):
            _refuse(word, Refusal.NAME)
        elif word.assigns:
            state.begun = True
        else:
            self.first_word(state, word)

    def first_word(self, state: List, word: Word) -> None:
        state.command.words.append(word)
        state.expects = Expects.ARGUMENT
        if word.text.startswith("\0"):
            word.marks[0].command_word = True

    def take_argument(self, state: List, word: Word) -> None:
        state.command.words.append(word)

    def take_variable(self, state: List, word: Word) -> None:
        _refuse(word, Refusal.NAME)
        state.expects = Expects.IN

    def take_in(self, state: List, word: Word) -> None:
        """`in` and the words behind it are like an ordinary command; `do` begins the body."""
        state.expects = Expects.COMMAND
        if word.text == "in":
            state.command.words.append(word)
            state.expects = Expects.ARGUMENT

    def take_case_word(self, state: List, _: Word) -> None:
        state.expects = Expects.CASE_IN

    def take_case_in(self, state: List, word: Word) -> None:
        state.expects = Expects.COMMAND
        if word.text == "in":
            state.open.append("pattern")

    def take_function(self, state: List, word: Word) -> None:
        _refuse(word, Refusal.FUNCTION)
        if found := _FUNCTION_PARENTHESES.match(self.text, self.pos, self.end):
            self.pos = found.end()
        state.expects = Expects.COMMAND


_BEGINS = {
    "for": Expects.VARIABLE,
    "select": Expects.VARIABLE,
    "case": Expects.CASE_WORD,
    "function": Expects.FUNCTION,
}
_RESERVED = _KEEPS_COMMAND | _BEGINS.keys() | {"[["}
_TAKE: dict[Expects, Callable[[Commands, List, Word], None]] = {
    Expects.COMMAND: Commands.take_command,
    Expects.ARGUMENT: Commands.take_argument,
    Expects.VARIABLE: Commands.take_variable,
    Expects.IN: Commands.take_in,
    Expects.CASE_WORD: Commands.take_case_word,
    Expects.CASE_IN: Commands.take_case_in,
    Expects.FUNCTION: Commands.take_function,
}


def _refuse(word: Word, reason: Refusal) -> None:
    for mark in word.marks:
        mark.refusal = reason
