"""Read the settings files of all scopes, with the base of their relative paths."""

from __future__ import annotations

import os
from pathlib import Path

from amplihack.bundles.settings import (
    INSTALL_KEYS,
    PROJECT_SCOPES,
    Settings,
    anchor_settings,
    decode_settings,
    merge_settings,
)
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


def _scope(scope: str, path: Path, base: Path) -> Settings:
    read = decode_settings(read_bytes(path, kind="Settings file"), str(path), scope=scope)
    return anchor_settings(read, str(base))
