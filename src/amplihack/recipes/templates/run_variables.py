"""Tell the variables of a run that a script hands to an interpreter by their names: `eval "$RECIPE_VAR_v"`.

The script is read as if a placeholder stood in the place of each of them. Those in single quotes stay: if
that text is code of the script, the reader follows what the code does with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache

from amplihack.errors import TemplateError
from amplihack.patterns import pattern
from amplihack.recipes.placeholders import find_placeholders, line_of
from amplihack.recipes.templates.names import CONTEXT_FILE, LARGE
from amplihack.recipes.templates.scripts import PREPARED
from amplihack.records import Record

# `$name` and `${name...}`, but neither its length nor a word instead of it, nor a form quoted for a shell.
_EXPANDED = pattern(r"(?<!\\)\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?!:?\+|@[QKAa]\})[^{}]*\})")
_PRINTENV = pattern(r"\bprintenv[ \t]+(?:-0[ \t]+)?([A-Za-z_]\w*)")


class RunVariable(Record):
    """A variable that a script has a shell or another interpreter run."""

    name: str
    start: int  # where the script names it
    language: str
    launcher: str = ""  # what runs it as a command, where it is no program of any language

    @property
    def shown(self) -> str:
        is_file = self.name == CONTEXT_FILE
        return f"a value in the file ${self.name}" if is_file else f"the value of ${self.name}"


def warnings_about(script: str, names: frozenset[str]) -> Iterator[str]:
    """Yield a warning for each of these variables that a shell runs."""
    for found in run_variables(script, names):
        line = line_of(script, found.start)
        if found.language == "bash":
            yield f"{found.shown} is run as a bash program on line {line}"
        elif found.launcher:
            yield f"{found.shown} is the command that {found.launcher} runs on line {line}"


@lru_cache(maxsize=PREPARED)
def run_variables(script: str, names: frozenset[str]) -> tuple[RunVariable, ...]:
    """Return which of these variables the script hands to an interpreter, each once for each language.

    A script that cannot be read has none: bash will say what is wrong with it.
    """
    from amplihack.recipes.templates.bash.read import handed_on  # deferred: few scripts do that

    spans = list(_mentions(script, names))
    try:
        template, starts = _with_placeholders(script, spans)
        read = handed_on(template, find_placeholders(template))
        if constant := {starts[each] for each in read.quoted if each in starts}:
            template, starts = _with_placeholders(script, [span for span in spans if span[1] not in constant])
            read = handed_on(template, find_placeholders(template))
    except TemplateError:
        return ()
    found: dict[tuple[str, str, str], RunVariable] = {}
    for place in read.places:
        start = starts.get(place.placeholder.start)
        name = place.placeholder.path[0]
        if start is not None and (name != CONTEXT_FILE or place.placeholder.start in read.printed):
            launcher = place.launcher or ("the script" if place.command_word else "")
            language = "bash" if place.is_script and name.endswith(LARGE) else place.language
            if language or launcher:
                each = RunVariable(name, start, language, "" if language else launcher)
                found.setdefault((name, each.language, each.launcher), each)
    for name in sorted(names & read.executed - {CONTEXT_FILE}):
        found.setdefault((name, "bash", ""), RunVariable(name, script.find(name), "bash"))
    return tuple(found.values())


def _mentions(script: str, names: AbstractSet[str]) -> Iterator[tuple[str, int, int]]:
    """Yield the names, and where what stands for their values begins and ends, in their order."""
    found = [(each[1] or each[2], *each.span()) for each in _EXPANDED.finditer(script)]
    if "printenv" in script:
        found += [(each[1], *each.span(1)) for each in _PRINTENV.finditer(script)]
        found.sort(key=lambda each: each[1])
    yield from (each for each in found if each[0] in names)


def _with_placeholders(script: str, spans: Iterable[tuple[str, int, int]]) -> tuple[str, Mapping[int, int]]:
    """Return the script with a placeholder for each of these, and where each was by where it is now."""
    pieces: list[str] = []
    starts: dict[int, int] = {}
    position = length = 0
    for name, start, end in spans:
        written = f"{{{{{name}}}}}"
        length += start - position
        starts[length] = start
        pieces += (script[position:start], written)
        length, position = length + len(written), end
    return "".join((*pieces, script[position:])), starts
