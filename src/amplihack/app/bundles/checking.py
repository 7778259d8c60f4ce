"""Report everything that is wrong with a bundle, or would be better otherwise."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Iterable, Iterator

from amplihack.app.bundles.load import LoadedBundle, LoadRequest, load
from amplihack.app.bundles.setting_names import ignored_settings
from amplihack.bundles.completion import lost_agent_mentions
from amplihack.bundles.compose import compose
from amplihack.bundles.composition import INCLUDE_FAILED
from amplihack.bundles.errors import failure_code
from amplihack.bundles.file_report import is_absent, place_of
from amplihack.bundles.lint import LintInput, lint, role_of
from amplihack.bundles.meant_address import source_trouble
from amplihack.bundles.module_lint import ModulePlace, lint_module, lint_root_package
from amplihack.bundles.module_sources import modules_of, relative_source
from amplihack.bundles.mount_plan import for_kernel
from amplihack.bundles.near_paths import nearest_path
from amplihack.bundles.reach import ReachableFiles
from amplihack.bundles.sections.session import ROLES
from amplihack.bundles.tree import Leaf, Table, Tree
from amplihack.bundles.uris import parse_uri
from amplihack.bundles.validate import validate, validate_completeness
from amplihack.bundles.variables import expand_plan
from amplihack.documents.suggest import closest
from amplihack.errors import AmplihackError, InputError, Problem, Severity
from amplihack.modules.table import MODULES
from amplihack.records import Record, replace
from amplihack.system.kernel import kernel_problems
from amplihack.system.modules.entry_points import installed_module


class BundleVerdict(Record):
    """What was found about a bundle, and why includes of it are missing from that."""

    name: str
    problems: tuple[Problem, ...]
    failures: tuple[AmplihackError, ...] = ()

    def exit_code(self, *, strict: bool) -> int:
        """Return the answer to whether the bundle is valid; an include that cannot be had leaves it open."""
        wrong = [each for each in self.problems if each.severity == "error"]
        if wrong and all(each.code == INCLUDE_FAILED for each in wrong):
            return failure_code(self.failures)
        is_bad = wrong or (strict and any(each.severity == "warning" for each in self.problems))
        return InputError.exit_code if is_bad else 0


async def check(request: LoadRequest, *, complete: bool = False) -> tuple[LoadedBundle, tuple[Problem, ...]]:
    """Report everything that is wrong with a bundle and what it includes, habits that hurt included."""
    loaded = await load(replace(request, tolerant=True))
    return loaded, await asyncio.to_thread(_findings, loaded, request, complete=complete)


def _findings(loaded: LoadedBundle, request: LoadRequest, *, complete: bool) -> tuple[Problem, ...]:
    found = [*loaded.problems]
    if request.scope is not None:
        found += lost_agent_mentions(loaded.bundle, request.scope, loaded.files)
    found += validate_completeness(loaded.bundle) if complete else validate(loaded.bundle)
    found += _modules(loaded)
    found += _unsourced(loaded, complete=complete)
    found += ignored_settings(loaded.bundle, complete=complete)
    found += _habits(loaded)
    if complete:
        expanded = expand_plan(loaded.plan, request.environment)
        found += [each.problem for each in expanded.missing]
        found += kernel_problems(for_kernel(expanded.plan))
    return tuple(_each_once(found))


def _each_once(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Say once what two checks say about one place."""
    seen: set[object] = set()
    for problem in problems:
        key = (problem.where, problem.code) if problem.where and problem.code else problem
        if key not in seen:
            seen.add(key)
            yield problem


