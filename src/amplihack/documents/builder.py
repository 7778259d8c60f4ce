"""Build values from the events of the YAML parser: bounded in depth and aliases, every key once.

The stack is our own, so that no input can exhaust Python's. What is built, a `Maker` says: nodes for recipes,
and in `bundles` trees, without nodes between.
"""

from __future__ import annotations

from collections.abc import Iterator
from sys import intern
from typing import Any, Generic, Protocol, TypeVar

import yaml

from amplihack.documents.nodes import Scalar, Source, Style
from amplihack.documents.scalars import plain_value
from amplihack.errors import DocumentError, Location, Problem
from amplihack.patterns import pattern

MAX_DEPTH = 100
_ALIAS_FACTOR = 100  # an aliased document may unfold to this many times its own nodes
_MAX_UNFOLDED = 1_000_000  # and never to more nodes than this
_MAX_UNFOLDED_TEXT = 10_000_000  # nor to more characters of the file
CORE = "tag:yaml.org,2002:"  # the tags of YAML itself begin so
_STYLES: dict[str | None, Style] = {
    None: "plain", "": "plain", "'": "quoted", '"': "quoted", "|": "literal", ">": "folded",
}  # fmt: skip
_SCALAR_TAGS = ("!", *(f"{CORE}{name}" for name in ("str", "int", "float", "bool", "null")))
_CONTAINER_TAGS = ("!", f"{CORE}map", f"{CORE}seq")
_PROPERTIES = pattern(r"(?:[&!]\S*\s+)+(?=\S)")
T = TypeVar("T")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Maker(Protocol[T]):
    """Makes what a document is read into. Lines and columns count from 0."""

    def scalar(self, text: str, style: Style, line: int, column: int, /) -> T: ...

    def sequence(self, items: list[T], line: int, column: int, /) -> T: ...

    def mapping(self, entries: dict[str, T], keys: dict[str, Any], line: int, column: int, /) -> T:
        """Make a mapping; `keys` holds the parser's events of the keys, which `key_node` understands."""
        ...


def build(source: Source, make: Maker[T]) -> tuple[T, tuple[Problem, ...]]:
    """Return what the text says, and the problems that did not stop the reading. Raises DocumentError."""
    builder = _Builder(source, make)
    return builder.build(), tuple(builder.problems)


def key_node(event: Any, source: Source) -> Scalar:
    """Return the scalar of a parser's event."""
    style, column = _style_and_column(event, source)
    return Scalar(event.value, style, source, event.start_mark.line, column)


def _style_and_column(event: Any, source: Source) -> tuple[Style, int]:
    """Return how a scalar is written, and the column of the value itself.

    The parser points at the anchor or tag in front of a value.
    """
    mark = event.start_mark
    if event.tag is None and event.anchor is None:
        return _STYLES[event.style], mark.column
    found = _PROPERTIES.match(source.location(mark.line, 0).text, mark.column)
    return _style(event), found.end() if found else mark.column


def _end(event: Any) -> int:
    end: int = event.end_mark.index
    return end


def _style(event: Any) -> Style:
    """Return how a scalar is written; a tag that says what it is counts more than quotes."""
    style = _STYLES[event.style]
    if event.tag in ("!", f"{CORE}str"):
        return "quoted" if style == "plain" else style
    return style if event.tag is None else "plain"


class _Open(Generic[T]):
    """A list or a mapping that is not closed yet: `items` or `entries` is what it has so far.

    `depth` counts its levels with aliases unfolded. A list that `<<` may merge keeps what its items were made
    from as `parts`.
    """

    __slots__ = (
        "anchor", "before", "column", "depth", "entries", "items", "key", "keys", "line", "merges", "parts",
        "start",
    )  # fmt: skip

    def __init__(self, event: Any, start: int, text: int) -> None:
        mark = event.start_mark
        self.before: int = mark.index + text  # characters before it, with aliases unfolded
        self.line: int = mark.line
        self.column: int = mark.column
        self.anchor: str | None = event.anchor
        self.start = start  # how many nodes there were before it
        self.depth = 1
        self.items: list[T] | None = None
        self.entries: dict[str, T] | None = None
        self.keys: dict[str, Any] = {}
        self.key: Any = None  # the event of the key that waits for its value
        self.merges: list[_Open[T]] = []
        self.parts: list[Any] | None = None


class _Anchored(Generic[T]):
    """What an anchor names: its value, and the scalar's event or the closed container that made it.

    `size` counts its nodes, `text` its characters, both with aliases unfolded.
    """

    __slots__ = ("depth", "made_from", "size", "text", "value")

    def __init__(self, value: T, made_from: Any, size: int, depth: int, text: int) -> None:
        self.value, self.made_from, self.size, self.depth, self.text = value, made_from, size, depth, text


