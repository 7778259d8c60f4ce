"""The two commands, as an installation would have put them on the PATH."""

from __future__ import annotations

import os
import sys

from tests.support.workspace import Workspace


def on_the_path(workspace: Workspace) -> dict[str, str]:
    """Put both commands into a folder of the workspace, and return an environment whose PATH begins there."""
    folder = workspace.path / "tools"
    folder.mkdir(exist_ok=True)
    for name, module in (("amplihack", "amplihack"), ("recipe-runner", "amplihack.cli.runner")):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        script.chmod(0o755)
    return {**workspace.env, "PATH": f"{folder}{os.pathsep}{workspace.env['PATH']}"}
