from __future__ import annotations

import pytest

from amplihack.recipes.templates.text import render_text, render_value
from amplihack.recipes.values import Value

SCOPE: dict[str, Value] = {
    "x": "v1",
    "obj": {"b": 1, "a": {"z": "deep"}},
    "arr": ["p", {"q": 2}],
    "yes": True,
    "no": False,
    "none": None,
    "int": 42,
    "float": 1.5,
    "whole": 5.0,
    "sneaky": "{{x}}",
    "with-dash": "d",
}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{x}}", "v1"),
        ("{{x}}{{x}}", "v1v1"),
        ("{{ x }}", "v1"),
        ("{{}} {{x|upper}} {{é}}", "{{}} {{x|upper}} {{é}}"),
        ("{{{x}}} \\{{x}} {{x}}}", "{v1} \\v1 v1}"),
        ("{{obj}}", '{"b":1,"a":{"z":"deep"}}'),
        ("{{obj.a.z}}", "deep"),
        ("{{arr}} {{arr.0}} {{arr[1].q}}", '["p",{"q":2}] p 2'),
        ("{{yes}} {{no}} {{int}} {{float}} {{whole}}", "true false 42 1.5 5.0"),
        ("<{{none}}>", "<>"),
        ("{{with-dash}}", "d"),
        ("{{sneaky}}", "{{x}}"),
        ("{{.Names}} ${{ secrets.X }}", "{{.Names}} ${{ secrets.X }}"),
        ("", ""),
    ],
)
def test_values_take_the_place_of_placeholders(template: str, text: str) -> None:
    rendered = render_text(template, SCOPE)
    assert (rendered.text, rendered.missing) == (text, ())


def test_what_leads_nowhere_is_empty_and_named_once() -> None:
    rendered = render_text("<{{gone}}{{x.y}}{{arr.7}}{{gone}}>", SCOPE)
    assert rendered.text == "<>"
    assert rendered.missing == (("gone",), ("x", "y"), ("arr", "7"))


def test_a_string_that_is_one_placeholder_keeps_the_type_of_its_value() -> None:
    value: Value = {
        "n": "{{int}}",
        "o": "{{ obj.a }}",
        "t": "n={{int}}",
        "l": ["{{yes}}", 3, None],
        "g": "{{gone}}",
    }
    rendered, missing = render_value(value, SCOPE)
    assert rendered == {"n": 42, "o": {"z": "deep"}, "t": "n=42", "l": [True, 3, None], "g": ""}
    assert missing == (("gone",),)


def test_null_stays_null_where_it_is_the_whole_string() -> None:
    assert render_value("{{none}}", SCOPE) == (None, ())
