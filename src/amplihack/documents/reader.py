"""YAML text to located nodes: bounded in size, depth and aliases, one document, every key once.

The nodes are built from parser events with a stack of our own, so that no input can exhaust Python's.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import yaml

from amplihack.documents.nodes import Document, Mapping, Node, Scalar, Sequence, Source, Style
from amplihack.errors import DocumentError, Location, Problem
from amplihack.patterns import pattern
from amplihack.records import Record, field

MAX_BYTES = 1_000_000
MAX_DEPTH = 100
_ALIAS_FACTOR = 100  # an aliased document may unfold to this many times its own events
_MAX_UNFOLDED = 1_000_000  # and never to more nodes than this
_CORE = "tag:yaml.org,2002:"
_STYLES: dict[str | None, Style] = {
    None: "plain", "": "plain", "'": "quoted", '"': "quoted", "|": "literal", ">": "folded",
}  # fmt: skip
_FORBIDDEN = pattern(r"[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PROPERTIES = pattern(r"(?:[&!]\S*\s+)+(?=\S)")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_document(
    data: bytes | str, name: str, *, kind: str = "Recipe file", limit: int = MAX_BYTES, first_line: int = 0
) -> Document:
    """The document in `data`; `first_line` is where it begins in its file. Raises DocumentError."""
    text = _decode(data, name) if isinstance(data, bytes) else data.removeprefix("\ufeff")
    size = len(data) if isinstance(data, bytes) else len(text.encode("utf-8", "surrogatepass"))
    if size > limit:
        raise DocumentError(
            f"{kind} too large ({size} bytes). Maximum allowed: {limit} bytes",
            where=Location(name, 1, 1),
            fix="move large texts into files of their own, or split the file",
        )
    source = Source(name, "\n" * first_line + text)
    _refuse_control_characters(source)
    return _Builder(source).build()


def _refuse_control_characters(source: Source) -> None:
    found = _FORBIDDEN.search(source.text)
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
    try:
        return data.decode("utf-8-sig")
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


class _OpenSequence(Record, frozen=False):
    """A list that is not closed yet; `size` and `depth` are those of its nodes with aliases unfolded."""

    node: Sequence
    anchor: str | None
    size: int = 1
    depth: int = 1


class _OpenMapping(Record, frozen=False):
    """A mapping that is not closed yet, and the key that waits for its value."""

    node: Mapping
    anchor: str | None
    size: int = 1
    depth: int = 1
    key: Scalar | None = None
    merges: list[Mapping] = field(default_factory=list)


_Anchored: TypeAlias = tuple[Node, int, int]  # the node, its size and its depth


class _Builder:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.stack: list[_OpenSequence | _OpenMapping] = []
        self.anchors: dict[str, _Anchored] = {}
        self.problems: list[Problem] = []
        self.events = 0
        self.unfolded = 0
        self.root: Node | None = None

    def build(self) -> Document:
        try:
            for event in yaml.parse(self.source.text, Loader=_Loader):
                self.events += 1
                self._take(event)
        except yaml.YAMLError as error:
            raise _explain(error, self.source) from error
        if self.root is None or _is_blank(self.root):
            raise DocumentError(
                "YAML parse error: the file is empty",
                where=self.source.location(0, 0),
                fix="it should hold a mapping, such as `name: …`",
            )
        return Document(self.root, self.source, tuple(self.problems))

    def _take(self, event: Any) -> None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._scalar(event)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            self._open(event, kind)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            self._close()
        elif kind is yaml.AliasEvent:
            self._alias(event)
        elif kind is yaml.DocumentStartEvent and self.root is not None:
            raise self._error("a second document starts here", event, "keep one document in a file")

    def _scalar(self, event: Any) -> None:
        style = _STYLES[event.style]
        if event.tag is not None:
            style = self._tagged(event)
        mark = event.start_mark
        node = Scalar(event.value, style, self.source, mark.line, mark.column)
        if event.anchor is not None or event.tag is not None:
            node.column = self._past_properties(mark)
        if event.anchor is not None:
            self.anchors[event.anchor] = (node, 1, 0)
        self._add(node, 1, 0)

    def _past_properties(self, mark: Any) -> int:
        """The column of the value itself: the parser points at the anchor or tag in front of it."""
        found = _PROPERTIES.match(self.source.location(mark.line, 0).text, mark.column)
        return found.end() if found else int(mark.column)

    def _tagged(self, event: Any) -> Style:
        if event.tag in ("!", f"{_CORE}str"):
            style = _STYLES[event.style]
            return "quoted" if style == "plain" else style
        if event.tag in (f"{_CORE}int", f"{_CORE}float", f"{_CORE}bool", f"{_CORE}null"):
            return "plain"
        raise self._error(f"the tag {event.tag!r} is not supported", event, "write the value without a tag")

    def _open(self, event: Any, kind: type) -> None:
        if event.tag is not None and event.tag not in ("!", f"{_CORE}map", f"{_CORE}seq"):
            raise self._error(
                f"the tag {event.tag!r} is not supported", event, "write the value without a tag"
            )
        if len(self.stack) >= MAX_DEPTH:
            raise self._too_deep(event)
        mark = event.start_mark
        if kind is yaml.MappingStartEvent:
            mapping = Mapping({}, {}, self.source, mark.line, mark.column)
            self.stack.append(_OpenMapping(mapping, event.anchor))
        else:
            sequence = Sequence([], self.source, mark.line, mark.column)
            self.stack.append(_OpenSequence(sequence, event.anchor))

    def _close(self) -> None:
        frame = self.stack.pop()
        if isinstance(frame, _OpenMapping):
            for merged in frame.merges:
                _merge(frame.node, merged)
        if frame.anchor is not None:
            self.anchors[frame.anchor] = (frame.node, frame.size, frame.depth)
        self._add(frame.node, frame.size, frame.depth)

    def _alias(self, event: Any) -> None:
        if any(frame.anchor == event.anchor for frame in self.stack):
            raise self._error(f"*{event.anchor} refers to what it is part of", event, "remove the cycle")
        if event.anchor not in self.anchors:
            raise self._error(
                f"*{event.anchor} is not defined", event, f"define it first with &{event.anchor}"
            )
        node, size, depth = self.anchors[event.anchor]
        self.unfolded += size
        if self.unfolded > min(_ALIAS_FACTOR * (self.events + 100), _MAX_UNFOLDED):
            raise self._error("the aliases unfold to too much", event, "repeat less through aliases")
        if len(self.stack) + depth > MAX_DEPTH:
            raise self._too_deep(event)
        self._add(node, size, depth)

    def _add(self, node: Node, size: int, depth: int) -> None:
        if not self.stack:
            self.root = node
            return
        frame = self.stack[-1]
        frame.size += size
        frame.depth = max(frame.depth, depth + 1)
        if isinstance(frame, _OpenSequence):
            frame.node.items.append(node)
        elif frame.key is None:
            frame.key = self._as_key(node)
        else:
            self._pair(frame, frame.key, node)
            frame.key = None

    def _as_key(self, node: Node) -> Scalar:
        if isinstance(node, Scalar):
            return node
        raise DocumentError("a list or a mapping cannot be a key", where=node.where, fix="use a word as key")

    def _pair(self, frame: _OpenMapping, key: Scalar, node: Node) -> None:
        if key.text == "<<" and key.style == "plain":
            frame.merges.extend(self._merge_sources(node))
        elif key.text in frame.node.entries:
            first = frame.node.keys[key.text].line + 1
            self.problems.append(
                Problem(
                    f'the key "{key.text}" stands here twice; the first is on line {first}',
                    key.where,
                    "keep one of the two",
                    code="duplicate-key",
                )
            )
        else:
            frame.node.entries[key.text] = node
            frame.node.keys[key.text] = key

    def _merge_sources(self, node: Node) -> list[Mapping]:
        found: list[Mapping] = []
        for item in node.items if isinstance(node, Sequence) else [node]:
            if not isinstance(item, Mapping):
                raise DocumentError(
                    "<< merges mappings only", where=item.where, fix="give it an alias of a mapping"
                )
            found.append(item)
        return found

    def _too_deep(self, event: Any) -> DocumentError:
        return self._error(f"nested more than {MAX_DEPTH} levels deep", event, "flatten the structure")

    def _error(self, what: str, event: Any, fix: str) -> DocumentError:
        mark = event.start_mark
        return DocumentError(what, where=self.source.location(mark.line, mark.column), fix=fix)


def _is_blank(root: Node) -> bool:
    return isinstance(root, Scalar) and root.absent and root.text == ""


def _merge(node: Mapping, merged: Mapping) -> None:
    for key, value in merged.entries.items():
        if key not in node.entries:
            node.entries[key] = value
            node.keys[key] = merged.keys[key]


def _explain(error: yaml.YAMLError, source: Source) -> DocumentError:
    """A parser's complaint as one of ours, with a fix for the mistakes that people make."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        where = source.location(mark.line, mark.column) if mark else source.location(0, 0)
        what = " ".join(part for part in (error.context, error.problem) if part) or "this is not YAML"
        return DocumentError(f"YAML parse error: {what}", where=where, fix=_fix(what, where))
    reason = getattr(error, "reason", None) or str(error).split("\n")[0]
    return DocumentError(f"YAML parse error: {reason}", where=source.location(0, 0))


def _fix(what: str, where: Location) -> str:
    indent = where.text[: len(where.text) - len(where.text.lstrip())]
    if "\t" in indent or "\\t" in what:
        return "indent with spaces: YAML does not take tabs"
    if "mapping values are not allowed" in what:
        return 'put quotes around a value that contains ": "'
    if "cannot start any token" in what or "unknown escape" in what:
        return "put single quotes around the value"
    if "did not find expected key" in what or "expected <block end>" in what:
        return "check the indentation of this line and of the lines above it"
    if any(phrase in what for phrase in ("end of stream", "expected ',' or", "expected node content")):
        return "close the quote or the bracket"
    return ""
