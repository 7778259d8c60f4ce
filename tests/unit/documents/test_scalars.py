from __future__ import annotations

import pytest

from amplihack.documents import read_document, to_value
from amplihack.documents.scalars import plain_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((word, True) for word in ("true", "True", "TRUE")),
        *((word, False) for word in ("false", "False", "FALSE")),
        *((word, None) for word in ("null", "Null", "NULL", "~", "")),
        *((word, None) for word in (".inf", "-.inf", "+.Inf", ".INF", ".nan", ".NaN", ".NAN")),
        ("0", 0), ("12", 12), ("-3", -3), ("+4", 4), ("0x1F", 31), ("0o17", 15), ("0b101", 5), ("-0x10", -16),
        ("1.5", 1.5), ("1e3", 1000.0), (".5", 0.5), ("5.", 5.0), ("-1.5E-2", -0.015), ("007.5", 7.5),
    ],
)  # fmt: skip
def test_words_and_numbers_of_yaml_1_2_become_values(text: str, value: object) -> None:
    found = plain_value(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        *("yes", "no", "on", "off", "y", "n", "Yes", "ON", "tRUE", "nULL"),
        *("007", "0755", "-01", "1_000", "0x", "0xG", "0b102", "0o8"),
        *("2024-01-01", "2024-01-01T10:00:00Z", "12:30:45", "1:30"),
        *("1.2.3", "1e", "e3", ".", "-", "+", "1e400", "-.nan", "v1", "٣", "1٣"),
    ],
)
def test_everything_else_is_the_text_itself(text: str) -> None:
    assert plain_value(text) == text


def test_a_number_too_long_to_print_stays_text() -> None:
    for text in ("1" * 5000, "0x" + "f" * 5000, "0b" + "1" * 100_000):
        assert plain_value(text) == text


@pytest.mark.parametrize("text", ["true", "null", "12", "1.10", "~", ""])
def test_quotes_keep_text(text: str) -> None:
    document = read_document(f"a: '{text}'\nb: \"{text}\"\n", "f")
    assert to_value(document.root) == {"a": text, "b": text}
