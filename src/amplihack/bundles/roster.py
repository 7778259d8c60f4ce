"""Read the files of agents, and fill the roster of a bundle with what they say."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from amplihack.bundles.context_files import Resolved, namespace_path
from amplihack.bundles.decode import open_file, read_head
from amplihack.bundles.errors import BundleError, BundleLoadError, unreadable
from amplihack.bundles.file_report import FileReport, is_absent, mistyped_keys, place_of
from amplihack.bundles.model import Bundle
from amplihack.bundles.near_paths import meant_reference, nearest_file
from amplihack.bundles.ports import Files, FileText, Texts
from amplihack.bundles.reach import ESCAPES, is_within, refusal
from amplihack.bundles.sections.agent_keys import check_access, check_agent_keys
from amplihack.bundles.sections.agents import change_agent_modules, decode_agent_modules, is_bare
from amplihack.bundles.sections.modules import with_anchored_source
from amplihack.bundles.sections.table import MODULE_SECTIONS
from amplihack.bundles.tree import Leaf, Origin, Removed, Table, Tree, to_plain
from amplihack.bundles.uris import escapes, split_namespace
from amplihack.documents.suggest import closest
from amplihack.errors import DocumentError, Problem
from amplihack.records import Record, field, replace

_CARRIED = (*MODULE_SECTIONS, "session", "provider_preferences", "model_role", "agents")
# Problems of an agent that is less than what the bundle lists.
AGENT_CODES = frozenset(
    {"agent-not-found", "agent-unreadable", "agent-file", "agent-access", "module-missing", "module-entry"}
)
# Sections of bundles that an agent does not get from its file, and what to write.
_OF_BUNDLES = {
    "includes": "list what the agent needs below `tools:`, or include it where the agent is listed",
    "context": "mention the files in its text: @namespace:path",
    "spawn": "write `agents: none`, `agents: all` or a list of names to say whom it may call",
}
_META = ("name", "description", "model_role", "provider_preferences", "version")


class AgentFile(Record):
    """An agent as its file defines it; `definition` has no name, since the roster gives it one."""

    name: str
    definition: Table
    problems: tuple[Problem, ...] = ()


def decode_agent(text: str | bytes, file: str, *, base_path: str | None = None) -> AgentFile:
    """Decode a markdown file. Raises BundleLoadError when its frontmatter cannot be read."""
    try:
        document, body, body_line = open_file(text, file)
    except DocumentError as error:
        raise unreadable(error, file) from error
    name = posixpath.basename(file).removesuffix(".md")
    root = Table(origin=Origin(name, file))
    if document is not None:
        if not isinstance(document.root, Table):
            where = document.where(document.root)
            fix = "write lines of `name: value` between the two lines of ---"
            raise BundleLoadError(f"{file}: the frontmatter should be a mapping", where=where, fix=fix)
        root = document.root
        name = read_head(root, document).name or name
        document.call_origin(name)
    origin = root.origin
    report = FileReport(origin.bundle, document.source.lines if document else [])
    report.problems.extend(document.problems if document else ())
    entries = _agent_entries(root, report, base_path)
    instruction = body.strip()
    if instruction:
        skipped = body[: len(body) - len(body.lstrip())].count("\n")
        entries["instruction"] = Leaf(instruction, origin, body_line + skipped, 1)
    definition = Table(entries, origin, 1, 1, fresh=True)
    return AgentFile(name, definition, report.in_file_order())


def _agent_entries(root: Table, report: FileReport, base: str | None) -> dict[str, Tree]:
    """Read what `meta` says, then what stands beside it; without `meta`, the flat form says it all."""
    meta = root.get("meta")
    flat = not isinstance(meta, Table) or not meta.entries
    said = root if flat or not isinstance(meta, Table) else meta
    mistyped_keys(said, (*_META, *_CARRIED), "the key", report)
    if not flat:
        mistyped_keys(root, (*_CARRIED, "meta"), "the key", report)
    for key in _OF_BUNDLES:
        if not is_absent(item := root.get(key)) and item is not None:
            what = f"`{key}` in the file of an agent has no effect where a bundle lists the agent"
            report.warn("agent-key", what, item, _OF_BUNDLES[key])
    entries = {
        key: item for key, item in said if key not in ("name", "meta") and not (flat and key in _CARRIED)
    }
    for key in _CARRIED:
        item = root.get(key)
        if item is not None:
            entries[key] = item
    check_agent_keys(entries, "the key", report)
    entries = decode_agent_modules(entries, report, base, modules=MODULE_SECTIONS)
    _check_access(entries, report, root)
    return entries


def _check_access(entries: dict[str, Tree], report: FileReport, root: Table) -> None:
    """Check `agents`, which says for an agent which agents it may use; a roster belongs to a bundle."""
    access = entries.get("agents")
    if access is None or is_absent(access) or isinstance(access, Table):
        if isinstance(access, Table) and access:
            what = "`agents` in the file of an agent lists none where a bundle lists the agent"
            report.note("agent-key", what, access, "write `agents: all`, `agents: none` or a list of names")
        entries.pop("agents", None)
        return
    if not check_access(access, f"{root.origin.file}:", report):
        del entries["agents"]


def agent_paths(bundle: Bundle, reference: str, declared_by: str = "") -> tuple[str, ...]:
    """Return where the file of an agent may lie, best first; `declared_by` is the bundle that lists it."""
    parts = split_namespace(reference)
    name = parts[1] if parts else reference
    if escapes(name) or not name:
        return ()
    roots = (namespace_path(bundle, parts[0]),) if parts else (
        bundle.base_path, namespace_path(bundle, declared_by) if declared_by else None,
    )  # fmt: skip
    return tuple(
        dict.fromkeys(
            construct_agent_path(root, inside)
            for root in roots
            if root is not None
            for inside in (name, plain_name(name))
        )
    )


def is_inside(bundle: Bundle, path: str, files: Files) -> bool:
    """Tell whether a path may be read for a name of which nobody knows who listed it.

    A downloaded bundle may list an absolute path as the name of an agent.
    """
    roots = (*bundle.source_base_paths.values(), bundle.base_path)
    is_listed = not bundle.reach.downloads or any(root and is_within(path, root) for root in roots)
    return is_listed and bundle.reach.allows(path, path, files)


def plain_name(name: str) -> str:
    """Return the name of an agent that is listed by the path of its file."""
    return name.removeprefix("./").removeprefix("agents/").removesuffix(".md")


def construct_agent_path(base: str, name: str) -> str:
    """Return `<base>/agents/<name>.md`."""
    return posixpath.normpath(posixpath.join(base, "agents", name.removesuffix(".md") + ".md"))


def fill_roster(bundle: Bundle, world: Texts, *, home: str | None = None) -> Resolved:
    """Give every agent what its file says; what the bundle itself says about it wins.

    `home` is where a path that starts with `~` leads.
    """
    filler = _Filler(bundle, world, home, frozenset(bundle.source_base_paths.values()))
    entries = {
        name: filler.fill(name, agent) if isinstance(agent, Table) else agent
        for name, agent in bundle.agents.entries.items()
    }
    filled = bundle.with_sections({"agents": replace(bundle.agents, entries=entries)})
    return Resolved(filled, tuple(filler.problems))


class _Filler(Record, frozen=False):
    """Fills agents from their files, and notes what is wrong with them."""

    bundle: Bundle
    world: Texts
    home: str | None
    roots: frozenset[str]
    problems: list[Problem] = field(default_factory=list)

    def fill(self, name: str, agent: Table) -> Tree:
        """Return the agent with what its file says; as it is when there is none to be read."""
        path = self._path(name, agent)
        file = self._read(name, agent, path) if path is not None else None
        if file is None or path is None:
            return agent
        self.problems.extend(file.problems)
        if any(problem.code == "agent-access" for problem in file.problems):
            # Whom it may call is unclear, so it is not offered at all.
            return Removed(agent.origin, agent.line, agent.column, (agent,))
        own = _with_sources(file.definition, _bases(self.roots, path), self.world)
        filled = with_file(agent, replace(file, definition=own))
        if not filled.text("description"):
            what, fix = f"agent {name!r} has no description", "write one below `meta:`: others choose by it"
            self._tell("agent-description", what, agent, fix)
        return filled

    def _path(self, name: str, agent: Table) -> str | None:
        """Return the file of an agent; that a listed one has none is told."""
        said = _reference(agent) or agent.text("name") or name
        is_path = bool(agent.text("path")) and not _reference(agent)
        if not is_path and escapes((split_namespace(said) or ("", said))[1]):
            what = f"agent {name!r}: {said} leads out of the bundle, and is left out"
            self.problems.append(
                Problem(what, place_of(agent), "name a file in the bundle", "error", ESCAPES)
            )
            return None
        tried = tuple(_candidates(self.bundle, name, agent, self.home))
        there = [each for each in tried if self.world.is_file(each)]
        allowed = (each for each in there if self.bundle.reach.allows(agent.origin.file, each, self.world))
        path = next(allowed, None)
        if path is None and there:
            self.problems.append(refusal(f"the file of agent {name!r}", place_of(agent)))
        elif path is None and (is_bare(agent) or agent.text("instructions") or agent.text("path")):
            looked = ", ".join(tried) or "no namespace of that name"
            fix = self._meant(name, agent, tried)
            self._tell("agent-not-found", f"agent {name!r} has no file (looked for {looked})", agent, fix)
        return path

    def _meant(self, name: str, agent: Table, tried: Sequence[str]) -> str:
        """Suggest the agent that was probably meant."""
        for path in tried:
            near = nearest_file(path, self.world)
            if near is not None and self.bundle.reach.allows(agent.origin.file, near, self.world):
                said = agent.text("instructions") or agent.text("path")
                inside = posixpath.basename(near).removesuffix(".md")
                return (
                    f"did you mean {meant_reference(said, path, near) if said else _renamed(name, inside)}?"
                )
        known = {*self.bundle.source_base_paths, self.bundle.name}
        namespace, colon, inside = (_reference(agent) or name).partition(":")
        if colon and namespace not in known and (meant := closest(namespace, known)):
            return f"did you mean {meant}:{inside}?"
        return "agents are listed as namespace:name and lie in agents/ of that bundle"

    def _read(self, name: str, agent: Table, path: str) -> AgentFile | None:
        text = self.world.read(path)
        if not isinstance(text, FileText):
            self._tell("agent-unreadable", f"agent {name!r}: {path} cannot be read ({text})", agent)
            return None
        try:
            return decode_agent(text.content, path)
        except BundleError as error:
            what = f"agent {name!r}: {error.what}"
            self.problems.append(Problem(what, error.where, error.fix, "warning", "agent-file"))
            return None

    def _tell(self, code: str, what: str, agent: Table, fix: str = "") -> None:
        self.problems.append(Problem(what, place_of(agent), fix, "warning", code))


def _bases(roots: frozenset[str], path: str) -> tuple[str, ...]:
    """Return where the local modules of an agent file may lie: its bundle's directory, then its own.

    Looks upwards from the file, not through all roots: a large composition has thousands of both.
    """
    directory = here = posixpath.dirname(path)
    found: list[str] = []
    while True:
        if here in roots:
            found.append(here)
        above = posixpath.dirname(here)
        if above == here:
            return (*reversed(found), directory)
        here = above


def _with_sources(definition: Table, bases: tuple[str, ...], world: Texts) -> Table:
    """Return the definition with the sources of its local modules made absolute."""

    def settled(entry: Tree) -> Tree:
        source = entry.text("source") if isinstance(entry, Table) else ""
        if not isinstance(entry, Table) or not source.startswith(("./", "../")):
            return entry
        there = (base for base in bases if world.real(posixpath.join(base, source)) is not None)
        return with_anchored_source(entry, next(there, bases[0]))

    return change_agent_modules(definition, settled, modules=MODULE_SECTIONS)


def _reference(agent: Table) -> str:
    """Return the file that an inline agent names as `namespace:path`, under either key for it."""
    path = agent.text("path")
    return agent.text("instructions") or (path if split_namespace(path) else "")


def _renamed(name: str, inside: str) -> str:
    """Return the name of another agent of the same namespace."""
    parts = split_namespace(name)
    return f"{parts[0]}:{inside}" if parts else inside


def _candidates(bundle: Bundle, name: str, agent: Table, home: str | None) -> Iterator[str]:
    """Return where to look: an inline agent names its file in `instructions` or `path`, others by name."""
    said = _reference(agent)
    if said:
        namespace, path = split_namespace(said) or (agent.origin.bundle, said)
        root = namespace_path(bundle, namespace)
        if root and not escapes(path):
            yield posixpath.normpath(posixpath.join(root, path.lstrip("/")))
        yield from _outside(said, home)
        yield from agent_paths(bundle, said, agent.origin.bundle)
        return
    own = agent.text("path")
    if own:
        root = namespace_path(bundle, agent.origin.bundle) or bundle.base_path or ""
        yield posixpath.normpath(posixpath.join(root, own))
        yield from _outside(own, home)
        return
    yield from agent_paths(bundle, agent.text("name") or name, agent.origin.bundle)


def _outside(path: str, home: str | None) -> Iterator[str]:
    """Return the file of an absolute path or one that starts at the home."""
    if path.startswith("/"):
        yield posixpath.normpath(path)
    elif path.startswith("~/") and home is not None:
        yield posixpath.normpath(posixpath.join(home, path[2:]))


def with_file(agent: Table, file: AgentFile) -> Table:
    """Return an agent with its missing and empty keys filled from its file."""
    entries = {key: item for key, item in agent.entries.items() if key != "instructions"}
    for key, item in file.definition:
        before = entries.get(key)
        if before is None or to_plain(before) in (None, "", [], {}):
            entries[key] = item
    display = Leaf(file.name, file.definition.origin, file.definition.line, 1)
    entries.setdefault("name", display)
    entries.setdefault("display_name", display)
    return replace(agent, entries=entries, fresh=True)
