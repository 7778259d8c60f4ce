"""Stage a bundle: plan, copy to a new generation, check every byte, and switch to it in one step.

Until the switch nobody sees anything of it. After the switch the old generation is still there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from amplihack.install.contract import BUNDLE, IDENTITY, MAX_IDENTITY_BYTES
from amplihack.install.errors import BundleCompatibilityError, InstallFailed, shown_path
from amplihack.install.identity import BundleIdentity, ShippedFile, identify, identity_text, read_identity
from amplihack.install.stamp import stamp_of
from amplihack.records import Record
from amplihack.system.bundle_tree import (
    compare,
    copy_file,
    describe_files,
    list_files,
    plain_files,
    seen,
)
from amplihack.system.files import read_bytes, real, remove_tree
from amplihack.system.framework_bundle import (
    find_bundle,
    validate_framework_bundle_compatibility,
    validate_staged_framework_bundle,
)
from amplihack.system.generations import GenerationRecord, Generations
from amplihack.system.replace import sync_path, write_atomic

_SPARE = 16 * 1024 * 1024  # bytes that stay free
_FOLDER_MODE = 0o755


class BundleSource(Record, kw_only=True):
    """A bundle that was accepted. `product_version` is empty if nobody knows which release it is of."""

    root: Path
    label: str
    product_version: str
    address: str = ""  # where it was downloaded from

    @property
    def origin(self) -> str:
        """Return where it comes from, as people may read it."""
        return self.address or str(self.root)


class StagingPlan(Record, kw_only=True):
    """Everything that staging will do. Making a plan changes nothing."""

    source: BundleSource
    version: str  # of the program that stages
    identity: BundleIdentity
    identity_data: bytes
    files: Mapping[str, Path]  # BUNDLE.json is not among them
    generation: str
    is_there: bool  # a generation with exactly these files needs no copy
    active: str | None
    edited: tuple[str, ...]  # files of the active generation that the user changed or added

    @property
    def size(self) -> int:
        return sum(file.size for file in self.identity.files)


def plan_staging(generations: Generations, source: BundleSource, version: str) -> StagingPlan:
    """Return what staging a source means. Raises BundleCompatibilityError, TreeError or InstallFailed."""
    validate_framework_bundle_compatibility(source.root)
    bundle = real(find_bundle(source.root) or source.root)
    files = list_files(bundle)
    said = files.pop(IDENTITY, None)
    identity, data = _identity(source, files, said, bundle)
    generation, is_there = _generation_for(generations, identity, version)
    active = generations.active()
    return StagingPlan(
        source=source,
        version=version,
        identity=identity,
        identity_data=data,
        files=files,
        generation=generation,
        is_there=is_there,
        active=active,
        edited=edited_files(generations, active, identity),
    )


def _identity(
    source: BundleSource, files: Mapping[str, Path], said: Path | None, bundle: Path
) -> tuple[BundleIdentity, bytes]:
    """Return the identity of the source and its text; a source that has none gets one."""
    if said is None:
        version = source.product_version or "unknown"
        made = identify(describe_files(files), bundle_version=version, product_version=source.product_version)
        return made, identity_text(made).encode()
    data = read_bytes(said, limit=MAX_IDENTITY_BYTES, kind=IDENTITY)
    identity = read_identity(data, said)
    if difference := compare(bundle, identity.files, modes=False):
        listed = "".join(f"\n  {line}" for line in difference.lines())
        what = f"{shown_path(bundle)} is not what its {IDENTITY} says:{listed}"
        raise InstallFailed(what, fix=f"use a complete bundle, or build its {IDENTITY} again")
    return identity, data


def _generation_for(generations: Generations, identity: BundleIdentity, version: str) -> tuple[str, bool]:
    wanted = f"{stamp_of(version)}-{identity.tree_digest[:12]}"
    for record in generations.records():
        fits = record.generation.startswith(wanted) and record.version == version
        if fits and generations.identity(record.generation) == identity:
            difference = generations.difference(record.generation)
            if difference is not None and not difference:
                return record.generation, True
    return generations.free_name(wanted), False


def edited_files(generations: Generations, active: str | None, new: BundleIdentity) -> tuple[str, ...]:
    """Return the files of the active generation that are neither as shipped then nor as shipped now."""
    if active is None or not generations.is_plain(active):
        return ()
    then = generations.identity(active)
    shipped = {
        (file.path, file.sha256) for files in (then.files if then else (), new.files) for file in files
    }
    found = (
        path
        for path, file in plain_files(generations.bundle(active))
        if path != IDENTITY and (path, _digest(path, file)) not in shipped
    )
    return tuple(sorted(found))


def _digest(path: str, file: Path) -> str:
    found: ShippedFile | None = seen(path, file)
    return found.sha256 if found else ""


# carrying it out -------------------------------------------------------------------------------------------


def copy_generation(generations: Generations, plan: StagingPlan) -> None:
    """Copy the source to a new generation, and check it; nobody looks at it yet."""
    _require_space(generations.root, plan.size)
    new = generations.make_new()
    try:
        bundle = new / BUNDLE
        _copy_files(plan, bundle)
        validate_staged_framework_bundle(bundle)
        if difference := compare(bundle, plan.identity.files):
            listed = "".join(f"\n  {line}" for line in difference.lines())
            what = f"install completeness verification failed for {shown_path(bundle)}:{listed}"
            raise InstallFailed(what, fix="try again: the source changed meanwhile, or the disk is damaged")
        generations.publish(new, _record(plan))
    except BaseException:
        remove_tree(new)
        raise


def _copy_files(plan: StagingPlan, bundle: Path) -> None:
    modes = {file.path: file.mode for file in plan.identity.files}
    folders = {bundle, *((bundle / path).parent for path in plan.files)}
    folders |= {above for folder in list(folders) for above in folder.parents if above.is_relative_to(bundle)}
    for folder in sorted(folders):
        folder.mkdir(mode=_FOLDER_MODE)
        folder.chmod(_FOLDER_MODE)
    for path, file in plan.files.items():
        copy_file(file, bundle / path, modes[path])
    write_atomic(bundle / IDENTITY, plan.identity_data, 0o644)
    for folder in sorted(folders, reverse=True):
        sync_path(folder)


def _record(plan: StagingPlan) -> GenerationRecord:
    return GenerationRecord(
        generation=plan.generation,
        version=plan.version,
        bundle_version=plan.identity.bundle_version,
        tree_digest=plan.identity.tree_digest,
        label=plan.source.label,
        source=plan.source.origin,
        staged_at=time.time(),
    )


def _require_space(root: Path, needed: int) -> None:
    status = os.statvfs(root)
    free = status.f_bavail * status.f_frsize
    wanted = int(needed * 1.2) + _SPARE
    if free < wanted:
        what = f"there is not enough space in {shown_path(root)}: {not_enough(wanted, free)}"
        raise InstallFailed(what, fix="free some space, or set AMPLIHACK_HOME to a directory with room")


def not_enough(wanted: int, free: int) -> str:
    """Tell how much room an install wants, what stays free included, and how much is missing."""
    missing = max(1, -(-(wanted - free) // 1_000_000))
    return (
        f"an install wants {wanted / 1e6:.0f} MB, {free / 1e6:.1f} MB are free, so {missing} MB more must be"
    )


def keep_edited(generations: Generations, active: str, paths: tuple[str, ...]) -> tuple[Path, ...]:
    """Copy files that the user edited to a place that no install touches. Returns where they are now."""
    folder = generations.root / "user" / "conflicts" / active
    return tuple(
        kept
        for path in paths
        if (kept := _keep(generations.bundle(active) / path, folder / path)) is not None
    )


def _keep(edited: Path, target: Path) -> Path | None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if edited.is_symlink():
        target = _free(target)
        target.symlink_to(edited.readlink())
        return target
    found = seen(edited.name, edited)
    if found is None:
        return None  # a pipe has no content
    known = seen(edited.name, target)
    if known is None or known.sha256 != found.sha256:
        target = _free(target)
        copy_file(edited, target, found.mode)
    return target


def _free(path: Path) -> Path:
    """Return the path, or one with a number where it is taken."""
    number = 1
    free = path
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.name}.{number}")
    return free


def activate(generations: Generations, generation: str) -> Path | None:
    """Switch to a generation and check what is staged now; if that is not good, switch back.

    Returns where something that was in its place is kept.
    """
    before = generations.active()
    kept = generations.switch(generation) if before != generation else None
    try:
        validate_staged_framework_bundle(generations.root)
    except BundleCompatibilityError:
        if before is not None and before != generation:
            generations.switch(before)
        elif before is None:
            generations.unlink()
        raise
    return kept
