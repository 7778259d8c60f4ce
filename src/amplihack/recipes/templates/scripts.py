"""Define the result of rendering a bash script, and the findings of the check about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Literal, TypeAlias

from amplihack.patterns import pattern
from amplihack.recipes.templates.names import PREFIX
from amplihack.recipes.values import KeyPath
from amplihack.records import Record

PREPARED = 512  # scripts of which we remember what they say by themselves
_EXPANDS = pattern(r"[$`]|[<>]\(")
_IDENTIFIER = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_QUERY = pattern("[?#]")
_NUMBER = pattern(r"\s*[+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]*)?|\.[0-9]+)?\s*", re.ASCII)


class ShellScript(Record):
    """A script without placeholders, and the variables that it needs.

    Bytes that are not UTF-8 are stored as surrogates: encode with errors="surrogateescape".
    """

    source: str
    variables: Mapping[str, str]
    missing: tuple[KeyPath, ...] = ()
    warnings: tuple[str, ...] = ()


APART = 'write the dollar sign and the placeholder apart, as in "\\$""{{price}}"'
Kind: TypeAlias = Literal[
    "command", "arithmetic", "evaluated", "source", "fetched", "refused", "unclosed", "literal"
]


class Hazard(Record):
    """A placeholder to look at twice; `detail` is the language or the reason."""

    kind: Kind
    path: KeyPath
    line: int
    start: int
    detail: str = ""
    fix: str = ""


def is_number(text: str) -> bool:
    """Tell whether bash can only calculate with a text. An empty text counts as zero."""
    return _NUMBER.fullmatch(text) is not None


def may_run(text: str, carriers: AbstractSet[str]) -> bool:
    """Tell whether bash could run something when it evaluates a text; `carriers` hold other values."""
    if _EXPANDS.search(text):
        return True
    return any(name in carriers or name.startswith(PREFIX) for name in _IDENTIFIER.findall(text))


def fetched_name(address: str, last: str) -> str:
    """Return the name of the file that is fetched from an address; `last` has NUL for the end of that."""
    _, slash, base = _QUERY.split(address)[0].rpartition("/")
    return base + last.rpartition("\0")[2] if slash else last.replace("\0", base)
