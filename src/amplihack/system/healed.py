"""Tell in a few system calls whether the staged bundle needs a look. Every start asks: it imports nothing."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGED = f"{_PACKAGE}/_bundle/amplifier-bundle"  # where a wheel carries the framework bundle
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def needs_a_look(environment: Mapping[str, str], version: str) -> bool:
    """Tell whether something must be done or told: the stamp is not ours, or there is no staged bundle.

    A program that carries no bundle, and is told of none, has nothing to stage. Then only a user who switched
    staging off is told.
    """
    if environment.get("AMPLIHACK_ACTIVE_GENERATION"):
        return not _is_pinned(environment)
    if _is_healed(environment, version):
        return False
    wanted = environment.get("AMPLIHACK_SKIP_AUTO_INSTALL") or environment.get("AMPLIHACK_BUNDLE_URL")
    return own_bundle() is not None or bool(wanted)


def own_bundle() -> str | None:
    """Return the bundle that came with this program: that of the checkout it runs from, or of its package."""
    return next((place for place in (own_checkout(), PACKAGED) if place and os.path.isdir(place)), None)


def own_checkout() -> str | None:
    """Return where the checkout that this program runs from keeps the bundle; None if it is installed."""
    root = _PACKAGE.removesuffix("/src/amplihack")
    is_checkout = root != _PACKAGE and os.path.isfile(f"{root}/pyproject.toml")
    return f"{root}/amplifier-bundle" if is_checkout else None


def _is_pinned(environment: Mapping[str, str]) -> bool:
    """Tell whether the run around this process gave it a generation, and that is there: it uses just that."""
    generation = environment["AMPLIHACK_ACTIVE_GENERATION"]
    if "/" in generation or generation[0] == ".":
        return False
    return os.path.isdir(f"{_root(environment)}/generations/{generation}/amplifier-bundle")


def _root(environment: Mapping[str, str]) -> str:
    return environment.get("AMPLIHACK_HOME") or f"{environment.get('HOME', '')}/.amplihack"


def _is_healed(environment: Mapping[str, str], version: str) -> bool:
    """Return True only if all is well; where it is not plain, the slower check looks again and explains."""
    root = _root(environment)
    if root[:1] != "/":
        return False
    try:
        descriptor = os.open(f"{root}/.installed-version", _FLAGS)
        try:
            stamp = os.read(descriptor, 300) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
        finally:
            os.close(descriptor)
        return stamp == _stamp(version) and os.path.isdir(f"{root}/amplifier-bundle")
    except (OSError, ValueError):
        return False


def _stamp(version: str) -> bytes:
    if version.count(".") == 2 and version.replace(".", "").isdigit():
        return version.encode()
    from amplihack.install.stamp import stamp_of  # deferred: most versions are their own stamp

    return stamp_of(version).encode()
