"""Look at everything that is installed, tell what is wrong, and put right what can be."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from amplihack.app.install.check_result import Check, CheckPlace, CheckResult
from amplihack.app.install.installing import InstallRequest, install
from amplihack.app.install.surroundings import (
    check_agents,
    check_bundles,
    check_command,
    check_method,
    check_permissions,
    check_runs,
    check_settings,
    writable_by_others,
)
from amplihack.errors import AmplihackError
from amplihack.install.contract import BUNDLE
from amplihack.install.errors import shown_path
from amplihack.install.stamp import STAMP, stamp_of
from amplihack.system.bundle_tree import compare
from amplihack.system.files import real
from amplihack.system.framework_bundle import inspect_bundle
from amplihack.system.generations import Generations
from amplihack.system.healed import own_bundle
from amplihack.system.install_history import is_uninstalled
from amplihack.system.install_lock import holder, is_locked, require_own_lock
from amplihack.system.install_stamp import read_stamp
from amplihack.version import __version__

_INSTALL = "`amplihack doctor --fix`, or `amplihack install`"


def check_up(place: CheckPlace) -> list[CheckResult]:
    """Return every check, in order. What a check cannot read is a failure of that check."""
    return [result for check in CHECKS for result in _guarded(check, place)]


def check_up_without_home(place: CheckPlace, error: AmplihackError) -> list[CheckResult]:
    """Return what can be told where there is no home directory, and why there is not more."""
    found = [result for check in HOMELESS for result in _guarded(check, place)]
    return [CheckResult("home", False, error.what, error.fix), *found]


def _guarded(check: Check, place: CheckPlace) -> list[CheckResult]:
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
    for path in writable_by_others(root) if root.is_dir() else ():
        path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~0o022)
        say(f"only you can write to {shown_path(path)} now")
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
        staged = f"version {found}" if found else "nothing"
        told = warnings[0] if warnings else f"{staged} is staged, and this is {current}"
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


CHECKS: tuple[Check, ...] = (
    check_home,
    check_lock,
    check_stamp,
    check_bundle_compat,
    check_bundle_files,
    check_leftovers,
    check_package,
    check_method,
    check_command,
    check_agents,
    check_settings,
    check_bundles,
    check_runs,
    check_permissions,
)
HOMELESS: tuple[Check, ...] = (check_package, check_method, check_command, check_agents)
