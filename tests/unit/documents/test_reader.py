from __future__ import annotations

import json
import re

import pytest

from amplihack.documents import MAX_BYTES, Mapping, read_document, to_value
from amplihack.errors import DocumentError


def refusal(data: bytes | str) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        read_document(data, "f.yaml")
    return caught.value


def place(error: DocumentError) -> tuple[int, int]:
    assert error.where is not None
    assert error.where.file == "f.yaml"
    return error.where.line, error.where.column


# size and encoding


def test_exactly_the_limit_is_accepted() -> None:
    text = "a: 1\n#" + "é" * ((MAX_BYTES - 6) // 2)
    assert len(text.encode()) == MAX_BYTES
    assert to_value(read_document(text.encode(), "f").root) == {"a": 1}
    assert to_value(read_document(text, "f").root) == {"a": 1}


@pytest.mark.parametrize("as_text", [True, False])
def test_one_byte_more_than_the_limit_is_refused(as_text: bool) -> None:
    text = "a: 1\n#" + "x" * (MAX_BYTES - 5)
    error = refusal(text if as_text else text.encode())
    assert error.what == "Recipe file too large (1000001 bytes). Maximum allowed: 1000000 bytes"


def test_the_limit_and_the_kind_of_file_can_be_chosen() -> None:
    with pytest.raises(DocumentError, match=r"Agent file too large \(6 bytes\)\. Maximum allowed: 5 bytes"):
        read_document("a: 1 \n", "f", kind="Agent file", limit=5)


def test_a_byte_order_mark_is_not_part_of_the_first_key() -> None:
    assert to_value(read_document(b"\xef\xbb\xbfa: 1", "f").root) == {"a": 1}
    assert to_value(read_document("\ufeffa: 1", "f").root) == {"a": 1}


@pytest.mark.parametrize("codec", ["utf-16", "utf-32"])
def test_a_wide_encoding_is_named(codec: str) -> None:
    error = refusal("name: x".encode(codec))
    assert "UTF-16" in error.what
    assert error.fix == "save it as UTF-8"


@pytest.mark.parametrize(
    ("data", "at"),
    [
        (b"\xff", (1, 1)),
        (b"a: b\nc: \xc3\xa9\xe9\n", (2, 5)),
        (b"a: 1\n\nb: \xe2\x82", (3, 4)),
        (b"\xef\xbb\xbfa: \xe9", (1, 4)),
    ],
)
def test_bytes_that_are_not_utf_8_are_located(data: bytes, at: tuple[int, int]) -> None:
    error = refusal(data)
    assert re.match("the file is not UTF-8: byte 0x(ff|e9|e2) ", error.what), error.what
    assert place(error) == at


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("a: \x00", (1, 4)),
        ("é: é\x01", (1, 5)),
        ("a: b\r\nc: \x1b[0m", (2, 4)),
        ("a: b\n\x7f", (2, 1)),
        ("a: \ud800", (1, 4)),
        ("a: b\x0cc", (1, 5)),
    ],
)
def test_control_characters_are_located(text: str, at: tuple[int, int]) -> None:
    error = refusal(text)
    assert "is not allowed" in error.what
    assert place(error) == at


# what a file may hold


@pytest.mark.parametrize("text", ["", " ", "\n\n", "# only a comment\n", "---\n", "---\n...\n", "\ufeff"])
def test_an_empty_file_says_so(text: str) -> None:
    error = refusal(text)
    assert error.what == "YAML parse error: the file is empty"


def test_the_second_document_is_refused_where_it_starts() -> None:
    assert place(refusal("a: 1\n---\nb: 2\n")) == (2, 1)


def test_one_document_between_markers_is_fine() -> None:
    assert to_value(read_document("---\na: 1\n...\n", "f").root) == {"a": 1}


def test_a_list_at_the_top_is_a_document() -> None:
    assert to_value(read_document("- 1\n- b\n", "f").root) == [1, "b"]


