"""List the signs of an encoded secret: what a text contains if the secret is in it behind that encoding.

Looking for a sign is quick; only a text that shows one is worth decoding. A sign is made of the part of the
secret that another encoding below it, such as the quotes of JSON, leaves as it is.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator

from amplihack.patterns import pattern

_PART = 12  # characters of the secret that a sign is made of
_SHORTEST = 4  # of a sign: a shorter one is in any text by chance
_UNCHANGED = pattern(r"[^\"\\\x00-\x1f\x7f-\U0010ffff]+")  # what JSON leaves as it is
_LETTERS = pattern(r"[A-Za-z0-9]+")
_WIDE = ("utf-16-le", "utf-16-be")
_TO_HEX = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", b"0123456789ABCDEFGHIJKLMNOPQRSTUV")


def signs_of(secret: str) -> Iterator[tuple[str, set[str]]]:
    """Yield the signs of a secret by encoding."""
    parts = [*_parts(secret)]
    whole = [part.encode("utf-8", "surrogatepass") for part in parts]
    wide = [part.encode(code, "surrogatepass") for part in parts for code in _WIDE]
    # Of what was encoded before it is encoded again, most has been encoded once.
    digits = [each.hex().encode() for each in whole]
    yield "base64", _faces([*whole, *wide, *digits, *_sixty_four(whole)])
    yield "base32", _thirty_two(whole)
    hexadecimal = {
        each.hex() for each in (*whole, *wide, *digits, *_sixty_four(whole)) if len(each) >= _SHORTEST
    }
    yield "base16", hexadecimal | {each.upper() for each in hexadecimal}
    yield "numbers", set(_numbers(secret.encode("utf-8", "surrogatepass")))
    yield "escapes", {*_LETTERS.findall(secret), *_units(secret)}


def _parts(secret: str) -> Iterator[str]:
    """Yield the longest part that JSON leaves as it is, and the longest that nothing escapes."""
    for kind in (_UNCHANGED, _LETTERS):
        yield max(kind.findall(secret), key=len, default=secret)[:_PART]


def _faces(texts: Iterable[bytes]) -> set[str]:
    """Return the base64 of each inside something longer, without what its neighbours have a part in."""
    return {face.decode() for face in _sixty_four(texts)} | {
        face.decode().translate(str.maketrans("+/", "-_")) for face in _sixty_four(texts)
    }


def _sixty_four(texts: Iterable[bytes]) -> list[bytes]:
    return _shifted(texts, base64.b64encode, 3, 6)


def _thirty_two(texts: Iterable[bytes]) -> set[str]:
    found = _shifted(texts, base64.b32encode, 5, 5)
    return {each.decode() for sign in found for each in (sign, sign.lower(), sign.translate(_TO_HEX))}


def _shifted(texts: Iterable[bytes], encode: Callable[[bytes], bytes], group: int, bits: int) -> list[bytes]:
    found = []
    for text in texts:
        for before in range(group):
            whole = encode(b"\0" * before + text)
            face = whole[(before * 8 + bits - 1) // bits : (before + len(text)) * 8 // bits]
            if len(face) >= _SHORTEST:
                found.append(face)
    return found


def _numbers(data: bytes) -> Iterator[str]:
    """Yield its first two bytes as lists of numbers have them."""
    one, two = data[0], data[1]
    for case in (str.lower, str.upper):
        yield from (f"0x{case(f'{one:02x}')}", f"{case('u')}+{case(f'{one:04x}')}")
        yield from (case(f"{one:02x}{gap}{two:02x}") for gap in ("-", ", ", ",", ".", "_", "|"))
    yield from (f"{one}{gap}{two}" for gap in (", ", ","))
    yield from (f"{one:4}{two:4}", f" {one:03o} {two:03o}")


def _units(secret: str) -> Iterator[str]:
    """Yield its first character as it is escaped where every character is."""
    number = ord(secret[0])
    data = secret[0].encode("utf-8", "surrogatepass")[0]
    yield from (f"#{number};", f"#{number:03};", f"{data:03o}\\")
    for case in (str.lower, str.upper):
        yield from (f"u{case(f'{number:04x}')}\\", f"u{{{case(f'{number:x}')}}}", f"U{case(f'{number:08x}')}")
        yield from (f"x{case(f'{data:02x}')}\\", f"x{case(f'{number:02x}')}\\", f"{case(f'{data:02x}')}%")
        yield from (f"#{sign}{case(f'{number:{width}x}')};" for sign in "xX" for width in ("", "02", "04"))
