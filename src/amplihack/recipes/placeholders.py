"""Find placeholders, and text that only looks like one.

    placeholder = "{{" blanks (path | constant) blanks "}}"        not right after a "$"
    path        = name { "." name | "[" digits "]" | '["' key '"]' | "['" key "']" }
    name        = a letter, digit or "_", then letters, digits, "_" and "-"
    constant    = a text in single or double quotes, on one line, with a brace in it

A constant stands for itself: `{{ '{{' }}` is how to write `{{`. Everything else stays as it is, because
prompts and scripts quote other template languages. Some of them know `{{"\n"}}`, so a constant has a brace.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from functools import lru_cache
from typing import Literal, TypeAlias

from amplihack.patterns import pattern
from amplihack.recipes.values import KeyPath, Missing, Value, lookup
from amplihack.records import Record

# Possessive quantifiers (`*+`) keep every search linear: no input makes the engine try again.
_NAME = r"[A-Za-z0-9_][A-Za-z0-9_-]*+"
_PATH = rf"""{_NAME}(?:\.{_NAME}|\[[0-9]++\]|\["[^"\n]*+"\]|\['[^'\n]*+'\])*+"""
_CONSTANT = r"""'[^'{}\n]*+[{}][^'\n]*+'|"[^"{}\n]*+[{}][^"\n]*+\""""
_OPEN = r"(?<!\$)\{\{[ \t]*+"
_CLOSE = r"[ \t]*+\}\}"
# `{{else}}` looks like a name, but belongs to blocks of other template languages.
_ELSE = r"else(?:[ \t][^{}\n]*+)?\}\}"

_PLACEHOLDER = pattern(rf"{_OPEN}(?:(?!{_ELSE})({_PATH})|({_CONSTANT})){_CLOSE}")
_SEGMENT = pattern(r"""\.?([A-Za-z0-9_][A-Za-z0-9_-]*+)|\[(?:([0-9]++)|"([^"\n]*+)"|'([^'\n]*+)')\]""")
_UNSUPPORTED = pattern(
    rf"{_OPEN}(?:(?P<empty>\}}\}})"
    rf"|(?P<block>[#/^][^{{}}\n]*+\}}\}}|{_ELSE})"
    rf"|(?P<filter>{_PATH}[ \t]*+\|[^{{}}\n]*+\}}\}})"
    rf"|(?P<expression>{_PATH}(?![ \t]*+\}}\}})[^{{}}\n]++\}}\}})"
    rf"|(?P<unclosed>{_PATH}[ \t]*+(?:\}}(?!\}})|(?=\n|\Z))))"
)

_FIRST_NAME = pattern(r"[A-Za-z_][\w-]*")
_KEYWORD = pattern(r"\{\{[ \t]*[#^][ \t]*(?:if|unless|each|with)?\b")
OPPOSITES = "use two steps with opposite conditions, or leave the choice to the reader of the text"
_PREPARE = "prepare the value in an earlier step, or give it a default in `context:`"
_LONG = 4096  # characters of a text that is not worth being kept
What: TypeAlias = Literal["block", "filter", "expression", "unclosed", "empty"]


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


class Unsupported(Record):
    """Template syntax of other tools that authors expect to work. It stays unchanged here."""

    what: What
    start: int
    text: str

    @property
    def name(self) -> str:
        """Return the first name in it that may be a variable's; empty if there is none."""
        inner = _KEYWORD.sub("", self.text) if self.what == "block" else self.text
        found = _FIRST_NAME.search(inner)
        return found.group() if found else ""

    def is_ours(self, known: Container[str]) -> bool:
        """Tell whether it is about a variable of the recipe, also about one that no placeholder can name."""
        return self.name in known or self.text.strip("{} \t") in known

    def explained(self) -> tuple[str, str]:
        """Return what becomes of it, and what to write instead."""
        if self.what == "unclosed":
            return f"{self.text.strip()} is never closed, and stays as it is", f"write {{{{{self.name}}}}}"
        what = f"{self.text} stays in the text as it is: only {{{{name}}}} is filled in"
        return what, OPPOSITES if self.what == "block" else _PREPARE


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
        for match in re.finditer(rf"\$\{{\{{[ \t]*+({_PATH}){_CLOSE}", text)
    )


def unsupported(text: str) -> tuple[Unsupported, ...]:
    """Return blocks, filters, expressions and braces that are empty or not closed, to be reported."""
    if text.count("{{") == len(find_placeholders(text)):
        return ()  # nearly always, and told without an expression that is slow to compile
    return tuple(_unsupported(text))


def line_of(text: str, offset: int) -> int:
    """Return the line of an offset, counted from 1."""
    return text.count("\n", 0, offset) + 1


def show(path: KeyPath) -> str:
    """Return a path as an author writes it, for messages."""
    if not path[0]:
        return f'"{path[1]}"' if "'" in path[1] else f"'{path[1]}'"
    return path[0] + "".join(f".{part}" if re.fullmatch(_NAME, part) else f'["{part}"]' for part in path[1:])


def _path(text: str) -> KeyPath:
    if "." not in text and "[" not in text:  # nearly always
        return (text,)
    return tuple(next(filter(_given, match.groups()), "") for match in _SEGMENT.finditer(text))


def _given(group: str | None) -> bool:
    return group is not None


def _unsupported(text: str) -> Iterator[Unsupported]:
    kinds: tuple[What, ...] = ("block", "filter", "expression", "unclosed", "empty")
    constants: list[Placeholder] | None = None  # looked for once there is something to compare them with
    for match in _UNSUPPORTED.finditer(text):
        if constants is None:
            constants = [found for found in reversed(find_placeholders(text)) if not found.path[0]]
        while constants and constants[-1].end <= match.start():
            constants.pop()  # both come in text order
        if constants and constants[-1].start <= match.start():
            continue
        what = next(kind for kind in kinds if match.group(kind) is not None)
        yield Unsupported(what, match.start(), match.group())
