from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplihack.documents.durations import FIX, SCHEMA, fix_for, seconds_in


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0), ("90", 90.0), ("1.5", 1.5), (".5", 0.5), ("007", 7.0), (" 5 ", 5.0),
        ("500ms", 0.5), ("90s", 90.0), ("5m", 300.0), ("1h30m", 5400.0), ("1h 30m", 5400.0),
        ("2d", 172_800.0), ("2w", 1_209_600.0), ("1w1d", 691_200.0),
        ("1.5h", 5400.0), ("1d2h3m4s5ms", 93_784.005), ("0s", 0.0), ("1m500ms", 60.5),
        ("1e3", 1000.0), ("+5", 5.0),
    ],
)  # fmt: skip
def test_numbers_and_durations_are_seconds(text: str, seconds: float) -> None:
    assert seconds_in(text) == seconds


@pytest.mark.parametrize(
    "text",
    ["", "m", "5x", "-5m", "-5", "nan", "inf", "1e400", "5m1h", "5m5m", "1:30", "5 m x", "PT5M", "five", "٥m",
     "0x10", "5mm", "{{t}}", "9" * 400, "9" * 400 + "d"],
)  # fmt: skip
def test_anything_else_is_none(text: str) -> None:
    assert seconds_in(text) is None


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("5 minutes", "write 5m"),
        ("1 hour 30 min", "write 1h30m"),
        ("30sec", "write 30s"),
        ("5M", "write 5m"),
        ("200 MSEC", "write 200ms"),
        ("30m 1h", FIX),
        ("soon", FIX),
        ("1:30", "write 1m30s, or 1h30m if these are hours and minutes"),
        ("01:05:09", "write 1h5m9s"),
        ("1:99", FIX),
        ("PT5M", "write 5m"),
        ("P1DT2H", "write 1d2h"),
        ("5 MINUTES", "write 5m"),
    ],
)
def test_the_fix_writes_what_was_meant(text: str, fix: str) -> None:
    assert fix_for(text) == fix


@given(st.text(alphabet="0123456789.dhms "))
def test_what_the_schema_takes_we_take(text: str) -> None:
    if re.search(SCHEMA, text):
        assert seconds_in(text) is not None


@pytest.mark.parametrize(
    "text", ["90", "1.5", "500ms", "90s", "5m", "1h30m", "1h 30m", "2d", "2w", "1d2h3m4s5ms"]
)
def test_the_schema_takes_what_people_write(text: str) -> None:
    assert re.search(SCHEMA, text)


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    seconds = seconds_in(text)
    assert seconds is None or seconds >= 0
    assert fix_for(text)
