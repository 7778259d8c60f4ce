"""Go back to the bundle that was staged before the present one."""

from __future__ import annotations

from pathlib import Path

from amplihack.app.install.installing import (
    InstallOutcome,
    InstallRequest,
    explained,
    locked_for,
    remember_install,
)
from amplihack.errors import NothingToUse
from amplihack.install.errors import InstallFailed
from amplihack.install.stamp import stamp_of
from amplihack.system.generations import Generations
from amplihack.system.install_history import history
from amplihack.system.install_stamp import require_regular_stamp, write_stamp
from amplihack.system.staging import BundleSource, activate
from amplihack.version import __version__


def roll_back(request: InstallRequest) -> InstallOutcome:
    """Switch to the generation that was active before. Raises NothingToUse without one, and InstallFailed."""
    generations = Generations(request.home.root)
    with locked_for(request), explained(generations):
        require_regular_stamp(generations.root)
        generations.remove_leftovers()
        target = _previous_generation(generations)
        record = generations.record(target) if target else None
        if target is None or record is None:
            what = "install failed: there is no earlier generation to go back to"
            raise NothingToUse(what, fix="`amplihack install history` shows what there is")
        difference = generations.difference(target)
        if difference is None or difference:
            lines = difference.lines() if difference else ["its BUNDLE.json cannot be used"]
            what = f"the generation {target} is damaged:" + "".join(f"\n  {line}" for line in lines)
            raise InstallFailed(what, fix="stage it anew: `amplihack install`")
        replaced = activate(generations, target)
        source = BundleSource(root=Path(record.source), label=record.label, product_version=record.version)
        remember_install(request, record.version, target, source)
        # The user asked for it: the stamp of the running version keeps the next start from undoing it.
        write_stamp(generations.root, stamp_of(__version__))
        return InstallOutcome(
            version=record.version,
            generation=target,
            label=record.label,
            source=record.source,
            copied=False,
            files=len(identity.files) if (identity := generations.identity(target)) else 0,
            replaced=str(replaced) if replaced else None,
        )


def _previous_generation(generations: Generations) -> str | None:
    """Return the generation that was active before the present one and is still here."""
    active = generations.active()
    here = {record.generation for record in generations.records()}
    used = (entry.generation for entry in reversed(history(generations.root)))
    return next((name for name in used if name != active and name in here), None)
