"""What is made once says what the standard library says."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplihack.quick_json import decoded, encoding

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


@given(VALUES, st.booleans())
def test_it_encodes_as_the_library_does(value: object, ascii_only: bool) -> None:
    made = json.JSONEncoder(ensure_ascii=ascii_only, separators=(",", ":"))
    assert encoding(made)(value) == made.encode(value)


def test_it_refuses_what_the_library_refuses_and_asks_for_the_rest() -> None:
    encode = encoding(json.JSONEncoder(allow_nan=False, default=lambda each: sorted(each)))
    assert encode({"a": {2, 1}}) == '{"a": [1, 2]}'
    with pytest.raises(ValueError, match="Out of range"):
        encode([math.nan])


@pytest.mark.parametrize(
    "text", ["", " ", "nul", "[1,]", "1 2", '{"a": 1', '"\\ud83d"', ' {"a": [1.50]} ', "NaN", "7\n"]
)
def test_it_decodes_or_refuses_as_the_library_does(text: str) -> None:
    try:
        wanted = json.dumps(json.loads(text))
    except ValueError:
        with pytest.raises(ValueError, match=r"line 1"):
            decoded(text)
    else:
        assert json.dumps(decoded(text)) == wanted