def _modules(loaded: LoadedBundle) -> Iterator[Problem]:
    """Report modules that should lie on this disk and do not, and what is wrong with those that do."""
    seen: set[str] = set()
    for section, entry in modules_of(loaded.bundle):
        source = entry.get("source")
        if not isinstance(source, Leaf) or not isinstance(source.value, str):
            continue
        if trouble := source_trouble(source.value):
            what, fix = trouble
            yield Problem(f"{entry.text('module')}: {what}", place_of(source), fix, "error", "source-address")
            continue
        parsed = parse_uri(source.value)
        path = posixpath.join(parsed.path, parsed.subpath.strip("/")).rstrip("/")
        if not parsed.is_file or not path.startswith("/"):
            continue
        if loaded.files.real(path) is None:
            what = f"there is no module at {path}"
            near = nearest_path(path, loaded.files, loaded.files.real)
            is_allowed = near is not None and loaded.bundle.reach.allows(
                source.origin.file, near, loaded.files
            )
            base = posixpath.dirname(source.origin.file)
            meant = f"did you mean {relative_source(near, base)}?" if near and is_allowed else ""
            fix = meant or "check the path; it starts at the file that names it"
            yield Problem(what, place_of(source), fix, "error", "module-not-found")
        elif path not in seen:
            seen.add(path)
            files = ReachableFiles(loaded.files, loaded.bundle.reach, path)
            yield from lint_module(ModulePlace(path, section, entry.text("module")), files)


class _Named(Record):
    """A module that a bundle names: whether it says where it comes from, and whether a session needs it."""

    name: str
    has_source: bool
    place: Tree
    is_needed: bool


def _unsourced(loaded: LoadedBundle, *, complete: bool) -> Iterator[Problem]:
    """Report modules that nobody brings: no source, and none of that name is installed.

    Another bundle may bring one: as long as nobody asks for a session, only likely typing mistakes are told.
    A session opens without a tool or a hook.
    """
    modules = [*_session_modules(loaded), *_listed_modules(loaded)]
    brought = {each.name for each in modules if each.has_source}
    for each in modules:
        name = each.name
        if not name or "${" in name or name in brought or name in MODULES:
            continue
        meant = _meant_module(name, {*MODULES, *brought})
        if (meant or complete) and installed_module(name) is None:
            what = f"{name} has no source, and no module of that name is installed"
            fix = f"did you mean {meant}?" if meant else f"add a `source:` to it: where {name} comes from"
            severity: Severity = "error" if complete and each.is_needed else "warning"
            yield Problem(what, place_of(each.place), fix, severity, "module-unknown")


def _listed_modules(loaded: LoadedBundle) -> Iterator[_Named]:
    for section, entry in modules_of(loaded.bundle):
        if section != "session":
            has_source = not is_absent(entry.get("source"))
            yield _Named(entry.text("module"), has_source, entry, section == "providers")


def _session_modules(loaded: LoadedBundle) -> Iterator[_Named]:
    """Yield the modules of the session, which may be bare names with their source beside them."""
    session = loaded.bundle.session
    for role in ROLES:
        item = session.get(role)
        if isinstance(item, Table):
            yield _Named(item.text("module"), not is_absent(item.get("source")), item, True)
        elif isinstance(item, Leaf) and isinstance(item.value, str):
            yield _Named(item.value, not is_absent(session.get(f"{role}_source")), item, True)


def _meant_module(name: str, known: Iterable[str]) -> str:
    """Return the module of the same kind that was probably meant; `tool-mode` is not nearly `tool-todo`."""
    if "-" not in name:  # its kind was left out
        return next((each for each in sorted(known) if each.partition("-")[2] == name), "")
    kind, _, rest = name.partition("-")
    near = closest(rest, [each.removeprefix(f"{kind}-") for each in known if each.startswith(f"{kind}-")])
    return f"{kind}-{near}" if near else ""


def _habits(loaded: LoadedBundle) -> Iterator[Problem]:
    """Report what a reviewer would mention about each local file, knowing what its includes bring."""
    for composition in (loaded.composition, *loaded.policies):
        for key, node in composition.nodes.items():
            if node.is_local:
                below = [composition.included[each] for each in composition.order.includes[key]]
                inherited = compose(*below) if below else None
                role = role_of(node.file)
                yield from lint(node.own, LintInput(node.uri, role, inherited, node.checkout.root))
                if role == "root":
                    yield from lint_root_package(node.directory, loaded.files)
