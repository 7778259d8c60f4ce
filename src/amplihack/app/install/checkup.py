"""Look at everything that is installed, tell what is wrong, and put right what can be."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from amplihack.app.install.installing import InstallRequest, install
from amplihack.errors import AmplihackError
from amplihack.install.contract import BUNDLE
from amplihack.install.errors import shown_path
from amplihack.install.stamp import STAMP, stamp_of
from amplihack.recipes.values import one_line
from amplihack.records import Record, field
from amplihack.system.agent_tools.table import programs
from amplihack.system.bundle_tree import compare
from amplihack.system.files import real
from amplihack.system.framework_bundle import inspect_bundle
from amplihack.system.generations import Generations
from amplihack.system.healed import own_bundle
from amplihack.system.home import Home
from amplihack.system.install_history import is_uninstalled
from amplihack.system.install_lock import holder, is_locked, require_own_lock
from amplihack.system.install_stamp import read_stamp
from amplihack.system.processes import Command, ProcessError, run_process
from amplihack.system.run_store.store import RunStore
from amplihack.system.settings_files import read_settings
from amplihack.version import __version__

_PATIENCE = 5.0  # seconds for an agent tool to tell its version
_INSTALL = "`amplihack doctor --fix`, or `amplihack install`"


class CheckResult(Record):
    """One thing that was looked at. `mends` says that staging the bundle again would put it right."""

    name: str
    ok: bool
    what: str
    fix: str = ""
    mends: bool = False


class CheckPlace(Record, kw_only=True):
    """Where to look."""

    home: Home
    environment: Mapping[str, str]
    versions: Mapping[str, str] = field(default_factory=dict)  # of the agent tools on the PATH


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


def check_up(place: CheckPlace) -> list[CheckResult]:
    """Return every check, in order. What a check cannot read is a failure of that check."""
    return [result for check in CHECKS for result in _guarded(check, place)]


def _guarded(check: Callable[[CheckPlace], Iterator[CheckResult]], place: CheckPlace) -> list[CheckResult]:
    name = check.__name__.removeprefix("check_").replace("_", ".")
    try:
        return list(check(place))
    except AmplihackError as error:
        return [CheckResult(name, False, error.what, error.fix)]
    except OSError as error:
        return [CheckResult(name, False, f"{error.filename}: {error.strerror}", "check this path")]


def mend(place: CheckPlace, say: Callable[[str], None]) -> list[CheckResult]:
    """Put right what can be, and check again. Raises AmplihackError where staging is refused."""
    root = place.home.root
    if root.is_dir() and root.stat().st_uid == os.geteuid() and root.stat().st_mode & 0o022:
        root.chmod(0o700)
        say(f"only you can write to {shown_path(root)} now")
    if own_bundle() is not None and any(result.mends and not result.ok for result in check_up(place)):
        outcome = install(
            InstallRequest(
                home=place.home, environment=place.environment, say=say, what="doctor", automatic=True
            )
        )
        for kept in outcome.kept:
            say(f"you had edited a staged file; your version is now {kept}")
        say(f"staged the framework bundle again: generation {outcome.generation}")
    return check_up(place)


# checks ---------------------------------------------------------------------------------------------------


def check_home(place: CheckPlace) -> Iterator[CheckResult]:
    root = place.home.root
    if not root.exists():
        yield CheckResult("home", True, f"{shown_path(root)} is not there yet; the first command makes it")
        return
    status = root.stat()
    if status.st_uid != os.geteuid():
        what, fix = "belongs to another user", "run it as that user, or set AMPLIHACK_HOME"
    elif status.st_mode & 0o022:
        what, fix = (
            "can be written to by others",
            f"chmod go-w {shown_path(root)}, or `amplihack doctor --fix`",
        )
    elif not os.access(root, os.W_OK | os.X_OK):
        what, fix = "cannot be written to", "check its permissions"
    else:
        what, fix = "is yours alone to write to", ""
    yield CheckResult("home", not fix, f"{shown_path(root)} {what}", fix)


def check_lock(place: CheckPlace) -> Iterator[CheckResult]:
    root = place.home.root
    require_own_lock(root)
    if is_locked(root):
        pid = holder(root).get("pid", "unknown")
        yield CheckResult("lock", False, f"process {pid} is installing", "wait for it to finish")
    else:
        yield CheckResult("lock", True, "nobody is installing")


def check_stamp(place: CheckPlace) -> Iterator[CheckResult]:
    root, current = place.home.root, stamp_of(__version__)
    warnings: list[str] = []
    found = read_stamp(root, warnings.append)
    path = root / STAMP
    if found == current and stat.S_IMODE(path.lstat().st_mode) != 0o600:
        yield CheckResult("stamp", False, f"others may use {shown_path(path)}", _INSTALL, mends=True)
    elif found == current:
        yield CheckResult("stamp", True, f"version {found} is staged, and this is it")
    elif own_bundle() is None:
        yield CheckResult(
            "stamp", True, "this program carries no framework bundle: there is nothing to stage"
        )
    elif is_uninstalled(root):
        yield CheckResult(
            "stamp", True, "the framework bundle was uninstalled; `amplihack install` stages it"
        )
    else:
        told = warnings[0] if warnings else f"version {found or 'none'} is staged, and this is {current}"
        yield CheckResult("stamp", False, told, _INSTALL, mends=True)


def check_bundle_compat(place: CheckPlace) -> Iterator[CheckResult]:
    if not os.path.lexists(place.home.root / BUNDLE) and _nothing_is_wanted(place):
        yield CheckResult("bundle.compat", True, "no framework bundle is staged")
        return
    found = inspect_bundle(place.home.root)
    if found.ok:
        yield CheckResult("bundle.compat", True, "the staged bundle fulfils its contract")
    for violation in found.violations:
        yield CheckResult("bundle.compat", False, violation.what, _INSTALL, mends=True)


def check_bundle_files(place: CheckPlace) -> Iterator[CheckResult]:
    generations = Generations(place.home.root)
    active = generations.active()
    if active is None:
        is_there = os.path.lexists(generations.link)
        what = "what is staged is no generation of ours" if is_there else "no generation is active"
        is_fine = not is_there and _nothing_is_wanted(place)
        yield CheckResult("bundle.files", is_fine, what, "" if is_fine else _INSTALL, mends=True)
        return
    record, difference = generations.record(active), generations.difference(active)
    if difference is None or record is None:
        what = f"the list of files of generation {active} cannot be used"
        yield CheckResult("bundle.files", False, what, _INSTALL, mends=True)
    elif difference:
        what = f"generation {active} is not as it was staged: {'; '.join(difference.lines())}"
        yield CheckResult("bundle.files", False, what, _INSTALL, mends=True)
    else:
        what = f"generation {active}, staged for version {record.version}, is as it was staged"
        yield CheckResult("bundle.files", True, what)


def _nothing_is_wanted(place: CheckPlace) -> bool:
    return own_bundle() is None or is_uninstalled(place.home.root)


def check_leftovers(place: CheckPlace) -> Iterator[CheckResult]:
    left = Generations(place.home.root).leftovers()
    if left:
        names = ", ".join(path.name for path in left)
        yield CheckResult(
            "leftovers", False, f"an interrupted install has left {names}", _INSTALL, mends=True
        )
    else:
        yield CheckResult("leftovers", True, "no install was interrupted")


def check_package(_place: CheckPlace) -> Iterator[CheckResult]:
    bundle = own_bundle()
    if bundle is None:
        yield CheckResult("package", True, f"amplihack {__version__} carries no framework bundle")
        return
    found = inspect_bundle(Path(bundle))
    problems = [violation.what for violation in found.violations]
    if found.identity and not problems:
        problems = compare(real(Path(bundle)), found.identity.files, modes=False).lines()
    what = "; ".join(problems) or f"amplihack {__version__} carries a framework bundle that is complete"
    yield CheckResult("package", not problems, what, "install amplihack again" if problems else "")


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


def check_settings(place: CheckPlace) -> Iterator[CheckResult]:
    settings = read_settings(place.home, place.home.cwd)
    for problem in settings.problems:
        yield CheckResult("settings", problem.severity != "error", problem.what, problem.fix)
    if not settings.problems:
        yield CheckResult("settings", True, "the settings can be read")


def check_runs(place: CheckPlace) -> Iterator[CheckResult]:
    listing = RunStore(place.home.root).listing()
    if listing.problem is None:
        yield CheckResult("runs", True, f"{len(listing.runs)} runs are kept")
    else:
        yield CheckResult("runs", False, listing.problem.what, listing.problem.fix)


CHECKS: tuple[Callable[[CheckPlace], Iterator[CheckResult]], ...] = (
    check_home,
    check_lock,
    check_stamp,
    check_bundle_compat,
    check_bundle_files,
    check_leftovers,
    check_package,
    check_command,
    check_agents,
    check_settings,
    check_runs,
)
