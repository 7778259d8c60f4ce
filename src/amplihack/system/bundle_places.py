"""Look for the places on this machine that a framework bundle may come from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from amplihack.errors import AmplihackError
from amplihack.install.candidates import SourcePlaces
from amplihack.install.contract import BUNDLE
from amplihack.patterns import pattern
from amplihack.system.files import read_text
from amplihack.system.healed import PACKAGED, own_checkout
from amplihack.system.home import Home

_LEVELS = 32  # how far up from the current directory
_VERSION = pattern(r'^__version__ = "([^"\n]+)"$', 8)  # 8: ^ and $ are those of a line


def find_places(home: Home, environment: Mapping[str, str]) -> SourcePlaces:
    """Return the places; those around the current directory are there, the others may not be."""
    checkout = own_checkout()
    return SourcePlaces(
        home_variable=home.root if environment.get("AMPLIHACK_HOME") else None,
        around=_around(home),
        own_checkout=Path(checkout).parent if checkout else None,
        packaged=Path(PACKAGED).parent,
        home_root=home.root,
    )


def _around(home: Home) -> tuple[Path, ...]:
    """Return directories that hold a bundle, from the current one up to the root of its repository.

    The search ends at the home directory and where another file system begins.
    """
    found: list[Path] = []
    device = home.cwd.stat().st_dev
    for level in (home.cwd, *home.cwd.parents)[:_LEVELS]:
        if level in (home.user, home.root) or level.stat().st_dev != device:
            break
        if (level / BUNDLE).is_dir():
            found.append(level)
        if (level / ".git").exists():
            break
    return tuple(found)


def checkout_version(root: Path) -> str | None:
    """Return the version of a checkout of this program; None for any other directory."""
    import tomllib  # deferred: only an install asks

    try:
        project = tomllib.loads(read_text(root / "pyproject.toml", kind="Project file")).get("project", {})
        found = _VERSION.search(read_text(root / "src" / "amplihack" / "version.py", kind="Version file"))
    except (AmplihackError, tomllib.TOMLDecodeError):
        return None
    is_ours = isinstance(project, dict) and project.get("name") == "amplihack"
    return found[1] if is_ours and found else None
