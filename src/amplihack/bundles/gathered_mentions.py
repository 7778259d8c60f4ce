"""Gather the files that a text mentions, and those that these mention, each content once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from amplihack.bundles.mention_syntax import Mention, find_mentions
from amplihack.bundles.mentions import Answer, Failure, Found, Lost, MentionScope, SourceType, resolve
from amplihack.bundles.ports import DirectoryListing, FileText, Texts
from amplihack.errors import Location
from amplihack.records import Record, field, replace

MAX_DEPTH = 3  # of files that mention others


class MentionResult(Record):
    """What became of one mention. `content` is None when the same content was already there."""

    mention: str | None  # None for a context file that is declared, not mentioned
    path: str | None
    content: str | None = None
    is_directory: bool = False
    reason: Failure | None = None
    source: SourceType = "relative_path"
    sha256: str | None = None
    nested: tuple[MentionResult, ...] = ()
    where: Location | None = None  # of a failed mention, if it stands in a file that was mentioned itself

    @property
    def found(self) -> bool:
        return self.path is not None and (self.content is not None or self.is_directory)


class ContextFile(Record, frozen=False):
    """A content and all the ways in which it was reached, in order."""

    content: str
    sha256: str
    owner: str = ""  # the declared context that led to it; empty for what the instruction led to
    paths: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # how each path is shown, mention first


class Unfollowed(Record):
    """A mention in a file that was reached too deep for its mentions to be followed, and what it names."""

    mention: str
    path: str
    where: Location


class Gathered(Record, frozen=False):
    """Contents in the order of their first appearance, by hash."""

    files: dict[str, ContextFile] = field(default_factory=dict)
    owner: str = ""  # on whose behalf files are added now
    too_deep: list[Unfollowed] = field(default_factory=list)

    @property
    def unfollowed(self) -> tuple[Unfollowed, ...]:
        """Return the mentions that were not followed, and whose files did not come in another way either."""
        here = {path for file in self.files.values() for path in file.paths}
        return tuple(each for each in self.too_deep if each.path not in here)

    def add(self, path: str, text: FileText, mention: str | None = None) -> bool:
        """Add a file; tell whether its content is new, otherwise its paths grow."""
        file = self.files.get(text.sha256)
        is_new = file is None
        if file is None:
            file = self.files[text.sha256] = ContextFile(text.content, text.sha256, self.owner)
        if path not in file.paths:
            file.paths.append(path)
        name = f"{mention} → {path}" if mention else path
        if name not in file.names:
            file.names.append(name)
        return is_new


def gather(
    text: str,
    scope: MentionScope,
    world: Texts,
    gathered: Gathered,
    *,
    max_depth: int = MAX_DEPTH,
    depth: int = 0,
) -> tuple[MentionResult, ...]:
    """Return one result for each mention of a text, in order, followed into the files up to `max_depth`."""
    unique: dict[str, Mention] = {}
    for mention in find_mentions(text):
        unique.setdefault(mention.text, mention)
    return tuple(_load(mention, scope, world, gathered, max_depth, depth) for mention in unique.values())


def _load(
    mention: Mention, scope: MentionScope, world: Texts, gathered: Gathered, max_depth: int, depth: int
) -> MentionResult:
    name, answer = _resolve_readings(mention, scope, world)
    where = Location(scope.holder, mention.line, mention.column) if scope.is_nested else None
    if isinstance(answer, Lost):
        return MentionResult(name, None, reason=answer.reason, source=answer.source, where=where)
    if world.is_dir(answer.path):
        listing = format_directory_listing(answer.path, world.list(answer.path))
        gathered.add(answer.path, text_of(listing), name)
        return MentionResult(name, answer.path, listing, is_directory=True, source=answer.source)
    text = world.read(answer.path)
    if not isinstance(text, FileText):
        return MentionResult(name, None, reason=text, source=answer.source, where=where)
    is_new = gathered.add(answer.path, text, name)
    nested: tuple[MentionResult, ...] = ()
    if is_new and depth < max_depth:
        nested = gather_nested(answer.path, text.content, scope, world, gathered, max_depth, depth + 1)
    elif is_new:
        gathered.too_deep.extend(_too_deep(answer.path, text.content, scope, world))
    content = text.content if is_new else None
    return MentionResult(name, answer.path, content, False, None, answer.source, text.sha256, nested)


def _too_deep(path: str, content: str, scope: MentionScope, world: Texts) -> Iterator[Unfollowed]:
    """Yield the mentions of a file that lead somewhere."""
    inner = replace(scope, holder=path, is_nested=True)
    for mention in find_mentions(content):
        name, answer = _resolve_readings(mention, inner, world)
        if isinstance(answer, Found):
            yield Unfollowed(name, answer.path, Location(path, mention.line, mention.column))


def gather_nested(
    path: str, content: str, scope: MentionScope, world: Texts, gathered: Gathered, max_depth: int, depth: int
) -> tuple[MentionResult, ...]:
    """Gather the mentions of a file: local ones start at its directory, then where they always do."""
    inner = replace(scope, holder=path, is_nested=True)
    return gather(content, inner, world, gathered, max_depth=max_depth, depth=depth)


def _resolve_readings(mention: Mention, scope: MentionScope, world: Texts) -> tuple[str, Answer]:
    """Try longer readings first, which need such a file; the usual one also explains a failure."""
    for reading in mention.longer:
        answer = resolve(reading, scope, world)
        if isinstance(answer, Found):
            return reading, answer
    return mention.text, resolve(mention.text, scope, world)


def text_of(content: str) -> FileText:
    """Return a content with its hash."""
    return FileText(content, hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest())


def format_directory_listing(path: str, listing: DirectoryListing) -> str:
    """List directories first, each by name whatever its case."""
    if listing.denied:
        return f"Directory: {path}\n\n  (permission denied)"
    rows = [f"  DIR  {name}" for name in sorted(listing.directories, key=str.lower)]
    rows += [f"  FILE {name}" for name in sorted(listing.files, key=str.lower)]
    return "\n".join((f"Directory: {path}", "", *(rows or ["  (empty directory)"])))


def context_element(names: list[str], content: str) -> str:
    shown = ", ".join(names).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    safe = content.replace("</context_file>", "&lt;/context_file>")
    return f'<context_file paths="{shown}">\n{safe}\n</context_file>'