class _Builder(Generic[T]):
    """Builds values from parser events, with a stack of its own."""

    def __init__(self, source: Source, make: Maker[T]) -> None:
        self.source, self.make = source, make
        self.stack: list[_Open[T]] = []
        self.anchors: dict[str, _Anchored[T]] = {}
        self.aliased: set[str] = set()
        self.named_texts: list[Any] = []  # the events of plain texts that have an anchor
        self.problems: list[Problem] = []
        self.nodes = 0  # so far, with aliases unfolded
        self.aliases = 0
        self.unfolded = 0
        self.unfolded_text = 0
        self.root: list[T] = []  # at most one
        self.is_blank = False

    def build(self) -> T:
        loader = _Loader(self.source.text)
        try:
            self._take_all(iter(loader.get_event, None))
        except yaml.YAMLError as error:
            from amplihack.documents.yaml_errors import explained  # deferred: most files can be read

            raise explained(error, self.source) from error
        finally:
            loader.dispose()
        if not self.root or self.is_blank:
            raise DocumentError(
                "YAML parse error: the file is empty",
                where=self.source.location(0, 0),
                fix="it should hold a mapping, such as `name: …`",
            )
        if self.named_texts:
            from amplihack.documents.yaml_errors import unused_anchor  # deferred, as above

            unused = (event for event in self.named_texts if event.anchor not in self.aliased)
            self.problems += [unused_anchor(event.start_mark, self.source) for event in unused]
        return self.root[0]

    def _take_all(self, events: Iterator[Any]) -> None:
        """Take one event after the other; most are plain texts, which are taken here, without a call."""
        stack, make, scalar = self.stack, self.make.scalar, yaml.ScalarEvent
        opens = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
        closes = (yaml.MappingEndEvent, yaml.SequenceEndEvent)
        for event in events:
            kind = type(event)
            if kind is not scalar:
                if kind in opens:
                    self._open(event, kind)
                elif kind in closes:
                    self._close(event)
                else:
                    self._rare_event(event, kind)
                continue
            self.nodes += 1
            if event.tag is not None or event.anchor is not None or not stack:
                self._rare_scalar(event)
                continue
            frame = stack[-1]
            items = frame.items
            if items is None and frame.key is None:
                frame.key = event
                continue
            mark = event.start_mark
            value = make(event.value, _STYLES[event.style], mark.line, mark.column)
            if items is None:
                self._pair(frame, value, event)
            else:
                items.append(value)
                if frame.parts is not None:
                    frame.parts.append(event)

    def _rare_event(self, event: Any, kind: type) -> None:
        if kind is yaml.AliasEvent:
            self._alias(event)
        elif kind is yaml.DocumentStartEvent and self.root:
            raise self._error("a second document starts here", event, "keep one document in a file")

    def _rare_scalar(self, event: Any) -> None:
        """Take a scalar that has a tag or an anchor, or is all there is."""
        if event.tag is not None and (event.tag not in _SCALAR_TAGS or _is_bang(event)):
            raise self._unsupported_tag(event)
        style, column = _style_and_column(event, self.source)
        self.is_blank = not self.stack and style == "plain" and event.value == ""
        value = self.make.scalar(event.value, style, event.start_mark.line, column)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchored(value, event, 1, 0, _end(event) - event.start_mark.index)
            if event.tag is None and style == "plain":
                self.named_texts.append(event)
        self._add(value, event)

    def _open(self, event: Any, kind: type) -> None:
        if event.tag is not None and event.tag not in _CONTAINER_TAGS:
            raise self._unsupported_tag(event)
        if len(self.stack) >= MAX_DEPTH:
            raise self._too_deep(event)
        frame: _Open[T] = _Open(event, self.nodes, self.unfolded_text)
        self.nodes += 1
        if kind is yaml.MappingStartEvent:
            frame.entries = {}
        else:
            frame.items = []
            if event.anchor is not None or (self.stack and _is_merge(self.stack[-1].key)):
                frame.parts = []
        self.stack.append(frame)

    def _close(self, event: Any) -> None:
        frame = self.stack.pop()
        value = self._made(frame)
        if self.stack:
            above = self.stack[-1]
            if frame.depth >= above.depth:
                above.depth = frame.depth + 1
        if frame.anchor is not None:
            text = _end(event) + self.unfolded_text - frame.before
            self.anchors[frame.anchor] = _Anchored(value, frame, self.nodes - frame.start, frame.depth, text)
        self._add(value, frame)

    def _made(self, frame: _Open[T]) -> T:
        if frame.entries is None:
            return self.make.sequence(frame.items or [], frame.line, frame.column)
        for merged in frame.merges:
            for key, value in (merged.entries or {}).items():
                if key not in frame.entries:
                    frame.entries[key], frame.keys[key] = value, merged.keys[key]
        return self.make.mapping(frame.entries, frame.keys, frame.line, frame.column)

    def _alias(self, event: Any) -> None:
        if any(frame.anchor == event.anchor for frame in self.stack):
            raise self._error(f"*{event.anchor} refers to what it is part of", event, "remove the cycle")
        if event.anchor not in self.anchors:
            from amplihack.documents.yaml_errors import undefined_alias  # deferred, as above

            raise undefined_alias(event, self.source)
        self.aliased.add(event.anchor)
        named = self.anchors[event.anchor]
        self.unfolded += named.size
        self.unfolded_text += named.text
        self.nodes += named.size
        self.aliases += 1
        own = self.nodes - self.unfolded + self.aliases
        too_many = self.unfolded > min(_ALIAS_FACTOR * (own + 100), _MAX_UNFOLDED)
        if too_many or self.unfolded_text > _MAX_UNFOLDED_TEXT:
            raise self._error("the aliases unfold to too much", event, "repeat less through aliases")
        if len(self.stack) + named.depth > MAX_DEPTH:
            raise self._too_deep(event)
        if self.stack:
            self.stack[-1].depth = max(self.stack[-1].depth, named.depth + 1)
        self._add(named.value, named.made_from)

    def _add(self, value: T, made_from: Any) -> None:
        """Put a value where it belongs; `made_from` is the event or the container that it was made from."""
        if not self.stack:
            self.root = [value]
            return
        frame = self.stack[-1]
        if frame.items is not None:
            frame.items.append(value)
            if frame.parts is not None:
                frame.parts.append(made_from)
        elif frame.key is None:
            if isinstance(made_from, _Open):
                raise self._no_key(made_from)
            frame.key = made_from
        else:
            self._pair(frame, value, made_from)

    def _pair(self, frame: _Open[T], value: T, made_from: Any) -> None:
        key, entries = frame.key, frame.entries
        frame.key = None
        text = intern(key.value)
        if text == "<<" and _is_merge(key):
            frame.merges += self._merged(made_from)
        elif entries is not None and text not in entries:
            entries[text] = value
            frame.keys[text] = key
        else:
            first = frame.keys[text].start_mark.line + 1
            self.problems.append(
                Problem(
                    f'the key "{text}" stands here twice; the first is on line {first}',
                    key_node(key, self.source).where,
                    "keep one of the two",
                    code="duplicate-key",
                )
            )
            if entries is not None:
                entries[text] = value  # where this is no error, the last one counts, as everywhere

    def _merged(self, made_from: Any) -> list[_Open[T]]:
        """Return the mappings that a value of `<<` stands for."""
        is_list = isinstance(made_from, _Open) and made_from.items is not None
        found = made_from.parts if is_list else [made_from]
        for part in found:
            if not isinstance(part, _Open) or part.entries is None:
                raise DocumentError(
                    "<< merges mappings only", where=self._where(part), fix="give it an alias of a mapping"
                )
        return list(found)

    def _where(self, made_from: Any) -> Location:
        if isinstance(made_from, _Open):
            return self.source.location(made_from.line, made_from.column)
        return key_node(made_from, self.source).where

    def _no_key(self, made_from: _Open[T]) -> DocumentError:
        from amplihack.documents.yaml_errors import no_key  # deferred, as above

        return no_key(self._where(made_from))

    def _unsupported_tag(self, event: Any) -> DocumentError:
        from amplihack.documents.yaml_errors import unsupported_tag  # deferred, as above

        return unsupported_tag(event, self.source)

    def _too_deep(self, event: Any) -> DocumentError:
        return self._error(f"nested more than {MAX_DEPTH} levels deep", event, "flatten the structure")

    def _error(self, what: str, event: Any, fix: str) -> DocumentError:
        mark = event.start_mark
        return DocumentError(what, where=self.source.location(mark.line, mark.column), fix=fix)


def _is_bang(event: Any) -> bool:
    """Tell whether a text has a `!` in front that YAML would drop: `! grep` would become `grep`.

    In front of a number it has a meaning: it makes a text of it.
    """
    return event.tag == "!" and _STYLES[event.style] == "plain" and plain_value(event.value) == event.value


def _is_merge(key: Any) -> bool:
    """Tell whether a key is `<<` as YAML means it, without quotes."""
    return key is not None and key.value == "<<" and _style(key) == "plain"
