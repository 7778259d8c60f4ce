"""Find secrets in texts: guess which values are secret, list the forms a secret can take, and mask them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote, quote_plus

from amplihack.patterns import pattern
from amplihack.recipes.values import Value, to_text

MASK = "***"
_SHORTEST_GUESS = 8  # a shorter text that nobody declared secret is more likely an ordinary word
_MOST_LINES = 256  # of one secret; a private key has some fifty
_SHORTEST_NUMBER = 4  # masking every "5" in every line would hide nothing and spoil everything

_KEY_NAME = pattern(
    r"PASSWORD|PASSWD|PASSPHRASE|APIKEY|(?:^|_)(?:SECRETS?|CREDENTIALS?|PRIVATE_KEY|ACCESS_KEY|API_KEY)(?:_|$)"
    r"|TOKEN(?:_|$)|SECRET$|_(?:KEY|AUTH|PAT|PWD)$|^AUTH$|AUTHORIZATION"
)
_PLACE_NAME = pattern(r"(?:_|^)(?:FILE|PATH|DIR|DIRECTORY|SOCK|SOCKET|URL|URI|HOST|ENDPOINT)$")
_URL_PASSWORD = pattern(r"://[^/\s:@]*:([^/\s@]+)@")
_COLOUR = pattern(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def strip_colours(text: str) -> str:
    """Return the text without terminal escape sequences."""
    return _COLOUR.sub("", text) if "\x1b" in text else text


def secret_values(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of variables whose names look like keys, and passwords inside URLs."""
    for name, value in environment.items():
        upper = name.upper()
        if len(value) >= _SHORTEST_GUESS and _KEY_NAME.search(upper) and not _PLACE_NAME.search(upper):
            yield value
        yield from (each for each in _URL_PASSWORD.findall(value) if len(each) >= _SHORTEST_GUESS)


def forms(secret: str) -> Iterator[str]:
    """Yield every form in which the secret may appear in a text."""
    for whole in {secret, secret.strip()}:
        yield from _spellings(whole)
    # Output is masked line by line, so a key of several lines never appears in one piece.
    lines = [line.strip() for line in secret.splitlines()[:_MOST_LINES]]
    for line in lines if len(lines) > 1 else []:
        if len(line) >= _SHORTEST_GUESS:
            yield from _spellings(line)


def _spellings(text: str) -> Iterator[str]:
    yield text
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    # As a shell quotes it inside single quotes.
    yield text.replace("'", "'\\''")
    data = text.encode("utf-8", "surrogatepass")
    yield quote(data, safe="")
    yield quote(data)
    yield quote_plus(data)
    if text:
        yield from _encoded(data)


def _encoded(data: bytes) -> Iterator[str]:
    """Yield the base64 of the bytes, alone and as part of something longer.

    Three bytes become four characters, so the same bytes look different at each of three offsets. Characters
    that contain bits of a neighbour are left out.
    """
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(data).decode("ascii")
        for before in range(3):
            whole = encode(b"\0" * before + data).decode("ascii")
            face = whole[(before * 8 + 5) // 6 : (before + len(data)) * 8 // 6]
            if len(face) >= _SHORTEST_GUESS:
                yield face


def mask(text: str, known: Iterable[str]) -> str:
    """Return the text with all known forms masked."""
    # Looking for each form on its own is faster than one pattern of them all: most texts hold none.
    found = [form for form in known if form in text]
    if len(found) == 1:
        return text.replace(found[0], MASK)
    return _mask_spans(text, _spans(text, found)) if found else text


def texts_in(value: Value) -> Iterator[str]:
    """Yield the texts inside a value. Booleans, null and short numbers are too common to be masked."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from texts_in(item)
    elif value is not None and not isinstance(value, bool) and len(to_text(value)) >= _SHORTEST_NUMBER:
        yield to_text(value)


def _spans(text: str, found: Iterable[str]) -> list[tuple[int, int]]:
    spans = []
    for form in found:
        start = text.find(form)
        while start >= 0:
            spans.append((start, start + len(form)))
            start = text.find(form, start + 1)
    return sorted(spans)


def _mask_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Replace each stretch of secrets that overlap or touch by one mask."""
    parts: list[str] = []
    position, end = 0, -1
    for start, stop in spans:
        if start > end:
            parts += [text[position:start], MASK]
        position = end = max(end, stop)
    return "".join([*parts, text[position:]])
