from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplihack.cli.show import out_json

_leaves = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
_documents = st.recursive(
    _leaves, lambda each: st.lists(each) | st.dictionaries(st.text() | st.integers(), each) | st.tuples(each)
)


def printed(capsys: pytest.CaptureFixture[str], value: object) -> str:
    capsys.readouterr()
    out_json(value)
    return capsys.readouterr().out


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=_documents)
def test_a_document_is_printed_as_python_writes_it(capsys: pytest.CaptureFixture[str], value: object) -> None:
    assert printed(capsys, value) == json.dumps(value, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("text", ['"\\\n' * 100_000, "🎉ö\0" * 100_000, "x" * 65_536, "x" * 65_537])
def test_a_large_text_is_printed_whole(capsys: pytest.CaptureFixture[str], text: str) -> None:
    value = {"outputs": [text, {"again": text}], "date": text[:3]}
    assert printed(capsys, value) == json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def test_numbers_that_json_has_none_for_are_written_as_yaml_writes_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out_json({"a": float("inf"), "b": [float("-inf")], "c": float("nan")})
    assert json.loads(capsys.readouterr().out) == {"a": ".inf", "b": ["-.inf"], "c": ".nan"}
