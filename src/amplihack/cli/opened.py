"""Open the workspace that the flags of a command name, and tell what is odd about them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from amplihack.cli.show import show_problems

if TYPE_CHECKING:
    from amplihack.app.workspace import Workspace


def workspace_of(options: argparse.Namespace) -> Workspace:
    """Return the workspace for `-R`, `-C` and `--env-file`; warnings about them go to stderr."""
    from amplihack.app.workspace import open_workspace  # deferred: a mistyped flag does not need it

    workspace = open_workspace(options.recipe_dir, options.working_dir, getattr(options, "env_file", ()))
    show_problems(workspace.notes)
    return workspace
