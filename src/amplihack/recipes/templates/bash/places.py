"""Describe where a placeholder stands in a script: its quoting, and what bash does with its value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, TypeAlias

from amplihack.recipes.placeholders import Placeholder
from amplihack.records import Record, field

# The choices here are values of plain classes: to define an `Enum` takes longer than to read a script.


class Quoting(Record, eq=False):
    """How bash reads the text around a placeholder; it decides the form of the reference."""

    words: str

    BARE: ClassVar[Quoting]
    DOUBLE: ClassVar[Quoting]
    SINGLE: ClassVar[Quoting]
    ANSI: ClassVar[Quoting]
    HEREDOC: ClassVar[Quoting]
    QUOTED_HEREDOC: ClassVar[Quoting]
    ARITHMETIC: ClassVar[Quoting]
    COMMENT: ClassVar[Quoting]


Quoting.BARE = Quoting("a plain word")
Quoting.DOUBLE = Quoting("double quotes")
Quoting.SINGLE = Quoting("single quotes")
Quoting.ANSI = Quoting("$'...' quotes")
Quoting.HEREDOC = Quoting("the body of a heredoc")
Quoting.QUOTED_HEREDOC = Quoting("the body of a quoted heredoc")
Quoting.ARITHMETIC = Quoting("arithmetic")
Quoting.COMMENT = Quoting("a comment")


class Refusal(Record, eq=False):
    """Why no value can be safe in a place, and what to write instead."""

    reason: str
    fix: str

    NAME: ClassVar[Refusal]
    FUNCTION: ClassVar[Refusal]
    DELIMITER: ClassVar[Refusal]
    BACKTICKS: ClassVar[Refusal]
    COMPOUND: ClassVar[Refusal]
    DESCRIPTOR: ClassVar[Refusal]
    CALLBACK: ClassVar[Refusal]
    OPERATOR: ClassVar[Refusal]
    EVALUATED: ClassVar[Refusal]


Refusal.NAME = Refusal(
    "a value cannot be the name of a variable: bash would run commands hidden in it",
    "write the name itself, or choose between fixed names with `case`",
)
Refusal.FUNCTION = Refusal("a value cannot be the name of a function", "write the name itself")
Refusal.DELIMITER = Refusal(
    "a value cannot be the delimiter of a heredoc", "write any fixed word, such as EOF"
)
Refusal.BACKTICKS = Refusal(
    "a quoted heredoc inside backticks cannot hold a value: bash may read parts of it as commands",
    "write $(...) instead of the backticks",
)
Refusal.COMPOUND = Refusal(
    "a value in parentheses that is assigned to an array in this form is read as code",
    "write name=( ... ) without quotes around it",
)
Refusal.DESCRIPTOR = Refusal(
    "bash expands the word behind >& twice, and would run commands hidden in the value",
    "write `> file 2>&1`, or the number of the descriptor itself",
)
Refusal.CALLBACK = Refusal(
    "a value cannot be the callback of mapfile: bash runs it", "write the name of a function"
)
Refusal.OPERATOR = Refusal(
    "a value in front of this one can become the operator -v, and bash would run commands hidden in it",
    "write the operator itself",
)
Refusal.EVALUATED = Refusal(
    "the value goes to a variable that the script calculates with or takes for a name, and bash would run"
    " commands hidden in it",
    "keep text in another variable than what is evaluated; of text, n=${text//[!0-9]/} keeps the digits",
)


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


def apply_edits(template: str, edits: Sequence[Edit]) -> str:
    """Return the template with all replacements; several at one place follow each other."""
    pieces: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        pieces += (template[position : edit.start], edit.text)
        position = edit.end
    pieces.append(template[position:])
    return "".join(pieces)


# Where a mark is: its start and end in the template, its position and length in the text being read.
Span: TypeAlias = tuple[int, int, int, int]


class Mark:
    """A piece of a word that depends on a value. The reader changes it until the whole script is read."""

    numeric = False  # bash evaluates it as arithmetic, and would run commands in it
    named = False  # bash takes it for a name, and would run commands in its subscript
    expanded = False  # bash expands it once more
    runs = False  # bash runs it as a command
    listed = False  # bash reads it as elements of an array if it is in parentheses
    inert = False  # bash only compares it, as a pattern: it never becomes part of the result
    array = ""  # the array in whose subscript it stands
    key = False  # that array is associative, as far as the script has been read
    variables: tuple[str, ...] = ()  # what it is assigned to
    rebinds = False  # assigned by `for`, which makes a reference point elsewhere
    feeds = False  # a command that reads its input can get it
    is_input = False  # it is itself the input of a command, or a part of it
    evaluated = False  # it goes to a variable that the script evaluates
    integers: tuple[str, ...] = ()  # what gets it, where only the run knows whether that is an integer

    def __init__(self, span: Span, frame: int, quoting: Quoting, backticks: int) -> None:
        self.start, self.end, self.position, self.length = span
        self.frame = frame  # the list of commands it stands in; a substitution inside a word has its own
        self.quoting = quoting
        self.backticks = backticks  # how many levels of `...` surround it


class Place(Mark):
    """A placeholder and everything that the reader found out about it."""

    escaped = False  # a backslash stands right before it, and `start` is that of the backslash
    refusal: Refusal | None = None  # no value can be safe here
    command_word = False
    in_function = False
    is_script = False  # a shell runs the file of this name
    launcher = ""  # the program that runs it as a command, such as `sudo`
    language = ""  # the value becomes source code of this language
    fetched: tuple[str, ...] = ()  # files that the script runs, and fetches if the value names them
    fetched_as = ""  # the name that the file gets, with NUL for the value
    heredoc: Heredoc | None = None
    command: SimpleCommand | None = None  # the command that reads the heredoc it stands in
    redirection: Redirection | None = None  # a `>&` whose word it is in
    pattern = ""  # expands to what is harmless in it: what gets it is known to the run alone
    declared: Word | None = None  # the argument of a declaration that may assign an array

    def __init__(
        self, placeholder: Placeholder, span: Span, frame: int, quoting: Quoting, backticks: int
    ) -> None:
        super().__init__(span, frame, quoting, backticks)
        self.placeholder = placeholder

    @property
    def places(self) -> list[Place]:
        return [self]


class Output(Mark):
    """A substitution with placeholders in it: what it prints may be one of their values.

    `start` and `end` are the text between its delimiters.
    """

    is_quoted = False  # for a shell: `$(printf %q {{v}})`

    def __init__(self, places: list[Place], span: Span, frame: int, quoting: Quoting, backticks: int) -> None:
        super().__init__(span, frame, quoting, backticks)
        self.places = places

    def is_process(self, script: str) -> bool:
        """Tell whether it is `<(...)`, whose output is read as a file."""
        return script[self.start - 2 : self.start] == "<("


def spread(text: str, marks: Sequence[Mark], origin: Sequence[int]) -> Sequence[int]:
    """Return the offsets of the characters and the end of a text in which each mark is one character.

    `origin` has those of the text as it was written. Nothing if a line is continued in it.
    """
    if len(origin) != len(text) + 1 + sum(mark.length - 1 for mark in marks):
        return ()
    if not marks:
        return origin
    places, position, lengths = [], 0, iter(marks)
    for char in text:
        places.append(origin[position])
        position += next(lengths).length if char in "\0\1" else 1
    return [*places, origin[position]]


class Word(Record, frozen=False, eq=False, repr=False):
    """One word of a command: `text` as written, with NUL for each placeholder and SOH for each output."""

    text: str
    marks: list[Place | Output]
    start: int = 0  # in the template
    end: int = 0
    assigns: str = ""  # the variable, where the word is `name=...` or `name[...]=...`
    is_list: bool = False  # the value is `( ... )`, in no quotes
    _plain: str | None = None  # once somebody has asked for it

    @property
    def is_continued(self) -> bool:
        """Tell whether a line ends inside the word, so that offsets in its text differ from the script's."""
        return self.end - self.start != len(self.text) + sum(mark.length - 1 for mark in self.marks)

    @property
    def is_attached(self) -> bool:
        """Tell whether it is the rest of a word that begins with an option, of which `start` is known."""
        return self.end == self.start

    @property
    def places(self) -> Sequence[int]:
        """Return where its characters and its end are in the template; nothing if a line ends inside it."""
        return spread(self.text, self.marks, range(self.start, self.end + 1))

    @property
    def plain(self) -> str:
        """Return the text without quotes and backslashes, enough to recognise a command or an option."""
        if self._plain is None:
            text = self.text
            if "$" in text:
                text = text.replace("$'", "").replace('$"', "")
            self._plain = text if text.isalnum() else text.translate(_NO_QUOTES)
        return self._plain


