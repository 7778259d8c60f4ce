"""Check what is around the staged bundle: the program, agents, settings, bundles, runs, permissions."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from amplihack.app.install.check_result import CheckPlace, CheckResult
from amplihack.bundles.settings import added_bundles
from amplihack.bundles.uris import parse_uri, shown
from amplihack.errors import AmplihackError
from amplihack.install.errors import shown_path
from amplihack.install.method import method_of
from amplihack.recipes.values import one_line
from amplihack.sessions.model_choice import choose_model
from amplihack.system.agent_tools.table import programs
from amplihack.system.installed_program import look_around
from amplihack.system.model_facts import model_facts
from amplihack.system.processes import Command, ProcessError, run_process
from amplihack.system.registry_file import is_understood
from amplihack.system.run_store.store import RunStore
from amplihack.system.settings_files import read_settings
from amplihack.system.sources import Sources
from amplihack.version import __version__

_PATIENCE = 5.0  # seconds for an agent tool to tell its version
# In the home root: what others must not be able to change.
OURS_ALONE = (
    "settings.yaml", "runs.sqlite3", "registry.json", "generations", "install", "user", "cache", "runs",
    "sessions", "models",
)  # fmt: skip


async def agent_versions(environment: Mapping[str, str], cwd: Path) -> dict[str, str]:
    """Ask the agent tools on the PATH for their versions, all at once. What does not answer is told so."""
    found = {name: shutil.which(name, path=environment.get("PATH")) for name in programs()}
    here = {name: path for name, path in found.items() if path}
    answers = await asyncio.gather(*(_version(path, environment, cwd) for path in here.values()))
    return dict(zip(here, answers, strict=True))


async def _version(program: str, environment: Mapping[str, str], cwd: Path) -> str:
    command = Command(argv=(program, "--version"), cwd=cwd, env=environment, timeout=_PATIENCE, grace=0.5)
    try:
        done = await run_process(command)
    except ProcessError as error:
        return f"cannot be started: {error.what}"
    said = one_line(done.stdout.text(None), 80)
    return said if done.ok and said else f"does not tell its version ({done.status})"


def check_command(place: CheckPlace) -> Iterator[CheckResult]:
    folders = place.environment.get("PATH", "").split(os.pathsep)
    found = [shutil.which("amplihack", path=folder) for folder in folders if folder]
    distinct = list(dict.fromkeys(each for each in found if each))
    more = f"; it hides {', '.join(distinct[1:])}" if distinct[1:] else ""
    what = f"`amplihack` runs {distinct[0]}{more}" if distinct else "there is no `amplihack` on the PATH"
    yield CheckResult("command", True, shown_path(what))


def check_agents(place: CheckPlace) -> Iterator[CheckResult]:
    for name in programs():
        found = shutil.which(name, path=place.environment.get("PATH"))
        what = f"{found}: {place.versions.get(name, '')}".rstrip(": ") if found else "not on the PATH"
        yield CheckResult(f"agents.{name}", True, shown_path(what))
    yield CheckResult("agents.session", True, _model(place))


def _model(place: CheckPlace) -> str:
    """Tell which model sessions of our own ask, as far as it can be known without a bundle."""
    try:
        settings = read_settings(place.home, place.home.cwd)
        if settings.modules.get("providers"):
            return "sessions of our own ask the providers of the settings"
        chosen = choose_model([], None, model_facts(place.environment, place.home))
    except AmplihackError as error:
        return f"sessions of our own need a model: {error.what}"
    return f"sessions of our own ask {chosen.label}"


def check_settings(place: CheckPlace) -> Iterator[CheckResult]:
    settings = read_settings(place.home, place.home.cwd)
    for problem in settings.problems:
        yield CheckResult("settings", problem.severity != "error", problem.what, problem.fix)
    if not settings.problems:
        yield CheckResult("settings", True, "the settings can be read")


def check_runs(place: CheckPlace) -> Iterator[CheckResult]:
    listing = RunStore(place.home.root).listing()
    if listing.problem is None:
        kept = len(listing.runs)
        yield CheckResult("runs", True, f"{kept} runs are kept" if kept != 1 else "1 run is kept")
    else:
        yield CheckResult("runs", False, listing.problem.what, listing.problem.fix)


def check_method(place: CheckPlace) -> Iterator[CheckResult]:
    method = method_of(look_around(place.environment))
    what = f"amplihack {__version__} came by {method.kind}; to upgrade it: "
    yield CheckResult("method", True, what + ("amplihack update" if method.upgrade else method.advice))


def check_bundles(place: CheckPlace) -> Iterator[CheckResult]:
    """Look at the bundles that have a name, and at those that were downloaded."""
    named, kept = _named_bundles(place), Sources(place.home.root / "cache", environment={}).entries()
    problems = [
        (
            f"the settings name a bundle {name} that is not there: {shown(address)}",
            "correct the address there",
        )
        for name, address in named.items()
        if _is_missing(address, place)
    ]
    registry = place.home.root / "registry.json"
    if registry.exists() and not is_understood(registry):
        fix = "delete it: bundles that are loaded get their names again"
        problems.append((f"{registry} cannot be understood", fix))
    left = sum(not entry.complete and not entry.in_use for entry in kept)
    if left:
        fix = "`amplihack bundle clean` removes them"
        problems.append((f"{left} downloads of bundles were interrupted", fix))
    for what, fix in problems:
        yield CheckResult("bundles", False, shown_path(what), fix)
    if not problems:
        yield CheckResult("bundles", True, f"{len(named)} bundles have a name, {len(kept)} are in the cache")


def _named_bundles(place: CheckPlace) -> dict[str, str]:
    """Return the addresses that settings give; none if they cannot be read, which is told elsewhere."""
    try:
        settings = read_settings(place.home, place.home.cwd)
    except AmplihackError:
        return {}
    active = settings.at("bundle").text("active")
    return {**added_bundles(settings), **({"bundle.active": active} if "/" in active else {})}


def _is_missing(address: str, place: CheckPlace) -> bool:
    parsed = parse_uri(address)
    return parsed.is_file and not place.home.path(parsed.path).exists()


def check_permissions(place: CheckPlace) -> Iterator[CheckResult]:
    open_to_others = [str(path) for path in writable_by_others(place.home.root)]
    if open_to_others:
        what = f"others can write to {', '.join(map(shown_path, open_to_others))}"
        yield CheckResult("permissions", False, what, "`amplihack doctor --fix`, or chmod go-w on them")
    else:
        yield CheckResult("permissions", True, "nobody else can change what is in the home root")


def writable_by_others(root: Path) -> list[Path]:
    """Return what of ours in a home root others can write to. Links are not followed."""
    found = []
    for name in OURS_ALONE:
        path = root / name
        if os.path.lexists(path) and not path.is_symlink():
            status = path.lstat()
            if status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) & 0o022:
                found.append(path)
    return found
