"""Wheels of this checkout in any version, and clean environments to install them into, without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from amplihack.install.identity import identify, identity_text
from amplihack.system.bundle_tree import describe_files, list_files

ROOT = Path(__file__).parents[2]
# Where the Makefile keeps the packages that we need. It is read before any test changes the home directory.
PACKAGES = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "amplihack" / "wheels"
_PARTS = (
    "src",
    "amplifier-bundle",
    "pyproject.toml",
    "build_bundle.py",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
)


def build_wheel(folder: Path, version: str) -> Path:
    """Build a wheel of this checkout as if it were of that version, and return the folder that holds it."""
    source, wheels = folder / f"source-{version}", folder / "wheels"
    source.mkdir()
    for part in _PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        copy(ROOT / part, source / part)
    (source / "src" / "amplihack" / "version.py").write_text(f'__version__ = "{version}"\n')
    write_identity(source / "amplifier-bundle", version)
    python(
        sys.executable, "-m", "pip", "wheel", "--no-index", "--no-build-isolation", "--no-deps",
        "--wheel-dir", str(wheels), str(source),
    )  # fmt: skip
    return wheels


def write_identity(bundle: Path, version: str) -> None:
    (bundle / "context" / "version.md").write_text(f"version {version}\n")
    files = {path: file for path, file in list_files(bundle).items() if path != "BUNDLE.json"}
    found = identify(describe_files(files), bundle_version=version, product_version=version)
    (bundle / "BUNDLE.json").write_text(identity_text(found), "utf-8")


def offline(folder: Path, wheels: Path) -> dict[str, str]:
    """An environment in which pip and uv know the packages of two folders and no network."""
    home = folder / "mein haus"
    home.mkdir(exist_ok=True)
    places = f"{wheels} {PACKAGES}"
    return {
        "HOME": str(home),
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": places,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": places.replace(" ", ","),
        "UV_OFFLINE": "1",
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_PYTHON": sys.executable,
        "UV_CACHE_DIR": str(folder / "uv-cache"),
        "UV_TOOL_DIR": str(folder / "uv-tools"),
        "UV_TOOL_BIN_DIR": str(folder / "bin"),
        "PIPX_HOME": str(folder / "pipx"),
        "PIPX_BIN_DIR": str(folder / "bin"),
        "PIPX_DEFAULT_PYTHON": sys.executable,
        "USE_EMOJI": "0",
    }


def python(*words: str, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(words, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout
