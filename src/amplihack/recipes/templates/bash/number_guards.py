"""Guard what bash evaluates: text that expands to nothing, or ends the shell if a variable is unfit.

(( n > 3 ))   becomes   (( ${n+${LEFT:=${n//$NOT_A_NUMBER}}${LEFT:+${STOP:?n is not a number}}}n > 3 ))

The variable of the guard holds a pattern for harmless characters. What is left of `n` without them is kept in
another: it stays empty, or the operator for what must be set ends the shell with a message. It needs no
process and no quotes, and can stand wherever something expands. How the variable got its value does not
matter: from an assignment, a command, a file, an argument or the environment.

What is made on the spot is kept in an array and checked there: `${n%y}` must make a number, and the variable
that `${n}_count` names must hold one. Otherwise text of the script could name a variable that holds a value.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import ClassVar

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.places import Edit, Output
from amplihack.records import Record, replace


class Guard(Record, eq=False):
    """What a variable must not hold; the name tells it."""

    name: str
    harmless: str

    @property
    def words(self) -> str:
        return self.name.removeprefix("AMPLIHACK_").lower().replace("_", " ")

    NUMBER: ClassVar[Guard]  # bash calculates with it: no names, no subscripts
    NAME: ClassVar[Guard]  # bash takes it for the name of a variable, and evaluates a subscript
    DIGITS: ClassVar[Guard]  # digits of another base, as in `16#$n`
    TEXT: ClassVar[Guard]  # bash expands it once more
    KEY: ClassVar[Guard]  # bash expands it once more, between brackets that it must not close
    LIST: ClassVar[Guard]  # bash reads it as the elements of an array if it is in parentheses
    ASSIGNED: ClassVar[Guard]  # bash assigns it, name and value, perhaps to an array
    WORD: ClassVar[Guard]  # bash runs it as a command


Guard.NUMBER = Guard("AMPLIHACK_NOT_A_NUMBER", "[![:alpha:]_$`[]")
Guard.NAME = Guard("AMPLIHACK_NOT_A_NAME", "[![]")
Guard.DIGITS = Guard("AMPLIHACK_NOT_DIGITS", "[[:alnum:]]")
Guard.TEXT = Guard("AMPLIHACK_NOT_PLAIN_TEXT", "[!$`<>]")
Guard.KEY = Guard("AMPLIHACK_NOT_A_PLAIN_KEY", r"[!\]\[$`<>]")
Guard.LIST = Guard("AMPLIHACK_IN_PARENTHESES", "[!(]*")  # nothing is left of what begins otherwise
Guard.WORD = Guard("AMPLIHACK_NOT_A_WORD", "[[:alnum:]_.-]")
Guard.ASSIGNED = Guard("AMPLIHACK_NOT_PLAIN_ASSIGNMENT", "[![(]")
GUARDS = (
    *(Guard.NUMBER, Guard.NAME, Guard.DIGITS, Guard.TEXT),
    *(Guard.KEY, Guard.LIST, Guard.WORD, Guard.ASSIGNED),
)
STOP = "AMPLIHACK_STOP"  # always empty: to ask for its value ends the shell
LEFT = "AMPLIHACK_LEFT"  # what is left of a variable without what is harmless
_MADE = "AMPLIHACK_MADE"  # an array of the texts that expressions made: only `:=` keeps one
_KEEP = f"${{{_MADE}[0+${{{_MADE}[@]+${{#{_MADE}[@]}}}}+0]:="
_LAST = f"{_MADE}[${{#{_MADE}[@]}}-1]"
TARGET = "AMPLIHACK_TARGET"  # a table of variables that bash calculates or expands
RUN = "AMPLIHACK_RUN"  # a table of commands of bash that evaluate their words
KIND = "AMPLIHACK_KIND"  # the letter of what makes an integer, among the attributes of a variable

# Bash itself keeps numbers in these.
_NUMBERS = frozenset(
    """
    BASHPID BASH_SUBSHELL COLUMNS EPOCHSECONDS EUID HISTCMD LINENO LINES OPTIND PPID RANDOM SECONDS SHLVL
    SRANDOM UID
    """.split()  # noqa: SIM905 - a table of names, not code
)
_TOKEN = pattern(
    r"(?P<base>[0-9]+\#|0[xX])(?=\$)|[0-9][0-9A-Za-z#@_]*"
    r"|\$\{\#[^{}]*\}"
    r"|\$\{(?P<indirect>!?)(?P<braced>[A-Za-z_]\w*|[0-9]+|[@*]|(?<=!)\#)"
    r"|\$(?P<plain>[A-Za-z_]\w*|[0-9@*])"
    r"|(?P<bare>[A-Za-z_]\w*)"
)
_PIECE = pattern(
    r"\$\{?(?P<name>(?<!\{)(?:[A-Za-z_]\w*|[0-9@*])|(?<=\{)(?:[A-Za-z_]\w*|[0-9@*])(?=\}))\}?|(?P<word>\w+)|.",
    re.DOTALL,
)
_TWICE = pattern(r"[\0\1`=]|\+\+|--|\$(?!\w|\{\w+\}|[@*])")  # does something, or cannot be written again
_NO_QUOTES = str.maketrans("", "", "\"'\\")
_CHANGES = pattern(r"[#%/^,@~]|:(?![-=?+])")
_ASSIGNS = pattern(r"\s*=(?!=)")


class Sink(Record):
    """A text that bash evaluates, and where in the template a guard for its variables can stand."""

    offset: int
    text: str
    guard: Guard
    array: str = ""  # whose subscript it is
    quoted: bool = False  # in code in double quotes, which bash expands before it reads it as code
    proven: frozenset[str] = frozenset()  # arrays in it that are associative so far
    once: bool = False  # a key there is expanded once, as in `m[$k]=1` and `${m[$k]}`
    places: Sequence[int] = ()  # of its characters and its end in the template, where they are known
    target: str = ""  # the variable that gets it: bash evaluates it if that is an integer

    def position(self, index: int) -> int | None:
        return self.places[index] if self.places else None


class Operand(Record):
    """A variable in an expression: its name, and the guard that keeps it from being run."""

    name: str
    text: str
    start: int = 0  # in the expression
    changed: bool = False  # its expansion makes another text of it, as `${n%y}` does
    bare: bool = False


class Kept(Record):
    """A text between two offsets of the template that must make a number, or the name of one if `joined`."""

    start: int
    end: int
    name: str
    quoted: bool
    joined: bool = False
    target: str = ""  # the variable that gets it, if it must make one only for an integer
    harmless: str = ""  # what expands to a pattern for what it may make, if that is no number


def as_code(guard: str, *, quoted: bool) -> str:
    """Return a guard as it is written into code, which may be in double quotes."""
    return guard.replace("$", "\\$").replace('"', '\\"') if quoted else guard


def keep(texts: Iterable[Kept]) -> Iterator[Edit]:
    """Yield edits that keep what these texts make and check it. One may stand in another."""
    edits = []
    for text in texts:
        begin, check = (as_code(piece, quoted=text.quoted) for piece in _made(text))
        edits.append(((text.start, 1, -text.end, not text.joined), begin))
        edits.append(((text.end, 0, -text.start, text.joined), check))
    for (offset, *_), piece in sorted(edits):
        yield Edit(offset, offset, piece)


def _made(text: Kept) -> tuple[str, str]:
    last = f"!{_LAST}" if text.joined else _LAST
    left = f"${{{LEFT}:=${{{last}//{text.harmless or f'${Guard.NUMBER.name}'}}}}}"
    stop = f"${{{LEFT}:+${{{STOP}:?{text.name} is {Guard.NUMBER.words}}}}}"
    check = f"${{{last}+{left}{stop}}}"
    return _KEEP, "}" + (if_integer(check, (text.target,)) if text.target else check)


def if_integer(guard: str, variables: Iterable[str]) -> str:
    """Return a guard that does nothing unless one of these variables is an integer by then."""
    attributes = "".join(map(_attributes, variables))
    return f"${{AMPLIHACK_NUMBERS[kind ${{{KIND}/[.{attributes}]}}]-{guard}}}"


def stop_integer(name: str) -> str:
    """Return what ends the shell if a variable is an integer, where it gets a text that cannot be checked."""
    return if_integer(
        f"${{{STOP}:?{name} is not checked before: read another variable, then {name}=that}}", (name,)
    )


def _attributes(name: str) -> str:
    """Return what expands to the letters of a variable's attributes, whatever IFS and the options are."""
    # Bash tells those of an empty array only to who does without `set -u`, in a process of its own. Text with
    # `[@]` in it would be split at the characters of IFS.
    empty = f"${{AMPLIHACK_NUMBERS[.${{{name}[*]@A}}]-$(AMPLIHACK_ATTRIBUTES {name})}}"
    return f"${{{name}[*]@a}}${{AMPLIHACK_NUMBERS[.${{{name}[*]+x}}]+{empty}}}"


