"""What holds for every text: it becomes a document or a DocumentError, and places lie inside the file."""

from __future__ import annotations

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from amplihack.documents import Mapping, Node, Scalar, Sequence, read_document, split_frontmatter, to_value
from amplihack.documents.nodes import PlainValue
from amplihack.errors import DocumentError

PIECES = ["a: ", "- ", "[", "]", "{", "}", "&x ", "*x", "<<: ", "|\n  ", ">-\n  ", "'", '"', "\\", "!!str ",
          "---\n",           "\n", "  ", "\t", "#", ": ", ",", "?", "%", "@",
          "é", "\u2028", "\x85", "\r", "\ufeff", "\x00", "12", "~"]  # fmt: skip
yamlish = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=25).map("".join)
words = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff\ufffe\uffff")
)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


def try_to_read(data: bytes | str) -> Node | None:
    try:
        return read_document(data, "f").root
    except DocumentError as error:
        assert error.what
        return None


@given(st.binary(max_size=80))
@example(b"\xff\xfea")
@example(b"\x00")
def test_no_bytes_crash_the_reader(data: bytes) -> None:
    try_to_read(data)


@given(yamlish | st.text(st.characters(), max_size=60))
@example("a: \ud800")
@example("? - a\n: b")
@example("&a : *a")
@example("<<: [{<<: {a: 1}}]")
def test_no_text_crashes_the_reader_and_every_node_can_be_used(text: str) -> None:
    root = try_to_read(text)
    if root is not None:
        to_value(root)
        check_places(root, len(text) + 2)


def check_places(node: Node, limit: int) -> None:
    assert 1 <= node.where.line <= limit
    match node:
        case Scalar():
            for offset in (0, 1, len(node.text) // 2, len(node.text), len(node.text) + 3):
                place = node.locate(offset)
                assert node.line < place.line <= limit
                assert place.column >= 1
        case Sequence():
            for item in node.items:
                check_places(item, limit)
        case Mapping():
            for key, item in node:
                assert node.where_key(key).line <= limit
                check_places(item, limit)


@given(yamlish)
def test_no_text_crashes_the_splitting_of_a_page(text: str) -> None:
    for page_text in (text, f"---\n{text}\n---\nbody"):
        try:
            page = split_frontmatter(page_text, "f")
        except DocumentError:
            continue
        assert page_text.removeprefix("\ufeff").endswith(page.body)
        assert page.body_line >= 1


@given(
    st.lists(st.sampled_from(["one", "two", "x==y", "é", "it", "(a", "b)"]), min_size=1, max_size=6),
    st.data(),
)
def test_a_word_of_a_scalar_is_found_in_any_style(tokens: list[str], data: st.DataObject) -> None:
    text = " ".join(tokens)
    style = data.draw(st.sampled_from([None, "'", '"', "|", ">"]))
    dumped = yaml.dump(
        {"v": text}, default_style=style, allow_unicode=True, width=data.draw(st.sampled_from([5, 200]))
    )
    root = read_document(dumped, "f").root
    assert isinstance(root, Mapping)
    node = root.entries["v"]
    assert isinstance(node, Scalar)
    position = 0
    for token in tokens:
        place = node.locate(position)
        assert place.text[place.column - 1 :].startswith(token)
        position += len(token) + 1


@given(plain.filter(lambda value: value is not None))
def test_what_yaml_dumps_with_quotes_is_read_back(value: PlainValue) -> None:
    dumped = yaml.safe_dump(quoted(value), allow_unicode=True, width=10_000)
    assert to_value(read_document(dumped, "f").root) == quoted(value)


def quoted(value: PlainValue) -> PlainValue:
    """Values that YAML 1.1 and 1.2 write alike: no texts that one of them takes for something else."""
    match value:
        case str():
            return f"§ {value} §"
        case list():
            return [quoted(item) for item in value]
        case dict():
            return {f"§ {key} §": quoted(item) for key, item in value.items()}
        case _:
            return value
