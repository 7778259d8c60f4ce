"""Find, check and change the sources of the modules that a bundle, its session and its agents name."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from amplihack.bundles.context_files import Resolved
from amplihack.bundles.file_report import place_of
from amplihack.bundles.model import Bundle
from amplihack.bundles.ports import Files
from amplihack.bundles.provenance import include_chains
from amplihack.bundles.reach import is_within, refusal
from amplihack.bundles.roots import directories_up
from amplihack.bundles.sections.agents import change_agent_modules
from amplihack.bundles.sections.modules import module_id, with_source
from amplihack.bundles.sections.session import ROLES
from amplihack.bundles.sections.spawn import SPAWN_LISTS
from amplihack.bundles.sections.table import MODULE_SECTIONS
from amplihack.bundles.tree import Items, Leaf, Removed, Table, Tree
from amplihack.bundles.uris import parse_uri, shown
from amplihack.errors import AmplihackError, Location, Problem
from amplihack.records import Record, replace

_SESSION_SOURCES = ("orchestrator_source", "context_source")  # beside a role that is a bare name


def module_sources(bundle: Bundle) -> tuple[str, ...]:
    """Return every address that a module comes from, each once: session, sections, then agents."""
    found: dict[str, None] = {}

    def note(source: str) -> str:
        found[source] = None
        return source

    with_sources(bundle, note)
    return tuple(source for source in found if source)


class NamedSource(Record):
    """Where the source of a module is written, and the names of the bundles on the way there."""

    module: str
    where: Location | None
    chain: tuple[str, ...] = ()

    def told(self, error: AmplihackError, code: str) -> Problem:
        """Return why the module cannot be had, at the place that names its source."""
        way = f" (module of {' -> '.join(self.chain)})" if len(self.chain) > 1 else ""
        return Problem(f"{self.module}: {error.what}{way}", self.where or error.where, error.fix, code=code)


def named_sources(bundle: Bundle) -> dict[str, NamedSource]:
    """Return, for every source, the first module that names it."""
    found: dict[str, NamedSource] = {}
    chains = include_chains(bundle.lineage)
    for _, entry in modules_of(bundle):
        source = entry.get("source")
        if isinstance(source, Leaf) and isinstance(source.value, str):
            chain = chains.get((source.origin.bundle, source.origin.file), ())
            found.setdefault(source.value, NamedSource(module_id(entry) or "", place_of(source), chain))
    return found


def modules_of(bundle: Bundle) -> tuple[tuple[str, Table], ...]:
    """Return every module entry with the section it stands in: sections, session, agents, then `spawn`.

    Those of the sessions of agents are among them.
    """
    found: list[tuple[str, Table]] = []
    for section in (*MODULE_SECTIONS, "session"):
        found += [(section, entry) for _, entry in bundle.section(section) if isinstance(entry, Table)]
    for holder in (*(agent for _, agent in bundle.agents), bundle.section("spawn")):
        for section in MODULE_SECTIONS:
            listed = holder.get(section) if isinstance(holder, Table) else None
            if isinstance(listed, Items):
                found += [(section, entry) for entry in listed.items if isinstance(entry, Table)]
        session = holder.get("session") if isinstance(holder, Table) else None
        if isinstance(session, Table):
            found += [("session", entry) for role in ROLES if isinstance(entry := session.get(role), Table)]
    return tuple(found)


def with_sources(bundle: Bundle, change: Callable[[str], str]) -> Bundle:
    """Return the bundle with each module's source changed."""
    return _with_modules(bundle, lambda entry: with_source(entry, change))


def repair_sources(bundle: Bundle, root: str, files: Files) -> Resolved:
    """Find local modules that lie above the file that names them, up to the root of its source."""
    problems: list[Problem] = []
    above = directories_up(bundle.base_path or "", root)[1:]

    def repaired(entry: Table) -> Tree:
        source = entry.get("source")
        better = _elsewhere(source, bundle.base_path or "", above, files) if above else None
        if better is None or not isinstance(source, Leaf):
            return entry
        what = f"{source.value} does not exist; {better} is used"
        fix = f"write {relative_source(better, bundle.base_path or '')}"
        problems.append(Problem(what, place_of(source), fix, "warning", "source-elsewhere"))
        return with_source(entry, lambda _: better)

    return Resolved(_with_modules(bundle, repaired), tuple(problems))


