"""Spell a secret as other programs write it: escaped for shells, JSON, URLs and markup, or encoded."""

from __future__ import annotations

import base64
import json
import urllib.parse as url
from collections.abc import Callable, Iterator

from amplihack.patterns import pattern

_SHORTEST_FACE = 7  # characters of base64 that cannot be there by chance; six bytes have as many anywhere
_SHORTEST_TURNED = 8  # in other letters or backwards, a shorter text may be an ordinary word
_JSON_LEVELS = 5  # a text inside JSON inside a text inside JSON …
_TAB, _SPACE, _EQUALS, _TILDE = b"\t =~"
_SMALL, _CAPITAL = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_UPPER, _LOWER = str.maketrans(_SMALL, _CAPITAL), str.maketrans(_CAPITAL, _SMALL)
_PLAIN = pattern(r"[A-Za-z0-9_.-]*")  # nothing escapes these
_HEX_ESCAPE = pattern(r"%[0-9A-F]{2}")
_UNICODE_ESCAPE = pattern(r"\\u[0-9a-f]{4}")
_BACKSLASHED = pattern(r"([\s'\"\\|&;()<>!{}*\[\]?^$`]|^[~#]|(?<=[:=])~)")
_BACKSLASHED_COMMAS = pattern(r"([\s'\"\\|&;()<>!{}*\[\]?^$`,]|^[~#]|(?<=[:=])~)")
_DOUBLE_QUOTED = pattern(r"([\"\\$`])")
_CONTROLS = {"\a": "\\a", "\b": "\\b", "\x1b": "\\E", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
             "\v": "\\v", "\\": "\\\\", "'": "\\'"}  # fmt: skip
# How libraries write the two quotes in markup; most write & < > alike.
_QUOTES = (
    ("&quot;", "&#x27;"), ("&quot;", "&#39;"), ("&quot;", "&apos;"), ("&#34;", "&#39;"), ("&quot;", "'"),
)  # fmt: skip


def escaped(text: str) -> Iterator[str]:
    """Yield the text as it is, in other letters, and as it is escaped to stand inside something else."""
    yield text
    if len(text) >= _SHORTEST_TURNED:
        yield from (text.upper(), text.lower())
        if not text.isascii():  # tools may know no other letters
            yield from (text.translate(_UPPER), text.translate(_LOWER))
    yield from in_mail(text)
    if _PLAIN.fullmatch(text):
        return
    yield from _in_shell(text)
    yield from _in_json(text)
    yield from _in_urls(text)
    yield from _in_markup(text)
    yield "".join(map(_visible, text.encode("utf-8", "surrogatepass")))


def encoded(text: str) -> Iterator[str]:
    """Yield the text in base64 and base32, alone and inside something longer, and in other digits.

    Also in base85, backwards, and as code points.
    """
    data = text.encode("utf-8", "surrogatepass")
    yield from _code_points(text)
    for encode in (base64.b64encode, base64.urlsafe_b64encode, base64.b32encode):
        for each in (data, data + b"\n"):  # `echo` adds a newline
            whole = encode(each).decode("ascii")
            yield from (whole, whole.rstrip("="), url.quote(whole, safe=""))
        yield from _faces(data, encode, bits=5 if encode is base64.b32encode else 6)
    yield from _digits(data)
    for spelled in _base85(data):
        if len(spelled) >= _SHORTEST_FACE:
            yield spelled
    yield from backwards(text)


def backwards(text: str) -> Iterator[str]:
    """Yield the text backwards, also in JSON."""
    if len(text) >= _SHORTEST_TURNED:
        yield text[::-1]
        if not _PLAIN.fullmatch(text):
            yield from _in_json(text[::-1])


