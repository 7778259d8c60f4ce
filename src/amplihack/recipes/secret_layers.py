"""Find secrets behind encodings in any order: base64 of JSON, `%q` in JSON in a URL, a dump of bytes.

`secret_spellings` lists how one program writes a secret, which is quick to look for and masks nothing else.
Programs hand texts to each other, though, and no list has every order of them. So what looks encoded is
decoded here, and looked at again. Texts are bytes here, one character for each byte.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate

from amplihack.credentials import MASK
from amplihack.patterns import pattern
from amplihack.recipes.dumped_bytes import DUMP, NUMBERS, WAYS, numbers, one_a_line, rows
from amplihack.recipes.secret_signs import signs_of
from amplihack.recipes.undone_escapes import ALL_ESCAPED, MARKS, as_bytes, layers, plain

_SHORTEST = 6  # bytes: a shorter secret may be in any decoded data by chance
_LONGEST = 65_536  # characters: a longer one is a document, which nobody escapes twice
_DEEPEST = 3  # encodings inside encodings
_PART = 1_048_576  # characters of a text that are looked at at once: it may be very large
_WINDOW = 65_536  # characters that are decoded at once
_WIDEST = 12  # characters that one may become behind many layers
_PIECE = 8  # bytes in a line of a dump that are not there by chance

_CORE = pattern(r"[A-Za-z0-9]+")
_BREAK = r"(?:\r?\n|\\{1,7}(?:r\\{1,7})?n|(?:%0[dD])?%0[aA])[ \t]{0,8}"
_DIGIT = r"(?:[A-Za-z0-9+/_-]|%2[BbFf]|\\{1,3}/)"  # also as URLs and JSON write the last two
_BASE64 = pattern(rf"{_DIGIT}{{12,}}+(?:{_BREAK}{_DIGIT}{{2,}}+)*+(?:{_BREAK})?={{0,2}}")
_BASE32 = pattern(r"[A-V0-9]{16,}+|[a-z2-7]{16,}+")
_BASE16 = pattern(rf"(?i)(?:[0-9a-f]{{2}}){{6,}}+(?:{_BREAK}(?:[0-9a-f]{{2}})++)*+")
_NO_DIGIT = pattern(r"\\{1,7}[rn]|%0[aAdD]|[^A-Za-z0-9+/_-]")
_URL_SAFE = str.maketrans("-_", "+/")
_HEX_DIGITS = str.maketrans("0123456789ABCDEFGHIJKLMNOPQRSTUV", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")

_Span = tuple[int, int]


class Layers:
    """The secrets that are looked for behind encodings."""

    def __init__(self) -> None:
        self._secrets: set[str] = set()  # as they are, and with what looks like an escape in them undone
        self._cores: set[str] = set()  # a stretch of each that most escapes leave as it is
        self._signs: dict[str, set[str]] = {}  # by encoding: a text without one of them holds no secret in it

    def add(self, secrets: Iterable[str]) -> None:
        for secret in secrets:
            data = as_bytes(secret)
            if _SHORTEST <= len(data) <= _LONGEST and not data.isspace():
                self._secrets.update(map(_alike, (data, plain(data), *_other_bytes(secret))))
                self._cores.add(max(_CORE.findall(data), key=len, default=""))
                for encoding, signs in signs_of(secret):
                    self._signs.setdefault(encoding, set()).update(signs)
        self._cores.discard("")

    def mask(self, text: str) -> str:
        """Return the text with those masked that are found. Each line stays a line."""
        if len(text) < _SHORTEST or not self._secrets:
            return text
        if len(text) <= _PART:
            return self._mask_part(text)
        if all(self._mask_part(part) is part for part in _parts(text)):
            return text  # a copy of it would take as much memory again
        return "".join(map(self._mask_part, _parts(text)))

    def _mask_part(self, text: str) -> str:
        data = as_bytes(text)
        spans = sorted(self._spans(data, depth=0))
        return _from_bytes(_mask_lines(data, spans)) if spans else text

    def _spans(self, data: str, depth: int) -> Iterator[_Span]:
        """Yield where secrets are. Most texts show no sign of one, and a look is quicker than decoding."""
        if any(mark in data for mark in MARKS) and self._shows(data, "escapes"):
            yield from self._escaped(data)
        if "0000" in data and ("\n000" in (lines := one_a_line(data)) or data.lstrip('"').startswith("000")):
            yield from self._dumped(lines)
        flat = _without_breaks(data)
        for encoding, (runs, decode) in _ENCODINGS.items():
            if self._shows(flat, encoding):
                for run in runs.finditer(data):
                    if any(self._holds(each, depth) for each in decode(run[0])):
                        yield run.span()

    def _shows(self, data: str, encoding: str) -> bool:
        return any(sign in data for sign in self._signs[encoding])

    def _holds(self, data: str, depth: int) -> bool:
        """Tell whether decoded data has a secret in it, also as UTF-16 or encoded once more."""
        if any(self._found(each) for each in {data, data.replace("\0", "")}):
            return True
        return depth < _DEEPEST and any(True for _ in self._spans(data, depth + 1))

    def _found(self, data: str) -> bool:
        data = _alike(data)
        return any(secret in data for secret in self._secrets)

    def _escaped(self, data: str) -> Iterator[_Span]:
        for start, end in self._windows(data):
            for undone in layers(data[start:end]):
                seen = _alike(undone.text)
                for secret in self._secrets:
                    for at in _places(seen, secret):
                        stop = undone.origin(at + len(secret))
                        yield start + undone.origin(at), start + stop

    def _windows(self, data: str) -> Iterator[_Span]:
        """Yield the parts of the text that may be an escaped secret, together little more than all of it."""
        longest = max(map(len, self._secrets))
        reach = min(longest * _WIDEST, _WINDOW // 4)
        likely = [(at, at + len(core)) for core in self._cores for at in _places(data, core)]
        likely += (run.span() for run in ALL_ESCAPED.finditer(data))
        first = last = -1
        for start, end in sorted(likely):
            if first >= 0 and start - reach <= last and end + reach - first <= _WINDOW:
                last = max(last, end + reach)
                continue
            if first >= 0:
                yield first, last
            first, last = max(start - reach, 0), end + reach
        if first >= 0:
            yield first, last

    def _dumped(self, data: str) -> Iterator[_Span]:
        for block in DUMP.finditer(data):
            lines = list(rows(data, *block.span()))
            for way in WAYS:
                read = [way(line.shown) for line in lines]
                for number in self._lines_with_secrets(read):
                    yield lines[number].start, lines[number].end

    def _lines_with_secrets(self, read: list[str]) -> set[int]:
        """Return the numbers of the lines that show a part of a secret, given the bytes of each."""
        whole = _alike("".join(read))
        ends = list(accumulate(map(len, read)))
        touched = [(at, at + len(secret)) for secret in self._secrets for at in _places(whole, secret)]
        pieces = {
            number
            for number, line in enumerate(map(_alike, read))
            if len(line) >= _PIECE and any(line in secret for secret in self._secrets)
        }
        return pieces | {
            number
            for number, end in enumerate(ends)
            if any(at < end and stop > end - len(read[number]) for at, stop in touched)
        }


def _parts(text: str) -> Iterator[str]:
    """Yield the text in parts, cut between lines where there are any."""
    start = 0
    while start < len(text):
        end = text.rfind("\n", start, start + _PART) + 1 if start + _PART < len(text) else len(text)
        end = end or start + _PART
        yield text[start:end]
        start = end


def _without_breaks(data: str) -> str:
    """Return the data without line breaks, also as JSON and URLs write them, and what lists have at them."""
    if "\\\\n" in data:  # in JSON in JSON
        data = re.sub(r"\\+n", "\n", data)
    if ",\n " in data:
        data = re.sub(r",\n[ \t]+", ",", data)
    for line_break in ("\n", "\\n", "%0A"):
        data = data.replace(line_break, "")
    return data


def _sixty_four(run: str) -> Iterator[str]:
    """Yield what base64 may stand for: it may begin behind other letters."""
    if "%" in run:
        run = run.replace("%2B", "+").replace("%2b", "+").replace("%2F", "/").replace("%2f", "/")
    digits = _NO_DIGIT.sub("", run).translate(_URL_SAFE)
    for start in range(4):
        yield _decoded(base64.b64decode, digits[start:], 4)


def _thirty_two(run: str) -> Iterator[str]:
    digits = run.upper()
    for start in range(8):
        yield _decoded(base64.b32decode, digits[start:], 8)
        yield _decoded(base64.b32decode, digits[start:].translate(_HEX_DIGITS), 8)


def _sixteen(run: str) -> Iterator[str]:
    digits = _NO_DIGIT.sub("", run)
    for start in range(2):
        yield _decoded(bytes.fromhex, digits[start:], 2)


def _decoded(decode: Callable[[str], bytes], digits: str, group: int) -> str:
    """Return the bytes of what can be decoded."""
    missing = -len(digits) % group if group > 2 else 0  # pairs need no filling
    for text in (digits + "=" * missing, digits[: len(digits) // group * group]):
        try:
            return decode(text).decode("latin-1")
        except (binascii.Error, ValueError):
            continue
    return ""


_ENCODINGS: dict[str, tuple[re.Pattern[str], Callable[[str], Iterator[str]]]] = {
    "base64": (_BASE64, _sixty_four),
    "base32": (_BASE32, _thirty_two),
    "base16": (_BASE16, _sixteen),
    "numbers": (NUMBERS, numbers),
}


def _places(data: str, part: str) -> Iterator[int]:
    at = data.find(part)
    while at >= 0:
        yield at
        at = data.find(part, at + 1)


def _mask_lines(data: str, spans: list[_Span]) -> str:
    """Mask the spans, which may overlap, and keep the line breaks in them."""
    parts: list[str] = []
    position = 0
    for start, stop in spans:
        if stop <= position:
            continue
        if start > position or not parts:
            parts.append(data[position:start])
            parts.append("\n".join(MASK if line else "" for line in data[start:stop].split("\n")))
        else:
            parts.append("\n" * data.count("\n", position, stop))
        position = stop
    return "".join((*parts, data[position:]))


def _alike(data: str) -> str:
    """Return the data with one sign for a blank, which forms of the web write as a plus."""
    return data.replace("+", " ")


def _other_bytes(secret: str) -> Iterator[str]:
    """Yield other bytes of a text that is not plain ASCII: of UTF-16, and where `\\xe4` means a letter."""
    if not secret.isascii():
        yield "".join(char if char <= "\xff" else as_bytes(char) for char in secret)
        for code in ("utf-16-le", "utf-16-be"):
            # Without zeros, as what was decoded is looked at too.
            yield secret.encode(code, "surrogatepass").decode("latin-1").replace("\0", "")


def _from_bytes(data: str) -> str:
    return data if data.isascii() else data.encode("latin-1").decode("utf-8", "surrogatepass")