def _elsewhere(source: Tree | None, base: str, above: tuple[str, ...], files: Files) -> str | None:
    """Return where a path that leads nowhere would lead from a directory above."""
    value = source.value if isinstance(source, Leaf) and isinstance(source.value, str) else ""
    parsed = parse_uri(value)
    if not value.startswith("/") or files.real(parsed.path) is not None:
        return None
    written = posixpath.relpath(parsed.path, base)
    places = (posixpath.normpath(posixpath.join(each, written)) for each in above)
    found = next((each for each in places if is_within(each, above[-1]) and files.real(each)), None)
    return None if found is None else _with_fragment(found, value)


def _with_fragment(path: str, source: str) -> str:
    return "".join((path, *source.partition("#")[1:])) if parse_uri(source).subpath else path


def relative_source(source: str, base: str) -> str:
    """Return how a file in `base` names a source: as a path that looks like one."""
    path = posixpath.relpath(parse_uri(source).path, base)
    return _with_fragment(path if path.startswith("../") else f"./{path}", source)


def keep_reachable_modules(bundle: Bundle, files: Files) -> Resolved:
    """Take out modules whose source leads out of the downloaded bundle that names it."""
    if not bundle.reach.downloads:
        return Resolved(bundle)
    problems: list[Problem] = []

    def leads_out(source: Tree | None, name: str) -> bool:
        if not isinstance(source, Leaf) or not isinstance(source.value, str):
            return False
        if bundle.reach.allows_source(source.origin.file, source.value, files):
            return False
        problems.append(refusal(f"{name}: the source {shown(source.value)}", place_of(source)))
        return True

    def kept(entry: Table) -> Tree:
        if leads_out(entry.get("source"), module_id(entry) or "a module"):
            return _removed(entry)
        return entry

    found = _with_modules(bundle, kept)
    gone = {
        key: _removed(item)
        for key, item in found.session
        if key in _SESSION_SOURCES and leads_out(item, f"session.{key}")
    }
    session = replace(found.session, entries={**found.session.entries, **gone})
    return Resolved(found.with_sections({"session": session}) if gone else found, tuple(problems))


def keep_named_modules(bundle: Bundle) -> Resolved:
    """Take out entries that only have an id, for a module that nothing included has."""
    problems: list[Problem] = []
    changed: dict[str, Table] = {}
    for section in MODULE_SECTIONS:
        gone: dict[str, Tree] = {}
        for key, entry in bundle.section(section):
            if isinstance(entry, Table) and not entry.text("module"):
                what = f"{section}: {key!r} has no 'module', and nothing that is included has that id"
                fix = "name the module that it configures"
                problems.append(
                    Problem(f"{what}; it is left out", place_of(entry), fix, code="module-missing")
                )
                gone[key] = _removed(entry)
        if gone:
            table = bundle.section(section)
            changed[section] = replace(table, entries={**table.entries, **gone})
    return Resolved(bundle.with_sections(changed) if changed else bundle, tuple(problems))


def _removed(item: Tree) -> Removed:
    return Removed(item.origin, item.line, item.column, (item,))


def _with_modules(bundle: Bundle, change: Callable[[Table], Tree]) -> Bundle:
    """Return the bundle with each module entry changed; the same bundle where that changes nothing."""

    def module(entry: Tree) -> Tree:
        return change(entry) if isinstance(entry, Table) else entry

    def agent(entry: Tree) -> Tree:
        if not isinstance(entry, Table):
            return entry
        return change_agent_modules(entry, module, modules=MODULE_SECTIONS)

    changed: dict[str, Table] = {}
    spawn = bundle.section("spawn")
    better = change_agent_modules(spawn, module, modules=SPAWN_LISTS)
    if better is not spawn:
        changed["spawn"] = better
    for name in ("session", *MODULE_SECTIONS, "agents"):
        table = bundle.sections.get(name)
        if table:
            better = _each(table, agent if name == "agents" else module)
            if better is not table:
                changed[name] = better
    return bundle.with_sections(changed) if changed else bundle


def _each(table: Table, change: Callable[[Tree], Tree]) -> Table:
    entries = {key: change(item) for key, item in table.entries.items()}
    is_same = all(entries[key] is item for key, item in table.entries.items())
    return table if is_same else replace(table, entries=entries)
