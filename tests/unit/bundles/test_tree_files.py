"""YAML read straight into trees: places, origins, aliases and the operators of keys."""

from __future__ import annotations

import math
from datetime import date

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from amplihack.bundles.tree import Items, Leaf, Removed, Table, to_plain
from amplihack.bundles.tree_files import TreeFile, read_page, read_tree
from amplihack.errors import DocumentError

scalar_texts = st.one_of(
    st.text("0123456789+-._:xobeE", min_size=1, max_size=8),
    st.sampled_from(
        ["yes", "Yes", "yES", "NO", "no", "On", "oFF", "off", "True", "null", "~", "-.INF", ".nan", "y", "n"]
    ),
    st.from_regex(r"\A[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ][0-9:]{5,8})?Z?\Z"),
)


def read(text: str) -> TreeFile:
    return read_tree(text, "b.yaml", kind="Bundle file")


def table(text: str) -> Table:
    root = read(text).root
    assert isinstance(root, Table)
    return root


def test_every_value_knows_its_place_and_is_called_after_the_bundle_once_that_is_known() -> None:
    file = read("a:\n  - x\n  - {b: 'y'}\n")
    file.call_origin("mine")
    listed = file.root.entries["a"] if isinstance(file.root, Table) else None
    assert isinstance(listed, Items)
    inner = listed.items[1]
    assert isinstance(inner, Table)
    places = [(each.line, each.column) for each in (listed, listed.items[0], inner, inner.entries["b"])]
    assert places == [(2, 3), (2, 5), (3, 5), (3, 9)]
    assert {each.origin.bundle for each in (file.root, listed, inner, inner.entries["b"])} == {"mine"}
    assert str(file.where(inner)) == "b.yaml:3:5"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.10", 1.1), ("0x1f", 31), ("true", True), ("tool", "tool"), ("'12'", "12"), ("~", None),
        ("nothing", "nothing"), (".5", 0.5), ("!!str 12", "12"), ("on", True), ("+1", 1),
        ("No", False), ("'no'", "no"), ("0777", 511), ("1_000", 1000), (".inf", math.inf), ("n", "n"),
        ("1:30", 90), ("08", "08"), ("1e3", "1e3"), ("-0x1F", -31), ("0b11", 3), ("0o17", "0o17"),
        ("2024-01-31", date(2024, 1, 31)), ("2024-13-01", "2024-13-01"), ("NULL", None), ("offer", "offer"),
        ("0b_", "0b_"), ("=", "="), ("1." + "9" * 5, 1.99999), ("9" * 4000, "9" * 4000),
    ],
)  # fmt: skip
def test_values_are_those_of_documents_and_can_be_had_as_they_are_written(text: str, value: object) -> None:
    file = read(f"[{text}]")
    leaf = file.root.items[0] if isinstance(file.root, Items) else None
    assert isinstance(leaf, Leaf)
    assert leaf.value == value
    assert type(leaf.value) is type(value)
    assert file.written(leaf) == text.removeprefix("!!str ").strip("'")


def test_operators_work_in_what_is_merged_and_leave_what_is_aliased_alone() -> None:
    root = table(
        "base: &b {x!: [1], y-: , z: 3}\none: {<<: *b, z: 4}\nmany: &l [*b]\ntwo: {<<: *l}\nsame: *b\n"
    )
    one, two = root.entries["one"], root.entries["two"]
    assert isinstance(one, Table)
    assert isinstance(two, Table)
    for each in (one, two):
        replacing = each.entries["x"]
        assert isinstance(replacing, Items)
        assert replacing.fresh
        assert isinstance(each.entries["y"], Removed)
    assert (to_plain(one), to_plain(two)) == ({"z": 4, "x": [1]}, {"x": [1], "z": 3})
    assert to_plain(root.entries["same"]) == to_plain(root.entries["base"])


def test_a_key_that_stands_twice_is_told_with_both_places() -> None:
    file = read("a: 1\nb: 2\na: 3\n")
    assert [(each.what, str(each.where), each.code) for each in file.problems] == [
        ('the key "a" stands here twice; the first is on line 1', "b.yaml:3:1", "duplicate-key")
    ]
    assert to_plain(file.root) == {"a": 3, "b": 2}


