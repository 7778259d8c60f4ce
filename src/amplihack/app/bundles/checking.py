"""Everything that is wrong with a bundle, or would be better otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import replace

from amplihack.app.bundles.opening import Asked, Ready, open_bundle
from amplihack.app.workspace import Workspace
from amplihack.bundles.compose import compose
from amplihack.bundles.lint import Surroundings, lint, role_of
from amplihack.bundles.model import SECTIONS
from amplihack.bundles.mount_plan import for_kernel
from amplihack.bundles.reading import place_of
from amplihack.bundles.tree import Leaf, Table
from amplihack.bundles.uris import parse_uri
from amplihack.bundles.validate import validate, validate_completeness
from amplihack.bundles.variables import expand_plan
from amplihack.errors import Problem
from amplihack.system.kernel import kernel_problems


async def check(
    workspace: Workspace, asked: Asked, *, complete: bool = False
) -> tuple[Ready, tuple[Problem, ...]]:
    """Everything that is wrong with a bundle and what it includes, habits that hurt included."""
    ready = await open_bundle(workspace, replace(asked, tolerant=True))
    return ready, await asyncio.to_thread(_findings, workspace, ready, complete=complete)


def _findings(workspace: Workspace, ready: Ready, *, complete: bool) -> tuple[Problem, ...]:
    found = [*ready.problems]
    found += validate_completeness(ready.bundle) if complete else validate(ready.bundle)
    found += _missing_modules(ready)
    found += _habits(ready)
    if complete:
        expanded = expand_plan(ready.plan, workspace.environment)
        found += [each.problem for each in expanded.missing]
        found += kernel_problems(for_kernel(expanded.plan))
    return tuple(_each_once(found))


def _each_once(problems: Iterable[Problem]) -> Iterator[Problem]:
    """What two checks say about one place is said once."""
    seen: set[object] = set()
    for problem in problems:
        key = (problem.where, problem.code) if problem.where and problem.code else problem
        if key not in seen:
            seen.add(key)
            yield problem


def _missing_modules(ready: Ready) -> Iterator[Problem]:
    """Modules that should lie on this disk and do not."""
    tables = (*(ready.bundle.modules(section) for section in SECTIONS), ready.bundle.session)
    for _, entry in (item for table in tables for item in table):
        source = entry.get("source") if isinstance(entry, Table) else None
        if not isinstance(source, Leaf) or not isinstance(source.value, str):
            continue
        parsed = parse_uri(source.value)
        if parsed.is_file and parsed.path.startswith("/") and ready.files.real(parsed.path) is None:
            what = f"there is no module at {parsed.path}"
            fix = "check the path; it starts at the file that names it"
            yield Problem(what, place_of(source), fix, "error", "module-not-found")


def _habits(ready: Ready) -> Iterator[Problem]:
    """What a reviewer would mention about each local file, knowing what its includes bring."""
    for loaded in (ready.loaded, *ready.policies):
        for key, node in loaded.nodes.items():
            if node.is_local:
                below = [loaded.included[each] for each in loaded.order.includes[key]]
                inherited = compose(*below) if below else None
                yield from lint(node.own, Surroundings(node.uri, role_of(node.file), inherited))