_NO_QUOTES = str.maketrans("", "", "'\"\\")


class Redirection(Record, eq=False):
    """A `>&` that sends output and errors to a file, or to a descriptor if its word is a number."""

    operator: tuple[int, int]
    word: Word


class SimpleCommand(Record, frozen=False, eq=False, repr=False):
    """A simple command: its words, without the assignments before it and the redirections around it."""

    words: list[Word] = field(default_factory=list)
    inputs: list[Word] = field(default_factory=list)  # the words of `<<<` and `<`
    strings: list[Word] = field(default_factory=list)  # those of `<<<`
    bodies: list[tuple[int, str]] = field(default_factory=list)  # of its heredocs, and where they begin
    texts: list[str] = field(default_factory=list)  # of its quoted heredocs
    fills: tuple[str, ...] = ()  # the variables that `read` or `mapfile` fills
    outputs: list[str] = field(default_factory=list)  # the files that `>` and the like name
    marked: bool = False  # values stand among its words and inputs
    is_fed: bool = False  # `<<<`, a heredoc or `<(...)` is its input
    declares: bool = False  # it is `declare` or a similar builtin, whose arguments can be assignments
    loop: str = ""  # the variable, where these are the words of `for` or `select`


def hold(marks: Iterable[Mark]) -> None:
    """Accept only numbers in these places."""
    for mark in marks:
        mark.numeric = mark.numeric or not mark.inert


def refuse(marks: Iterable[Place | Output], reason: Refusal) -> None:
    """Refuse values in these places. What a command prints there, without one, is checked while it runs."""
    for mark in marks:
        mark.named = True
        for place in mark.places:
            place.refusal = reason


def assign(marks: Iterable[Mark], *variables: str) -> None:
    for mark in marks:
        if not mark.inert:
            mark.variables += variables