def test_keys_are_their_source_text() -> None:
    text = "1: a\ntrue: b\n~: c\n1.10: d\n'on': e\n"
    assert to_value(read_document(text, "f").root) == {
        "1": "a",
        "true": "b",
        "~": "c",
        "1.10": "d",
        "on": "e",
    }


@pytest.mark.parametrize("text", ["? [a]\n: b", "? {a: b}\n: c", "{[a]: b}"])
def test_a_list_or_a_mapping_as_key_is_refused(text: str) -> None:
    assert refusal(text).what == "a list or a mapping cannot be a key"


def test_every_repeated_key_is_reported_where_it_stands_and_the_last_counts() -> None:
    document = read_document("a: 1\nb:\n  c: 1\n  c: 2\na: 2\n'a': 3\n", "f")
    assert [(str(problem.where), problem.code) for problem in document.problems] == [
        ("f:4:3", "duplicate-key"),
        ("f:5:1", "duplicate-key"),
        ("f:6:1", "duplicate-key"),
    ]
    assert document.problems[1].what == 'the key "a" stands here twice; the first is on line 1'
    assert to_value(document.root) == {"a": 3, "b": {"c": 2}}


# mistakes that people make


@pytest.mark.parametrize(
    ("text", "at", "fix"),
    [
        ("a:\n\tb: c\n", (2, 1), "indent with spaces: YAML does not take tabs"),
        ("a: b: c\n", (1, 5), """put quotes around a value that contains ": ", as in a: 'b: c'"""),
        ("a: @b\n", (1, 4), "put quotes around the whole value: a: '@b'"),
        ("a: `b`\n", (1, 4), "put quotes around the whole value: a: '`b`'"),
        ("a: 'b\n", (1, 4), "close the quote that opens on line 1"),
        ("a:\n  b: 1\n c: 2\n", (3, 2), "indent it like line 2, with 2 blanks, if both belong together"),
    ],
)
def test_broken_yaml_is_located_with_a_way_out(text: str, at: tuple[int, int], fix: str) -> None:
    error = refusal(text)
    assert error.what.startswith("YAML parse error: ")
    assert place(error) == at
    assert error.fix == fix


# anchors, merge keys and tags


def test_aliases_repeat_what_they_name() -> None:
    text = "a: &x {k: [1]}\nb: *x\nc: &k key\n*k : 2\n"
    assert to_value(read_document(text, "f").root) == {
        "a": {"k": [1]}, "b": {"k": [1]}, "c": "key", "key": 2,
    }  # fmt: skip


def test_merge_keys_fill_in_what_the_mapping_does_not_say() -> None:
    text = "base: &b {x: 1, y: 1}\nmore: &m {y: 2, z: 2}\none: {<<: *b, x: 3}\ntwo: {z: 4, <<: [*m, *b]}\n"
    root = read_document(text, "f").root
    value = to_value(root)
    assert isinstance(value, dict)
    assert value["one"] == {"x": 3, "y": 1}
    assert value["two"] == {"z": 4, "y": 2, "x": 1}
    assert isinstance(root, Mapping)
    assert isinstance(root.entries["one"], Mapping)
    assert str(root.entries["one"].where_key("y")) == "f:1:17"


