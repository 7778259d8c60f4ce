"""Find placeholders, and text that only looks like one.

    placeholder = "{{" blanks path blanks "}}"        not right after a "$"
    path        = name { "." name | "[" digits "]" | '["' key '"]' | "['" key "']" }
    name        = a letter, digit or "_", then letters, digits, "_" and "-"

Everything else stays as it is, because prompts and scripts quote other template languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from amplihack.patterns import pattern
from amplihack.recipes.values import KeyPath
from amplihack.records import Record

# Possessive quantifiers (`*+`) keep every search linear: no input makes the engine try again.
_NAME = r"[A-Za-z0-9_][A-Za-z0-9_-]*+"
_PATH = rf"""{_NAME}(?:\.{_NAME}|\[[0-9]++\]|\["[^"\n]*+"\]|\['[^'\n]*+'\])*+"""
_OPEN = r"(?<!\$)\{\{[ \t]*+"
_CLOSE = r"[ \t]*+\}\}"
# `{{else}}` looks like a name, but belongs to blocks of other template languages.
_ELSE = r"else(?:[ \t][^{}\n]*+)?\}\}"

_PLACEHOLDER = pattern(rf"{_OPEN}(?!{_ELSE})({_PATH}){_CLOSE}")
_SEGMENT = pattern(r"""\.?([A-Za-z0-9_][A-Za-z0-9_-]*+)|\[(?:([0-9]++)|"([^"\n]*+)"|'([^'\n]*+)')\]""")
_UNSUPPORTED = pattern(
    rf"{_OPEN}(?:(?P<empty>\}}\}})"
    rf"|(?P<block>[#/^][^{{}}\n]*+\}}\}}|{_ELSE})"
    rf"|(?P<filter>{_PATH}[ \t]*+\|[^{{}}\n]*+\}}\}}))"
)

What: TypeAlias = Literal["block", "filter", "empty"]


class Placeholder(Record):
    """One `{{path}}`: `text[start:end]` is the whole of it, braces included."""

    path: KeyPath
    start: int
    end: int


class Unsupported(Record):
    """Template syntax of other tools that authors expect to work. It stays unchanged here."""

    what: What
    start: int
    text: str


def find_placeholders(text: str) -> tuple[Placeholder, ...]:
    """Return all placeholders in text order; they never overlap."""
    return tuple(
        Placeholder(_path(match.group(1)), match.start(), match.end())
        for match in _PLACEHOLDER.finditer(text)
    )


def find_escaped(text: str) -> tuple[Placeholder, ...]:
    r"""Return each `\${{path}}`. It stays unchanged: it may be meant for another tool, or be a mistake."""
    if "${{" not in text:
        return ()
    return tuple(
        Placeholder(_path(match.group(1)), match.start(), match.end())
        for match in re.finditer(rf"(?<=\\)\$\{{\{{[ \t]*+({_PATH}){_CLOSE}", text)
    )


def unsupported(text: str) -> tuple[Unsupported, ...]:
    """Return blocks, filters and empty braces, so that the check can report them."""
    return tuple(_unsupported(text))


def line_of(text: str, offset: int) -> int:
    """Return the line of an offset, counted from 1."""
    return text.count("\n", 0, offset) + 1


def show(path: KeyPath) -> str:
    """Return a path as an author writes it, for messages."""
    return path[0] + "".join(f".{part}" if re.fullmatch(_NAME, part) else f'["{part}"]' for part in path[1:])


def _path(text: str) -> KeyPath:
    return tuple(next(filter(_given, match.groups()), "") for match in _SEGMENT.finditer(text))


def _given(group: str | None) -> bool:
    return group is not None


def _unsupported(text: str) -> Iterator[Unsupported]:
    kinds: tuple[What, ...] = ("block", "filter", "empty")
    for match in _UNSUPPORTED.finditer(text):
        what = next(kind for kind in kinds if match.group(kind) is not None)
        yield Unsupported(what, match.start(), match.group())