def _base85(data: bytes) -> Iterator[str]:
    """Yield both kinds of base85, alone and inside something longer: four bytes become five characters."""
    ends = (data, data + b"\n")
    inside = (data[before : before + (len(data) - before) // 4 * 4] for before in range(4))
    for each in (*ends, *inside):
        yield base64.b85encode(each).decode("ascii")
        yield base64.a85encode(each).decode("ascii")


def _code_points(text: str) -> Iterator[str]:
    """Yield each character as a number, as obfuscated markup and scripts do, and what tools make of UTF-16.

    Also base64 of base64, which is how data is kept that was encoded already.
    """
    yield "".join(f"&#{ord(char)};" for char in text)
    yield "".join(f"&#x{ord(char):x};" for char in text)
    yield "".join(f"\\u{ord(char):04x}" for char in text)
    wide, data = text.encode("utf-16-le", "surrogatepass"), text.encode("utf-8", "surrogatepass")
    yield from (wide.hex(), base64.b64encode(wide).decode("ascii").rstrip("="))
    for each in (data, data + b"\n"):
        yield base64.b64encode(base64.b64encode(each)).decode("ascii").rstrip("=")


def _digits(data: bytes) -> Iterator[str]:
    """Yield hexadecimal digits as hexdump, xxd, openssl, URLs and escapes of strings write them."""
    for spelled in (data.hex(), data.hex(" "), data.hex(":"), data.hex(" ", -2)):
        yield from (spelled, spelled.upper())
    for before in ("%", "\\x"):
        yield from (
            before + data.hex("-").replace("-", before),
            before + data.hex("-").upper().replace("-", before),
        )


def _faces(data: bytes, encode: Callable[[bytes], bytes], *, bits: int) -> Iterator[str]:
    """Yield the encoding of the bytes inside something longer.

    Three bytes become four characters of base64, five become eight of base32, so the same bytes look
    different at each offset. Characters that contain bits of a neighbour are left out.
    """
    for before in range(3 if bits == 6 else 5):
        whole = encode(b"\0" * before + data).decode("ascii")
        face = whole[(before * 8 + bits - 1) // bits : (before + len(data)) * 8 // bits]
        if len(face) >= _SHORTEST_FACE:
            yield face


def _in_shell(text: str) -> Iterator[str]:
    yield text.replace("'", "'\\''")
    yield text.replace("'", "'\"'\"'")
    yield text.replace("'", "''")  # not of a shell, but of YAML and SQL
    yield _DOUBLE_QUOTED.sub(r"\\\1", text)
    yield _BACKSLASHED.sub(r"\\\1", text)  # printf %q
    yield _BACKSLASHED_COMMAS.sub(r"\\\1", text)
    yield "".join(map(_ansi_c, text))
    yield "".join(map(_ansi_c_bytes, text))


def _ansi_c(char: str) -> str:
    """Return a character as `$'…'` has it."""
    if char in _CONTROLS:
        return _CONTROLS[char]
    return char if char.isprintable() else _octal(char)


def _ansi_c_bytes(char: str) -> str:
    """Return it as a plain-ASCII locale has it."""
    return _ansi_c(char) if char.isascii() else _octal(char)


def _visible(byte: int) -> str:
    """Return a byte as `cat -v` shows it."""
    if byte in b"\t\n":
        return chr(byte)
    high, low = ("M-", byte - 128) if byte > 127 else ("", byte)
    return f"{high}^{chr(low ^ 64)}" if low < _SPACE or low == 127 else f"{high}{chr(low)}"


def _octal(char: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogatepass"))


def _in_json(text: str) -> Iterator[str]:
    """Yield it as a JSON text, which may stand in another, and that in a third."""
    yield from (repr(text)[1:-1], ascii(text)[1:-1])
    for first in dict.fromkeys(_json_texts(text)):
        inner = first
        for _ in range(_JSON_LEVELS):
            yield inner
            inner = json.dumps(inner, ensure_ascii=False)[1:-1]


def _json_texts(text: str) -> Iterator[str]:
    for written in (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
        yield written
        yield _UNICODE_ESCAPE.sub(lambda found: "\\u" + found[0][2:].upper(), written)
        yield written.replace("/", "\\/")
        safe = written  # as if it stood in a page
        for char in "<>&'":
            safe = safe.replace(char, f"\\u{ord(char):04x}")
            yield safe


def _in_urls(text: str) -> Iterator[str]:
    data = text.encode("utf-8", "surrogatepass")
    once = dict.fromkeys((
        url.quote(data, safe=""), url.quote(data), url.quote_plus(data), url.quote(data, safe="!*'()"),
        url.quote(data, safe=";,/?:@&=+$!*'()#"), url.quote_plus(data, safe="*").replace("~", "%7E"),
    ))  # fmt: skip
    for written in once:
        yield written
        yield _lower_hex(written)
        yield url.quote(written, safe="")
        yield url.quote(written)


def _lower_hex(written: str) -> str:
    return _HEX_ESCAPE.sub(lambda found: found[0].lower(), written)


def _in_markup(text: str) -> Iterator[str]:
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for written in (plain, *(plain.replace('"', two).replace("'", one) for two, one in _QUOTES)):
        yield written
        yield written.encode("ascii", "xmlcharrefreplace").decode("ascii")
        yield written.replace("&", "&amp;")


def in_mail(text: str) -> Iterator[str]:
    """Yield it in quoted-printable, as the body and as the head of a message have it. Lines are not cut."""
    data = text.encode("utf-8", "surrogatepass")
    yield "".join(map(_printable, data))
    yield "".join("=20" if byte == _SPACE else "=09" if byte == _TAB else _printable(byte) for byte in data)
    yield "".join(f"={byte:02X}" if byte in b"_?" else _printable(byte) for byte in data).replace(" ", "_")


def _printable(byte: int) -> str:
    plain = byte in b"\t\r\n" or (_SPACE <= byte <= _TILDE and byte != _EQUALS)
    return chr(byte) if plain else f"={byte:02X}"
