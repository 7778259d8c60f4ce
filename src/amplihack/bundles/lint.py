"""Report habits that make bundles heavy, fragile or silently wrong, each with its remedy."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Literal, TypeAlias

from amplihack.bundles.file_report import place_of
from amplihack.bundles.includes import BUNDLE_FILES
from amplihack.bundles.mention_syntax import find_mentions
from amplihack.bundles.model import Bundle
from amplihack.bundles.module_sources import modules_of
from amplihack.bundles.reach import is_within
from amplihack.bundles.roster import plain_name
from amplihack.bundles.sections.agents import is_bare
from amplihack.bundles.sections.session import ROLES
from amplihack.bundles.sections.table import MODULE_SECTIONS
from amplihack.bundles.tokens import estimate_tokens
from amplihack.bundles.tree import Leaf, Pending, Table, Tree, leaves, to_plain
from amplihack.bundles.uris import parse_uri, split_namespace
from amplihack.errors import Location, Problem, Severity
from amplihack.patterns import pattern
from amplihack.records import Record

Role: TypeAlias = Literal["root", "behavior", "other"]
BODY_TOKENS = 500  # more than this in a root bundle belongs into a context file
_FOUNDATION = pattern(r"(?:^|/)(?:amplifier-)?foundation(?:$|[@#/.])")
# What the foundation bundle is documented to bring; known here for files that are checked on their own.
_FOUNDATION_PARTS = frozenset({"tool-filesystem", "tool-bash", "hooks-streaming-ui"})
_SECRET_KEY = pattern(r"(?i)(?:^|_)(?:api_?key|secret|password|token)$")


class LintInput(Record):
    """What is known about a bundle besides its own text."""

    uri: str = ""
    role: Role = "other"
    inherited: Bundle | None = None  # what its includes compose to
    root: str = ""  # the directory that others get when they download it; empty if that is not known


def role_of(file: str) -> Role:
    """Return what a file is by convention: a root bundle, a behaviour, or neither."""
    if posixpath.basename(posixpath.dirname(file)) == "behaviors":
        return "behavior"
    return "root" if posixpath.basename(file) in BUNDLE_FILES else "other"


def lint(bundle: Bundle, around: LintInput) -> tuple[Problem, ...]:
    """Report everything that a careful reviewer would mention about one bundle file."""
    return (
        *_references(bundle, around),
        *_redeclared(bundle, around),
        *_instructions(bundle, around),
        *_secrets(bundle),
        *_outside(bundle, around.root),
    )


def _problem(
    code: str, what: str, at: Tree | Location | None, fix: str, level: Severity = "warning"
) -> Problem:
    where = at if isinstance(at, Location) or at is None else place_of(at)
    return Problem(what, where, fix, level, code)


def _written(bundle: Bundle) -> Iterator[tuple[str, Tree | Location | None]]:
    """Return every `namespace:path` of the YAML, with its place."""
    yield from ((include.source, include.where) for include in bundle.includes)
    for name, agent in bundle.agents:
        if isinstance(agent, Table):
            yield (agent.text("instructions") or name), agent
    yield from ((name, leaf) for name, leaf in bundle.context)


def _references(bundle: Bundle, around: LintInput) -> Iterator[Problem]:
    repositories = {
        parsed.repository
        for uri in (around.uri, *(include.source for include in bundle.includes))
        if (parsed := parse_uri(uri)).is_remote
    } - {bundle.name, "", *bundle.source_base_paths}
    subdirectory = _subdirectory(around.uri)
    for reference, at in (*_written(bundle), *_mentioned(bundle)):
        parts = split_namespace(reference)
        if parts is None:
            continue
        namespace, path = parts
        if namespace in repositories:
            what = f"{reference}: {namespace!r} is the name of a repository, not of a bundle"
            fix = f"use the `bundle.name` that {namespace} declares in its bundle file"
            yield _problem("repository-as-namespace", what, at, fix)
        repeated = subdirectory if subdirectory and path.startswith(f"{subdirectory}/") else ""
        repeated = repeated or _end_of(bundle.base_path or "", path)
        if repeated and namespace == bundle.name:
            what = f"{reference} repeats {repeated}, where the bundle lies"
            fix = f"write {namespace}:{path.removeprefix(repeated + '/')}"
            yield _problem("subdirectory-repeated", what, at, fix)
    yield from _agent_references(bundle)


def _end_of(directory: str, path: str) -> str:
    """Return the directories at the beginning of a path with which another one ends; one alone is none."""
    parts = path.split("/")[:-1]
    ends = ("/".join(parts[:count]) for count in range(len(parts), 1, -1))
    return next((end for end in ends if directory.endswith(f"/{end}")), "")


def _subdirectory(uri: str) -> str:
    subpath = parse_uri(uri).subpath.strip("/")
    return posixpath.dirname(subpath) if subpath.endswith((".md", ".yaml", ".yml")) else subpath


def _mentioned(bundle: Bundle) -> Iterator[tuple[str, Location | None]]:
    if bundle.instruction:
        leaf = bundle.instruction
        for mention in find_mentions(str(leaf.value)):
            line = leaf.line + mention.line - 1
            yield mention.text[1:], Location(leaf.origin.file, line, mention.column) if leaf.line else None


def _agent_references(bundle: Bundle) -> Iterator[Problem]:
    for name, agent in bundle.agents:
        parts = split_namespace(name)
        path = parts[1] if parts else name
        tidy = plain_name(path)
        if is_bare(agent) and tidy != path:
            what = f"agents.include: {name} names a file, where the agent's name is enough"
            better = f"{parts[0]}:{tidy}" if parts else tidy
            yield _problem("agents-prefix", what, agent, f"write {better}")


def _redeclared(bundle: Bundle, around: LintInput) -> Iterator[Problem]:
    """Report modules that an include brings already, declared again with nothing new."""
    includes_foundation = any(_FOUNDATION.search(include.source) for include in bundle.includes)
    for section in MODULE_SECTIONS:
        for key, entry in bundle.section(section):
            before = around.inherited.section(section).get(key) if around.inherited else None
            guessed = around.inherited is None and includes_foundation and key in _FOUNDATION_PARTS
            if (before is not None and _adds_nothing(entry, before)) or (guessed and _only_source(entry)):
                what = f"{section}: {key} is declared again, though {_bringer(before)} brings it"
                yield _problem(
                    "redeclared", what, entry, "remove the entry, or keep only the config you change"
                )
    for role in ROLES:
        part = bundle.session.get(role)
        before = around.inherited.session.get(role) if around.inherited else None
        guessed = around.inherited is None and includes_foundation
        if part is not None and (before is not None or guessed):
            what = f"session.{role} is declared again, though {_bringer(before)} brings it"
            yield _problem("redeclared", what, part, "remove it unless you really want another one", "note")


def _bringer(before: Tree | None) -> str:
    """Name the included bundle that a part comes from; only the foundation is known without looking."""
    if before is None:
        return "foundation"
    return before.origin.bundle or before.origin.file or "an include"


def _only_source(entry: Tree) -> bool:
    return isinstance(entry, Table) and entry.entries.keys() <= {"module", "source"}


def _adds_nothing(entry: Tree, before: Tree) -> bool:
    """Tell whether each value is inherited already; another source alone counts as nothing new."""
    if not isinstance(entry, Table) or not isinstance(before, Table):
        return False
    inherited = dict(leaves(before))
    return all(
        path == ("source",) or (path in inherited and to_plain(inherited[path]) == to_plain(leaf))
        for path, leaf in leaves(entry)
    )


def _instructions(bundle: Bundle, around: LintInput) -> Iterator[Problem]:
    leaf = bundle.instruction
    if around.role == "behavior" and leaf:
        what = "a behavior's text replaces the system prompt of whoever includes it, or is lost"
        fix = "move the text to a context file and list it below `context.include`"
        yield _problem("behavior-body", what, leaf, fix)
    if around.role != "root":
        return
    tokens = estimate_tokens(str(leaf.value)) if leaf else 0
    if leaf and tokens > BODY_TOKENS:
        name = bundle.name or "my-bundle"
        what = (
            f"about {tokens} tokens of instructions stand in the root bundle, where nobody else can use them"
        )
        fix = f"move them to context/instructions.md and mention @{name}:context/instructions.md"
        yield _problem("inline-instructions", what, leaf, fix)
    listed = [agent for _, agent in bundle.agents]
    if listed and bundle.includes:
        what = "the root bundle lists agents itself: others can only have them with the whole bundle"
        yield _problem(
            "no-behavior", what, listed[0], "list them in a file in behaviors/ and include it", "note"
        )


def _outside(bundle: Bundle, root: str) -> Iterator[Problem]:
    """Report what only this machine has: a path out of the bundle is refused once others download it."""
    if not root:
        return
    for path, at in _paths(bundle):
        place = posixpath.normpath(posixpath.join(bundle.base_path or "", path))
        if path.startswith("~") or not is_within(place, root):
            what = f"{path} leads out of the bundle: that works on this machine only"
            fix = "put it into the bundle, or include the bundle that has it"
            yield _problem("outside-bundle", what, at, fix, "note")


def _paths(bundle: Bundle) -> Iterator[tuple[str, Tree | Location | None]]:
    """Return every path that a file names, with its place."""
    for include in bundle.includes:
        parsed = parse_uri(include.source)
        if parsed.is_file:
            yield parsed.path, include.where
    for name, leaf in bundle.context:
        if isinstance(leaf, Leaf):
            said = leaf.value.reference if isinstance(leaf.value, Pending) else leaf.value
            if name.startswith("/"):
                said = name
            if split_namespace(said) is None:
                yield said, leaf
    for _, entry in modules_of(bundle):
        source = entry.get("source")
        if isinstance(source, Leaf) and isinstance(source.value, str) and parse_uri(source.value).is_file:
            yield parse_uri(source.value).path, source
    for _, agent in bundle.agents:
        if isinstance(agent, Table) and agent.text("path"):
            yield agent.text("path"), agent
    yield from ((said, at) for said, at in _mentioned(bundle) if said.startswith(("~", "/")))


def _secrets(bundle: Bundle) -> Iterator[Problem]:
    for section in MODULE_SECTIONS:
        for path, leaf in leaves(bundle.section(section)):
            secret = isinstance(leaf, Leaf) and isinstance(leaf.value, str) and len(leaf.value) > 8
            if secret and _SECRET_KEY.search(path[-1]) and "${" not in str(to_plain(leaf)):
                what = f"{section}.{'.'.join(path)} looks like a secret written into the bundle"
                fix = "leave it to settings, or write ${VARIABLE}"
                yield _problem("secret-in-bundle", what, leaf, fix)
