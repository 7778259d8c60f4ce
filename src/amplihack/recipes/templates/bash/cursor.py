"""Move through a script and record the placeholders on the way."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from amplihack.errors import TemplateError
from amplihack.patterns import pattern
from amplihack.recipes.placeholders import Placeholder
from amplihack.recipes.templates.bash.file_names import ProgramFile, file_name
from amplihack.recipes.templates.bash.number_guards import Guard, Sink
from amplihack.recipes.templates.bash.places import Edit, Output, Place, Quoting, SimpleCommand, Word, spread
from amplihack.recipes.templates.bash.unpacked_files import Unpacked
from amplihack.recipes.templates.bash.value_flow import ValueFlow, identifiers, references
from amplihack.recipes.templates.bash.variable_attributes import Variables
from amplihack.records import Record, field, replace

DEEPEST = 80  # quotes in substitutions in quotes: no person writes this, and our own stack is finite
BLANKS = pattern(r"(?:[ \t]|\\\n)+")
_NO_QUOTES = str.maketrans("", "", "'\"\\")
_NO_MARKS = {0: "\2", 1: "\2"}  # which stand for placeholders and outputs in the texts of words
# A `printf` that quotes all it gets, for a shell.
_QUOTES = pattern(
    r"""\s*printf\s+(?:--\s+)?(?:'(?:[^'%]|%%|%q)*'|"(?:[^"%$`\\]|\\n|%%|%q)*"|(?:[\w=]|%q)+)"""
    r"""(?:\s+(?:"[^"`()]*"|'[^']*'|[^\s;&|<>()`"'])+)*\s*"""
)
_FILE_NAME = pattern(r"[\w.~${}/*?-]{1,255}")


Body: TypeAlias = tuple[str, int, int]  # a text, and where a part of it begins and ends


class Declaration(Record, eq=False):
    """An argument of `declare` and the like whose value bash reads as elements if it is in parentheses."""

    word: Word
    name: str  # empty if only the run knows it
    forced: bool  # it makes an array of the variable
    fresh: bool  # no code that is not read here can have made one of it


