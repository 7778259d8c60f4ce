"""Read a framework bundle and check it against the contract; nothing is followed, run, loaded or written.

Every directory and file is opened without following links, from the directory above it, and what was opened
is checked, so that nobody can swap a file between the check and the reading. The one link that is followed is
our own: `amplifier-bundle` in a home root, to a generation in the same root.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import FileIO
from pathlib import Path

from amplihack.errors import InputError, NotFound
from amplihack.install.contract import (
    BUNDLE,
    CONTRACT,
    IDENTITY,
    MAX_RECIPE_BYTES,
    RECIPES,
    size_limits,
)
from amplihack.install.errors import (
    MissingSmartOrchestrator,
    StaleSmartOrchestrator,
    UnreadableRecipe,
)
from amplihack.install.generations import GENERATIONS, linked_generation
from amplihack.install.validate import BundleContent, BundleReport, Content, Unusable, report, stale_marker
from amplihack.system.files import read_bytes, up_to

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: should a pipe take the file's place, opening it does not wait.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_KINDS = {stat.S_IFLNK: "it is a link", stat.S_IFDIR: "it is a directory"}


def validate_framework_bundle_compatibility(root: Path) -> None:
    """Raise the first violation of a bundle that is about to be a source. Call it before anything is copied.

    `root` is the directory amplifier-bundle, or the one that holds it.
    """
    inspect_bundle(root).require()


def validate_staged_framework_bundle(root: Path) -> None:
    """Raise the first violation of a bundle that was staged. It is always a failure of the install."""
    inspect_bundle(root).require()


def is_compatible_framework_bundle(root: Path) -> bool:
    """Tell whether an optional candidate may be a source. What was staged is validated, never only asked."""
    return inspect_bundle(root).ok


def inspect_bundle(root: Path) -> BundleReport:
    """Return every violation of a bundle; it raises nothing."""
    return report(read_bundle(root))


def validate_recipe_compatibility(path: Path) -> None:
    """Raise StaleSmartOrchestrator for a stale parent recipe. Files of other names are none of our business.

    Links are followed here: a stale recipe behind a link is as stale.
    """
    if path.stem != CONTRACT.parent:
        return
    try:
        data = read_bytes(path, limit=MAX_RECIPE_BYTES)
    except NotFound as error:
        raise MissingSmartOrchestrator(path, cause=error.what) from error
    except InputError as error:
        raise UnreadableRecipe(path, cause=error.what) from error
    for violation in stale_marker(data, path):
        raise violation


def is_incompatible_smart_orchestrator(path: Path) -> bool:
    """Tell whether a file is a stale parent recipe. Raises BundleCompatibilityError if that is unknown."""
    try:
        validate_recipe_compatibility(path)
    except StaleSmartOrchestrator:
        return True
    return False


# reading ---------------------------------------------------------------------------------------------------


def read_bundle(root: Path) -> BundleContent:
    """Return the files of a bundle that the contract is about, or what stands in their way."""
    bundle = find_bundle(root)
    if bundle is None:
        return BundleContent(root=root, bundle=None, files={})
    try:
        with _opened(bundle) as descriptor:
            kind = _kind(RECIPES, descriptor)
            if kind == stat.S_IFLNK:
                return BundleContent(root=root, bundle=bundle, links=(bundle / RECIPES,), files={})
            return BundleContent(root=root, bundle=bundle, files=dict(_contents(descriptor)))
    except OSError as error:
        if bundle.is_symlink() and active_generation(bundle) is None:
            return BundleContent(root=root, bundle=bundle, links=(bundle,), files={})
        return BundleContent(root=root, bundle=None, cause=error.strerror or "", files={})


def find_bundle(root: Path) -> Path | None:
    """Return the directory amplifier-bundle in a root, or the root itself where it is the bundle."""
    inner = root / BUNDLE
    if _kind(inner) in (stat.S_IFDIR, stat.S_IFLNK):
        return inner
    is_bundle = Path(os.path.abspath(root)).name == BUNDLE or _kind(root / IDENTITY) is not None  # noqa: PTH100 - links stay
    return root if is_bundle and _kind(root) in (stat.S_IFDIR, stat.S_IFLNK) else None


def active_generation(bundle: Path) -> str | None:
    """Return the generation that `amplifier-bundle` is a link to, or None if it is no link of ours."""
    try:
        return linked_generation(os.readlink(bundle))  # noqa: PTH115 - the text as it is, with every dot
    except OSError:
        return None


@contextmanager
def _opened(bundle: Path) -> Iterator[int]:
    """Open a bundle's directory; its own name may be our link, no part below it may be any link."""
    generation = active_generation(bundle) if bundle.name == BUNDLE else None
    steps = (GENERATIONS, generation, BUNDLE) if generation else ()
    with ExitStack() as stack:
        start = bundle.parent if generation else bundle
        # What the user named may lead through links; the bundle itself may not be one.
        flags = _DIRECTORY & ~os.O_NOFOLLOW if generation else _DIRECTORY
        descriptor = _keep(stack, os.open(start, flags))
        for step in steps:
            descriptor = _keep(stack, os.open(step, _DIRECTORY, dir_fd=descriptor))
        yield descriptor


def _keep(stack: ExitStack, descriptor: int) -> int:
    stack.callback(os.close, descriptor)
    return descriptor


def _contents(bundle: int) -> Iterator[tuple[str, Content]]:
    with ExitStack() as stack:
        try:
            recipes = _keep(stack, os.open(RECIPES, _DIRECTORY, dir_fd=bundle))
        except OSError as error:
            recipes, missing = -1, _refused(error)
        for path, limit in size_limits().items():
            folder, _, name = path.rpartition("/")
            if folder and recipes < 0:
                yield path, missing
            else:
                yield path, read_beneath(recipes if folder else bundle, name, limit)


def read_beneath(directory: int, name: str, limit: int) -> Content:
    """Return the bytes of a regular file in an open directory, or why there are none."""
    try:
        named = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if not stat.S_ISREG(named.st_mode):  # before opening: opening a device may do something
            return _other_kind(named)
        descriptor = os.open(name, _FILE, dir_fd=directory)
        with FileIO(descriptor) as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return _other_kind(status)
            data = b"" if status.st_size > limit else up_to(file, limit + 1)
    except OSError as error:
        return _refused(error)
    size = max(status.st_size, len(data))
    return Unusable("oversize", size=size, limit=limit) if size > limit else data


def _other_kind(status: os.stat_result) -> Unusable:
    return Unusable("kind", _KINDS.get(stat.S_IFMT(status.st_mode), "it is no regular file"))


def _refused(error: OSError) -> Unusable:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return Unusable("missing")
    return Unusable("unreadable", error.strerror or "the system refuses")


def _kind(path: Path | str, directory: int | None = None) -> int | None:
    """Return the type of a file without following links; None where nothing can be seen."""
    try:
        return stat.S_IFMT(os.stat(path, dir_fd=directory, follow_symlinks=False).st_mode)
    except OSError:
        return None
