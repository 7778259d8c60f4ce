"""Guard what bash evaluates: text that expands to nothing, or ends the command if a variable is unfit.

(( n > 3 ))   becomes   (( ${n+${AMPLIHACK_NOT_A_NUMBER:0:2#0${n//$AMPLIHACK_NOT_A_NUMBER}}}n > 3 ))

The variable of the guard holds a pattern for harmless characters. What is left of `n` without them is read as
digits of a binary number: nothing is left, or bash reports the name of the guard and drops the line. It needs
no process and no quotes, and can stand wherever something expands. How the variable got its value does not
matter: from an assignment, a command, a file, an argument or the environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.places import Edit, Output
from amplihack.records import Record


class Guard(Record, eq=False):
    """What a variable must not hold; bash reports the name."""

    name: str
    harmless: str

    @property
    def words(self) -> str:
        return self.name.removeprefix("AMPLIHACK_").lower().replace("_", "\\ ")

    NUMBER: ClassVar[Guard]  # bash calculates with it: no names, no subscripts
    NAME: ClassVar[Guard]  # bash takes it for the name of a variable, and evaluates a subscript
    DIGITS: ClassVar[Guard]  # digits of another base, as in `16#$n`
    TEXT: ClassVar[Guard]  # bash expands it once more


Guard.NUMBER = Guard("AMPLIHACK_NOT_A_NUMBER", "[![:alpha:]_$`[]")
Guard.NAME = Guard("AMPLIHACK_NOT_A_NAME", "[![]")
Guard.DIGITS = Guard("AMPLIHACK_NOT_DIGITS", "[[:alnum:]]")
Guard.TEXT = Guard("AMPLIHACK_NOT_PLAIN_TEXT", "[!$`<>]")
_GUARDS = (Guard.NUMBER, Guard.NAME, Guard.DIGITS, Guard.TEXT)
_PRINTED = (
    'AMPLIHACK_PRINTED(){ local t p=${!2};IFS= read -rd "" t;if [[ ${t//$p} ]];then t=@;'
    'echo "amplihack: line $1: what a command printed is evaluated by bash and is $3" >&2;fi;'
    'printf %s "$t";};'
)

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
    r"|\$\{(?P<indirect>!?)(?P<braced>[A-Za-z_]\w*|[0-9]+|[@*])"
    r"|\$(?P<plain>[A-Za-z_]\w*|[0-9@*])"
    r"|(?P<bare>[A-Za-z_]\w*)"
)
_CHANGES = pattern(r"[#%/^,@]|:(?![-=?+])")
_ASSIGNS = pattern(r"\s*=(?!=)")


class Sink(Record):
    """A text that bash evaluates, and where in the template a guard for its variables can stand."""

    offset: int
    text: str
    guard: Guard
    array: str = ""  # whose subscript it is
    quoted: bool = False  # in code in double quotes, which bash expands before it reads it as code


class Operand(Record):
    """A variable in an expression: its name, and the guard that keeps it from being run."""

    name: str
    text: str


def operands(text: str, guard: Guard, keyed: Iterable[str] = ()) -> Iterator[Operand]:
    """Yield the variables that bash evaluates in an expression, those in subscripts first.

    In the text, NUL and SOH stand for values and substitutions. `keyed` are arrays that may be associative.
    """
    position, based = 0, False
    while found := _TOKEN.search(text, position):
        position, digits, based = found.end(), based, bool(found["base"])
        name = found["braced"] or found["plain"] or found["bare"]
        if not name:
            continue
        index = _subscript(text, position) if not found["plain"] else ""
        position += len(index)
        inner = Guard.TEXT if name in keyed else Guard.NUMBER
        if index and index not in ("[@]", "[*]"):
            yield from operands(index[1:-1], inner, keyed)
        needed = Guard.DIGITS if digits else _needed(found["bare"], guard, text[position : position + 16])
        if needed and name not in _NUMBERS and not any(sign in index for sign in "\0\1`"):
            indirect = found["indirect"] or ""  # the name of the variable is not known then
            yield Operand(indirect or name, _guarded(f"{indirect}{name}{index}", needed))


def _needed(bare: str | None, guard: Guard, rest: str) -> Guard | None:
    """Return the guard for a variable by what follows it."""
    if bare and (guard is not Guard.NUMBER or _ASSIGNS.match(rest)):
        return None  # a word, or a variable that only receives a value
    if guard is Guard.NUMBER and not bare and _CHANGES.match(rest):
        return Guard.NAME  # cut before it is evaluated, as in `${x%GB}`
    return guard


def _guarded(variable: str, guard: Guard) -> str:
    return f"${{{variable}+${{{guard.name}:0:2#0${{{variable}//${guard.name}}}}}}}"


def _subscript(text: str, start: int) -> str:
    """Return the balanced `[...]` that begins here, or nothing."""
    if text[start : start + 1] != "[":
        return ""
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] == "[") - (text[position] == "]")
        if not depth:
            return text[start : position + 1]
    return ""


def printed_guards(script: str, outputs: Iterable[tuple[Output, Guard]]) -> Iterator[Edit]:
    """Yield edits that check what substitutions print before bash evaluates it."""
    line, position = 1, 0
    for output, guard in sorted(outputs, key=lambda each: each[0].start):
        line, position = line + script.count("\n", position, output.start), output.start
        inside = script[output.start : output.end]
        if not inside.strip() or script[output.start - 2 : output.start] == ">(":
            continue
        reads = "cat " if inside.lstrip().startswith("<") and inside.lstrip()[1:2] != "(" else ""
        yield Edit(output.start, output.start, f"{{ {reads}")
        call = f"AMPLIHACK_PRINTED {line} {guard.name} {guard.words};exit ${{PIPESTATUS[0]}}"
        yield Edit(output.end, output.end, f"{_ending(inside)}}}|{call}")


def _ending(commands: str) -> str:
    """Return what ends a list of commands before a brace. A comment or heredoc needs a line of its own."""
    if "#" in commands or "<<" in commands:
        return "\n"
    return " " if commands.rstrip(" \t").endswith((";", "&", "\n")) else ";"


def preamble(text: str, *, exported: bool) -> str:
    """Return the definitions that guards in a text need, on one line; `exported` for shells it starts."""
    used = [guard for guard in _GUARDS if guard.name in text]
    definitions = "".join(f"readonly {guard.name}='{guard.harmless}';" for guard in used)
    if exported:
        definitions += "".join(f"export {guard.name};" for guard in used)
    return definitions + (_PRINTED if "AMPLIHACK_PRINTED" in text else "")
