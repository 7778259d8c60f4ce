"""Put the framework bundle into the wheel, as `amplihack/_bundle/amplifier-bundle`.

Its list of files, `BUNDLE.json`, must fit the files and the version: a wheel whose bundle nobody could stage
is not built. An editable install stages from the checkout itself.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_FIX = "run `make bundle`, then build again"


class BundleBuildHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling names no type of its config
    """Adds `amplifier-bundle/` to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        bundle = Path(self.root) / "amplifier-bundle"
        if version == "editable" or not bundle.is_dir():
            return
        _require_current(bundle, self.metadata.version)
        build_data["force_include"][str(bundle)] = "amplihack/_bundle/amplifier-bundle"


def _require_current(bundle: Path, version: str) -> None:
    """Raise RuntimeError for a bundle whose list is of other files, or of another version."""
    sys.path.insert(0, str(bundle.parent / "src"))
    from amplihack.install.identity import (
        read_identity,
    )  # it needs nothing but Python, and a build has no more

    file = bundle / "BUNDLE.json"
    if not file.is_file():
        raise RuntimeError(f"{file} is missing: {_FIX}")
    identity = read_identity(file.read_bytes(), file)
    found = {path: sha256(data.read_bytes()).hexdigest() for path, data in _files(bundle).items()}
    listed = {each.path: each.sha256 for each in identity.files}
    if found != listed:
        differs = sorted({path for path, _ in found.items() ^ listed.items()})
        raise RuntimeError(f"{bundle} is not what its BUNDLE.json says: {', '.join(differs)}; {_FIX}")
    if identity.product_version != version:
        raise RuntimeError(f"{file} is for version {identity.product_version}, not {version}: {_FIX}")


def _files(bundle: Path) -> dict[str, Path]:
    """Return every file but the list itself, by its path inside the bundle."""
    found = {file.relative_to(bundle).as_posix(): file for file in bundle.rglob("*") if file.is_file()}
    return {path: file for path, file in found.items() if path != "BUNDLE.json" and "__pycache__" not in path}
