"""Decide which agent is meant: the named one, or the first installed one. Loads none of them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from amplihack.errors import NothingToUse
from amplihack.records import Record
from amplihack.system.agent_tools.environment import RunIdentity, child_environment
from amplihack.system.agent_tools.table import AGENTS, DescribedAgent, choices, program_names, programs


class AgentSearch(Record, kw_only=True):
    """What the choice of an agent depends on: the environment, the current directory and the run."""

    environment: Mapping[str, str]
    cwd: Path
    run: RunIdentity

    def variable(self, name: str) -> str:
        return self.environment.get(name, "")

    def find(self, program: str) -> str | None:
        """Return the full path of a program that can be run."""
        path = str(self.cwd / program) if "/" in program else program
        search = self.variable("PATH") or "/usr/local/bin:/usr/bin:/bin"
        return shutil.which(path, path=search)

    def child_environment(self, spec: str | None) -> dict[str, str]:
        """Return the environment of the run's processes, so that a nested run finds the same agent."""
        return child_environment(self.environment, agent=spec, run=self.run)


def agent_spec(spec: str | None, search: AgentSearch) -> str:
    """Return `spec`, else `AMPLIHACK_AGENT_BINARY`, else the first installed tool."""
    spec = spec or search.variable("AMPLIHACK_AGENT_BINARY") or _first_installed(search)
    kind, _, rest = spec.partition(":")
    form = AGENTS.get(kind)
    return (
        f"{kind}:{search.cwd / rest}" if rest and isinstance(form, DescribedAgent) and form.is_path else spec
    )


def another() -> str:
    """Return the advice at the end of every error about an agent."""
    return f"or choose another with --agent: {choices()}"


def _first_installed(search: AgentSearch) -> str:
    known = programs()
    first = next(iter(known))
    if search.variable("AMPLIHACK_LAUNCHER_BINARY"):
        return first
    for name in known:
        if search.find(name):
            return name
    raise NothingToUse(
        f"there is no agent to use: none of {program_names()} is on the PATH",
        fix=f"install one, such as `{known[first].install}`, {another()}",
    )
