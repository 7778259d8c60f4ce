"""Whether a bundle can be used: its structure, and whether a session can be opened with it."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.bundles.model import SECTIONS, Bundle
from amplihack.bundles.reading import is_absent, kind_of, place_of
from amplihack.bundles.tree import Leaf, Table, Tree
from amplihack.errors import Problem, Severity


def validate(bundle: Bundle) -> tuple[Problem, ...]:
    """What is structurally wrong with a bundle."""
    found: list[Problem] = []
    if not bundle.name:
        found.append(Problem("the bundle has no name", fix="write `bundle: {name: …}`", code="no-name"))
    for section in SECTIONS:
        for index, (_, entry) in enumerate(bundle.modules(section)):
            found.extend(_module(entry, f"{section}[{index}]"))
    found.extend(_session(bundle.session))
    for name, agent in bundle.agents:
        if not isinstance(agent, Table):
            what = f"agents.{name} should be a mapping, got {kind_of(agent)}"
            found.append(_problem("agent-shape", what, agent))
    found.extend(_pending(bundle))
    return tuple(found)


def validate_completeness(bundle: Bundle) -> tuple[Problem, ...]:
    """What is missing before a session can be opened; includes what `validate` finds."""
    missing: list[tuple[str, str]] = []
    if not bundle.session.entries:
        missing.append(("no-session", "there is no `session` section"))
    missing.extend(
        (f"no-{role}", f"`session.{role}` is missing")
        for role in ("orchestrator", "context")
        if is_absent(bundle.session.get(role))
    )
    if not any(True for _ in bundle.providers):
        missing.append(("no-provider", "there is no provider"))
    name = bundle.name or "the bundle"
    return (
        *validate(bundle),
        *(Problem(f"{name} is incomplete for mounting: {what}", code=code) for code, what in missing),
    )


def _problem(code: str, what: str, at: Tree, fix: str = "", severity: Severity = "error") -> Problem:
    return Problem(what, place_of(at), fix, severity, code)


def _module(entry: Tree, at: str) -> Iterator[Problem]:
    if not isinstance(entry, Table):
        yield _problem("module-entry", f"{at} should be a mapping, got {kind_of(entry)}", entry)
        return
    if not entry.text("module"):
        yield _problem("module-missing", f"{at} has no 'module'", entry, "name the module that it configures")
    config = entry.get("config")
    if config is not None and not is_absent(config) and not isinstance(config, Table):
        yield _problem("module-config", f"{at}: 'config' should be a mapping, got {kind_of(config)}", config)
    source = entry.get("source")
    if source is not None and not is_absent(source) and not _is_text(source):
        yield _problem("module-source", f"{at}: 'source' should be text, got {kind_of(source)}", source)


def _session(table: Table) -> Iterator[Problem]:
    for role in ("orchestrator", "context"):
        part = table.get(role)
        if part is None or is_absent(part) or _is_text(part):
            continue
        if not isinstance(part, Table):
            what = f"session.{role} should be a module name or a mapping, got {kind_of(part)}"
            yield _problem("session-module", what, part)
        elif not part.text("module") and not part.text("source"):
            yield _problem("session-module", f"session.{role} names neither a module nor a source", part)


def _is_text(tree: Tree) -> bool:
    return isinstance(tree, Leaf) and isinstance(tree.value, str)


def _pending(bundle: Bundle) -> Iterator[Problem]:
    known = {*bundle.source_base_paths, bundle.name}
    for name, reference in bundle.pending_context.items():
        leaf = bundle.context.entries[name]
        namespace = reference.partition(":")[0]
        if namespace not in known:
            what = f"context {reference!r}: no included bundle is called {namespace!r}"
            fix = "a namespace is the `bundle.name` of a bundle that is included"
            yield _problem("unknown-namespace", what, leaf, fix, "warning")
