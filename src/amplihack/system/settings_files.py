"""Read the settings files of all scopes, with the base of their relative paths."""

from __future__ import annotations

import os
from pathlib import Path

from amplihack.bundles.settings import Settings, anchor_settings, decode_settings, merge_settings
from amplihack.bundles.settings_checks import ALLOW_NATIVE, INSTALL_KEYS, PROJECT_SCOPES
from amplihack.bundles.tree import Leaf
from amplihack.system.files import read_bytes
from amplihack.system.home import Home

_FOLDER = ".amplihack"


def read_settings(home: Home, directory: Path) -> Settings:
    """Read all scopes, widest first: the home root, the project, and the project's local settings.

    Relative paths start at the home root, or at the project. The user's home directory is no project. Raises
    AmplihackError for an existing file that cannot be used.
    """
    project = directory / _FOLDER
    places = [("home settings", home.root / "settings.yaml", home.root)]
    if directory != home.user and project != home.root:
        names = ("settings.yaml", "settings.local.yaml")
        places += [
            (scope, project / name, directory) for scope, name in zip(PROJECT_SCOPES, names, strict=True)
        ]
    return merge_settings([_scope(*place) for place in places if os.path.lexists(place[1])])


def home_install_settings(home: Home) -> dict[str, str]:
    """Return what the settings in the home root say about installs, by `install.<name>`.

    Projects are not asked: whoever wrote one must not decide what is staged in the home of others.
    """
    path = home.root / "settings.yaml"
    if not os.path.lexists(path):
        return {}
    said = _scope("home settings", path, home.root).at("install")
    return {f"install.{key}": said.text(key) for key in INSTALL_KEYS if said.text(key)}


def home_allows_native(home: Home) -> bool:
    """Tell whether modules that are programs may run. Projects are not asked, for the same reason."""
    path = home.root / "settings.yaml"
    if not os.path.lexists(path):
        return False
    said = _scope("home settings", path, home.root).rest.get(ALLOW_NATIVE)
    return isinstance(said, Leaf) and said.value is True


def home_agent(home: Home) -> str:
    """Return the agent for recipes that the settings in the home root name; empty if none.

    Every run asks, so that a file without the word is not decoded.
    """
    path = home.root / "settings.yaml"
    if not os.path.lexists(path) or b"agent" not in read_bytes(path, kind="Settings file"):
        return ""
    return _scope("home settings", path, home.root).at().text("agent")


def _scope(scope: str, path: Path, base: Path) -> Settings:
    read = decode_settings(read_bytes(path, kind="Settings file"), str(path), scope=scope)
    return anchor_settings(read, str(base))