@pytest.mark.parametrize(
    ("text", "what", "place"),
    [
        ("a: &a [*a]", "*a refers to what it is part of", "b.yaml:1:8"),
        ("a: [1\n", "YAML parse error", "b.yaml:2:1"),
        ("a: \x01", "U+0001 is not allowed", "b.yaml:1:4"),
        ("é: \x9f", "U+009F is not allowed", "b.yaml:1:4"),
        ("a: " + "[" * 101, "nested more than 100 levels deep", "b.yaml:1:103"),
    ],
)
def test_limits_and_mistakes_are_those_of_documents(text: str, what: str, place: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(text)
    assert what in caught.value.what
    assert str(caught.value.where) == place


def test_frontmatter_counts_lines_from_the_top_of_its_page() -> None:
    head, body, line = read_page("---\nname: x\n---\nText\n", "p.md")
    assert head is not None
    assert str(head.where(head.root)) == "p.md:2:1"
    assert (body, line) == ("Text\n", 4)
    assert read_page("---\n# nothing\n---\nText\n", "p.md")[0] is None


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("no", "write false, or 'no' for text"),
        ("On", "write true, or 'On' for text"),
        ("0777", "write 511, or '0777' for text"),
        ("12:30", "write 750, or '12:30' for text"),
        ("true", None), ("FALSE", None), ("0", None), ("10", None), ("0.5", None), ("0x1f", None),
        ("~", None), ("'no'", None), ("2024-01-31", None),
    ],
)  # fmt: skip
def test_a_value_that_looks_like_text_and_is_none_is_told(text: str, fix: str | None) -> None:
    file = read(f"a: {text}\n")
    assert [(each.fix, str(each.where)) for each in file.problems] == ([(fix, "b.yaml:1:4")] if fix else [])


@given(text=scalar_texts)
def test_unquoted_values_are_those_of_the_safe_loader(text: str) -> None:
    try:
        expected = yaml.safe_load(f"- {text}")[0]
        mine = to_plain(read(f"- {text}").root)[0]
    except (yaml.YAMLError, ValueError, DocumentError, TypeError):
        return  # neither a value for them, nor a claim of ours
    if isinstance(expected, dict | list):
        return
    assert (type(mine), repr(mine)) == (type(expected), repr(expected))


@pytest.mark.parametrize(
    ("text", "number", "severity"),
    [
        ("1e-5", "1.0e-5", "warning"),
        ("1e3", "1.0e+3", "warning"),
        ("-2.5E10", "-2.5e+10", "warning"),
        (".5e3", ".5e+3", "warning"),
        ("0o17", "15", "note"),
        ("y", "true", "note"),
        ("N", "false", "note"),
    ],
)
def test_a_text_that_looks_like_a_number_or_a_truth_value_is_told(
    text: str, number: str, severity: str
) -> None:
    file = read(f"a: {text}\n")
    (problem,) = file.problems
    assert (problem.what, problem.severity) == (f"`{text}` is read as text", severity)
    assert problem.fix == f"write {number}, or '{text}' for text"
    assert to_plain(file.root) == {"a": text}
    meant = yaml.safe_load(number)
    assert isinstance(meant, bool) or meant == (int(text, 8) if "o" in text else float(text))


def test_a_number_that_is_too_long_to_be_read_is_told_as_text() -> None:
    text = "0o" + "7" * 9_000
    (problem,) = read(f"a: {text}\n").problems
    assert problem.fix.startswith("write a shorter number, or '0o777")


@pytest.mark.parametrize("text", ["'1e-5'", "!!str 1e-5", "1.0e-5", "e1", "1e", "12abc", "yn", "0o8", "-e5"])
def test_a_text_that_is_clearly_one_is_not_told(text: str) -> None:
    assert read(f"a: {text}\n").problems == ()


@pytest.mark.parametrize(
    ("key", "theirs"),
    [("on", "true"), ("No", "false"), ("~", "null"), ("8080", "8080"), ("0777", "511"), ("-1", "-1")],
)
def test_a_key_that_others_take_for_a_value_is_text_and_is_told(key: str, theirs: str) -> None:
    file = read(f"a:\n  {key}: 1\n")
    assert to_plain(file.root) == {"a": {key: 1}}
    told = [(each.what, each.fix, each.severity, str(each.where)) for each in file.problems]
    what = f"the key `{key}` is read as text, and as {theirs} by other tools"
    assert told == [(what, f"write '{key}': in quotes", "note", "b.yaml:2:3")]


@pytest.mark.parametrize("key", ["'on'", '"8080"', "!!str no", "only", "1.2.3", "none"])
def test_a_key_that_is_text_to_everybody_is_not_told(key: str) -> None:
    assert read(f"a:\n  {key}: 1\n").problems == ()


@pytest.mark.parametrize(
    ("word", "severity"), [("yes", "note"), ("no", "note"), ("1e5", "warning"), ("1:30", "warning")]
)
def test_words_are_noted_and_numbers_that_mislead_are_warned_of(word: str, severity: str) -> None:
    assert [each.severity for each in read(f"a: {word}\n").problems] == [severity]
