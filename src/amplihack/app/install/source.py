"""Choose the bundle that is staged. Whatever is skipped is told, with its label and path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from amplihack.errors import NotFound, UsageError
from amplihack.install.candidates import Candidate, refusal, skipped_line
from amplihack.install.errors import BundleCompatibilityError, InstallFailed, MissingBundleRoot, shown_path
from amplihack.install.release import BundleRelease
from amplihack.install.validate import BundleReport
from amplihack.system.bundle_places import checkout_version
from amplihack.system.bundle_tree import compare
from amplihack.system.files import real
from amplihack.system.framework_bundle import inspect_bundle
from amplihack.system.home import Home
from amplihack.system.staging import BundleSource

_OTHER = "name a release of this version, with its own sha256"


def choose_source(
    candidates: Iterable[Candidate], running: str, say: Callable[[str], None]
) -> BundleSource | None:
    """Return the first candidate that is compatible and of the right version; None if there is none."""
    for candidate in candidates:
        found = inspect_bundle(candidate.root)
        if found.bundle is None:
            continue  # no bundle at all is nothing to talk about
        why = _refusal(candidate, found, running)
        if not why:
            return BundleSource(root=candidate.root, label=candidate.label, product_version=running)
        say(skipped_line(candidate, why))
    return None


def _refusal(candidate: Candidate, found: BundleReport, running: str) -> str:
    why = refusal(candidate, found, known_version=_version(candidate, found), running=running)
    if why or candidate.trust != "version" or found.identity is None or found.bundle is None:
        return why
    difference = compare(real(found.bundle), found.identity.files, modes=False)
    return f"it is not what its BUNDLE.json says: {difference.lines(1)[0]}" if difference else ""


def _version(candidate: Candidate, found: BundleReport) -> str | None:
    if candidate.trust == "checkout":
        return checkout_version(candidate.root)
    if candidate.trust == "pinned" and found.identity is None:
        return checkout_version(candidate.root)
    return found.identity.product_version if found.identity else None


def named_source(home: Home, path: str) -> BundleSource:
    """Return the source that `--local` names: a bundle, or the directory that holds it.

    Raises NotFound or UsageError for the path, and InstallFailed for a bundle that is not compatible.
    """
    root = real(home.path(path))
    if not root.exists():
        what = f"--local path does not exist or cannot be canonicalized: {shown_path(path)}"
        raise NotFound(what, fix="check the path")
    if not root.is_dir():
        what = f"--local path is not a directory: {shown_path(path)}"
        raise UsageError(what, fix="name a directory that holds amplifier-bundle/, or is it")
    found = inspect_bundle(root)
    if not found.ok:
        raise incompatible(found.violations[0])
    version = found.identity.product_version if found.identity else checkout_version(root)
    return BundleSource(root=root, label="--local", product_version=version or "")


@contextmanager
def downloaded_source(
    release: BundleRelease, folder: Path, environment: Mapping[str, str], running: str
) -> Iterator[BundleSource]:
    """Download a release and give it as a source, for as long as it is needed. Raises InstallFailed."""
    from amplihack.system.bundle_download import downloaded, shown_release  # deferred: few installs download

    address = shown_release(release)
    with downloaded(release, folder, environment) as root:
        candidate = Candidate("download", root, "pinned")
        found = inspect_bundle(root)
        if not found.ok:
            why = found.violations[0].what.replace(str(root), address)
            raise InstallFailed(f"the bundle from {address} is incompatible:\n  {why}", fix=_OTHER)
        if why := _refusal(candidate, found, running):
            raise InstallFailed(f"the bundle from {address} is not taken: {why}", fix=_OTHER)
        version = _version(candidate, found) or ""
        yield BundleSource(root=root, label="download", product_version=version, address=address)


def incompatible(violation: BundleCompatibilityError, *, staged: bool = False) -> InstallFailed:
    """Return how an install ends that found a bundle which must not be used."""
    if isinstance(violation, MissingBundleRoot):
        return InstallFailed(violation.what, fix=violation.fix)
    which = "staged framework bundle" if staged else "framework bundle"
    return InstallFailed(f"{which} is incompatible:\n  {violation.what}", fix=violation.fix)