class Script(Record, frozen=False, eq=False, repr=False):
    """Everything that the reading collects, also from scripts inside backticks."""

    marks: list[Place | Output] = field(default_factory=list)
    variables: Variables = field(default_factory=Variables)
    flow: ValueFlow = field(default_factory=ValueFlow)
    edits: list[Edit] = field(default_factory=list)  # what to change beside the placeholders
    reads: list[Sink] = field(default_factory=list)  # variables that are read from afar
    declared_whole: list[tuple[Word, bool]] = field(default_factory=list)  # word, surely an array
    declarations: list[Declaration] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)  # the options of each declaration
    split_names: list[Word] = field(default_factory=list)  # declared names that bash splits into words
    command_words: dict[int, set[str]] = field(default_factory=dict)  # what expands to a command may hold
    sinks: list[Sink] = field(default_factory=list)
    patterned: list[tuple[Sink, str]] = field(default_factory=list)  # what the run alone knows who gets it
    given: list[tuple[str, Sequence[Place | Output]]] = field(default_factory=list)  # to computed names
    keys: list[Sink] = field(default_factory=list)  # subscripts of arrays that are associative so far
    ends: dict[int, int] = field(default_factory=dict)  # of parameter expansions, by where they begin
    bodies: dict[str, list[Body]] = field(default_factory=dict)  # of the functions
    lists: dict[str, list[list[Word]]] = field(default_factory=dict)  # the elements of `name=( ... )`
    aliases: dict[str, set[str]] = field(default_factory=dict)  # the words of their texts
    open_aliases: set[str] = field(default_factory=set)  # of these, what leaves an expression open
    started: list[ProgramFile] = field(default_factory=list)  # files that it runs, or may run
    file_names: dict[str, set[str]] = field(default_factory=dict)  # what variables hold that may be one
    descriptors: dict[str, str] = field(default_factory=dict)  # the files that were opened for writing last
    read_files: set[str] = field(default_factory=set)  # what `<` and the commands before a pipe name
    copiers: list[SimpleCommand] = field(default_factory=list)  # `cp` and the like
    writers: list[SimpleCommand] = field(default_factory=list)  # commands whose output goes to files
    unpacked: list[Unpacked] = field(default_factory=list)  # archives and repositories that values name
    fetched: list[Word] = field(default_factory=list)  # addresses of files whose names values decide
    entered: set[str] = field(default_factory=set)  # directories that `cd` names
    keywords: bool = False  # `set -k`: bash takes `a=b` anywhere in a command for an assignment
    reads_program: bool = False  # a shell runs what it gets from a place that is not known
    quoted: bool = False  # what is being read is code in double quotes
    starts_shells: bool = False  # with code of the script: guards in it must find their patterns
    depth: int = 0
    functions: int = 0  # how many bodies of functions the position lies in
    heredocs: int = 0  # how many bodies of heredocs the position lies in
    frame: int = 0  # which list of commands is being read; each substitution has its own
    frames: int = 0

    def evaluates(self, word: Word, guard: Guard, text: str | None = None) -> None:
        """Record that bash evaluates a word, whose guard can stand right before it."""
        text = word.text if text is None else text
        self.sinks.append(Sink(word.start, text, guard, "", self.quoted, places=word.places))

    def hold_name(self, variable: str, text: str) -> None:
        """Record what a variable may hold, if that can be the name of a file."""
        if _FILE_NAME.fullmatch(text):
            self.file_names.setdefault(variable, set()).add(file_name(text))

    def calculates(self, word: Word, names: Iterable[str]) -> None:
        """Record that bash calculates with variables because of a word, before which guards can stand."""
        text = " ".join(sorted(names))
        self.sinks.append(Sink(word.start, text, Guard.NUMBER, "", self.quoted))

    def takes_name(self, word: Word, text: str | None = None) -> None:
        """Record that bash takes a word, or the beginning of it, for the name of a variable.

        It evaluates the subscript, whatever quotes are around it.
        """
        text = word.text if text is None else text
        name, bracket, rest = text.partition("[")
        self.flow.evaluated.update(references(text))
        self.evaluates(word, Guard.NAME, name)
        if bracket:
            inside = rest.rpartition("]")[0]
            self.flow.evaluated.update(identifiers(inside))
            array, offset = name.strip("\"'\\"), word.start + len(name) + 1
            if word.is_attached:
                self.sinks.append(Sink(word.start, inside, Guard.NUMBER, array, self.quoted))
            elif self._can_guard(word, inside):
                places = word.places[len(name) + 1 :]
                self.sinks.append(Sink(offset, inside, Guard.NUMBER, array, self.quoted, places=places))

    def writes_name(self, word: Word, text: str | None = None, *, array: bool = False) -> None:
        """Record that bash takes a word for the name of a variable and gives that a value.

        A subscript makes an array of it, and so does a command that always does, with `array`.
        """
        self.takes_name(word, text)
        name, subscript, _ = (word.text if text is None else text).partition("[")
        self.flow.unknown |= any(sign in name for sign in "$`\1")
        if array or subscript:
            self.variables.saw_array(name.translate(_NO_QUOTES))

    def receives(self, word: Word, name: str, guard: Guard) -> None:
        """Record that a variable gets what stands behind the `=` of a word."""
        before, _, value = word.text.partition("=")
        if self._can_guard(word, value):
            places = word.places[len(before) + 1 :]
            sink = Sink(word.start + len(before) + 1, value, guard, "", self.quoted, places=places)
            self.flow.received.append((name, sink))

    def binds(self, word: Word) -> None:
        """Record that a word only names the target of a nameref: it is no value for what that holds."""
        name, received = word.plain.partition("=")[0], self.flow.received
        last = len(received)
        while last and received[last - 1][1].offset >= word.start:  # its own are among the last
            last -= 1
        received[last:] = [each for each in received[last:] if each[0] != name or each[1].offset > word.end]

    def gives(self, word: Word, *names: str) -> None:
        """Record that these variables get a whole word."""
        if word.is_continued:
            self.flow.unguarded.update(names if any(identifiers(word.text)) else ())
        elif names:
            sink = Sink(word.start, word.text, Guard.NUMBER, "", self.quoted, places=word.places)
            self.flow.received += [(name, sink) for name in names]

    def fill(self, command: SimpleCommand) -> None:
        """Record that the variables of `read` or `mapfile` get what its `<<<` and heredocs hold."""
        for word in command.strings:
            self.gives(word, *command.fills)
        for offset, text in command.bodies:
            self.fill_from(command, offset, text)

    def fill_from(self, command: SimpleCommand, offset: int, text: str) -> None:
        """Record that the variables of `read` or `mapfile` get the body of one heredoc."""
        if command.fills:
            sink = Sink(offset, text, Guard.NUMBER, "", self.quoted)
            self.flow.received += [(name, sink) for name in command.fills]

    def _can_guard(self, word: Word, part: str) -> bool:
        """Tell whether a guard can be put into a word. If not, no value may go to any variable."""
        self.flow.blind |= word.is_continued and any(identifiers(part))
        return not word.is_continued


