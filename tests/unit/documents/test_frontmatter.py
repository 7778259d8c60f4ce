from __future__ import annotations

import pytest

from amplihack.documents import split_frontmatter, to_value
from amplihack.errors import DocumentError


@pytest.mark.parametrize("text", ["", "# Title\n", "text\n---\na: 1\n---\n", " ---\na: 1\n---\n", "----\n"])
def test_a_page_without_frontmatter_is_all_body(text: str) -> None:
    page = split_frontmatter(text, "p.md")
    assert (page.frontmatter, page.body, page.body_line) == (None, text, 1)


def test_the_two_parts_are_told_apart() -> None:
    page = split_frontmatter("---\nname: x\n---\nBody\n---\nmore\n", "p.md")
    assert page.frontmatter is not None
    assert to_value(page.frontmatter.root) == {"name": "x"}
    assert page.body == "Body\n---\nmore\n"
    assert page.body_line == 4


@pytest.mark.parametrize("head", ["", "\n", "  \n\n", "# a comment\n"])
def test_frontmatter_that_says_nothing_is_none(head: str) -> None:
    page = split_frontmatter(f"---\n{head}---\nBody", "p.md")
    assert page.frontmatter is None
    assert page.body == "Body"


def test_windows_line_ends_and_a_byte_order_mark_are_fine() -> None:
    page = split_frontmatter("\ufeff---\r\nname: x\r\n---\r\nBody\r\n", "p.md")
    assert page.frontmatter is not None
    assert to_value(page.frontmatter.root) == {"name": "x"}
    assert page.body == "Body\r\n"


def test_frontmatter_must_be_closed() -> None:
    with pytest.raises(DocumentError, match="never closed") as caught:
        split_frontmatter("---\nname: x\n# Title\n", "p.md")
    assert str(caught.value.where) == "p.md:1:1"
    assert caught.value.fix == "end it with a line of ---"


def test_mistakes_are_located_in_the_page() -> None:
    with pytest.raises(DocumentError) as caught:
        split_frontmatter("---\nname: x\nbad: [\n---\n", "p.md")
    assert caught.value.where is not None
    assert caught.value.where.line == 4
    with pytest.raises(DocumentError) as caught:
        split_frontmatter("---\nname: x\nbad: \x01\n---\n", "p.md")
    assert str(caught.value.where) == "p.md:3:6"


def test_repeated_keys_are_located_in_the_page() -> None:
    page = split_frontmatter("---\na: 1\na: 2\n---\n", "p.md")
    assert page.frontmatter is not None
    (problem,) = page.frontmatter.problems
    assert str(problem.where) == "p.md:3:1"
    assert problem.where is not None
    assert problem.where.text == "a: 2"


def test_frontmatter_that_is_too_large_is_called_frontmatter() -> None:
    with pytest.raises(DocumentError, match="Frontmatter too large"):
        split_frontmatter("---\n" + "a: " + "x" * 1_000_001 + "\n---\n", "p.md")
