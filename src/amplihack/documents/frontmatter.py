"""Split markdown that has YAML between two lines of `---` at the top."""

from __future__ import annotations

from amplihack.documents.nodes import Document
from amplihack.documents.reader import read_document
from amplihack.errors import DocumentError, Location
from amplihack.records import Record


class Page(Record):
    """A markdown file: its frontmatter, if it has any, and the text below it."""

    frontmatter: Document | None
    body: str
    body_line: int  # the line, from 1, on which the body starts


class SplitPage(Record):
    """A markdown file as two texts; `head` is None if there is no frontmatter, or if it says nothing."""

    head: str | None  # begins on the second line of the file
    body: str
    body_line: int


def split_frontmatter(text: str, name: str) -> Page:
    """Return the two parts of a page, the first one read. Raises DocumentError."""
    page = split_page(text, name)
    if page.head is None:
        return Page(None, page.body, page.body_line)
    document = read_document(page.head, name, kind="Frontmatter", first_line=1)
    return Page(document, page.body, page.body_line)


def split_page(text: str, name: str) -> SplitPage:
    """Return the two parts of a page; one that opens frontmatter must close it. Raises DocumentError."""
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return SplitPage(None, text, 1)
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        raise DocumentError(
            "the frontmatter is never closed",
            where=Location(name, 1, 1, lines[0]),
            fix="end it with a line of ---",
        )
    head, body = "\n".join(lines[1:end]), "\n".join(lines[end + 1 :])
    return SplitPage(None if _says_nothing(lines[1:end]) else head, body, end + 2)


def _says_nothing(lines: list[str]) -> bool:
    return all(not line.strip() or line.lstrip().startswith("#") for line in lines)