def run_pattern(command: str, option: str, *, is_operand: bool) -> str:
    """Return what expands to the harmless in a word of a command, by which command that is.

    `option` expands to the letter v if one of its options takes a name. An operand must be no option.
    """
    harmless = f"${{{RUN}[.{command}]-*}}"
    if is_operand:
        harmless = f"${{{RUN}[d.{command}]-{harmless}}}"
    return f"${{{RUN}[{option}.{command}]-{harmless}}}" if option else harmless


def first_word(variable: str, second: str) -> str:
    """Return what expands to the command that a variable without quotes names, or else to the word behind it.

    What begins with blanks, or with another command for commands, costs a process.
    """
    first = f'${{{variable}%%["${{IFS-}}"[:space:]]*}}'
    found = f"${{{variable}:+$(AMPLIHACK_FIRST ${variable} {second})}}"
    behind = f"${{AMPLIHACK_NUMBERS[.${variable}]+{second}}}" if second else ""
    asked = f"AMPLIHACK_NUMBERS[first {first}]"
    return f"${{{asked}-{first}}}${{{asked}+{found}{behind}}}"


def option_in(variable: str) -> str:
    """Return what expands to the letter v if a variable holds an option that is followed by a name."""
    return f"${{{variable}:+${{AMPLIHACK_NUMBERS[.${{{variable}##*-[vRp]*}}]+v}}}}"


