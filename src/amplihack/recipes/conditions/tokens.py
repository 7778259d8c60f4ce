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
_COMPARES = pattern(r"[=!<>]=|[<>]|\b(?:and|or|not|in)\b|&&|\|\|")
# The most frequent kind first. Where two could begin alike, as `.5` and `.`, the longer one comes first.
_TOKEN = pattern(
    r"(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*+(?:-[A-Za-z][A-Za-z0-9_]*+)*+)"
    r"""|(?P<string>'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")"""
    r"|(?P<number>[-+]?\.?[0-9][0-9.]*+(?:[eE][-+]?[0-9]++)?)"
    r"|(?P<symbol>==|!=|<=|>=|&&|\|\||[<>()\[\],.!])"
    r")[ \t\r\n]*+",
    re.DOTALL,
)

_SAME_AS: Final = {"&&": "and", "||": "or", "!": "not"}
_KEYWORDS: Final = frozenset({"and", "or", "not", "in"})
_VALUE_ENDS: Final = frozenset({"name", "key", "number", "string", "placeholder", ")", "]"})


class Token(Record, frozen=False):  # nobody changes one, and freezing them costs more than reading them
    """A word of a condition. The `kind` of a symbol or keyword is the word itself."""

    kind: str
    text: str
    column: int


def tokenize(text: str) -> tuple[Token, ...]:
    """Return all tokens and a final `end`. Raises ConditionError at the first text that is no token."""
    found: list[Token] = []
    previous, column, end = "", _after_blanks(text, 0), len(text)
    while column < end:
        if previous == "." or text[column] in ".{":
            token = _special(text, column, previous)
            column = _after_blanks(text, column + len(token.text))
        elif match := _TOKEN.match(text, column):
            token = _token(match, column)
            column = match.end()
        else:
            raise _unexpected(text, column)
        found.append(token)
        previous = token.kind
    return (*found, Token("end", "", end))


def _after_blanks(text: str, column: int) -> int:
    match = _BLANKS.match(text, column)
    return match.end() if match else column


def _special(text: str, column: int, previous: str) -> Token:
    """Return the token where what it is depends on the one before, or where a placeholder may begin."""
    if previous == "." and (key := _KEY.match(text, column)):
        return Token("key", key.group(), column)  # `x.in`, `x.True` and `x.0` are plain keys
    if text[column] == "." and previous in _VALUE_ENDS:
        return Token(".", ".", column)  # `x.5` is a key of x; elsewhere `.5` is a number
    if text.startswith("{{", column):
        return Token("placeholder", _placeholder(text, column), column)
    if match := _TOKEN.match(text, column):
        return _token(match, column)
    raise _unexpected(text, column)


def _token(match: re.Match[str], column: int) -> Token:
    kind = match.lastgroup or ""
    word: str = match[kind]
    if kind == "symbol" or word in _KEYWORDS:
        kind = _SAME_AS.get(word, word)
    return Token(kind, word, column)


def _unexpected(text: str, column: int) -> ConditionError:
    from amplihack.recipes.conditions.fixes import for_character, for_quote  # deferred: most are right

    character = text[column]
    if character in "'\"":
        return ConditionError(
            f"Parse error: unterminated string at position {column}",
            column=column,
            fix=for_quote(text, column),
        )
    return ConditionError(
        f"Parse error: unexpected character: '{character}' at position {column}",
        column=column,
        fix=for_character(text, column),
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
        from amplihack.recipes.conditions.fixes import for_character  # deferred, as above

        return for_character(inside, inside.index("|"))
    if inside.startswith(("#", "/", "^")) or inside.split()[:1] == ["else"]:
        return "conditions have no blocks; use `and`, `or` and `not`"
    if inside.startswith("."):
        return f"leave out the leading dot: {{{{{inside.lstrip('.')}}}}}"
    if _COMPARES.search(inside):
        return f"leave the braces out, since a condition is an expression already: {inside}"
    return "write {{name}}, {{name.key}}, {{name[0]}} or {{name['key']}}"
