"""Read files of environment variables, as many tools write them.

    file    = { blanks [ "export" blanks ] [ name blanks "=" blanks value ] [ comment ] newline }
    value   = "'" text "'"  |  '"' text with escapes '"'  |  text up to " #" or the end of the line
    comment = "#" text

Texts in quotes may go over several lines. In double quotes `\\n`, `\\r`, `\\t`, `\\"`, `\\$` and `\\\\` are
escapes. Nothing is expanded: a `$` is a `$`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from amplihack.errors import DocumentError, Location
from amplihack.patterns import pattern
from amplihack.records import Record

_BLANKS = r"[ \t]*+"
_START = pattern(rf"{_BLANKS}(?:export[ \t]++)?(?P<name>[^=\s#'\"][^=\n#]*+)=[ \t]*+")
_NAME = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_NOTHING = pattern(rf"{_BLANKS}(?:#[^\n]*)?(?:\n|\Z)")
_SINGLE = pattern(r"'([^']*+)'")
_DOUBLE = pattern(r'"((?:[^"\\]|\\[\s\S])*+)"')
_PLAIN = pattern(r"[^\n]*")
_COMMENT = pattern(r"(?:^|[ \t])#.*")
_ESCAPE = pattern(r"\\([nrt\"$\\])")
_MEANING = {"n": "\n", "r": "\r", "t": "\t"}
_REFERENCE = pattern(r"(?<![\\$])\$(?:([A-Za-z_]\w*+)|\{([A-Za-z_]\w*+)(?::?[-+?=][^}\n]*+)?\})")


class Reference(Record):
    """The first `$B` or `${B}` in the value of a variable that other tools would replace."""

    variable: str
    name: str
    in_braces: bool
    line: int


class Dotenv(Record):
    """The variables of a file, what it says twice (the name, and the line that counts), and references."""

    values: dict[str, str]
    repeated: dict[str, int]
    references: tuple[Reference, ...]


def read_dotenv(text: str, file: str) -> Dotenv:
    """Return the variables of a text; a later one wins. Raises DocumentError with the line."""
    text = text.replace("\r\n", "\n")
    found: dict[str, str] = {}
    repeated: dict[str, int] = {}
    referring: dict[str, tuple[int, re.Match[str]]] = {}
    position = 0
    while position < len(text):
        if nothing := _NOTHING.match(text, position):
            position = nothing.end()
            continue
        start = _START.match(text, position)
        if start is None:
            raise _wrong(
                text, position, file, "this line sets no variable", "write NAME=value, or # before a comment"
            )
        name = start.group("name").rstrip()
        if not _NAME.fullmatch(name):
            fix = "use letters, digits and _; put quotes around a value of several lines"
            raise _wrong(text, position, file, "what stands before the = cannot be a variable's name", fix)
        value, expanded, position = _value(text, start.end(), file)
        if "\0" in value:
            raise _wrong(text, start.start(), file, f"the value of {name} holds a NUL byte", "take it out")
        if found.get(name, value) != value:
            repeated.pop(name, None)
            repeated[name] = start.start()
        found[name] = value
        referring.pop(name, None)
        if reference := _REFERENCE.search(expanded):
            referring[name] = start.start(), reference
    twice = dict(zip(repeated, _lines(text, repeated.values()), strict=True))
    return Dotenv(found, twice, tuple(_references(text, referring)))


def _references(text: str, found: Mapping[str, tuple[int, re.Match[str]]]) -> Iterator[Reference]:
    lines = _lines(text, (offset for offset, _ in found.values()))
    for (variable, (_, match)), line in zip(found.items(), lines, strict=True):
        yield Reference(variable, match[1] or match[2], match[2] is not None, line)


def _lines(text: str, offsets: Iterable[int]) -> Iterator[int]:
    """Yield the lines of offsets that come in their order."""
    line, position = 1, 0
    for offset in offsets:
        line, position = line + text.count("\n", position, offset), offset
        yield line


def _value(text: str, position: int, file: str) -> tuple[str, str, int]:
    """Return the value that begins here, what of it a shell would expand, and where the next line begins."""
    quote = text[position : position + 1]
    if quote not in ("'", '"'):
        plain = _PLAIN.match(text, position)
        line = plain.group() if plain else ""
        value = _COMMENT.sub("", line).strip()
        return value, value, position + len(line) + 1
    quoted = (_SINGLE if quote == "'" else _DOUBLE).match(text, position)
    if quoted is None:
        raise _wrong(text, position, file, f"the {quote} here is never closed", f"close it with {quote}")
    rest = _NOTHING.match(text, quoted.end())
    if rest is None:
        fix = "put quotes around the whole value, or a # before a comment"
        raise _wrong(text, quoted.end(), file, "there is more behind the closing quote", fix)
    value = quoted.group(1)
    return (_unescaped(value), value, rest.end()) if quote == '"' else (value, "", rest.end())


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _MEANING.get(found.group(1), found.group(1)), text)


def _wrong(text: str, position: int, file: str, what: str, fix: str) -> DocumentError:
    """Return the error. The line itself is not shown: it may hold a password."""
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    return DocumentError(what, where=Location(file, line, column), fix=fix)
