"""Remove what installs have staged, and nothing else.

What is ours is what the list of each generation says, byte for byte. A file that the user edited is kept.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from amplihack.app.install.installing import InstallRequest, explained, locked_for
from amplihack.install.contract import BUNDLE
from amplihack.install.errors import InstallFailed, shown_path
from amplihack.install.identity import identify
from amplihack.install.stamp import FOLDER, STAMP
from amplihack.records import Record
from amplihack.system.files import remove_tree
from amplihack.system.generations import Generations
from amplihack.system.install_history import mark_uninstalled
from amplihack.system.install_stamp import require_regular_stamp
from amplihack.system.staging import edited_files, keep_edited

_NOTHING = identify((), bundle_version="", product_version="")


class UninstallPlan(Record, kw_only=True):
    """What an uninstall removes. `edited` are files of each generation that are moved to `user/conflicts`."""

    generations: tuple[str, ...]
    edited: tuple[tuple[str, tuple[str, ...]], ...]
    others: tuple[str, ...]  # paths in the home root that go as well
    purge: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.generations and not self.others


class UninstallOutcome(Record, kw_only=True):
    """What was removed, where edited files are now, and which generations running processes still use."""

    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    in_use: tuple[str, ...] = ()


def plan_uninstall(home_root: Path, *, purge: bool) -> UninstallPlan:
    """Return what would be removed. Raises InstallFailed where nobody can tell what is ours."""
    generations = Generations(home_root)
    require_regular_stamp(home_root)
    names = tuple(generations.names())
    for name in names:
        _require_ours(generations, name)
    others = [BUNDLE] if generations.active() is not None else []
    others += [name for name in (STAMP, f"{FOLDER}/history.jsonl") if (home_root / name).is_file()]
    if purge:
        others += [name for name in ("user", "replaced", FOLDER) if (home_root / name).is_dir()]
    return UninstallPlan(
        generations=names,
        edited=tuple((name, edited_files(generations, name, _NOTHING)) for name in names),
        others=tuple(others),
        purge=purge,
    )


def _require_ours(generations: Generations, name: str) -> None:
    """Raise InstallFailed for a generation with a list that cannot be used, or with something beside it."""
    place = generations.directory / name
    if generations.identity(name) is None:
        what = f"the list of files of {shown_path(place)} cannot be used, so nothing is removed"
        raise InstallFailed(what, fix="look at that directory, and remove it yourself if you do not need it")
    others = sorted({path.name for path in place.iterdir()} - {BUNDLE, "generation.json"})
    if others:
        what = f"{shown_path(place / others[0])} is not ours, so nothing is removed"
        raise InstallFailed(what, fix="move it elsewhere")


def uninstall(request: InstallRequest, *, purge: bool) -> UninstallOutcome:
    """Remove what is staged, the stamp first: what is interrupted is never taken for an install.

    Unless everything is purged, a mark stays, so that the next command does not stage it all again.
    """
    root = request.home.root
    if not root.is_dir():
        return UninstallOutcome()
    generations = Generations(root)
    with locked_for(request) as lock:
        with explained(generations):
            is_unfinished = bool(generations.remove_leftovers())
            plan = plan_uninstall(root, purge=purge)
            nothing = plan.is_empty and not is_unfinished
            outcome = UninstallOutcome() if nothing else _carry_out(generations, plan)
            for empty in (generations.directory, root / FOLDER):
                _remove_empty(empty)
        lock.remove()
    with suppress(OSError):  # an empty directory does no harm
        _remove_empty(root)
    return outcome


def _carry_out(generations: Generations, plan: UninstallPlan) -> UninstallOutcome:
    root = generations.root
    if not plan.purge:
        mark_uninstalled(root)
    (root / STAMP).unlink(missing_ok=True)
    kept = () if plan.purge else _keep(generations, plan)
    generations.unlink()
    in_use = tuple(name for name in plan.generations if not generations.remove(name))
    for name in plan.others:
        if name not in (BUNDLE, STAMP):
            remove_tree(root / name)
    gone = (name for name in plan.generations if name not in in_use)
    places = (*(f"{generations.directory.name}/{name}" for name in gone), *plan.others)
    return UninstallOutcome(removed=places, kept=tuple(map(str, kept)), in_use=in_use)


def _keep(generations: Generations, plan: UninstallPlan) -> tuple[Path, ...]:
    return tuple(path for name, paths in plan.edited for path in keep_edited(generations, name, paths))


def _remove_empty(directory: Path) -> None:
    if directory.is_dir() and not any(directory.iterdir()):
        directory.rmdir()
