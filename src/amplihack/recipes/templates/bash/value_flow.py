"""Follow values through variables: an assigned value is harmless until the variable is evaluated.

n={{v}}; (( n > 3 ))        x={{v}}; echo ${!x}        f() { (( $1 )); }; f {{v}}        c={{v}}; eval "$c"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.number_guards import Sink
from amplihack.recipes.templates.bash.places import Mark, Word
from amplihack.recipes.templates.bash.quoted_for_shells import left_in_code
from amplihack.recipes.templates.bash.variable_attributes import PROGRAM_VARIABLES, is_program_variable
from amplihack.recipes.templates.names import PREFIX
from amplihack.records import Record, field

FILE_NAMES = pattern(r"[*?]|(?<!\w)\[")  # a pattern for the names of files, which may be any
_FILE_NAME = pattern(r"[\w.~${}/-]+")
_LONG = 4096  # a text of this size is no expression
ARGUMENTS = "@"  # stands for $1, $@ and the like
CALLED = "@called"  # what a function of the script gets for them
PASSED = "@passed"  # of this, what it may evaluate
INPUT = "<"  # stands for the text of `<<<` and heredocs
_NOT_FOUND = "command_not_found_handle"  # bash calls it with the words of what it cannot find
FILE = "file "  # before the name of a file, stands for what it holds; alone, for all that are read

_INSIDE = pattern(r"\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|\{\{[^{}]*\}\}|\$\{#[^{}]*\}")
_REFERENCE = pattern(r"\$\{?!?([A-Za-z_][A-Za-z0-9_]*|[0-9@*])")
_INDIRECT = pattern(r"\$\{![A-Za-z_0-9#]+(?!\w|\[[@*]\]|[@*]\})")
_COUNTED = pattern(r"([A-Za-z_]\w*)\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))|(?:\+\+|--)\s*([A-Za-z_]\w*)")
# A text that makes a name which stands nowhere in it: `${m%y}`, `x$i`, `$a$b`, `x{1..3}`, `$'\\x78'`, `n+=y`.
_MAKES_NAME = pattern(
    r"\$\{!?(?:\w+|[@*])(?:\[[^\[\]]*\])?(?:[#%/^,@~]|:(?![-=?+]))"
    r"|(?<![\w$])[A-Za-z_]\w*[${`]|\$(?:\{\w+\}|\w+)[${`\w]|\$'[^']*\\|^\w+\+=(?!\().*[A-Za-z_]"
)
_CALCULATES = pattern(
    r"\(\(|\$\[|\blet\s|\w\[|\[\[[^\n]*-(?:eq|ne|lt|le|gt|ge)\b|\b(?:declare|typeset|local)\s+-|@P\}|\$\{!"
)
_PRINTS = pattern(r"(?:\$\(|`)\s*(?:echo|printf|cat)\s")
# A text with a pattern for the names of files, which may be any, and what only looks like one.
_PATTERN = pattern(r"[*?\[]")
_NO_PATTERN = pattern(r"^\w+\[[^\]]*\]|\[[^\]]*\]=|\$\(\(.*?\)\)|\$\[[^\]]*\]|\$\{[^{}]*\}|\$[?*@]")
_QUOTED_FOR_SHELL = pattern(r"\$\{\w+(?:\[[^\[\]]*\])?@[QKA]\}")
_SUBSCRIPT = pattern(r"[\[\]\\\1]")
_EXPANSION = pattern(r"\$\{[^{}]*\}")
_ASSIGNED_QUOTED = pattern(r"(\w+)\+?=[\\\"']*\$\{(\w+)(?:\[[^\[\]]*\])?@[QKA]\}")
_WORDS = pattern(r"""(?:\w+\+?=)?["']([\w.-]+(?:[ \t]+[\w.=-]+)+)[ \t]*["']""")
_NUMBER = pattern(r"\$\(\(.*?\)\)", re.DOTALL)
_KEY = pattern(r"\w+\[[^\[\]]*\]\+?=(?!\()")
_NO_QUOTES = str.maketrans("", "", "\"'\\")
_IDENTIFIER = pattern(r"[A-Za-z_][A-Za-z0-9_]*|\$\{?[0-9@*]")


def references(text: str) -> Iterator[str]:
    """Yield the variables that a word expands, except inside substitutions and lengths."""
    for name in _REFERENCE.findall(_INSIDE.sub("", text)) if "$" in text else ():
        yield name if name[0].isalpha() or name[0] == "_" else ARGUMENTS


def identifiers(text: str) -> Iterator[str]:
    """Yield the variables that an arithmetic expression uses."""
    for name in _IDENTIFIER.findall(_INSIDE.sub("", text)):
        yield ARGUMENTS if name[0] == "$" else name


def files_in(text: str) -> Iterator[str]:
    """Yield what stands for the files that a command may name."""
    yield from (FILE + name.removeprefix("./") for name in _FILE_NAME.findall(text.translate(_NO_QUOTES)))


def _inside_out(text: str) -> str:
    """Return a text without quotes, and with what its constant substitutions hold."""
    return text.translate(_NO_QUOTES).replace("$(", "(")


def _makes_text(text: str) -> bool:
    """Tell whether an assignment may make the name of a variable or a file that its text does not show."""
    return len(text) < _LONG and bool(
        _MAKES_NAME.search(text)
        or _MAKES_NAME.search(text.translate(_NO_QUOTES))
        or _PATTERN.search(_NO_PATTERN.sub("", text))
    )


class Suspects(Record):
    """The variables that may hold any text."""

    found: frozenset[str]
    written: frozenset[str]  # by the script itself: any other comes from the environment
    every: bool  # a name that only the run knows is written, or a script that is not read

    def __contains__(self, name: str) -> bool:
        return self.every or name in self.found or name not in self.written


class ValueFlow(Record, frozen=False, eq=False, repr=False):
    """What a script does with its variables, as far as its text shows."""

    evaluated: set[str] = field(default_factory=set)  # as arithmetic or as a name
    taken: set[str] = field(default_factory=set)  # for a name, whose own text is not evaluated: `${!n}`
    executed: set[str] = field(default_factory=set)  # as a script
    launched: set[str] = field(default_factory=set)  # as a command, without quotes
    unread: set[str] = field(default_factory=set)  # evaluated, perhaps, by code that no guard can be put into
    lost: bool = False  # a text that is evaluated is made in a way that is not followed: it may be any name
    blind: bool = False  # a variable that only the run knows is declared to be evaluated
    functions: set[str] = field(default_factory=set)
    printing: set[str] = field(default_factory=set)  # the commands whose output is run as a script
    written: set[str] = field(default_factory=set)  # what the script itself assigns
    fed: set[str] = field(default_factory=set)  # what gets the text of a command, an input or a value
    unknown: bool = False  # a variable that only the run knows is written
    made: set[str] = field(default_factory=set)  # what gets a text that is joined from pieces
    unguarded: set[str] = field(default_factory=set)  # what gets a word into which no guard can be put
    received: list[tuple[str, Sink]] = field(default_factory=list)  # which text each assignment gives
    calls: list[tuple[str, list[Word]]] = field(
        default_factory=list
    )  # with values or variables among their words
    _code: dict[str, set[str]] = field(default_factory=dict)  # what its text calculates with if that is run
    _guarded: set[str] = field(default_factory=set)  # of these, what a guard stands before
    _subscripted: set[str] = field(default_factory=set)  # what may hold a subscript: `n='a[i]'`
    _printed: dict[str, set[str]] = field(default_factory=dict)  # what `echo` and the like print into it
    _texts: dict[str, set[str]] = field(default_factory=dict)  # constants of several words
    _sources: dict[str, set[str]] = field(default_factory=dict)
    _keys: dict[str, set[str]] = field(default_factory=dict)  # what its subscripts are made of
    _named: dict[str, set[str]] = field(default_factory=dict)  # with or without `$`

    def assign(self, variable: str, text: str, *, is_read: bool = False) -> None:
        """Record that a variable gets the value of a word; `is_read` if that is code with guards in it."""
        self.written.add(variable)
        if is_program_variable(variable) and not is_read:
            self.run(text)
        if constant := _WORDS.fullmatch(text):
            self._texts.setdefault(variable, set()).add(constant[1])
        if "\0" in text or "\1" in text or _INDIRECT.search(text) or _makes_text(text):
            self.fed.add(variable)
        if key := _KEY.match(text):
            text = text[key.end() :]
            self._keys.setdefault(variable, set()).update(identifiers(key[0]))
        if "$" in text:
            self._sources.setdefault(variable, set()).update(references(text))
        if _SUBSCRIPT.search(text):
            self._subscripted.add(variable)
        if "'" not in text and "\\" not in text:  # else it may be code that is evaluated later
            text = _NUMBER.sub("", text)
        if len(text) < _LONG and _CALCULATES.search(text if "'" in text else _EXPANSION.sub("", text)):
            self._code.setdefault(variable, set()).update(identifiers(_inside_out(text)))
        if len(text) < _LONG and (named := set(identifiers(_inside_out(text)))):
            self._named.setdefault(variable, set()).update(named)

    def run(self, code: str, calculates_with: AbstractSet[str] | None = None) -> set[str]:
        """Record that bash runs a text into which no guard can be put: variables may be a part of it.

        Return what it calculates with, as it is given, or all that it might.
        """
        expanded = set(references(_QUOTED_FOR_SHELL.sub(left_in_code, code.replace("\\$", ""))))
        self.executed |= expanded
        for name, quoted in _ASSIGNED_QUOTED.findall(code):  # an integer calculates with it all the same
            self.assign(name, f"${quoted}")
            self.unguarded.add(name)
        if calculates_with is None:
            calculates_with = set(identifiers(_inside_out(code))) if _CALCULATES.search(code) else set()
        self.unread |= calculates_with - expanded
        return {name for name in calculates_with - expanded if name.isidentifier()}

    def guard_code(self, code: str) -> set[str]:
        """Return what code that is run right here calculates with because it stands in a variable so far."""
        found = set().union(*(self._code.get(name, ()) for name in references(code)))
        self._guarded |= found
        return {name for name in found if name.isidentifier()}

    def holds_arguments(self, variable: str) -> bool:
        return variable == ARGUMENTS or ARGUMENTS in self._sources.get(variable, ())

    def named(self, variable: str) -> AbstractSet[str]:
        """Return the words that are assigned to a variable, with or without `$`."""
        return self._named.get(variable, frozenset())

    def texts(self, variable: str) -> Iterable[str]:
        """Return the constants of several words that are assigned to a variable."""
        return sorted(self._texts.get(variable, ()))

    def print_into(self, variable: str, substitution: str) -> None:
        """Record what a substitution prints that is assigned to a variable."""
        if found := _PRINTS.match(substitution):
            self.copy(variable, references(substitution[found.end() :]))
        if len(substitution) < _LONG:
            self.copy(variable, files_in(substitution))

    def copy(self, variable: str, sources: Iterable[str]) -> None:
        """Record that a variable or a file gets the text of others: if it is run, so are they."""
        self._printed.setdefault(variable, set()).update(sources)

    def count(self, expression: str) -> None:
        """Record the variables that an arithmetic expression itself assigns: they hold numbers."""
        for before, after in _COUNTED.findall(expression):
            self.written.add(before or after)

    def suspects(self, fed: Iterable[str], *, opaque: bool) -> Suspects:
        """Return which variables may hold a text that nobody has looked at; `fed` get input.

        `opaque` says that the script runs code that is not read here.
        """
        following: dict[str, list[str]] = {}
        for variable, sources in (*self._sources.items(), *self._keys.items()):
            for source in sources:
                following.setdefault(source, []).append(variable)
        found: set[str] = set()
        fed = set(fed)
        outside = following.keys() - self.written
        known = self.written.union(fed)
        for variable, names in self._named.items():  # `n=x` leads to `x` where `n` is evaluated
            for name in names & known:
                following.setdefault(name, []).append(variable)
        given = {variable for variable, names in self._named.items() if any(map(self._is_given, names))}
        waiting = [*self.fed, *fed, *outside, *given, ARGUMENTS]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += following.get(name, ())
        return Suspects(frozenset(found), frozenset(self.written), self.unknown or opaque)

    def may_hold_value(self, name: str) -> bool:
        """Tell whether a word is the name of a variable of the script or of the run."""
        return name in self.written or self._is_given(name)

    def _is_given(self, name: str) -> bool:
        """Tell whether a variable may come from the run."""
        return (name.isupper() and name not in self.written) or name.startswith(PREFIX)

    def settle(
        self,
        integers: Iterable[str],
        from_input: Iterable[str],
        passed: Callable[[str, list[Word]], Sequence[Word]],
    ) -> None:
        """Follow assignments backwards, and arguments into the functions of the script.

        `from_input` are the variables that the script reads from its input, and `passed` are the words of a
        call that the function may evaluate.
        """
        for name, words in self.calls:
            if name not in self.functions and _NOT_FOUND in self.functions:
                name, words = _NOT_FOUND, [Word(_NOT_FOUND, []), *words]
            if name in self.functions:
                self._pass(words, CALLED)
                self.assign(CALLED, " ".join(word.text for word in words[1:]))  # as `eval "$@"` reads them
                self._pass(passed(name, words), PASSED)
        if INPUT in self._sources or INPUT in self._named:
            for name in from_input:
                self._sources.setdefault(name, set()).add(INPUT)
        if self._sources or self._named or self._printed or self.written:
            known = self.written.union(from_input)
            self._sources.setdefault(ARGUMENTS, set()).add(PASSED)
            self.unread = self._leading_to(self.unread, known)
            self.evaluated = self._leading_to(
                (*self.evaluated, *self.unread, *self._assigned(integers)), known
            )
            taken = self._leading_to(self.taken)
            if not self.executed and not self.printing:  # else what it names may become code
                taken &= self._subscripted.union((ARGUMENTS,))
            self.evaluated |= self._leading_to(taken, known)
            self._sources[ARGUMENTS].add(CALLED)
            for variable, printed in self._printed.items():
                self._sources.setdefault(variable, set()).update(printed)
            self.executed = self._leading_by_name_to(self.executed)
            self.launched = self._leading_by_name_to(self.launched)
            if run := self._code.keys() & self._leading_to(self.executed, known):  # `c='(( n ))'; eval "$c"`
                calculated = self._leading_to(set().union(*(self._code[name] for name in run)), known)
                self.unread |= calculated
                self.evaluated |= calculated
                left = calculated.intersection(self.fed.union(from_input)) - self._guarded
                self.lost |= bool(left)
        self.evaluated |= self._leading_to(self.taken)

    def _pass(self, words: Iterable[Word], name: str) -> None:
        for word in words:
            self.assign(name, word.text)
            for mark in word.marks:
                mark.variables += (name,)

    def reaches_programs(self, references: Iterable[str]) -> set[str]:
        """Return the references whose target is a variable that bash or a program runs."""
        return {name for name in references if not PROGRAM_VARIABLES.isdisjoint(self._named.get(name, ()))}

    def _assigned(self, integers: Iterable[str]) -> set[str]:
        found = (self._sources.get(name, set()) | self._named.get(name, set()) for name in integers)
        return set().union(*found)

    def _leading_by_name_to(self, names: Iterable[str]) -> set[str]:
        """Return the variables whose text may get into these, also through `${!n}`."""
        found, taken = self._leading_to(names), self._leading_to(self.taken)
        while new := set().union(*(self.named(name) for name in found & taken)) - found:
            found |= self._leading_to(new)
        return found | self.written if ARGUMENTS in found & taken else found  # `f x` may name any

    def _leading_to(self, names: Iterable[str], known: AbstractSet[str] = frozenset()) -> set[str]:
        """Return the variables whose text may get into these, and those `known` ones that they may name."""
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self._sources.get(name, ())
                waiting += self._named.get(name, set()) & known
        return found

    def is_evaluated(self, mark: Mark, from_input: set[str]) -> bool:
        """Tell whether a value reaches a variable that the script evaluates."""
        if mark.variables and (self.blind or not self.evaluated.isdisjoint(mark.variables)):
            return True
        return mark.is_input and not self.evaluated.isdisjoint(from_input)
