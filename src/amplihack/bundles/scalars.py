"""Read unquoted YAML values as everyone in the ecosystem of bundles does: by the rules of YAML 1.1.

There `yes`, `no`, `on` and `off` are truth values and `0777` is an octal number. Recipes are ours, and read
them as text (`documents.scalars`).
"""

from __future__ import annotations

from typing import Any

import yaml

from amplihack.patterns import pattern

_WORDS: dict[str, bool | None] = {
    form: value
    for word, value in {
        "true": True, "yes": True, "on": True, "false": False, "no": False, "off": False, "null": None,
    }.items()
    for form in (word, word.capitalize(), word.upper())
} | {"~": None, "": None}  # fmt: skip
WORDS = frozenset(_WORDS)
_PLAIN_WORDS = frozenset(("true", "false", "null"))
_MAKER: Any = yaml.constructor.SafeConstructor()
_CORE = "tag:yaml.org,2002:"
_TAGS = frozenset(f"{_CORE}{name}" for name in ("int", "float", "timestamp"))
_NUMBERS: dict[str, list[tuple[str, Any]]] = {
    first: [(tag, form) for tag, form in forms if tag in _TAGS]
    for first, forms in yaml.SafeLoader.yaml_implicit_resolvers.items()
    if first is not None and first in "+-.0123456789" and first
}
_LETTERS = {"y": "true", "Y": "true", "n": "false", "N": "false"}
_LATER_NUMBER = pattern(r"[-+]?(?:0o[0-7]+|[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+|\.[0-9]+[eE][-+]?[0-9]+)")
FIRST = frozenset("tTfFnNyYoO~+-.0123456789")  # what begins with another character is text
_LONGEST_NUMBER = 3500  # Python neither reads nor prints much longer ones; they stay text


def plain_value(text: str) -> Any:
    """Return the value of an unquoted scalar; what is not a word, a number or a date is the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0].isalpha() or text[0] not in FIRST or len(text) > _LONGEST_NUMBER:
        return text
    if (text[0] != "0" or text == "0") and text.isascii() and text.isdecimal():
        return int(text)
    for tag, form in _NUMBERS.get(text[0], ()):
        if form.match(text):
            return _made(tag, text)
    return text


def _made(tag: str, text: str) -> Any:
    try:
        return _MAKER.yaml_constructors[tag](_MAKER, yaml.ScalarNode(tag, text))
    except (ValueError, OverflowError):  # the month 13, a sign without digits: nothing but text
        return text


def looks_otherwise(text: str) -> bool:
    """Tell whether an unquoted text looks like a number or a truth value, and is none by these rules."""
    if not text or text[0].isalpha():
        return text in _LETTERS
    return _LATER_NUMBER.fullmatch(text) is not None


def _meant(text: str) -> str:
    """Return how a text is written that was to be a number or a truth value."""
    if text in _LETTERS:
        return _LETTERS[text]
    if len(text) > _LONGEST_NUMBER:
        return "a shorter number"
    if "o" in text:
        return str(int(text.replace("0o", ""), 8))
    mantissa, _, exponent = text.lower().partition("e")
    dot = "" if "." in mantissa else ".0"
    return f"{mantissa}{dot}e{exponent if exponent[0] in '+-' else f'+{exponent}'}"


def surprise(text: str, value: object) -> tuple[str, str] | None:
    """Return what may surprise about a value, and a spelling that cannot; None for the usual ones."""
    if isinstance(value, bool) and text.lower() not in _PLAIN_WORDS:
        return (
            f"`{text}` is read as {str(value).lower()}",
            f"write {str(value).lower()}, or '{text}' for text",
        )
    if isinstance(value, str):
        return f"`{text}` is read as text", f"write {_meant(text)}, or '{text}' for text"
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if ":" in text:
        return f"`{text}` is read as the number {value}, in base 60", f"write {value}, or '{text}' for text"
    digits = text.lstrip("+-")
    if isinstance(value, int) and len(digits) > 1 and digits[0] == "0" and digits[1] not in "xb":
        return f"`{text}` is read as {value}, an octal number", f"write {value}, or '{text}' for text"
    return None


def surprising_key(text: str) -> tuple[str, str]:
    """Return what may surprise about an unquoted key that others read as a value, and how to write it."""
    value = plain_value(text)
    theirs = "null" if value is None else str(value).lower()
    return f"the key `{text}` is read as text, and as {theirs} by other tools", f"write '{text}': in quotes"
