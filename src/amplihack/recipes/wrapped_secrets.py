"""Mask secrets that were cut into pieces: by line breaks, as `base64` makes them, or by the end of a text.

Also by what lists have between their items, as `["s", "e", "c"]`, and by the zeros of UTF-16.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial

from amplihack.credentials import MASK
from amplihack.patterns import pattern

_PIECE = 12  # characters of a secret, at the start or the end of a line, that are not there by chance
_CUT_PIECE = 6  # of them, right at the sign that something was cut off
_SHORTEST, _LONGEST = 10, 8_192  # characters of a form that is looked for in pieces
_FEW = 20_000  # characters of a text in which every line is looked at; in a longer one the first and the last
_PART = 262_144  # characters of a text that are looked at at once
_BETWEEN = b"\n\r \t\"',\0"
_ESCAPED = ("\\n", "\\r", '\\"', "\\'")  # as JSON has it
_SPREAD = pattern(r"(?:[^\s\"',\0]{1,4}[\s\"',\0]{1,8}+){5,}")  # a line in which something may be cut
_GAP = r"(?:=?(?:[ \t\r\n\"',\0]|\\+[rn\n\"']))*"
_BEGINNING = pattern(r"^(?:\d{1,6}[\t:|]|[>#|+]|//) ?")  # of a line that a tool quotes, numbers or compares
_SOFT_BREAK = pattern(r"[=\\](?:\r?\n|(?:\\r)?\\n)")  # of quoted-printable or a shell: the line goes on


class Wraps:
    """The forms of secrets that may be cut into pieces, without their blanks."""

    def __init__(self) -> None:
        self._forms: list[str] = []  # longest first
        self._grams: set[str] = set()  # every stretch of them that is as long as the shortest piece
        self._new: set[str] = set()  # those whose stretches are not yet known
        self._only_cut: set[str] = (
            set()
        )  # those that are ordinary text where nothing is between their letters

    def add(self, forms: Iterable[str]) -> None:
        short = [form for form in forms if len(form) <= _LONGEST]
        flat = set(map(_flat, short))
        self._only_cut |= flat - {"".join(form.split()) for form in short}
        self._new |= {each for each in flat.union(map(str.strip, short)) if len(each) >= _SHORTEST}

    def _learn(self) -> None:
        """Work out the new forms. Many runs never come to it."""
        self._forms = sorted({*self._forms, *self._new}, key=lambda form: (-len(form), form))
        for form in self._new:
            self._grams.update(_stretches(form))
        self._new = set()

    def mask(self, text: str) -> str:
        """Return the text with the pieces masked. Each line stays a line."""
        if len(text) < _PIECE:
            return text
        if self._new:
            self._learn()
        if not self._forms:
            return text
        if "\n" in text or "\\n" in text or _SPREAD.search(text):
            text = self._mask_wrapped(text)
        return self._mask_lines(text)

    def _mask_wrapped(self, text: str) -> str:
        for form in self._flat_in(text):
            ordinary = form if form in self._only_cut else ""
            text = re.sub(_GAP.join(map(re.escape, form)), partial(_line_by_line, ordinary), text)
        return text

    def _flat_in(self, text: str) -> list[str]:
        """Return the forms that are in the text without its blanks, longest first."""
        found: set[str] = set()
        joined = _SOFT_BREAK.sub("", text)
        for each in (text,) if joined == text else (text, joined):
            for flat in _flat_parts(each, overlap=len(self._forms[0])):
                found.update(form for form in self._forms if form in flat)
        return [form for form in self._forms if form in found]

    def _mask_lines(self, text: str) -> str:
        """Mask pieces whose other pieces may not be in the text: they are at the ends of its lines."""
        if len(text) <= _FEW:
            return "\n".join(map(self._mask_line, text.split("\n")))
        start, end = text.find("\n"), text.rfind("\n")
        first, last = text[: max(start, 0)], text[end + 1 :]
        shown = self._mask_line(first), self._mask_line(last)
        # Such a text may be very large, and most hold no secret: then it needs no copy.
        return text if shown == (first, last) else f"{shown[0]}{text[max(start, 0) : end + 1]}{shown[1]}"

    def _mask_line(self, line: str) -> str:
        if "…" in line:
            line = self._mask_at_cuts(line)
        core = _BEGINNING.sub("", line.strip(" \t\r…"))
        if core[:_PIECE] not in self._grams and core[-_PIECE:] not in self._grams:
            return line
        for form in self._forms:
            if piece := core if core in form else _end_of(form, core):
                line = line.replace(piece, MASK, 1)
            elif piece := _start_of(form, core):
                line = MASK.join(line.rsplit(piece, 1))
            core = _BEGINNING.sub("", line.strip(" \t\r…"))
        return line

    def _mask_at_cuts(self, line: str) -> str:
        """Mask a piece of a secret that ends where a line was cut, or begins there."""
        before, sign, after = line.rpartition("…")
        for form in self._forms:
            if piece := _start_of(form, before, _CUT_PIECE):
                before = before.removesuffix(piece) + MASK
                break
        first, sign, rest = f"{before}{sign}{after}".partition("…")
        for form in self._forms:
            if piece := _end_of(form, rest, _CUT_PIECE):
                rest = MASK + rest.removeprefix(piece)
                break
        return first + sign + rest


def _stretches(form: str) -> Iterator[str]:
    return (form[start : start + _PIECE] for start in range(len(form) - _PIECE + 1))


def _flat_parts(text: str, overlap: int) -> Iterator[str]:
    """Yield the text without blanks and line breaks, in parts: it may be very large.

    Each part begins with the end of the one before, of `overlap` characters, so that nothing is cut in two.
    """
    before, start = "", 0
    while start < len(text):
        end = start + _PART
        while text[end - 1 : end] == "\\":  # it may belong to a line break as JSON writes it
            end += 1
        flat = before + _flat(text[start:end])
        yield flat
        before, start = flat[-overlap:], end


def _flat(text: str) -> str:
    if "\\" in text:
        while "\\\\" in text:  # in JSON in JSON
            text = text.replace("\\\\", "\\")
        for each in _ESCAPED:
            text = text.replace(each, "")
    data = text.encode("utf-8", "surrogatepass")  # bytes are removed ten times faster than characters
    return data.translate(None, _BETWEEN).decode("utf-8", "surrogatepass")


def _line_by_line(ordinary: str, found: re.Match[str]) -> str:
    return found[0] if found[0] == ordinary else "\n".join([MASK] * (found[0].count("\n") + 1))


def _end_of(form: str, line: str, shortest: int = _PIECE) -> str:
    """Return the end of the form that the line begins with, if it is long enough."""
    start = form.find(line[:shortest]) if len(line) >= shortest else -1
    while start >= 0:
        if line.startswith(form[start:]):
            return form[start:]
        start = form.find(line[:shortest], start + 1)
    return ""


def _start_of(form: str, line: str, shortest: int = _PIECE) -> str:
    """Return the start of the form that the line ends with, if it is long enough."""
    start = form.find(line[-shortest:]) if len(line) >= shortest else -1
    while start >= 0:
        if line.endswith(form[: start + shortest]):
            return form[: start + shortest]
        start = form.find(line[-shortest:], start + 1)
    return ""
