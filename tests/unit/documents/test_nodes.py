from __future__ import annotations

import pytest

from amplihack.documents import Mapping, Scalar, Sequence, read_document


def value_of(text: str) -> Scalar:
    root = read_document(text, "f").root
    assert isinstance(root, Mapping)
    node = root.entries["v"]
    assert isinstance(node, Scalar)
    return node


def places(text: str) -> dict[str, str]:
    """For every word of the value: the source text where it is said to stand."""
    node = value_of(text)
    found: dict[str, str] = {}
    for word in node.text.split():
        where = node.locate(node.text.index(word))
        found[word] = where.text[where.column - 1 :][: len(word)]
    return found


@pytest.mark.parametrize(
    "text",
    [
        "v: one two three",
        "v:   one\n  two\n\n  three\n",
        "v: 'one two three'",
        'v: "one two three"',
        "v: 'one\n  two\n\n  three'",
        'v: "one\n  two\\n\\\n  three"',
        "v: |\n  one two\n    three\n",
        "v: |-\n\n  one\n\n  two three\n",
        "v: |2+\n    one\n  two\n  three\n\n",
        "v: >\n  one two\n  three\n",
        "v: >-\n  one\n\n  two\n    three\n",
        "v: &anchor one two three",
        "v: !!str &a one two three",
        "v: !!str |\n  one\n  two three\n",
        "é: ü\nv: one two three # four",
        "x: y\r\nv: |\r\n  one\r\n  two three\r\n",
        "x: 'a\u2028b'\nv: one two three",
    ],
)
def test_every_word_is_found_where_it_stands(text: str) -> None:
    assert places(text) == {"one": "one", "two": "two", "three": "three"}


def test_escapes_count_as_the_character_they_stand_for() -> None:
    node = value_of(r'v: "a\x41\u0041\U00000041\"\\ end"')
    assert node.text == 'aAAA"\\ end'
    where = node.locate(node.text.index("end"))
    assert where.text[where.column - 1 :] == 'end"'
    doubled = value_of("v: 'it''s here'")
    assert doubled.locate(doubled.text.index("here")).column == 11


def test_the_end_of_the_text_is_behind_its_last_character() -> None:
    assert str(value_of("v: a ==").locate(4)) == "f:1:8"
    assert str(value_of("v: 'a =='").locate(4)) == "f:1:9"
    assert str(value_of("v: |\n  a ==\n").locate(4)) == "f:2:7"
    assert str(value_of("v: >\n  a\n  ==\n").locate(4)) == "f:3:5"


def test_an_offset_beyond_the_text_still_has_a_place() -> None:
    for text in ("v: ''", "v:", "v: a", "v: |\n  a\n"):
        assert value_of(text).locate(1000).line >= 1


def test_only_a_plain_null_is_absent() -> None:
    assert all(value_of(text).absent for text in ("v:", "v: ~", "v: null"))
    assert not any(value_of(text).absent for text in ("v: ''", "v: 'null'", "v: |\n", "v: 0", "v: false"))


def test_nodes_know_their_line_and_column() -> None:
    root = read_document("a:\n  - b\n  - {c: d}\n", "f").root
    assert isinstance(root, Mapping)
    items = root.entries["a"]
    assert isinstance(items, Sequence)
    assert [str(node.where) for node in (root, items, *items.items)] == ["f:1:1", "f:2:3", "f:2:5", "f:3:5"]
    assert items.items[1].where.text == "  - {c: d}"
    assert [key for key, _ in root] == ["a"]
    assert str(root.where_key("a")) == "f:1:1"


def test_white_space_has_places_too() -> None:
    node = value_of("v: 'a   b'")
    assert [node.locate(offset).column for offset in range(5)] == [5, 6, 7, 8, 9]
