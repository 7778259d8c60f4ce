"""Where a placeholder stands in a script: what quotes it, and what bash will do with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from amplihack.recipes.placeholders import Placeholder


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

    @property
    def reason(self) -> str:
        return self.value[0]

    @property
    def fix(self) -> str:
        return self.value[1]


@dataclass(frozen=True, slots=True)
class Heredoc:
    """A heredoc in template offsets: its operator, delimiter word, body and closing delimiter."""

    operator: tuple[int, int]
    word: tuple[int, int]
    body: tuple[int, int]
    closing: tuple[int, int]
    delimiter: str
    quoted: bool
    strips_tabs: bool
    nested: bool  # in a substitution, whose end bash looks for before it reads heredocs


@dataclass(frozen=True, slots=True)
class Place:
    """A placeholder and all that the reader of the script found out about it."""

    placeholder: Placeholder
    quoting: Quoting
    start: int  # of the text to replace; one before the placeholder where a backslash belongs to it
    end: int
    escaped: bool = False  # a backslash stands right before it
    backticks: int = 0  # how many levels of `...` surround it
    numeric: bool = False  # bash would evaluate the value as arithmetic, and run commands in it
    refusal: Refusal | None = None  # no value can be safe here
    command_word: bool = False
    language: str = ""  # the value becomes source code of this language
    heredoc: Heredoc | None = None


@dataclass(slots=True)
class Mark:
    """A place in the making: what follows it may still change what it is."""

    placeholder: Placeholder
    quoting: Quoting
    start: int
    end: int
    escaped: bool = False
    backticks: int = 0
    numeric: bool = False
    refusal: Refusal | None = None
    command_word: bool = False
    language: str = ""
    heredoc: Heredoc | None = None
    array: str = ""  # the array in whose subscript it stands: arithmetic, unless that is associative
    variable: str = ""  # the variable that it is assigned to: arithmetic, if that is an integer
    position: int = 0  # in the text that was being read
    frame: int = 0  # the list of commands it stands in; a substitution inside a word has its own
    command: Command | None = None  # the command that reads the heredoc it stands in

    def settled(self) -> Place:
        return Place(
            self.placeholder,
            self.quoting,
            self.start,
            self.end,
            self.escaped,
            self.backticks,
            self.numeric,
            self.refusal,
            self.command_word,
            self.language,
            self.heredoc,
        )


@dataclass(slots=True)
class Word:
    """One word of a command: `text` as written, with NUL for each of its placeholders."""

    text: str
    marks: list[Mark]
    assigns: str = ""  # the variable, where the word is `name=...` or `name[...]=...`

    @property
    def plain(self) -> str:
        """The text without quotes and backslashes: good enough to know a command or an option."""
        return self.text.translate(_NO_QUOTES)


_NO_QUOTES = str.maketrans("", "", "'\"\\")


@dataclass(slots=True)
class Command:
    """A simple command: its words, without the assignments before it and the redirections around it."""

    words: list[Word] = field(default_factory=list)
