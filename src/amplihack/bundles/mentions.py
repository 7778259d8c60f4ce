"""Resolve mentions to the files and directories that they may name."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from amplihack.bundles.context_files import contained
from amplihack.bundles.ports import Files
from amplihack.bundles.reach import NO_DOWNLOADS, Reach, is_within
from amplihack.bundles.uris import escapes, split_namespace
from amplihack.records import Record, field

PROJECT_FILE = "AGENTS.md"  # by convention the user's notes for agents, wherever they are mentioned
SourceType: TypeAlias = Literal[
    "bundle_namespace",
    "user_shortcut",
    "project_shortcut",
    "home_shortcut",
    "relative_path",
    "bundle_context_decl",
]
Failure: TypeAlias = Literal[
    "not_found",
    "permission_error",
    "unsupported",
    "path_traversal_rejected",
    "bundle_not_registered",
]


class MentionScope(Record):
    """Where mentions may lead: namespaces, the directories that local ones start at, and shortcuts.

    `context` holds declared context files by `namespace:name`. With `allowed` set, a local mention must
    end inside one of those directories. A `finder` answers in place of all that: it is given the mention and
    the directories that local ones start at.

    `holder` is the file that the text stands in, and `tops` are the directories of all bundles. A local
    mention in a file starts beside it, then at `bases`. In a bundle it never leads to the bundle's own top
    directory: `@AGENTS.md` there means the user's. What a downloaded bundle may mention, `reach` knows.
    """

    namespaces: Mapping[str, str] = field(default_factory=dict)
    bases: tuple[str, ...] = ()
    home: str | None = None
    user: str | None = None
    project: str | None = None
    context: Mapping[str, str] = field(default_factory=dict)
    allowed: tuple[str, ...] | None = None
    finder: Callable[[str, tuple[str, ...]], Answer] | None = None
    holder: str = ""
    is_nested: bool = False  # whether the text is a file of its own, not an instruction
    tops: frozenset[str] = frozenset()
    reach: Reach = NO_DOWNLOADS

    @property
    def is_confined(self) -> bool:
        """Tell whether the text is part of a downloaded bundle."""
        return self.reach.source_of(self.holder) is not None

    def starts(self, name: str) -> tuple[str, ...]:
        """Return the directories that a local mention starts at, in the order in which they are tried."""
        beside = self._beside(name)
        if beside is None:
            return self.bases
        return (beside, *(base for base in self.bases if base != beside))

    def _beside(self, name: str) -> str | None:
        """Return the directory of the text, unless a mention in a bundle means the project."""
        if not self.holder or not self.is_nested:
            return None
        directory = posixpath.dirname(self.holder)
        if name.startswith(("./", "../")) or not self._is_in_bundle(directory):
            return directory
        return None if directory in self.tops or posixpath.basename(name) == PROJECT_FILE else directory

    def _is_in_bundle(self, directory: str) -> bool:
        here = directory
        while here not in self.tops:
            above = posixpath.dirname(here)
            if above == here:
                return False
            here = above
        return True


class Found(Record):
    path: str
    source: SourceType


class Lost(Record):
    reason: Failure
    source: SourceType


Answer: TypeAlias = Found | Lost


def resolve(mention: str, scope: MentionScope, files: Files) -> Answer:
    """Return the file or directory that a mention names, or why it names none."""
    name = mention.removeprefix("@")
    if scope.finder is not None:
        return _reachable(scope.finder(mention, scope.starts(name)), scope, files)
    if name.startswith("~"):
        return _home(name, scope, files)
    parts = split_namespace(name)
    if parts is None:
        return _local(name, scope, files)
    namespace, path = parts
    if namespace == "user" and scope.user is not None:
        if scope.is_confined:
            return Lost("path_traversal_rejected", "user_shortcut")
        return _inside(scope.user, path, "user_shortcut", files)
    if namespace == "project" and scope.project is not None:
        return _inside(scope.project, path, "project_shortcut", files)
    declared = scope.context.get(name)
    if declared is not None and files.real(declared) is not None:
        return _reachable(Found(declared, "bundle_namespace"), scope, files)
    if namespace not in scope.namespaces:
        return Lost("bundle_not_registered", "bundle_namespace")
    return _reachable(_inside(scope.namespaces[namespace], path, "bundle_namespace", files), scope, files)


def _reachable(answer: Answer, scope: MentionScope, files: Files) -> Answer:
    """Refuse what a downloaded bundle may not read; what lies in the project, it may mention."""
    if isinstance(answer, Lost) or not scope.is_confined:
        return answer
    roots = (files.real(base) or base for base in scope.bases)
    in_project = answer.source == "relative_path" and any(is_within(answer.path, root) for root in roots)
    if in_project or scope.reach.allows(scope.holder, answer.path, files):
        return answer
    return Lost("path_traversal_rejected", answer.source)


def _home(name: str, scope: MentionScope, files: Files) -> Answer:
    if scope.home is None or not (name == "~" or name.startswith("~/")):
        return Lost("not_found", "home_shortcut")
    if scope.is_confined:
        return Lost("path_traversal_rejected", "home_shortcut")
    return _first(((scope.home, posixpath.join(scope.home, name[2:])),), "home_shortcut", scope, files)


def _inside(root: str, path: str, source: SourceType, files: Files) -> Answer:
    """Resolve a path that must stay in a root, also when links are followed."""
    if escapes(path):
        return Lost("path_traversal_rejected", source)
    whole = posixpath.join(root, path.lstrip("/")) if path.strip("/") else root
    for candidate in (whole, f"{whole}.md"):
        if files.real(candidate) is not None:
            real = contained(candidate, root, files)
            return Found(real, source) if real else Lost("path_traversal_rejected", source)
    return Lost("not_found", source)


def _local(name: str, scope: MentionScope, files: Files) -> Answer:
    places = tuple((base, posixpath.join(base, name)) for base in scope.starts(name))
    return _first(places, "relative_path", scope, files)


def _first(
    places: tuple[tuple[str, str], ...], source: SourceType, scope: MentionScope, files: Files
) -> Answer:
    """Return the first path that is there and may be mentioned; each comes with where it started."""
    outside = False
    for base, place in places:
        path = posixpath.normpath(place)
        for candidate in (path, f"{path}.md"):
            real = files.real(candidate)
            # What may not be named is refused, whether it is there or not: that is nobody's business either.
            if not _may_name(candidate, real or candidate, base, scope, files):
                outside = True
            elif real is not None:
                if _is_allowed(real, scope, files):
                    return Found(real, source)
                outside = True
    return Lost("path_traversal_rejected" if outside else "not_found", source)


def _may_name(path: str, real: str, base: str, scope: MentionScope, files: Files) -> bool:
    """Tell whether a text may name a path. A link in the user's project is the user's own."""
    in_project = base in scope.bases and is_within(path, base)
    return in_project or scope.reach.allows(scope.holder, real, files)


def _is_allowed(real: str, scope: MentionScope, files: Files) -> bool:
    """Tell whether the program allows local mentions to lead to a path."""
    if scope.allowed is None:
        return True
    roots = (files.real(root) for root in scope.allowed)
    return any(root is not None and is_within(real, root) for root in roots)
