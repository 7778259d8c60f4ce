"""Find secrets in texts: list the forms a secret can take, and mask them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from amplihack.credentials import MASK
from amplihack.patterns import pattern
from amplihack.recipes.secret_guesses import SHORTEST_GUESS
from amplihack.recipes.secret_layers import Layers
from amplihack.recipes.secret_spellings import backwards, encoded, escaped, in_mail
from amplihack.recipes.values import Value, is_number, to_text
from amplihack.recipes.wrapped_secrets import Wraps

_MOST_LINES = 1_000  # of one secret; a private key has some fifty
SHORT = 4  # characters: masking every "5" in every line hides little and spoils much
_SHORT_INSIDE = 6  # bytes: of fewer, too little is left in the middle of a base64 text to be sure
_LONG = 65_536  # characters: nobody puts more of them into a URL
_PART = 262_144  # characters from which colours are removed at once
_MARKS = "\\%&'"  # what an escaped form contains: a text without them needs no look for it

_WORD = pattern(r"[\w.]*\w")
_COLOUR = pattern(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def strip_colours(text: str) -> str:
    """Return the text without terminal escape sequences."""
    if "\x1b" not in text:
        return text
    return "".join(_COLOUR.sub("", part) for part in _parts_between_colours(text))


def _parts_between_colours(text: str) -> Iterator[str]:
    """Yield the text in parts, none of which cuts an escape sequence: it may be very large."""
    start = 0
    while start < len(text):
        end = text.find("\x1b", start + _PART)
        while text.startswith("\x1b\\", end):  # it may end a sequence
            end = text.find("\x1b", end + 1)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end


def forms(secret: str) -> Iterator[str]:
    """Yield every form in which the secret may appear in a text."""
    for whole in {secret, secret.strip()}:
        if len(whole) > _LONG:
            yield from (whole, json.dumps(whole)[1:-1], json.dumps(whole, ensure_ascii=False)[1:-1])
            continue
        yield from escaped(whole)
        if len(whole) >= SHORT:
            yield from encoded(whole)
    for line in _long_lines(secret):
        yield from (*escaped(line), *backwards(line))


def _normal_forms(secret: str) -> set[str]:
    """Return the secret as it is, and with its accents in one with their letters and apart from them."""
    if secret.isascii() or len(secret) > _LONG:
        return {secret}
    import unicodedata  # deferred: most secrets are plain ASCII

    return {secret, *(unicodedata.normalize(form, secret) for form in ("NFC", "NFD", "NFKC"))}


def _long_lines(secret: str) -> list[str]:
    """Return the longer lines of a secret that has several.

    Output is masked line by line, so a key of several lines never appears in one piece.
    """
    lines = [line.strip() for line in secret.splitlines()[:_MOST_LINES]]
    return [line for line in lines if len(line) >= SHORTEST_GUESS] if len(lines) > 1 else []


class KnownForms:
    """Every form of every secret, ready to be looked for."""

    def __init__(self) -> None:
        self._all: set[str] = set()
        self._by_mark: dict[str, list[str]] = {}  # by the sign that a text must contain; none for most
        self._numbers: set[str] = set()  # too short to be masked inside words and other numbers
        self._wraps = Wraps()
        self._layers = Layers()

    def __bool__(self) -> bool:
        return bool(self._all or self._numbers)

    def __contains__(self, text: str) -> bool:
        return text in self._all or text.lstrip("-") in self._numbers

    def learn(self, value: Value) -> None:
        """Treat every text and number inside the value as secret."""
        found = list(leaves(value))
        self._numbers |= {to_text(each).lstrip("-") for each in found if _is_short_number(each)}
        self.add(to_text(each) for each in found if not _is_short_number(each))

    def add(self, secrets: Iterable[str]) -> None:
        secrets = [form for each in secrets for form in _normal_forms(each)]
        new = {form for each in secrets for form in forms(each) if form and not form.isspace()} - self._all
        self._all |= new
        self._wraps.add(secrets)
        self._layers.add(text for each in secrets for text in (each, each.strip(), *_long_lines(each)))
        self._wraps.add(form for each in secrets for form in in_mail(each))
        for form in new:
            mark = next((sign for sign in _MARKS if sign in form), "")
            self._by_mark.setdefault(mark, []).append(form)
            if not mark:
                self._wraps.add((form,))

    def mask(self, text: str) -> str:
        """Return the text with all forms masked, also where line breaks or the ends of the text cut them."""
        # Looking for each form on its own is faster than one pattern of them all: most texts hold none.
        likely = (form for mark, each in self._by_mark.items() if mark in text for form in each)
        found = [form for form in likely if form in text]
        if len(found) == 1:
            text = text.replace(found[0], MASK)
        elif found:
            text = _mask_spans(text, _spans(text, found))
        if any(number in text for number in self._numbers):
            text = _WORD.sub(lambda word: MASK if word[0] in self._numbers else word[0], text)
        return self.mask_wrapped(text)

    def mask_wrapped(self, text: str) -> str:
        """Return the text with those masked that are in several lines or behind layers. Lines stay lines."""
        return self._wraps.mask(self._layers.mask(text))


def leaves(value: Value) -> Iterator[Value]:
    """Yield the texts and numbers inside a value. Booleans and null are too common to be masked."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield value


def weakness(value: Value) -> str:
    """Return what is wrong with a secret that is too short to be masked well; nothing if it is not."""
    if isinstance(value, str):
        if 0 < len(value) < SHORT:
            return f"has fewer than {SHORT} characters: they are masked wherever they appear"
        if 0 < len(value.encode("utf-8", "surrogatepass")) < _SHORT_INSIDE:
            return (
                f"has fewer than {_SHORT_INSIDE} characters: it is masked, but not where it is a part of a"
                " longer text in base64, which would mask much else"
            )
    elif isinstance(value, bool):
        return "is true or false: it is masked as a variable, but not inside texts"
    elif _is_short_number(value):
        return f"has fewer than {SHORT} digits: it is masked inside texts only where it stands alone"
    return ""


def _is_short_number(value: Value) -> bool:
    return is_number(value) and len(to_text(value)) < SHORT


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
