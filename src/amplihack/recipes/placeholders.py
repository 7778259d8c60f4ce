"""Find placeholders.

    placeholder = "{{" blanks (path | constant) blanks "}}"        not right after a "$"
    path        = name { "." name | "[" digits "]" | '["' key '"]' | "['" key "']" }
    name        = a letter, digit or "_", then letters, digits, "_" and "-"
    constant    = a text in single or double quotes, on one line, with a brace in it

A constant stands for itself: `{{ '{{' }}` is how to write `{{`. Everything else stays as it is, because
prompts and scripts quote other template languages. Some of them know `{{"\n"}}`, so a constant has a brace.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from amplihack.patterns import pattern
from amplihack.recipes.values import KeyPath, Missing, Value, lookup
from amplihack.records import Record

# Possessive quantifiers (`*+`) keep every search linear: no input makes the engine try again.
NAME = r"[A-Za-z0-9_][A-Za-z0-9_-]*+"
PATH = rf"""{NAME}(?:\.{NAME}|\[[0-9]++\]|\["[^"\n]*+"\]|\['[^'\n]*+'\])*+"""
_CONSTANT = r"""'[^'{}\n]*+[{}][^'\n]*+'|"[^"{}\n]*+[{}][^"\n]*+\""""
OPEN = r"(?<!\$)\{\{[ \t]*+"
_CLOSE = r"[ \t]*+\}\}"
# `{{else}}` looks like a name, but belongs to blocks of other template languages.
ELSE = r"else(?:[ \t][^{}\n]*+)?\}\}"

_PLACEHOLDER = pattern(rf"{OPEN}(?:(?!{ELSE})({PATH})|({_CONSTANT})){_CLOSE}")
_SEGMENT = pattern(r"""\.?([A-Za-z0-9_][A-Za-z0-9_-]*+)|\[(?:([0-9]++)|"([^"\n]*+)"|'([^'\n]*+)')\]""")
_LONG = 4096  # characters of a text that is not worth being kept


class Placeholder(Record):
    """One `{{path}}` or constant: `text[start:end]` is the whole of it, braces included.

    The path of a constant begins with an empty name, which no variable has.
    """

    path: KeyPath
    start: int
    end: int

    @property
    def constant(self) -> str | None:
        """Return the text of a constant, or None for a path."""
        return None if self.path[0] else self.path[1]

    def value(self, scope: Mapping[str, Value]) -> Value | Missing:
        """Return what stands in its place."""
        return lookup(scope, self.path) if self.path[0] else self.path[1]


def find_placeholders(text: str) -> tuple[Placeholder, ...]:
    """Return all placeholders in text order; they never overlap."""
    return _placeholders(text) if len(text) < _LONG else _placeholders.__wrapped__(text)


@lru_cache(maxsize=512)  # the check, the reader of bash and each round ask about the same texts
def _placeholders(text: str) -> tuple[Placeholder, ...]:
    return tuple(
        [
            Placeholder(_path(match[1]) if match[1] else ("", match[2][1:-1]), match.start(), match.end())
            for match in (_PLACEHOLDER.finditer(text) if "{{" in text else ())
        ]
    )


def find_variables(text: str) -> tuple[Placeholder, ...]:
    """Return the placeholders that name a variable, without constants."""
    return tuple(found for found in find_placeholders(text) if found.path[0])


def find_literal(text: str) -> tuple[Placeholder, ...]:
    """Return each `${{path}}`. It stays unchanged: it may be meant for another tool, or be a mistake."""
    if "${{" not in text:
        return ()
    return tuple(
        Placeholder(_path(match.group(1)), match.start(), match.end())
        for match in re.finditer(rf"\$\{{\{{[ \t]*+({PATH}){_CLOSE}", text)
    )


def holds_only_placeholders(text: str) -> bool:
    """Tell whether each `{{` of a text begins something that gets a value, and has two braces alone."""
    return text.count("{{") == len(find_placeholders(text)) and "{{{" not in text


def line_of(text: str, offset: int) -> int:
    """Return the line of an offset, counted from 1."""
    return text.count("\n", 0, offset) + 1


def show(path: KeyPath) -> str:
    """Return a path as an author writes it, for messages."""
    if not path[0]:
        return f'"{path[1]}"' if "'" in path[1] else f"'{path[1]}'"
    return path[0] + "".join(f".{part}" if re.fullmatch(NAME, part) else f'["{part}"]' for part in path[1:])


def _path(text: str) -> KeyPath:
    if "." not in text and "[" not in text:  # nearly always
        return (text,)
    return tuple(next(filter(_given, match.groups()), "") for match in _SEGMENT.finditer(text))


def _given(group: str | None) -> bool:
    return group is not None
