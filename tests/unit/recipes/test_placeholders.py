from __future__ import annotations

import pytest

from amplihack.recipes.foreign_braces import unsupported
from amplihack.recipes.placeholders import find_placeholders, find_variables, show


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("{{x}}", [("x",)]),
        ("{{ x }} {{\tx}}", [("x",), ("x",)]),
        ("{{x}}{{y}}", [("x",), ("y",)]),
        ("{{my-obj.k_1.0}}", [("my-obj", "k_1", "0")]),
        ("{{a[0].b}}", [("a", "0", "b")]),
        ("""{{a["k 1"]['it']}}""", [("a", "k 1", "it")]),
        ('{{a[""]}}', [("a", "")]),
        ("{{9lives}}", [("9lives",)]),
        ("{{{x}}}", [("x",)]),
        ("\\{{x}}", [("x",)]),
        ("{{x}}}", [("x",)]),
        ("{{elsewhere}}", [("elsewhere",)]),
    ],
)
def test_a_path_between_double_braces_is_a_placeholder(text: str, paths: list[tuple[str, ...]]) -> None:
    assert [found.path for found in find_placeholders(text)] == paths


@pytest.mark.parametrize(
    "text",
    [
        "{{}}",
        "{{ }}",
        "{{.Names}}",
        "{{.}}",
        "${{ secrets.X }}",
        "${{x}}",
        "{{x|upper}}",
        "{{é}}",
        "{{x.}}",
        "{{a b}}",
        "{{a[x]}}",
        "{{a[-1]}}",
        "{{x\n}}",
        "{x}",
        "{{#if x}}",
        "{{else}}",
        "{{/if}}",
        "{ {x} }",
    ],
)
def test_anything_else_is_plain_text(text: str) -> None:
    assert find_placeholders(text) == ()


def test_offsets_cover_the_braces() -> None:
    text = "a {{ x.y }} b"
    (found,) = find_placeholders(text)
    assert text[found.start : found.end] == "{{ x.y }}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{{#if x}}a{{else}}b{{/if}}", [("block", "{{#if x}}"), ("block", "{{else}}"), ("block", "{{/if}}")]),
        ("{{x|upper}}", [("filter", "{{x|upper}}")]),
        ("{{ x or 1 }}", [("expression", "{{ x or 1 }}")]),
        ("{{x.upper()}} {{x[1:]}}", [("expression", "{{x.upper()}}"), ("expression", "{{x[1:]}}")]),
        ("a {{x} b", [("unclosed", "{{x}")]),
        ("a {{x\n{{y}}", [("unclosed", "{{x")]),
        ("a {{ x", [("unclosed", "{{ x")]),
        ('{{ x | default("y") }}', [("filter", '{{ x | default("y") }}')]),
        ("{{&x}} {{- x -}} {{> part}}", [("sign", "{{&x}}"), ("sign", "{{- x -}}"), ("sign", "{{> part}}")]),
        ("{{\n  x }} {{ x\n}}", [("lines", "{{\n  x }}"), ("lines", "{{ x\n}}")]),
        ("a {{{x}}} \\b{{{x}}} {{{x}}}}", [("triple", "{{{x}}}")]),
        ("a {{}} {{ }}", [("empty", "{{}}"), ("empty", "{{ }}")]),
        ("{{x}} {{.Names}} ${{ x | y }}", []),
    ],
)
def test_syntax_of_other_template_languages_is_reported(text: str, found: list[tuple[str, str]]) -> None:
    assert [(item.what, item.text) for item in unsupported(text)] == found
    assert all(text[item.start :].startswith(item.text) for item in unsupported(text))


def test_a_path_is_shown_as_an_author_would_write_it() -> None:
    assert show(("a", "b-c", "0", "two words")) == 'a.b-c.0["two words"]'


# constants


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ '{{' }}", ["{{"]),
        ('{{ "{{" }}', ["{{"]),
        ("{{'}}'}}", ["}}"]),
        ("{{ '{{name}}' }}", ["{{name}}"]),
        ('{{\t"it\'s {x}"\t}}', ["it's {x}"]),
        ("{{ '{{' }}name}}", ["{{"]),
        ("{{ '{' }}{{ '}' }}", ["{", "}"]),
    ],
)
def test_a_quoted_text_with_a_brace_stands_for_itself(text: str, expected: list[str]) -> None:
    found = find_placeholders(text)
    assert [each.constant for each in found] == expected
    assert [each.value({}) for each in found] == expected
    assert find_variables(text) == ()
    assert unsupported(text) == ()


@pytest.mark.parametrize(
    "text",
    ['{{"\\n"}}', "{{ 'abc' }}", "{{ '' }}", "${{ '{{' }}", "{{ '{{ }}", "{{ '{\n{' }}", "{{ '{{' + x }}"],
)
def test_other_quoted_texts_belong_to_other_tools(text: str) -> None:
    assert find_placeholders(text) == ()


def test_a_block_inside_a_constant_is_no_block() -> None:
    assert unsupported("{{ '{{#if x}}' }}") == ()
    assert [each.text for each in unsupported("{{ '{{#if x}}' }} {{#each y}}")] == ["{{#each y}}"]
