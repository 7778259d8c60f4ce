"""Install the framework bundle: choose a source, stage it, and write the stamp last."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from amplihack.app.install.source import choose_source, downloaded_source, incompatible, named_source
from amplihack.errors import AmplihackError, NotFound, NothingToUse, UsageError
from amplihack.install.candidates import (
    Candidate,
    automatic_candidates,
    explicit_candidates,
    own_candidates,
)
from amplihack.install.decide import is_nested, patience_of
from amplihack.install.errors import BundleCompatibilityError, InstallFailed, shown_path
from amplihack.install.generations import GENERATIONS
from amplihack.install.release import SHA256, URL, BundleRelease, wanted_release
from amplihack.install.stamp import FOLDER, stamp_of
from amplihack.records import Record
from amplihack.system.bundle_places import find_places
from amplihack.system.generations import Generations
from amplihack.system.home import Home
from amplihack.system.install_history import HistoryEntry, forget_uninstalled, history, remember
from amplihack.system.install_lock import install_lock
from amplihack.system.install_stamp import require_regular_stamp, write_stamp
from amplihack.system.locks import HeldLock
from amplihack.system.staging import (
    BundleSource,
    StagingPlan,
    activate,
    copy_generation,
    keep_edited,
    plan_staging,
)
from amplihack.version import __version__

_KEPT = 3  # generations: the active one and those before it
_WHY_NOT = {
    errno.ENOSPC: "free some space, or set AMPLIHACK_HOME to a directory with room",
    errno.EDQUOT: "free some space, or set AMPLIHACK_HOME to a directory with room",
    errno.EROFS: "make it writable, or set AMPLIHACK_HOME to a directory that is",
}


class InstallRequest(Record, kw_only=True):
    """What to install and for whom. `say` takes lines for people; `what` is the command, for the history."""

    home: Home
    environment: Mapping[str, str]
    say: Callable[[str], None]
    what: str = "install"
    local: str | None = None
    force_refresh: bool = False
    automatic: bool = False


class InstallOutcome(Record, kw_only=True):
    """What is staged now, and what happened to what was there before."""

    version: str
    generation: str
    label: str
    source: str
    copied: bool
    files: int
    kept: tuple[str, ...] = ()  # files that the user edited, where they are now
    replaced: str | None = None  # where something else that was in the bundle's place is now
    pruned: tuple[str, ...] = ()


def install(request: InstallRequest) -> InstallOutcome:
    """Stage the bundle under the install lock. Raises InstallFailed; then the old bundle is still staged."""
    with locked_for(request):
        return install_locked(request)


@contextmanager
def locked_for(request: InstallRequest) -> Iterator[HeldLock]:
    """Hold the install lock for a request. Raises InstallFailed inside a run: it keeps what it uses."""
    if is_nested(request.environment):
        what = "a process inside a run must not change what the run works with"
        raise InstallFailed(what, fix=f"do it outside of the run: `amplihack {request.what}`")
    patience = patience_of(request.environment)
    prepare_root(request.home.root)
    root = request.home.root
    try:
        with install_lock(root, doing=request.what, say=request.say, patience=patience) as held:
            yield held
    except OSError as error:
        raise _cannot(error, root) from error


def install_locked(request: InstallRequest) -> InstallOutcome:
    """Stage the bundle; the caller holds the install lock."""
    generations = Generations(request.home.root)
    with explained(generations):
        require_regular_stamp(generations.root)
        generations.require_own_directory()
        if generations.remove_leftovers():
            request.say("amplihack: removed what an interrupted install had left")
        with opened_source(request, generations.root / FOLDER) as source:
            plan = plan_staging(generations, source, __version__)
            return _carry_out(generations, plan, request)


def plan_install(request: InstallRequest) -> StagingPlan:
    """Return what `install` would do. Nothing in the home is changed, and no lock is taken."""
    import tempfile  # deferred: only what would be downloaded needs it

    generations = Generations(request.home.root)
    with (
        explained(generations),
        tempfile.TemporaryDirectory() as elsewhere,
        opened_source(request, Path(elsewhere)) as source,
    ):
        return plan_staging(generations, source, __version__)


def _carry_out(generations: Generations, plan: StagingPlan, request: InstallRequest) -> InstallOutcome:
    if not plan.is_there:
        copy_generation(generations, plan)
    kept = keep_edited(generations, plan.active, plan.edited) if plan.active else ()
    replaced = activate(generations, plan.generation)
    if plan.active != plan.generation:
        remember_install(request, plan.version, plan.generation, plan.source)
    forget_uninstalled(generations.root)
    write_stamp(generations.root, stamp_of(plan.version))
    return InstallOutcome(
        version=plan.version,
        generation=plan.generation,
        label=plan.source.label,
        source=plan.source.origin,
        copied=not plan.is_there,
        files=len(plan.identity.files),
        kept=tuple(str(path) for path in kept),
        replaced=str(replaced) if replaced else None,
        pruned=tuple(_prune(generations, request.say)),
    )


def remember_install(request: InstallRequest, version: str, generation: str, source: BundleSource) -> None:
    """Add to the history that a generation is active from now on."""
    entry = HistoryEntry(
        at=time.time(),
        what=request.what,
        version=version,
        generation=generation,
        label=source.label,
        source=source.origin,
    )
    remember(request.home.root, entry)


def _prune(generations: Generations, say: Callable[[str], None]) -> list[str]:
    """Remove all but the newest generations, by when they were active last. The install is done already.

    One whose recipes a run goes on with stays: new recipes would not fit what the run has done.
    """
    try:
        used = dict.fromkeys(entry.generation for entry in reversed(history(generations.root)))
        return generations.prune([*list(used)[:_KEPT], *_of_runs(generations)])
    except (OSError, AmplihackError) as error:
        say(f"amplihack: old generations could not be removed: {error}")
        return []


def _of_runs(generations: Generations) -> list[str]:
    """Return the generations with recipes of runs that are not over. Raises StoreError."""
    from amplihack.system.run_store.needed_files import needed_files  # deferred: `sqlite3` is slow to load

    needed = needed_files(generations.root / "runs.sqlite3")
    return [name for name in generations.names() if any(f"/{GENERATIONS}/{name}/" in file for file in needed)]


# sources --------------------------------------------------------------------------------------------------


@contextmanager
def opened_source(request: InstallRequest, folder: Path) -> Iterator[BundleSource]:
    """Give the bundle that a request stages. Raises InstallFailed, or NothingToUse if there is none.

    A bundle is downloaded, to `folder` and for as long as it is needed, if the user named one with its hash
    and there is no other, or everything local is to be passed over.
    """
    if request.local is not None:
        yield named_source(request.home, request.local)
        return
    # A start only asks for it when there is nothing else; whoever installs learns of mistakes at once.
    release = None if request.automatic else _release(request)
    found = None if request.force_refresh and release else _chosen(request)
    if found is not None:
        yield found
        return
    release = release or _release(request)
    if release is None:
        raise _nothing(_candidates(request))
    with downloaded_source(release, folder, request.environment, __version__) as source:
        yield source


def _release(request: InstallRequest) -> BundleRelease | None:
    if request.environment.get(URL) or not os.path.lexists(request.home.root / "settings.yaml"):
        return wanted_release(request.environment, {})
    from amplihack.system.settings_files import home_install_settings  # deferred: few have any settings

    return wanted_release(request.environment, home_install_settings(request.home))


def _chosen(request: InstallRequest) -> BundleSource | None:
    return choose_source(_candidates(request), __version__, request.say)


def _nothing(candidates: tuple[Candidate, ...]) -> NothingToUse:
    looked = "".join(f"\n  {each.label}: {shown_path(each.root)}" for each in candidates)
    what = f"install failed: there is no framework bundle for version {__version__}; looked in:{looked}"
    fix = f"name one with --local, or with {URL} and {SHA256}, or install a release that carries one"
    return NothingToUse(what, fix=fix)


def _candidates(request: InstallRequest) -> tuple[Candidate, ...]:
    places = find_places(request.home, request.environment)
    if request.force_refresh:
        return own_candidates(places)
    return automatic_candidates(places) if request.automatic else explicit_candidates(places)


# the home root --------------------------------------------------------------------------------------------


def prepare_root(root: Path) -> None:
    """Make the home root, for its owner alone, and refuse one that others can change."""
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = root.stat()
    except OSError as error:
        raise _cannot(error, root) from error
    if status.st_uid != os.geteuid():
        what = f"{shown_path(root)} belongs to another user"
        raise InstallFailed(what, fix="run it as that user, or set AMPLIHACK_HOME to a directory of your own")
    if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
        what = f"everybody can write to {shown_path(root)}"
        raise InstallFailed(what, fix=f"take that away: chmod o-w {shown_path(root)}")


@contextmanager
def explained(generations: Generations) -> Iterator[None]:
    """Turn whatever stops an install into InstallFailed, and say what is staged now."""
    before = generations.active()
    try:
        yield
    except (InstallFailed, NothingToUse, NotFound, UsageError):
        raise
    except BundleCompatibilityError as error:
        inside = error.path.is_relative_to(generations.root)
        raise incompatible(error, staged=inside) from error
    except AmplihackError as error:
        raise InstallFailed(f"{error.what}{_state(generations, before)}", fix=error.fix) from error
    except OSError as error:
        raise _cannot(error, generations.root, _state(generations, before)) from error


def _state(generations: Generations, before: str | None) -> str:
    if generations.active() != before:
        return "; the new bundle is staged, and the next start completes the install"
    return "; what was staged before is unchanged" if before else ""


def _cannot(error: OSError, root: Path, state: str = "") -> InstallFailed:
    where = shown_path(str(error.filename or root))
    fix = _WHY_NOT.get(error.errno or 0, "check who may write there")
    return InstallFailed(f"{where}: {error.strerror or error}{state}", fix=fix)
