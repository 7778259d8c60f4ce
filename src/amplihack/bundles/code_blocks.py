"""Find the blocks of code in markdown, also in lists and quotations, as far as mentions need it."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.patterns import pattern
from amplihack.records import Record, replace

_FENCE = pattern(r"[ \t]*(`{3,}|~{3,})([^\n]*)")
_QUOTE = pattern(r" {0,3}>[ ]?")
_ITEM = pattern(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_DEEPEST = 16  # quotations in quotations, items in items on one line: nobody writes more
_SLACK = 3  # a fence that stands further in than this is no fence


class _Line(Record):
    """A line as its block sees it: how many quotations it is in, and its text and indentation there."""

    quotes: int
    text: str

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()

    @property
    def indent(self) -> int:
        wide = self.text.expandtabs(4)
        return len(wide) - len(wide.lstrip())


class _Opened(Record):
    """A fence that is open: its mark and indentation, and the quotations and the item that it stands in."""

    mark: str
    indent: int
    quotes: int
    item: int

    def holds(self, line: _Line) -> bool:
        """Tell whether a line still belongs to the quotation and the item that hold the fence."""
        return line.quotes >= self.quotes and (line.is_blank or line.indent >= self.item)


def code_lines(text: str) -> list[bool]:
    """Tell for each line of a text whether it belongs to a block of code.

    A block inside a block of the same fence is one, if all of them are closed. Markdown knows no such blocks:
    there the inner one would close the outer one. People write them anyway, and renderers of a whole page
    rarely show what went wrong.
    """
    lines = text.split("\n")
    if "```" not in text and "~~~" not in text:
        return [False] * len(lines)
    nested = _Reader(nesting=True)
    code = [nested.is_code(line) for line in lines]
    if not nested.open:
        return code
    plain = _Reader(nesting=False)
    return [plain.is_code(line) for line in lines]


class _Reader:
    """Reads line by line; what is open is all that it remembers."""

    def __init__(self, *, nesting: bool) -> None:
        self.nesting = nesting
        self.open: list[_Opened] = []
        self._items: list[int] = []  # where the text of each open item of a list begins
        self._in_comment = False

    def is_code(self, line: str) -> bool:
        """Take the next line, and tell whether it is code."""
        if self._in_comment:
            self._in_comment = "-->" not in line
            return False
        here = _unquoted(line)
        if self.open and not self.open[0].holds(here):
            self.open.clear()
        if self.open:
            self._inside(here)
            return True
        return self._outside(here)

    def _inside(self, line: _Line) -> None:
        innermost = self.open[-1]
        found = _FENCE.fullmatch(line.text)
        if found is None or found[1][0] != innermost.mark[0] or len(found[1]) < len(innermost.mark):
            return
        if found[2].strip():
            if self.nesting and "`" not in found[2]:
                self.open.append(replace(innermost, mark=found[1]))
        elif line.indent <= max(innermost.indent, innermost.item) + _SLACK:
            self.open.pop()

    def _outside(self, line: _Line) -> bool:
        if line.is_blank:
            return False
        text = line.text[self._enter_items(line) :]
        inner = _unquoted(text)
        if (
            inner.quotes and line.quotes < _DEEPEST
        ):  # a quotation in an item, whose later lines are read as quoted
            self._items.clear()
            return self._outside(_Line(line.quotes + inner.quotes, inner.text))
        found = _FENCE.fullmatch(text)
        is_deep = not self._items and line.indent > _SLACK
        if found is None or is_deep or (found[1][0] == "`" and "`" in found[2]):
            self._in_comment = text.rfind("<!--") > text.rfind("-->")
            return False
        item = self._items[-1] if self._items else 0
        self.open.append(_Opened(found[1], line.indent, line.quotes, item))
        return True

    def _enter_items(self, line: _Line) -> int:
        """Leave the items that a line is not part of, enter those it begins; return where its text starts."""
        while self._items and line.indent < self._items[-1]:
            self._items.pop()
        position = 0
        for position in _item_ends(line.text):
            self._items.append(len(line.text[:position].expandtabs(4)))
        return position


def _unquoted(line: str) -> _Line:
    quotes = 0
    while quotes < _DEEPEST and (found := _QUOTE.match(line)):
        quotes, line = quotes + 1, line[found.end() :]
    return _Line(quotes, line)


def _item_ends(text: str) -> Iterator[int]:
    position = 0
    for _ in range(_DEEPEST):
        found = _ITEM.match(text, position)
        if found is None or found.end() == position:
            return
        position = found.end()
        yield position