class Waiting(Record):
    """A heredoc whose body has not been read yet."""

    operator: tuple[int, int]
    word: tuple[int, int]
    delimiter: str
    quoted: bool
    strips_tabs: bool
    command: SimpleCommand


class Grammar(Record):
    """The rules that lead from inside a word back to the whole grammar. They break an import cycle."""

    commands: Callable[[Cursor, str, int], None]
    parameter: Callable[[Cursor, Quoting], None]


class Cursor(Record, frozen=False, eq=False, repr=False):
    """A position in a text: the script, or the inside of backticks. `origin` maps back to the template."""

    text: str
    placeholders: Mapping[int, Placeholder]
    origin: Sequence[int]
    script: Script
    grammar: Grammar
    around: tuple[Cursor, int] | None = None
    pos: int = 0
    end: int = 0
    backticks: int = 0
    starts: list[int] = field(default_factory=list)
    closings: dict[int, int] = field(default_factory=dict)  # "(" -> its ")", as far as they were looked for
    waiting: list[Waiting] = field(default_factory=list)
    closer: str = ""  # what ends the list of commands being read

    def __post_init__(self) -> None:
        if "\0" in self.text or "\1" in self.text:
            self.text = self.text.translate(_NO_MARKS)
        self.end, self.starts = len(self.text), sorted(self.placeholders)
        self.backticks = self.around[0].backticks + 1 if self.around else 0

    def peek(self) -> str:
        return self.text[self.pos] if self.pos < self.end else ""

    def ahead(self, length: int) -> str:
        """Return the next characters as bash sees them, without continued line ends."""
        piece = self.text[self.pos : min(self.pos + length, self.end)]
        if "\\" not in piece:  # nearly always
            return piece
        return "".join(self.text[position] for position in self.next(length))

    def next(self, length: int) -> Iterator[int]:
        """Yield the positions of the next characters, skipping continued line ends."""
        position = self.pos
        for _ in range(length):
            while self.text.startswith("\\\n", position, self.end):
                position += 2
            if position >= self.end:
                return
            yield position
            position += 1

    def advance(self, length: int) -> None:
        if "\\" not in self.text[self.pos : self.pos + length]:
            self.pos = min(self.pos + length, self.end)
            return
        for position in self.next(length):
            self.pos = position + 1

    def skip(self, pattern: re.Pattern[str]) -> bool:
        """Move past what the pattern matches here, and tell whether it matched anything."""
        found = pattern.match(self.text, self.pos, self.end)
        if not found or found.end() == self.pos:
            return False
        self.pos = found.end()
        return True

    def line(self, position: int) -> int:
        first = self.around[0].line(self.around[1]) if self.around else 1
        return first + self.text.count("\n", 0, position)

    def here(self) -> Placeholder | None:
        found = self.placeholders.get(self.pos)
        return found if found and self.pos + found.end - found.start <= self.end else None

    def take(self, quoting: Quoting, *, escaped: bool = False) -> Place:
        """Record the placeholder at this position and move past it."""
        found = self.placeholders[self.pos]
        length = found.end - found.start
        span = (
            self.origin[self.pos - 1 if escaped else self.pos],
            self.origin[self.pos + length - 1] + 1,
            self.pos,
            length,
        )
        mark = Place(found, span, self.script.frame, quoting, self.backticks)
        mark.escaped, mark.in_function = escaped, self.script.functions > 0
        self.script.marks.append(mark)
        self.pos += length
        return mark

    def take_all(self, quoting: Quoting, until: int) -> None:
        """Record every placeholder up to a position, where nothing else matters, and move there."""
        index = bisect_left(self.starts, self.pos)
        while index < len(self.starts) and self.starts[index] < until:
            self.pos = self.starts[index]
            self.take(quoting)
            index += 1
        self.pos = until

    def take_output(self, opened: int, inside: tuple[int, int], first: int, quoting: Quoting) -> None:
        """Record a substitution that has just been read, with the marks in it from number `first` on."""
        places = [mark for mark in self.script.marks[first:] if isinstance(mark, Place)]
        places = [place for place in places if place.quoting is not Quoting.COMMENT]
        span = (self.origin[inside[0]], self.origin[inside[1]], opened, self.pos - opened)
        output = Output(places, span, self.script.frame, quoting, self.backticks)
        output.is_quoted = _QUOTES.fullmatch(self.text, *inside) is not None
        self.script.marks.append(output)

    def count(self) -> int:
        return len(self.script.marks)

    def since(self, first: int) -> list[Place | Output]:
        """Return the marks from number `first` on, without those of substitutions inside."""
        if first == len(self.script.marks):
            return []
        frame = self.script.frame
        return [mark for mark in self.script.marks[first:] if mark.frame == frame]

    def text_since(self, start: int, first: int) -> str:
        """Return the text from `start` to here, with NUL for each placeholder and SOH for each output."""
        marks = self.since(first)
        pieces: list[str] = []
        position = start
        for mark in marks:
            pieces += (self.text[position : mark.position], "\0" if isinstance(mark, Place) else "\1")
            position = mark.position + mark.length
        pieces.append(self.text[position : self.pos])
        return "".join(pieces).replace("\\\n", "")

    def evaluates(self, start: int, first: int, guard: Guard, array: str = "", *, key: bool = False) -> None:
        """Record that bash evaluates the text from `start` to here, if it is no `key`."""
        sink = replace(self.sink(start, first, guard, array), once=bool(array))
        (self.script.keys if key else self.script.sinks).append(sink)

    def sink(self, start: int, first: int, guard: Guard, array: str = "") -> Sink:
        """Return the text from `start` to here as one that bash may evaluate."""
        text = self.text_since(start, first)
        places = spread(text, self.since(first), self.origin[start : self.pos + 1])
        proven = self.script.variables.proven_in(text) if "[" in text else frozenset()
        return Sink(self.origin[start], text, guard, array, self.script.quoted, proven, places=places)

    def find(self, wanted: str, *, escapes: bool = False) -> int:
        """Return the next `wanted` outside placeholders, or -1; with `escapes`, not after a backslash."""
        pattern = _STOPS[wanted, escapes]
        position = self.pos
        while found := pattern.search(self.text, position, self.end):
            position = found.start()
            if inside := self.placeholders.get(position):
                position += inside.end - inside.start
            elif found.group() == wanted:
                return position
            else:
                position += 2 if found.group() == "\\" else 1
        return -1

    def edit(self, start: int, end: int, text: str) -> None:
        self.script.edits.append(Edit(self.origin[start], self.origin[end], text))

    def unclosed(self, construct: str, opened: int) -> TemplateError:
        line = self.line(opened)
        return TemplateError(
            f"{construct} opened on line {line} never closes, so it is unclear where its placeholders stand",
            line=line,
            fix="close it; `bash -n` shows how bash reads the script",
        )

    def unreadable(self, what: str, fix: str) -> TemplateError:
        line = self.line(self.pos)
        return TemplateError(f"{what} on line {line}: its placeholders cannot be placed", line=line, fix=fix)

    def deeper(self) -> Cursor:
        """Enter a quote or a substitution: `with c.deeper():` until its end."""
        self.script.depth += 1
        if self.script.depth > DEEPEST:
            line = self.line(self.pos)
            raise TemplateError(
                f"the script nests more than {DEEPEST} quotes and substitutions on line {line}",
                line=line,
                fix="put the inner results into variables first",
            )
        return self

    # Written out: a generator for it would take longer than reading most quotes.

    def __enter__(self) -> None:
        """Do nothing: `deeper` has."""

    def __exit__(self, *_: object) -> None:
        self.script.depth -= 1


_STOPS = {
    (wanted, escapes): pattern(rf"[{{{wanted}{chr(92) * 2 if escapes else ''}]")
    for wanted in "'`"
    for escapes in (False, True)
}
