"""Start an agent tool for a person, with our environment. Its settings and permissions stay as they are."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence

from amplihack.errors import NothingToUse
from amplihack.system.agent_tools.environment import check_depth, host_environment
from amplihack.system.agent_tools.table import programs
from amplihack.system.foreground import run_in_foreground
from amplihack.system.home import Home
from amplihack.system.pinned_generation import pinned, pinned_environment
from amplihack.system.random_tokens import token
from amplihack.version import __version__


def start_host(name: str, words: Sequence[str], home: Home, environment: Mapping[str, str]) -> int:
    """Run the tool with these words until it ends, and return its exit code (128+n for signal n).

    The generation of the staged bundle that it starts with is kept for it. Raises NothingToUse if it is not
    installed, and AgentFailed where agents are nested too deeply.
    """
    program = shutil.which(name, path=environment.get("PATH"))
    if program is None:
        raise NothingToUse(f"{name} is not on the PATH", fix=programs()[name].install)
    child = host_environment(
        pinned_environment(environment, home),
        agent=name,
        tree_id=token(4),
        more={"AMPLIHACK_HOME": str(home.root), "AMPLIHACK_VERSION": __version__},
    )
    check_depth(child)
    with pinned(home):
        return run_in_foreground((program, *words), child)
