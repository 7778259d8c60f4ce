"""Look at the environment that this program runs in, for signs of the tool that installed it."""

from __future__ import annotations

import json
import os
import shutil
import site
import sys
import sysconfig
from collections.abc import Mapping
from importlib import metadata, util
from pathlib import Path
from typing import Any

from amplihack.install.method import DISTRIBUTION, InstallEvidence
from amplihack.system.files import real
from amplihack.system.healed import own_checkout

_PACKAGE = Path(__file__).parents[1]
_UV_CACHES = ("archive-v", "environments-v", "builds-v")  # what uv calls the directories of its cache


def look_around(environment: Mapping[str, str]) -> InstallEvidence:
    """Return what is known of how this program came here."""
    prefix, found, checkout = Path(sys.prefix), _distribution(), own_checkout()
    location = Path(str(found.locate_file(""))) if found else _PACKAGE.parent
    return InstallEvidence(
        python=sys.executable,
        prefix=str(prefix),
        location=str(location),
        checkout=str(Path(checkout).parent) if checkout else None,
        is_installed=found is not None and real(location / DISTRIBUTION) == real(_PACKAGE),
        fetched_from=_origin(found),
        has_uv_receipt=(prefix / "uv-receipt.toml").is_file(),
        in_uv_cache=any(part.startswith(_UV_CACHES) for part in prefix.parts),
        has_pipx_metadata=(prefix / "pipx_metadata.json").is_file(),
        has_conda_meta=(prefix / "conda-meta").is_dir(),
        is_externally_managed=sys.prefix == sys.base_prefix and _is_marked(),
        installer=(found.read_text("INSTALLER") or "").strip() if found else "",
        in_venv=sys.prefix != sys.base_prefix,
        in_user_site=bool(site.ENABLE_USER_SITE) and str(location).startswith(site.getusersitepackages()),
        is_writable=os.access(location, os.W_OK),
        has_pip=util.find_spec("pip") is not None,
        uv=_program("uv", environment),
        pipx=_program("pipx", environment),
    )


def entry_point() -> Path:
    """Return where the command of this environment is; an upgrade replaces it in its place."""
    return Path(sysconfig.get_path("scripts")) / DISTRIBUTION


def _distribution() -> metadata.Distribution | None:
    try:
        return metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return None


def _origin(found: metadata.Distribution | None) -> str | None:
    """Return the repository or directory that it was built from; None for an index or an archive."""
    try:
        said: Any = json.loads((found.read_text("direct_url.json") if found else "") or "{}")
    except ValueError:
        return None
    if not isinstance(said, dict) or not ("vcs_info" in said or "dir_info" in said):
        return None
    return str(said.get("url", ""))


def _is_marked() -> bool:
    return (Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED").is_file()


def _program(name: str, environment: Mapping[str, str]) -> str | None:
    """Return where a tool is: named by a variable, on the PATH, or where its own installer puts it."""
    named = environment.get(name.upper(), "")
    if named and shutil.which(named):
        return named
    home = environment.get("HOME", "")
    usual = [f"{home}/{folder}" for folder in (".local/bin", ".cargo/bin")] if home else []
    return shutil.which(name, path=os.pathsep.join([environment.get("PATH", ""), *usual]))