def test_a_quoted_merge_key_is_an_ordinary_key() -> None:
    assert to_value(read_document("'<<': {a: 1}", "f").root) == {"<<": {"a": 1}}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("<<: word", "<< merges mappings only"),
        ("a: &a [1]\nb: {<<: [*a]}", "<< merges mappings only"),
        ("a: *nowhere", "*nowhere is not defined"),
        ("a: &a [*a]", "*a refers to what it is part of"),
        ("a: &a {b: {c: *a}}", "*a refers to what it is part of"),
        (
            "a: !!python/object:os.system x",
            "the tag 'tag:yaml.org,2002:python/object:os.system' is not supported",
        ),
        ("a: !custom [1]", "the tag '!custom' is not supported"),
        ("a: !!binary aGk=", "the tag 'tag:yaml.org,2002:binary' is not supported"),
    ],
)
def test_references_and_tags_that_cannot_be_followed_are_refused(text: str, what: str) -> None:
    error = refusal(text)
    assert error.what == what
    assert error.fix


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("a: &job make it", [(1, 4)]),
        ("- &one two\n- &one three", [(1, 3), (2, 3)]),
        ("a: {b: &c d}", [(1, 8)]),
        ("a: &c", [(1, 4)]),
        ("&a b: c", [(1, 1)]),
        # These are anchors on purpose.
        ("a: &x b\nc: *x", []),
        ("a: &x b\n*x : d", []),
        ("a: &x |\n  b", []),
        ("a: &x 'b'", []),
        ("a: &x [b]", []),
        ("a: &x {b: c}", []),
        ("a: &x\n  b: c", []),
        ("a: '&x b'", []),
        ("a: b &x c", []),
    ],
)
def test_a_text_of_which_yaml_takes_the_beginning_for_an_anchor_is_told(
    text: str, places: list[tuple[int, int]]
) -> None:
    found = read_document(text, "f.yaml").problems
    assert [(each.where.line, each.where.column) for each in found if each.where] == places
    assert {(each.code, each.severity) for each in found} <= {("unused-anchor", "warning")}


def test_the_fix_for_an_anchor_shows_the_line_as_it_was_meant() -> None:
    (problem,) = read_document("command: &job make it", "f.yaml").problems
    assert "command: '&job make it'" in problem.fix


def test_tags_of_the_core_say_what_a_scalar_is() -> None:
    text = "a: !!str 12\nb: !!int '12'\nc: ! 12\nd: !!null ''\ne: !!map {}\nf: !!seq []\ng: !!str |\n  x\n"
    assert to_value(read_document(text, "f").root) == {
        "a": "12", "b": 12, "c": "12", "d": None, "e": {}, "f": [], "g": "x\n",
    }  # fmt: skip


# bombs


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_a_hundred_thousand_levels_are_refused(opening: str) -> None:
    assert "nested more than 100 levels deep" in refusal(opening * 100_000).what


def test_a_hundred_levels_are_fine() -> None:
    assert read_document("[" * 100 + "]" * 100, "f").problems == ()


def test_levels_that_hide_behind_aliases_are_counted() -> None:
    lines = ["a0: &a0 " + "[" * 50 + "]" * 50]
    lines += [f"a{n}: &a{n} {'[' * 40}*a{n - 1}{']' * 40}" for n in range(1, 40)]
    error = refusal("\n".join(lines))
    assert error.what == "nested more than 100 levels deep"
    assert place(error)[0] == 3


def test_aliases_that_unfold_exponentially_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    assert refusal("\n".join(lines)).what == "the aliases unfold to too much"


def test_padding_does_not_buy_a_larger_bomb() -> None:
    padding = "pad: [" + "x, " * 200_000 + "]\n"
    big = "big: &big [" + "x, " * 60_000 + "]\n"
    assert refusal(padding + big + "all: [" + "*big, " * 30 + "]\n").what == "the aliases unfold to too much"


def test_many_small_aliases_are_fine() -> None:
    text = "base: &b {timeout: 5}\nall:\n" + "- *b\n" * 5000
    value = to_value(read_document(text, "f").root)
    assert isinstance(value, dict)
    assert value["all"] == [{"timeout": 5}] * 5000


def test_json_may_write_a_letter_in_two_halves() -> None:
    text = json.dumps({"a": "\U0001f600 \\ud83d\\ude00 \\", "b": ["x\U0010ffffy"]})
    assert "\\ud83d\\ude00" in text
    assert to_value(read_document(text, "x.json").root) == json.loads(text)


def test_in_yaml_the_same_words_are_just_that() -> None:
    assert to_value(read_document("a: '\\ud83d\\ude00'\n", "x.yaml").root) == {"a": "\\ud83d\\ude00"}
