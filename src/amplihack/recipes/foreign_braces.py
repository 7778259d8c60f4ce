"""Find what stands between double braces and is no placeholder: template languages of other tools.

All of it stays in the text as it is, apart from a placeholder in three braces, which keeps one of them.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Final, Literal, TypeAlias

from amplihack.patterns import pattern
from amplihack.recipes.placeholders import (
    ELSE,
    OPEN,
    PATH,
    Placeholder,
    find_placeholders,
    holds_only_placeholders,
)
from amplihack.records import Record

# The possessive quantifiers keep the search linear, as for placeholders.
_UNSUPPORTED: Final = pattern(
    rf"(?P<triple>(?<![\w$\\{{}}\]])\{{\{{\{{[ \t]*+{PATH}[ \t]*+\}}\}}\}}(?!\}}))"
    rf"|{OPEN}(?:(?P<empty>\}}\}})"
    rf"|(?P<comment>(?:!|(?:-[ \t]++)?+/\*)[^{{}}]*+\}}\}})"
    rf"|(?P<block>[#/^][^{{}}\n]*+\}}\}}|{ELSE})"
    rf"|(?P<sign>[-&=~>]++[ \t]*+{PATH}[^{{}}\n]*+\}}\}})"
    rf"|(?P<filter>{PATH}[ \t]*+\|[^{{}}\n]*+\}}\}})"
    rf"|(?P<expression>{PATH}(?![ \t]*+\}}\}})[^{{}}\n]++\}}\}})"
    rf"|(?P<lines>(?:\n\s*+{PATH}\s*+|{PATH}[ \t]*+\n\s*+)\}}\}})"
    rf"|(?P<unclosed>{PATH}[ \t]*+(?:\}}(?!\}})|(?=\n|\Z))))"
)
What: TypeAlias = Literal[
    "triple", "comment", "block", "sign", "filter", "expression", "lines", "unclosed", "empty", "erb"
]
_WHAT: Final[tuple[What, ...]] = (
    "triple", "comment", "block", "sign", "filter", "expression", "lines", "unclosed", "empty",
)  # fmt: skip

_COMMENT: Final = pattern(r"(?<![$\\{])\{#[^{}]++(?<=#)\}")
_ERB: Final = pattern(r"<%[-=]?+[ \t]*+[^%\n]*+%>")
_PLAIN_ERB: Final = pattern(rf"<%[-=]?+[ \t]*+{PATH}[ \t]*+-?%>")
_NAME: Final = pattern(r"[A-Za-z_][\w-]*")
_KEYWORD: Final = pattern(r"\{\{[ \t]*[#^][ \t]*(?:if|unless|each|with)?\b")
# Signs and words of a calculation, in which a variable may stand anywhere.
_CALCULATES: Final = pattern(
    r"\w\(|\?\?|\?.*:| [+*~] |\|\||&&|\bif\b.*\belse\b"
    r"|\A\{\{[ \t]*(?:not|json|to_?[jJ]son|(?:upp|low)er(?:case)?|trim|quote|len(?:gth)?|default|join)\b"
)
_QUOTED: Final = pattern(r"""'[^'\n]*'|"[^"\n]*\"""")
OPPOSITES: Final = "use two steps with opposite conditions, or leave the choice to the reader of the text"
_PREPARE: Final = "prepare the value in an earlier step, or give it a default in `context:`"


class Unsupported(Record):
    """Template syntax of other tools that authors expect to work."""

    what: What
    start: int
    text: str

    @property
    def name(self) -> str:
        """Return the first name in it that may be a variable's; empty if there is none."""
        inner = _KEYWORD.sub("", self.text) if self.what == "block" else self.text
        found = _NAME.search(inner)
        return found.group() if found else ""

    def is_ours(self, known: Container[str]) -> bool:
        """Tell whether it is about a variable of the recipe, also about one that no placeholder can name."""
        if self.what == "comment":
            return self.text.strip("{}! \t\n") in known  # which may mean `not`
        if self.name in known or self.text.strip("{} \t") in known:
            return True
        if self.what not in ("filter", "expression", "erb"):
            return False
        if self.what != "erb" and not _CALCULATES.search(self.text):
            return False
        return any(name in known for name in _NAME.findall(_QUOTED.sub("", self.text)))

    def explained(self) -> tuple[str, str]:
        """Return what becomes of it, and what to write instead."""
        shown, instead = " ".join(self.text.split()), f"write {{{{{self._path}}}}}"
        match self.what:
            case "triple":
                return f"of the three braces of {shown}, one stays around the value", instead
            case "unclosed":
                return f"{shown} is never closed, and stays as it is", instead
            case "lines":
                what = f"{shown} goes over the end of a line, and stays as it is"
                return what, f"{instead} on one line"
            case "comment":
                fix = "remove it: no comment of a template is left out"
            case "sign":
                fix = instead
            case "erb" if _PLAIN_ERB.fullmatch(self.text):
                fix = instead
            case "block" | "erb":
                fix = OPPOSITES
            case _:
                fix = _PREPARE
        return f"{shown} stays in the text as it is: only {{{{name}}}} is filled in", fix

    @property
    def _path(self) -> str:
        """Return what was meant as the path of a variable."""
        inner = self.text.strip("{}<%-&=~> \t\n").split()
        return inner[0] if inner else "name"


def unsupported(text: str) -> tuple[Unsupported, ...]:
    """Return what is to be reported, in text order."""
    if holds_only_placeholders(text):
        return ()  # nearly always, and told without an expression that is slow to compile
    return tuple(_unsupported(text))


def find_comments(text: str) -> tuple[Unsupported, ...]:
    """Return each `{# comment #}`."""
    if "{#" not in text:
        return ()
    return tuple(Unsupported("comment", found.start(), found.group()) for found in _COMMENT.finditer(text))


def find_erb(text: str) -> tuple[Unsupported, ...]:
    """Return each `<%= name %>` and its like."""
    if "<%" not in text:
        return ()
    return tuple(Unsupported("erb", found.start(), found.group()) for found in _ERB.finditer(text))


def _unsupported(text: str) -> Iterator[Unsupported]:
    constants: list[Placeholder] | None = None  # looked for once there is something to compare them with
    for match in _UNSUPPORTED.finditer(text):
        if constants is None:
            constants = [found for found in reversed(find_placeholders(text)) if not found.path[0]]
        while constants and constants[-1].end <= match.start():
            constants.pop()  # both come in text order
        if constants and constants[-1].start <= match.start():
            continue
        what = next(kind for kind in _WHAT if match.group(kind) is not None)
        yield Unsupported(what, match.start(), match.group())
