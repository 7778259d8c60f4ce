"""Decide whether a bundle can be used: its structure, and whether a session can be opened with it."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.bundles.file_report import is_absent, place_of
from amplihack.bundles.model import Bundle
from amplihack.bundles.sections.session import ROLES
from amplihack.bundles.sections.table import SESSION_LAST
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
    return tuple(found)


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
