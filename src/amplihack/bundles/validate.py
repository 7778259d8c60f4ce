"""Decide whether a bundle can be used: its structure, and whether a session can be opened with it."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.bundles.file_report import is_absent, place_of
from amplihack.bundles.model import Bundle
from amplihack.bundles.sections.module_keys import module_fix
from amplihack.bundles.sections.modules import module_id
from amplihack.bundles.sections.session import ROLES
from amplihack.bundles.sections.table import MODULE_SECTIONS, SESSION_LAST
from amplihack.bundles.tree import Items, Table, Tree
from amplihack.errors import Location, Problem


def validate(bundle: Bundle) -> tuple[Problem, ...]:
    """Report what is structurally wrong with a bundle."""
    found: list[Problem] = []
    if not bundle.name:
        file = bundle.lineage.file
        where = Location(file, 1, 1) if file else None
        found.append(Problem("the bundle has no name", where, "write `bundle: {name: …}`", code="no-name"))
    for section in SESSION_LAST:
        found.extend(section.check(section.name, bundle.section(section.name)))
    found.extend(_pending(bundle))
    found.extend(problem for name, agent in bundle.agents for problem in _of_agent(bundle, name, agent))
    return tuple(found)


def _of_agent(bundle: Bundle, name: str, agent: Tree) -> Iterator[Problem]:
    """Report modules of an agent that are neither named nor part of what it inherits."""
    if not isinstance(agent, Table):
        return
    for section in MODULE_SECTIONS:
        listed = agent.get(section)
        for index, entry in enumerate(listed.items if isinstance(listed, Items) else ()):
            is_known = isinstance(entry, Table) and bundle.section(section).get(module_id(entry)) is not None
            if isinstance(entry, Table) and not entry.text("module") and not is_known:
                what = f"agents.{name}: {section}[{index}] names no module, and there is none of that id"
                yield Problem(what, place_of(entry), module_fix(entry), "warning", "module-missing")
    session = agent.get("session")
    for role in ROLES if isinstance(session, Table) else ():
        part = session.get(role) if isinstance(session, Table) else None
        if not isinstance(part, Table) or part.text("module") or part.text("source"):
            continue
        if is_absent(bundle.session.get(role)) or is_absent(part.get("config")):
            what = f"agents.{name}: session.{role} names neither a module nor a source"
            yield Problem(what, place_of(part), module_fix(part), "warning", "session-module")


_COMPLETE = "add it, or include a bundle that has it, such as foundation"


def validate_completeness(bundle: Bundle) -> tuple[Problem, ...]:
    """Report what is missing before a session can be opened, and what `validate` finds."""
    missing: list[tuple[str, str]] = []
    if not bundle.session.entries:
        missing.append(("no-session", "there is no `session` section"))
    missing.extend(
        (f"no-{role}", f"`session.{role}` is missing")
        for role in ROLES
        if is_absent(bundle.session.get(role))
    )
    if not any(True for _ in bundle.section("providers")):
        missing.append(("no-provider", "there is no provider"))
    name = bundle.name or "the bundle"
    return (
        *validate(bundle),
        *(
            Problem(f"{name} is incomplete for mounting: {what}", fix=_COMPLETE, code=code)
            for code, what in missing
        ),
    )


def _pending(bundle: Bundle) -> Iterator[Problem]:
    known = {*bundle.source_base_paths, bundle.name}
    for name, reference in bundle.pending_context.items():
        leaf = bundle.context.entries[name]
        namespace = reference.partition(":")[0]
        if namespace not in known:
            what = f"context {reference!r}: no included bundle is called {namespace!r}"
            fix = "a namespace is the `bundle.name` of a bundle that is included"
            yield Problem(what, place_of(leaf), fix, "warning", "unknown-namespace")
