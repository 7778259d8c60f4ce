"""Describe where a placeholder stands in a script: its quoting, and what bash does with its value."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from amplihack.recipes.placeholders import Placeholder
from amplihack.records import Record, field


class Quoting(Enum):
    """How bash reads the text around a placeholder; it decides the form of the reference."""

    BARE = "a plain word"
    DOUBLE = "double quotes"
    SINGLE = "single quotes"
    ANSI = "$'...' quotes"
    HEREDOC = "the body of a heredoc"
    QUOTED_HEREDOC = "the body of a quoted heredoc"
    ARITHMETIC = "arithmetic"
    COMMENT = "a comment"


class Refusal(Enum):
    """Why no value can be safe in a place, and what to write instead."""

    NAME = (
        "a value cannot be the name of a variable: bash would run commands hidden in it",
        "write the name itself, or choose between fixed names with `case`",
    )
    FUNCTION = ("a value cannot be the name of a function", "write the name itself")
    DELIMITER = ("a value cannot be the delimiter of a heredoc", "write any fixed word, such as EOF")
    BACKTICKS = (
        "a quoted heredoc inside backticks cannot hold a value: bash may read parts of it as commands",
        "write $(...) instead of the backticks",
    )
    COMPOUND = (
        "a value in parentheses that is assigned to an array in this form is read as code",
        "write name=( ... ) without quotes around it",
    )
    DESCRIPTOR = (
        "bash expands the word behind >& twice, and would run commands hidden in the value",
        "write `> file 2>&1`, or the number of the descriptor itself",
    )
    CALLBACK = ("a value cannot be the callback of mapfile: bash runs it", "write the name of a function")
    OPERATOR = (
        "a value in front of this one can become the operator -v, and bash would run commands hidden in it",
        "write the operator itself",
    )

    EVALUATED = (
        "the value goes to a variable that the script calculates with or takes for a name, and bash would run"
        " commands hidden in it",
        "keep text in another variable than what is evaluated",
    )

    @property
    def reason(self) -> str:
        return self.value[0]

    @property
    def fix(self) -> str:
        return self.value[1]


class Heredoc(Record):
    """A heredoc in template offsets: its operator, delimiter word, body and closing delimiter."""

    operator: tuple[int, int]
    word: tuple[int, int]
    body: tuple[int, int]
    closing: tuple[int, int]
    delimiter: str
    quoted: bool
    strips_tabs: bool
    nested: bool  # in a substitution, whose end bash looks for before it reads heredocs
    within: bool  # in the body of another heredoc, which bash reads line by line before anything else


class Edit(Record):
    """A replacement of the text between two offsets of the template."""

    start: int
    end: int
    text: str


class Span(NamedTuple):
    """Where a mark is: from `start` to `end` in the template, at `position` in the text being read."""

    start: int
    end: int
    position: int
    length: int


class Mark:
    """A piece of a word that depends on a value. The reader changes it until the whole script is read."""

    def __init__(self, span: Span, frame: int, quoting: Quoting, backticks: int) -> None:
        self.start, self.end = span.start, span.end
        self.position, self.length = span.position, span.length
        self.frame = frame  # the list of commands it stands in; a substitution inside a word has its own
        self.quoting = quoting
        self.backticks = backticks  # how many levels of `...` surround it
        self.numeric = False  # bash evaluates it as arithmetic, and would run commands in it
        self.inert = False  # bash only compares it, as a pattern: it never becomes part of the result
        self.array = ""  # the array in whose subscript it stands
        self.key = False  # that array is associative, as far as the script has been read
        self.variables: tuple[str, ...] = ()  # what it is assigned to
        self.rebinds = False  # assigned by `for`, which makes a reference point elsewhere
        self.feeds = False  # a command that reads its input can get it
        self.is_input = False  # it is itself the input of a command, or a part of it
        self.evaluated = False  # it goes to a variable that the script evaluates


class Place(Mark):
    """A placeholder and everything that the reader found out about it."""

    def __init__(
        self, placeholder: Placeholder, span: Span, frame: int, quoting: Quoting, backticks: int
    ) -> None:
        super().__init__(span, frame, quoting, backticks)
        self.placeholder = placeholder
        self.escaped = False  # a backslash stands right before it, and `start` is that of the backslash
        self.refusal: Refusal | None = None  # no value can be safe here
        self.command_word = False
        self.language = ""  # the value becomes source code of this language
        self.heredoc: Heredoc | None = None
        self.command: SimpleCommand | None = None  # the command that reads the heredoc it stands in
        self.redirection: Redirection | None = None  # a `>&` whose word it is in
        self.declared: Word | None = None  # the argument of a declaration that may assign an array

    @property
    def places(self) -> list[Place]:
        return [self]


class Output(Mark):
    """A substitution with placeholders in it: what it prints may be one of their values.

    `start` and `end` are the text between its delimiters.
    """

    def __init__(self, places: list[Place], span: Span, frame: int, quoting: Quoting, backticks: int) -> None:
        super().__init__(span, frame, quoting, backticks)
        self.places = places


class Word(Record, frozen=False, eq=False, repr=False):
    """One word of a command: `text` as written, with NUL for each placeholder and SOH for each output."""

    text: str
    marks: list[Place | Output]
    start: int = 0  # in the template
    end: int = 0
    assigns: str = ""  # the variable, where the word is `name=...` or `name[...]=...`
    is_list: bool = False  # the value is `( ... )`, in no quotes

    @property
    def plain(self) -> str:
        """Return the text without quotes and backslashes, enough to recognise a command or an option."""
        text = self.text
        if "$" in text:
            text = text.replace("$'", "").replace('$"', "")
        return text if text.isalnum() else text.translate(_NO_QUOTES)


_NO_QUOTES = str.maketrans("", "", "'\"\\")


class Redirection(Record, eq=False):
    """A `>&` that sends output and errors to a file, or to a descriptor if its word is a number."""

    operator: tuple[int, int]
    word: Word


class SimpleCommand(Record, frozen=False, eq=False, repr=False):
    """A simple command: its words, without the assignments before it and the redirections around it."""

    words: list[Word] = field(default_factory=list)
    inputs: list[Word] = field(default_factory=list)  # the words of `<<<` and `<`
    marked: bool = False  # values stand among its words and inputs
    declares: bool = False  # it is `declare` or a similar builtin, whose arguments can be assignments
    loop: str = ""  # the variable, where these are the words of `for` or `select`


def hold(marks: Iterable[Mark]) -> None:
    """Accept only numbers in these places."""
    for mark in marks:
        mark.numeric = mark.numeric or not mark.inert


def refuse(marks: Iterable[Place | Output], reason: Refusal) -> None:
    for mark in marks:
        for place in mark.places:
            place.refusal = reason


def assign(marks: Iterable[Mark], *variables: str) -> None:
    for mark in marks:
        if not mark.inert:
            mark.variables += variables
