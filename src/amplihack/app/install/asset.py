"""Find an asset of the framework bundle: what is staged, then what the program carries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from amplihack.errors import AmplihackError
from amplihack.install.assets import Asset, asset_of
from amplihack.install.contract import BUNDLE
from amplihack.system.files import inside, real
from amplihack.system.healed import own_bundle
from amplihack.system.home import Home


def find_asset(text: str, home: Home, environment: Mapping[str, str]) -> Path:
    """Return the absolute path of an asset. Raises UsageError for a wrong path, else AmplihackError."""
    asset = asset_of(text)
    roots = _roots(home, environment)
    for root in roots:
        place = root / asset.path
        if _is(place, asset) and inside(place, root / BUNDLE):
            return real(place)
    looked = ", ".join(str(root) for root in roots)
    what = f"ERROR: Asset not found: {asset.path}; looked in {looked}"
    raise AmplihackError(
        what, fix="stage the framework bundle with `amplihack install`, or set AMPLIHACK_HOME"
    )


def _is(place: Path, asset: Asset) -> bool:
    if asset.kind == "file":
        return place.is_file()
    return place.is_dir() if asset.kind == "directory" else place.exists()


def _roots(home: Home, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return where bundles are. The current directory is one only if the user wants it."""
    own = own_bundle()
    allowed = bool(environment.get("AMPLIHACK_ALLOW_CWD_ASSETS"))
    return (
        home.root,
        *((Path(own).parent,) if own else ()),
        *((home.cwd,) if allowed else ()),
    )
