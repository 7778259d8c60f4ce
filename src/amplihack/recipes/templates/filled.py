"""Work out the text of a word once its values are filled in, as far as known before the run."""

from __future__ import annotations

import re
from collections.abc import Mapping

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash import Place, Word
from amplihack.recipes.values import KeyPath
from amplihack.records import Record

_EXPANSION = pattern(r"[$`\1]")
_DESCRIPTOR = pattern(r"[0-9]+-?|-")


class Filled(Record):
    """The value of a word, after the `=` of an assignment. Expansions stand in `text` as written."""

    text: str
    literal: str  # the same without what placeholders and expansions come to

    @property
    def may_be_list(self) -> bool:
        """Tell whether `declare -a` takes the text for a list of elements and evaluates it."""
        begins = self.text.startswith("(") or _EXPANSION.match(self.text) is not None
        return begins and (self.text.endswith(")") or _EXPANSION.search(self.text) is not None)

    @property
    def is_descriptor(self) -> bool:
        return _DESCRIPTOR.fullmatch(self.text) is not None

    @property
    def is_unclear(self) -> bool:
        """Tell whether an expansion decides if this is a file or a descriptor."""
        return _EXPANSION.search(self.text) is not None and not re.search(r"[./~]", self.literal)


def fill(word: Word, texts: Mapping[KeyPath, str]) -> Filled:
    plain = word.plain.partition("=")[2] if word.assigns or "=" in word.plain else word.plain
    places = [mark for mark in word.marks if isinstance(mark, Place)]
    # Placeholders in the name of an assignment come first; only those in its value count.
    values = iter(
        texts.get(place.placeholder.path, "") for place in places[-plain.count("\0") or len(places) :]
    )
    text = "".join(next(values, "") if char == "\0" else char for char in plain)
    return Filled(text, plain.replace("\0", ""))
