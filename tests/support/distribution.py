"""Programs of any version, with or without a bundle, that run the code of this checkout."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.framework_bundle import write_bundle

from amplihack.version import __version__

if TYPE_CHECKING:
    from tests.support.workspace import Workspace  # which uses `bare_program`

_SOURCE = Path(__file__).parents[2] / "src"
_PACKAGE = _SOURCE / "amplihack"


@cache
def bare_program() -> Path:
    """Return the place of a program of this version that carries no bundle, made once for each process."""
    site = Path(tempfile.mkdtemp(prefix="amplihack-bare-"))
    site.chmod(0o755)  # some tests run it as another user
    atexit.register(shutil.rmtree, site, ignore_errors=True)
    (site / "amplifier_foundation").symlink_to(_SOURCE / "amplifier_foundation")
    return make_program(site, __version__)


def make_program(site: Path, version: str, *, mark: str | None = None) -> Path:
    """Make a package that is ours but for its version and its bundle; `mark` None means no bundle.

    It is found through `PYTHONPATH`, as one in site-packages is. Returns the directory to put there.
    """
    package = site / "amplihack"
    package.mkdir(parents=True)
    for part in _PACKAGE.iterdir():
        if part.name not in ("version.py", "_bundle", "__pycache__"):
            (package / part.name).symlink_to(part)
    (package / "version.py").write_text(f'__version__ = "{version}"\n', "utf-8")
    if mark is not None:
        write_bundle(package / "_bundle", mark=mark, version=version)
    return site


def use(workspace: Workspace, version: str, mark: str | None = "") -> Workspace:
    """Let the workspace run a program of this version, with a bundle that is marked with it unless told."""
    site = workspace.path / f"site-{version}-{mark}"
    if not site.exists():
        make_program(site, version, mark=version if mark == "" else mark)
    workspace.env["PYTHONPATH"] = str(site)
    return workspace
