"""Read the bytes that `xxd`, `od` and `hexdump` show, and lists of numbers as programs print them.

Texts and bytes are both texts here, one character for each byte.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator

from amplihack.patterns import pattern
from amplihack.records import Record

_LINE = r"[0-9a-fA-F]{6,8}:?[ \t]+[^\n]*"
DUMP = pattern(rf"(?m)(?:^|(?<=\")){_LINE}(?:\n{_LINE})*+")  # lines that begin with a place in the data
_FILL = "\0"  # that no dump shows
_JSON_BREAK = pattern(
    r"(?:\\{1,7}n|\\{0,7}\",(?:\s|\\{1,7}n){0,40}\\{0,7}\")(?=[0-9a-fA-F]{6,8}(?![0-9a-fA-F]))"
)
_OFFSET = pattern(r"[0-9a-fA-F]{6,8}:?[ \t]")
_HEX = pattern(r" *([0-9a-fA-F]{4}(?: [0-9a-fA-F]{2,4})*|[0-9a-fA-F]{2}(?: {1,2}[0-9a-fA-F]{2}(?![^ ]))*)")
_GAP = r"['\"]?[\s,:;|._-]{1,8}['\"]?"
_NO_DECIMAL = r"(?![\s,]{1,8}[0-9]{3}(?![0-9a-z]))"  # a number of three digits: it was not hexadecimal
NUMBERS = pattern(
    r"(?i)(?<![0-9a-z])(?:"
    rf"0x[0-9a-f]{{1,2}}(?:{_GAP}0x[0-9a-f]{{1,2}}){{5,}}+|[0-9a-f]{{2}}(?:{_GAP}[0-9a-f]{{2}}(?![0-9a-z])){{5,}}+{_NO_DECIMAL}"
    r"|[0-9a-f]{4}(?:[ \n]{1,4}[0-9a-f]{2,4}(?![0-9a-z])){3,}+"
    r"|[0-9]{1,3}(?:[\s,]{1,8}[0-9]{1,3}(?![0-9a-z])){5,}+|u\+[0-9a-f]{4,6}(?:[\s,]{0,3}u\+[0-9a-f]{4,6}){5,}+)"
)
_WIDEST = 16  # bytes of a line
_ESCAPES = {"\\0": "\0", "\\a": "\a", "\\b": "\b", "\\t": "\t", "\\n": "\n", "\\v": "\v", "\\f": "\f",
            "\\r": "\r", "": " ", "sp": " ", "nl": "\n", "ht": "\t", "cr": "\r"}  # fmt: skip


def one_a_line(text: str) -> str:
    """Return a text with the lines of dumps as lines, though JSON made a text or a list of them.

    Every character stays in its place.
    """
    if "n000" not in text and '"000' not in text:
        return text
    return _JSON_BREAK.sub(lambda found: f"{_FILL * (len(found[0]) - 1)}\n", text)


class DumpLine(Record):
    """A line of a dump: where what it shows begins and ends in the text."""

    start: int
    end: int
    shown: str


def rows(text: str, start: int, end: int) -> Iterator[DumpLine]:
    """Yield the lines of a dump, without the place that each begins with."""
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        if offset := _OFFSET.match(text, start, stop):
            shown = text[offset.end() : stop].rstrip(_FILL)
            yield DumpLine(offset.end(), offset.end() + len(shown), shown)
        start = stop + 1


def numbers(text: str) -> Iterator[str]:
    """Yield the bytes that a list of numbers may stand for."""
    groups = re.findall(r"[0-9a-fA-F]+", re.sub(r"(?i)0x|u\+", " ", text))
    if text[:1] in "uU" and text[1:2] == "+":
        yield "".join(_code_point(group) for group in groups)
        return
    yield bytes.fromhex("".join(group.zfill(len(group) + len(group) % 2) for group in groups)).decode(
        "latin-1"
    )
    for base in (8, 10):
        yield _in_base(groups, base)


def _code_point(digits: str) -> str:
    number = int(digits, 16)
    return chr(number).encode("utf-8", "replace").decode("latin-1") if number <= sys.maxunicode else ""


def _in_base(groups: list[str], base: int) -> str:
    try:
        return bytes(int(group, base) for group in groups).decode("latin-1")
    except ValueError:  # a digit that the base has not, or more than a byte
        return ""


def _hexadecimal(shown: str) -> str:
    found = _HEX.match(shown)
    digits = "".join(found[1].split()) if found else ""
    return bytes.fromhex(digits[: min(len(digits) // 2, _WIDEST) * 2]).decode("latin-1")


def _swapped(shown: str) -> str:
    """Read words of several bytes, the lowest one first."""
    found = re.match(r" *((?:(?:[0-9a-fA-F]{4}|[0-9a-fA-F]{8}|[0-9a-fA-F]{16})(?: +|$))+)$", shown)
    return "".join(bytes.fromhex(word)[::-1].decode("latin-1") for word in found[1].split()) if found else ""


def _octal_words(shown: str) -> str:
    words = shown.split()
    if not all(re.fullmatch("[01][0-7]{5}", word) for word in words):
        return ""
    return "".join(int(word, 8).to_bytes(2, "little").decode("latin-1") for word in words)


def _cells(shown: str) -> str:
    """Read what `od -c` shows: four columns for each byte."""
    while "\\\\" in shown:  # in JSON
        shown = shown.replace("\\\\", "\\")
    padded = f" {shown}".replace('\\"', '"')  # without the blank that went with the place
    return "".join(_cell(padded[at : at + 4].strip()) for at in range(0, len(padded) - 3, 4))


def _cell(cell: str) -> str:
    if re.fullmatch("[0-3][0-7]{2}", cell):
        return chr(int(cell, 8))
    return _ESCAPES.get(cell, cell)


def _decimals(shown: str) -> str:
    return _in_base(shown.split(), 10) if re.fullmatch(r"[\d ]+", shown) else ""


def _octals(shown: str) -> str:
    return _in_base(shown.split(), 8) if re.fullmatch(r"[0-7 ]+", shown) else ""


def _bits(shown: str) -> str:
    return "".join(chr(int(word, 2)) for word in re.findall(r"(?<!\S)[01]{8}(?!\S)", shown))


# How a line may show its bytes.
WAYS: tuple[Callable[[str], str], ...] = (
    _hexadecimal, _swapped, _octal_words, _cells, _decimals, _octals, _bits,
)  # fmt: skip