def target_pattern(name: str) -> str:
    """Return what expands to the harmless in a text for the variable of this name."""
    return f"${{{TARGET}[.{name}]-*}}"


def whole_pattern(variable: str) -> str:
    """Return what expands to the harmless in a variable that holds a name, `=` and a value."""
    return f"${{{TARGET}[w.${{{variable}%%[+=]*}}]-*}}"


def pattern_guard(variable: str, harmless: str) -> str:
    """Return a guard for a variable in which only what the pattern tells is harmless."""
    return by_pattern(_guarded(variable, variable, Guard.TEXT), harmless)


def by_pattern(guard: str, harmless: str) -> str:
    """Return a guard for text with another pattern."""
    return guard.replace(f"${Guard.TEXT.name}", harmless)


def value_guard(name: str, variables: Iterable[str]) -> str:
    """Return a guard for the variable that carries a value and goes to these variables."""
    return if_integer(_guarded(name, name, Guard.NUMBER), variables)


def operands(
    text: str, guard: Guard, keyed: Keyed | None = None, offset: int = 0, *, proven: Collection[str] = ()
) -> Iterator[Operand]:
    """Yield the variables that bash evaluates in an expression, those in subscripts first.

    In the text, NUL and SOH stand for values and substitutions. `keyed` are arrays that may be associative,
    and `proven` those that are. `offset` is where the text begins in the whole expression.
    """
    position, based = 0, False
    while found := _TOKEN.search(text, position):
        position, digits, based = found.end(), based, bool(found["base"])
        name = found["braced"] or found["plain"] or found["bare"]
        if not name:
            continue
        index = subscript_at(text, position) if not found["plain"] else ""
        if index and index not in ("[@]", "[*]"):
            inside, start = index[1:-1], offset + position + 1
            check = keyed.check(inside, name) if keyed and name not in proven else ""
            is_key = name in proven or bool(check)
            if not (is_key and found["braced"]):  # `${m[$k]}` expands its key once, `m[$k]` twice
                inner = Guard.KEY if is_key else Guard.NUMBER
                yield from operands(inside, inner, keyed, start, proven=proven)
            for each in operands(inside, Guard.NUMBER, keyed, start) if check else ():
                yield replace(each, text=check, changed=False, bare=False)
        position += len(index)
        rest = text[position : position + 16]
        needed = Guard.DIGITS if digits else _needed(found["bare"], guard)
        if not needed or name in _NUMBERS or (found["bare"] and _ASSIGNS.match(rest)):
            continue  # or a variable that only receives a value
        changed = found["braced"] and needed is Guard.NUMBER and _CHANGES.match(rest)
        if changed or not any(sign in index for sign in "\0\1`"):
            indirect = found["indirect"] or ""  # the name of the variable is not known then
            yield Operand(
                indirect or name,
                _guarded(f"{indirect}{name}{index}", name, needed),
                offset + found.start(),
                bool(changed),
                bool(found["bare"]),
            )
        if changed:  # what makes the text is not evaluated itself
            position = closed(text, text.index("{", found.start()), "{", "}") or position


