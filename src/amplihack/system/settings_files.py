"""Read the settings files of all scopes, with the base of their relative paths."""

from __future__ import annotations

import os
from pathlib import Path

from amplihack.bundles.settings import Settings, anchor_settings, decode_settings, merge_settings
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
        places += [
            ("project settings", project / "settings.yaml", directory),
            ("local settings", project / "settings.local.yaml", directory),
        ]
    return merge_settings([_scope(*place) for place in places if os.path.lexists(place[1])])


def _scope(scope: str, path: Path, base: Path) -> Settings:
    read = decode_settings(read_bytes(path, kind="Settings file"), str(path), scope=scope)
    return anchor_settings(read, str(base))
