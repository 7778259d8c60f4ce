"""Scan a repository of bundles for its parts and their relations."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from amplihack.bundles.decode import decode_bundle
from amplihack.bundles.errors import BundleError
from amplihack.bundles.foundation.repo_graph import Edge, Kind, Relation, RepoGraph, RepoPart, dot
from amplihack.bundles.includes import BUNDLE_FILES, first_bundle_file, looks_like_path
from amplihack.bundles.mention_syntax import parse_mentions
from amplihack.bundles.model import Bundle
from amplihack.bundles.ports import FileText
from amplihack.bundles.roster import agent_paths, decode_agent
from amplihack.bundles.sections.table import MODULE_SECTIONS
from amplihack.bundles.tokens import estimate_tokens
from amplihack.bundles.tree import Leaf, Table
from amplihack.bundles.uris import parse_uri, shown, split_namespace
from amplihack.patterns import pattern
from amplihack.records import Record, field
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.files import real
from amplihack.system.tool_schema import estimate_module_tool_tokens

_BUNDLE_FOLDERS: dict[str, Kind] = {
    "behaviors": "behaviors",
    "bundles": "standalones",
    "providers": "providers",
    "experiments": "experiments",
}
_SUFFIXES = (".md", ".yaml", ".yml")
_ORIGIN = pattern(r'^\[remote "origin"\][^\[]*?^\s*url\s*=\s*(\S+)', re.MULTILINE)
_SCP = pattern(r"(?:[^@/\s]+@)?([^:/\s]+):(?!//)(.+)")


def bundle_repo_dot(repo_root: Path) -> str:
    """Draw a repository in the Graphviz language. Raises BundleError if it holds no bundle."""
    return dot(look_through(repo_root))


def look_through(repo_root: Path) -> RepoGraph:
    """Return the parts of a repository, ordered by path. Raises BundleError without a root bundle."""
    return _Repository(str(real(repo_root))).graph()


class _Repository(Record, frozen=False):
    root: str
    files: BundleFiles = field(default_factory=BundleFiles)
    parts: dict[str, RepoPart] = field(default_factory=dict)
    edges: set[Edge] = field(default_factory=set)
    name: str = ""
    origin: str = ""

    def graph(self) -> RepoGraph:
        main = first_bundle_file(self.root, self.files)
        if main is None:
            raise BundleError(f"there is no {BUNDLE_FILES[0]} in {self.root}", fix="give a bundle repository")
        self.origin = _origin(Path(self.root))
        bundles = {main: decode_bundle(self._text(main), main).bundle}
        self.name = bundles[main].name
        self._add(main, "root", bundles[main].name or "bundle", self._body(bundles[main]))
        for folder, kind in _BUNDLE_FOLDERS.items():
            for file in self._below(folder):
                bundles.update(self._bundle(file, kind))
        self._add_leaves()
        for file, bundle in bundles.items():
            self._connect(file, bundle)
        ordered = sorted(self.parts.values(), key=lambda part: (part.kind != "root", part.kind, part.key))
        return RepoGraph(self.name or "bundle", tuple(ordered), tuple(sorted(self.edges)))

    def _text(self, file: str) -> str:
        text = self.files.read(file)
        return text.content if isinstance(text, FileText) else ""

    def _below(self, folder: str) -> Iterator[str]:
        found = Path(self.root, folder)
        for path in sorted(found.rglob("*")) if found.is_dir() else ():
            if path.suffix in _SUFFIXES and path.is_file():
                yield str(path)

    def _bundle(self, file: str, kind: Kind) -> dict[str, Bundle]:
        """Add a bundle file. One that cannot be read is still a part, labelled unreadable."""
        try:
            bundle = decode_bundle(self._text(file), file).bundle
        except BundleError:
            self._add(file, kind, f"{Path(file).stem} (unreadable)")
            return {}
        self._add(file, kind, bundle.name or Path(file).stem, self._body(bundle))
        return {file: bundle}

    def _body(self, bundle: Bundle) -> int:
        return estimate_tokens(bundle.system_instruction or "")

    def _add_leaves(self) -> None:
        for file in self._below("agents"):
            if file.endswith(".md"):
                self._add(file, "agents", Path(file).stem, self._description(file))
        for module in sorted(Path(self.root, "modules").glob("*/")):
            cost = estimate_module_tool_tokens(module)
            self._add(str(module), "modules", module.name, cost["total_tokens"] if cost else 0)
        for file in self._below("context"):
            self._add(file, "context", self._key(file), estimate_tokens(self._text(file)))

    def _description(self, file: str) -> int:
        try:
            return estimate_tokens(decode_agent(self._text(file), file).definition.text("description"))
        except BundleError:
            return 0

    def _add(self, path: str, kind: Kind, label: str, tokens: int = 0) -> None:
        self.parts[self._key(path)] = RepoPart(self._key(path), label, kind, tokens)

    def _key(self, path: str) -> str:
        return posixpath.relpath(path, self.root)

    def _connect(self, file: str, bundle: Bundle) -> None:
        for include in bundle.includes:
            self._include(file, include.source)
        for name, _ in bundle.agents:
            for path in agent_paths(bundle, name, bundle.name) or ():
                self._edge(file, path, "owns")
            parts = split_namespace(name)
            if parts and parts[0] == self.name:
                self._edge(file, f"{self.root}/agents/{parts[1].removesuffix('.md')}.md", "owns")
        for section in MODULE_SECTIONS:
            for _, entry in bundle.section(section):
                source = entry.get("source") if isinstance(entry, Table) else None
                if isinstance(source, Leaf) and isinstance(source.value, str):
                    self._edge(file, self._local(source.value, file) or "", "uses")
        mentioned = (mention.removeprefix("@") for mention in parse_mentions(bundle.system_instruction or ""))
        for reference in (*bundle.pending_context.values(), *mentioned):
            parts = split_namespace(reference)
            if parts and parts[0] == self.name:
                self._edge(file, f"{self.root}/{parts[1].lstrip('/')}", "uses")
        for path in bundle.resolved_context.values():
            self._edge(file, path, "uses")

    def _include(self, file: str, source: str) -> None:
        path = self._local(source, file)
        target = first_bundle_file(path, self.files) if path else None
        if target is None:
            address = shown(source)
            self.parts.setdefault(address, RepoPart(address, address, "external"))
            self.edges.add(Edge(self._key(file), address, "extends"))
        else:
            self._edge(file, target, self._relation(file, target))

    def _relation(self, file: str, target: str) -> Relation:
        """Return what an include means: behaviors are composed, bundles extended, experiments fork."""
        kind = self.parts[self._key(target)].kind if self._key(target) in self.parts else "external"
        if kind == "providers":
            return "uses"
        if kind in ("root", "standalones"):
            is_experiment = self.parts[self._key(file)].kind == "experiments"
            return "forks" if is_experiment else "extends"
        return "composes"

    def _edge(self, file: str, target: str, relation: Relation) -> None:
        if target and self._key(target) in self.parts and target != file:
            self.edges.add(Edge(self._key(file), self._key(target), relation))

    def _local(self, source: str, file: str) -> str | None:
        """Return the path in this repository that an address means, or None."""
        parsed = parse_uri(source)
        if parsed.is_git:
            same = bool(self.origin) and _normal(f"{parsed.host}{parsed.path}") == self.origin
            return posixpath.normpath(posixpath.join(self.root, parsed.subpath)) if same else None
        parts = split_namespace(source)
        if parts is not None:
            return posixpath.join(self.root, parts[1].lstrip("/")) if parts[0] == self.name else None
        if source == self.name:
            return self.root
        if parsed.is_file or looks_like_path(source):
            path = parsed.path if parsed.is_file else source
            return posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
        return None


def _origin(root: Path) -> str:
    """Return where the repository was cloned from, as host and path; empty if unknown."""
    try:
        found = _ORIGIN.search((root / ".git" / "config").read_text("utf-8", "replace"))
    except OSError:
        return ""
    return _normal(found[1]) if found else ""


def _normal(url: str) -> str:
    """Return the host and path of a URL in one spelling, without scheme and user."""
    scp = _SCP.fullmatch(url)
    text = f"{scp[1]}/{scp[2]}" if scp else url.partition("://")[2] or url
    return text.rpartition("@")[2].removesuffix("/").removesuffix(".git").lower()
