"""Read YAML text into located nodes: bounded in size, UTF-8, one document."""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import Any

from amplihack.documents.builder import build, key_node
from amplihack.documents.nodes import Document, Mapping, Node, Scalar, Sequence, Source, Style
from amplihack.errors import DocumentError, Location
from amplihack.patterns import pattern

MAX_BYTES = 1_000_000
_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\r") | {0x7F})
_FORBIDDEN = pattern(r"[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_document(
    data: bytes | str, name: str, *, kind: str = "Recipe file", limit: int = MAX_BYTES, first_line: int = 0
) -> Document:
    """Return the document in `data`; `first_line` is where it begins in its file. Raises DocumentError."""
    source = read_source(data, name, kind=kind, limit=limit, first_line=first_line)
    root, problems = build(source, _Nodes(source))
    return Document(root, source, problems)


def read_source(
    data: bytes | str, name: str, *, kind: str, limit: int = MAX_BYTES, first_line: int = 0
) -> Source:
    """Return the text of `data`. Raises DocumentError where it is too large or no text at all."""
    text = _decode(data, name) if isinstance(data, bytes) else data.removeprefix("\ufeff")
    size = len(data) if isinstance(data, bytes) else len(text.encode("utf-8", "surrogatepass"))
    if size > limit:
        raise DocumentError(
            f"{kind} too large ({size} bytes). Maximum allowed: {limit} bytes",
            where=Location(name, 1, 1),
            fix="move large texts into files of their own, or split the file",
        )
    if "\\ud" in text or "\\uD" in text:
        from amplihack.documents.json_letters import with_whole_letters  # deferred: hardly a file has such

        text = with_whole_letters(text)
    source = Source(name, "\n" * first_line + text)
    _refuse_control_characters(source)
    return source


class _Nodes:
    """Makes nodes, which know all that their file says."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def scalar(self, text: str, style: Style, line: int, column: int, /) -> Node:
        return Scalar(text, style, self.source, line, column)

    def sequence(self, items: list[Node], line: int, column: int, /) -> Node:
        return Sequence(items, self.source, line, column)

    def mapping(self, entries: dict[str, Node], keys: dict[str, Any], line: int, column: int, /) -> Node:
        source = self.source

        def make_keys() -> dict[str, Scalar]:
            return {text: key_node(event, source) for text, event in keys.items()}

        return Mapping(entries, make_keys, source, line, column)


def _refuse_control_characters(source: Source) -> None:
    text = source.text
    if text.isascii() and len(text) == len(text.encode().translate(None, _CONTROLS)):
        return  # nearly every file, and told without the pattern, which takes milliseconds to compile
    found = _FORBIDDEN.search(text)
    if found is None:
        return
    lines = source.text[: found.start()].splitlines() or [""]
    if source.text[found.start() - 1 : found.start()] in ("\n", "\r"):
        lines.append("")
    raise DocumentError(
        f"YAML parse error: the character U+{ord(found[0]):04X} is not allowed",
        where=source.location(len(lines) - 1, len(lines[-1])),
        fix="remove the character, or write it as an escape in double quotes",
    )


def _decode(data: bytes, name: str) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DocumentError("the file is UTF-16", where=Location(name, 1, 1), fix="save it as UTF-8")
    if b"\0" in data:
        what, fix = (
            "the file is no text: it holds zero bytes",
            "give a text file; check that the name is right",
        )
        raise DocumentError(what, where=Location(name, 1, 1), fix=fix)
    data = data.removeprefix(BOM_UTF8)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        start = data.rfind(b"\n", 0, error.start) + 1
        column = len(data[start : error.start].decode("utf-8", "replace")) + 1
        shown = data[start : start + 200].split(b"\n")[0].decode("utf-8", "replace")
        raise DocumentError(
            f"the file is not UTF-8: byte 0x{data[error.start]:02x} cannot be read",
            where=Location(name, line, column, shown),
            fix="save it as UTF-8",
        ) from error
