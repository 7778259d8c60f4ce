"""What comes of a bash script with placeholders: the script to run, and what a lint says about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from amplihack.patterns import pattern
from amplihack.recipes.values import KeyPath
from amplihack.records import Record

_NUMBER = pattern(r"\s*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)?\s*", re.ASCII)


class ShellScript(Record):
    """A script without placeholders, and the variables that it needs.

    Texts hold bytes that are not UTF-8 as surrogates: encode with errors="surrogateescape".
    """

    source: str
    variables: Mapping[str, str]
    missing: tuple[KeyPath, ...] = ()
    warnings: tuple[str, ...] = ()


APART = 'write the dollar sign and the placeholder apart, as in "\\$""{{price}}"'
Kind: TypeAlias = Literal["command", "arithmetic", "source", "refused", "unclosed", "literal"]


class Hazard(Record):
    """A placeholder that deserves a second look; `detail` is the language or the reason."""

    kind: Kind
    path: KeyPath
    line: int
    start: int
    detail: str = ""
    fix: str = ""


def is_number(text: str) -> bool:
    """Tell whether bash can calculate with a text and do nothing else with it; nothing counts as zero."""
    return _NUMBER.fullmatch(text) is not None