class Keyed(Record):
    """The arrays of which only the run knows whether they are associative."""

    names: Collection[str]
    every: bool = False  # the script runs code that is not read here, which may have made any
    alone: bool = True  # no other shell runs code of the script, which would not know our table

    def __contains__(self, name: object) -> bool:
        return bool(name) and (self.every or name in self.names)

    def check(self, text: str, array: str) -> str:
        """Return a guard for the subscript of an array; nothing if it is surely none of these.

        It is nothing too where the subscript cannot be written a second time: then only numbers are safe.
        What is no number costs a process.
        """
        if array not in self or _TWICE.search(text):
            return ""
        key, left = "", ""
        for found in _PIECE.finditer(text.translate(_NO_QUOTES)):
            name = found["name"] or found["word"] or ""
            key += f"${{{name}-}}" if found["name"] else name or "+"
            left += f"${{{name}+${{{name}//${Guard.NUMBER.name}}}}}" if name and not name.isdigit() else ""
        printed = f"${{{LEFT}:=$(AMPLIHACK_KEY={key} AMPLIHACK_SUBSCRIPT {array})}}"
        check = f"{printed}${{{LEFT}:+${{{STOP}:?the subscript of {array} is {Guard.NUMBER.words}}}}}"
        return f"${{AMPLIHACK_NUMBERS[.{left}]-{check}}}" if self.alone else check


def _needed(bare: str | None, guard: Guard) -> Guard | None:
    """Return the guard for a variable; a bare word is none where bash does not calculate."""
    return None if bare and guard is not Guard.NUMBER else guard


def _guarded(variable: str, name: str, guard: Guard) -> str:
    left = f"${{{LEFT}:=${{{variable}//${guard.name}}}}}"
    return f"${{{variable}+{left}${{{LEFT}:+${{{STOP}:?{name} is {guard.words}}}}}}}"


def subscript_at(text: str, start: int) -> str:
    """Return the balanced `[...]` that begins here, or nothing."""
    return text[start : closed(text, start, "[", "]")] if text[start : start + 1] == "[" else ""


def closed(text: str, start: int, opening: str, closing: str) -> int:
    """Return the end of what opens here, behind its closing; 0 if it never closes."""
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] == opening) - (text[position] == closing)
        if not depth:
            return position + 1
    return 0


def printed_guards(script: str, outputs: Iterable[tuple[Output, Guard]]) -> Iterator[Edit]:
    """Yield edits that check what substitutions print before bash evaluates it."""
    line, position = 1, 0
    for output, guard in sorted(outputs, key=lambda each: each[0].start):
        line, position = line + script.count("\n", position, output.start), output.start
        inside = script[output.start : output.end]
        if not inside.strip() or script[output.start - 2 : output.start] == ">(":
            continue
        reads = "command cat " if inside.lstrip().startswith("<") and inside.lstrip()[1:2] != "(" else ""
        yield Edit(output.start, output.start, f"{{ {reads}")
        call = f"AMPLIHACK_PRINTED {line} {guard.name} '{guard.words}'"
        if attributes := "".join(map(_attributes, output.integers)):
            call = f"if [[ {attributes} == *i* ]];then {call};else command cat;fi"
        yield Edit(output.end, output.end, f'{_ending(inside)}}}|{call};builtin exit "${{PIPESTATUS[0]}}"')


def _ending(commands: str) -> str:
    """Return what ends a list of commands before a brace. A comment or heredoc needs a line of its own."""
    if "#" in commands or "<<" in commands:
        return "\n"
    return " " if commands.rstrip(" \t").endswith((";", "&", "\n")) else ";"
