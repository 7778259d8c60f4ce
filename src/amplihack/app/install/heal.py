"""Stage the bundle of a new version when it starts for the first time, before it does anything else.

All output goes to stderr, so that the output of the command is the same with and without it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from amplihack.app.install.installing import InstallRequest, install_locked, locked_for
from amplihack.errors import AmplihackError, UsageError
from amplihack.install.decide import bypass_line, decide, healed_line, is_bypassed, is_nested, nested_line
from amplihack.install.errors import shown_path
from amplihack.install.release import URL
from amplihack.install.stamp import stamp_of
from amplihack.system.framework_bundle import inspect_bundle
from amplihack.system.healed import own_bundle
from amplihack.system.home import GENERATION, Home, this_process
from amplihack.system.install_history import is_uninstalled
from amplihack.system.install_stamp import read_stamp
from amplihack.version import __version__


class SelfHealFailed(AmplihackError):
    """Raised when the bundle cannot be staged: the command must not run with stale assets."""


def heal_this_process(say: Callable[[str], None]) -> None:
    """Heal the home of this process; see `heal`."""
    environment, cwd = this_process()
    home = home_to_heal(environment, cwd)
    if home is not None:
        heal(home, environment, say)


def home_to_heal(environment: Mapping[str, str], cwd: Path) -> Home | None:
    """Return the home; None where there is none. A program without a home cannot install anything.

    This is the one silent way out: commands that need a home say so themselves.
    """
    try:
        home = Home.from_environment(environment, cwd)
    except UsageError:
        return None
    is_given = environment.get("AMPLIHACK_HOME") or environment.get("HOME")
    is_usable = home.user.is_dir() and home.user != Path("/")
    return home if is_given or is_usable else None


def heal(home: Home, environment: Mapping[str, str], say: Callable[[str], None]) -> None:
    """Stage the bundle of this program if the stamp or the staged bundle says that it must be.

    Raises SelfHealFailed. The stamp is then as it was, so that the next start tries again.
    """
    try:
        _heal(home, environment, say)
    except SelfHealFailed:
        raise
    except AmplihackError as error:
        raise SelfHealFailed(f"amplihack: self-heal failed: {error.what}", fix=error.fix) from error


def _heal(home: Home, environment: Mapping[str, str], say: Callable[[str], None]) -> None:
    if environment.get(GENERATION):
        what = f"the generation {shown_path(environment[GENERATION])}, which the run around us uses, is gone"
        raise AmplihackError(what, fix=f"start the run again, or unset {GENERATION}")
    current = stamp_of(__version__)
    stamp = read_stamp(home.root, say)
    action = decide(
        stamp=stamp, current=current, is_staged=home.bundle_link.is_dir(), bypass=is_bypassed(environment)
    )
    if action == "tell":
        say(bypass_line(stamp=stamp, current=current, bundle=_state(home.root)))
    elif action == "stage" and (own_bundle() is not None or environment.get(URL)):
        if is_uninstalled(home.root):
            say("amplihack: the framework bundle was uninstalled; `amplihack install` stages it again")
        elif is_nested(environment):
            say(nested_line(stamp=stamp, current=current, bundle=_state(home.root)))
        elif why := _why_nothing_can_be_staged(home.root):
            say(f"amplihack: {shown_path(home.root)} {why}; using the bundle of this program as it is")
        else:
            _stage(
                InstallRequest(home=home, environment=environment, say=say, what="self-heal", automatic=True)
            )


def _stage(request: InstallRequest) -> None:
    """Take the lock and look again: another process may have done it while we waited."""
    root = request.home.root
    with locked_for(request):
        stamp = read_stamp(root, lambda _line: None)  # it was told already
        is_staged = request.home.bundle_link.is_dir()
        if decide(stamp=stamp, current=stamp_of(__version__), is_staged=is_staged, bypass=False) == "nothing":
            return
        outcome = install_locked(request)
    for kept in outcome.kept:
        request.say(f"amplihack: you had edited a staged file; your version is now {kept}")
    if outcome.replaced:
        request.say(f"amplihack: what was in the place of the bundle is now {outcome.replaced}")
    request.say(healed_line(__version__))


def _state(root: Path) -> str:
    """Return what is staged, in a word or in the rule that it breaks."""
    found = inspect_bundle(root)
    return "compatible" if found.ok else found.violations[0].code


def _why_nothing_can_be_staged(root: Path) -> str | None:
    """Say why not even a first bundle could be staged: no home root is there, and none can be made.

    A home root that is there and refuses us is another matter: what is staged in it may be stale.
    """
    place = root
    while not place.exists() and place != place.parent:
        place = place.parent
    if _is_read_only(place):
        return "is read-only"
    if not place.is_dir():
        return f"cannot be made, as {shown_path(place)} is no directory"
    if place != root and not os.access(place, os.W_OK | os.X_OK):
        return f"cannot be made, as you may not write to {shown_path(place)}"
    return None


def _is_read_only(place: Path) -> bool:
    try:
        return bool(os.statvfs(place).f_flag & os.ST_RDONLY)
    except OSError as error:
        return error.errno == errno.EROFS
