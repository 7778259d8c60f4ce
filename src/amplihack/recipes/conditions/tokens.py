"""Split the text of a condition into tokens, each with its column."""

from __future__ import annotations

import re
from typing import Final

from amplihack.errors import ConditionError
from amplihack.patterns import pattern
from amplihack.recipes.placeholders import find_placeholders
from amplihack.records import Record

_BLANKS = pattern(r"[ \t\r\n]*")
_KEY = pattern(r"[A-Za-z0-9_]+(?:-[A-Za-z][A-Za-z0-9_]*)*")
_TOKEN = pattern(
    r"""(?P<string>'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")"""
    r"|(?P<number>[-+]?\.?[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z][A-Za-z0-9_]*)*)"
    r"|(?P<symbol>==|!=|<=|>=|&&|\|\||[<>()\[\],.!])",
    re.DOTALL,
)

_SAME_AS: Final = {"&&": "and", "||": "or", "!": "not"}
_KEYWORDS: Final = frozenset({"and", "or", "not", "in"})
_VALUE_ENDS: Final = frozenset({"name", "key", "number", "string", "placeholder", ")", "]"})
_FIXES: Final = {
    "=": "use == to compare",
    "&": "use `and` or &&",
    "|": "use `or` or ||",
    "{": "write a variable as a bare name or as {{name}}",
    "$": "write a variable as a bare name or as {{name}}",
}


class Token(Record):
    """A word of a condition. The `kind` of a symbol or keyword is the word itself."""

    kind: str
    text: str
    column: int


def tokenize(text: str) -> tuple[Token, ...]:
    """Return all tokens and a final `end`. Raises ConditionError at the first text that is no token."""
    found: list[Token] = []
    previous, column = "", _after_blanks(text, 0)
    while column < len(text):
        token = _token(text, column, previous)
        found.append(token)
        previous, column = token.kind, _after_blanks(text, column + len(token.text))
    return (*found, Token("end", "", len(text)))


def _after_blanks(text: str, column: int) -> int:
    match = _BLANKS.match(text, column)
    return match.end() if match else column


def _token(text: str, column: int, previous: str) -> Token:
    if previous == "." and (key := _KEY.match(text, column)):
        return Token("key", key.group(), column)  # `x.in`, `x.True` and `x.0` are plain keys
    if text[column] == "." and previous in _VALUE_ENDS:
        return Token(".", ".", column)  # `x.5` is a key of x; elsewhere `.5` is a number
    if text.startswith("{{", column):
        return Token("placeholder", _placeholder(text, column), column)
    match = _TOKEN.match(text, column)
    if match is None:
        raise _unexpected(text, column)
    word = match.group()
    if match.lastgroup == "symbol" or word in _KEYWORDS:
        return Token(_SAME_AS.get(word, word), word, column)
    return Token(match.lastgroup or "", word, column)


def _unexpected(text: str, column: int) -> ConditionError:
    character = text[column]
    if character in "'\"":
        return ConditionError(
            f"Parse error: unterminated string at position {column}",
            column=column,
            fix=f"close it with {character}",
        )
    return ConditionError(
        f"Parse error: unexpected character: '{character}' at position {column}",
        column=column,
        fix=_FIXES.get(character, ""),
    )


def _placeholder(text: str, column: int) -> str:
    """Return the placeholder that begins here, with its braces."""
    end = text.find("}}", column)
    while end != -1:  # a quoted key may hold braces of its own
        candidate = text[column : end + 2]
        found = find_placeholders(candidate)
        if found and (found[0].start, found[0].end) == (0, len(candidate)):
            return candidate
        end = text.find("}}", end + 2)
    raise _not_a_placeholder(text, column)


def _not_a_placeholder(text: str, column: int) -> ConditionError:
    end = text.find("}}", column)
    if end == -1:
        what, fix = "'{{' is never closed", "write {{name}}"
    else:
        inside = text[column + 2 : end].strip()
        what, fix = f"'{text[column : end + 2]}' is not a placeholder", _advice(inside)
    return ConditionError(f"Parse error: {what} at position {column}", column=column, fix=fix)


def _advice(inside: str) -> str:
    if "|" in inside:
        return "conditions have no filters; use a function or a method, such as default(x, '') or x.lower()"
    if inside.startswith(("#", "/", "^")) or inside.split()[:1] == ["else"]:
        return "conditions have no blocks; use `and`, `or` and `not`"
    if inside.startswith("."):
        return f"leave out the leading dot: {{{{{inside.lstrip('.')}}}}}"
    return "write {{name}}, {{name.key}}, {{name[0]}} or {{name['key']}}"
