"""Which agent is meant: the one that was named, or the first that is installed. Loads none of them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from amplihack.errors import NothingToUse
from amplihack.system.agents.environment import RunIdentity

INSTALL = {
    "claude": "npm install -g @anthropic-ai/claude-code",
    "copilot": "npm install -g @github/copilot",
    "codex": "npm install -g @openai/codex",
}
OTHERS = "or choose another with --agent: claude, copilot, codex, command:<template> or scripted:<file>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the choice depends on: the environment that we were started with, and the current directory."""

    environment: Mapping[str, str]
    cwd: Path
    run: RunIdentity

    def variable(self, name: str) -> str:
        return self.environment.get(name, "")

    def find(self, program: str) -> str | None:
        """The program's full path, if it is there to be run."""
        path = str(self.cwd / program) if "/" in program else program
        search = self.variable("PATH") or "/usr/local/bin:/usr/bin:/bin"
        return shutil.which(path, path=search)


def agent_spec(spec: str | None, around: Surroundings) -> str:
    """`spec`, else `AMPLIHACK_AGENT_BINARY`, else the first installed tool, as a nested run is to read it."""
    spec = spec or around.variable("AMPLIHACK_AGENT_BINARY") or _first_installed(around)
    kind, _, rest = spec.partition(":")
    return f"scripted:{around.cwd / rest}" if kind == "scripted" and rest else spec


def _first_installed(around: Surroundings) -> str:
    if around.variable("AMPLIHACK_LAUNCHER_BINARY"):
        return "claude"
    for name in INSTALL:
        if around.find(name):
            return name
    raise NothingToUse(
        "there is no agent to use: none of claude, copilot and codex is on the PATH",
        fix=f"install one, such as `{INSTALL['claude']}`, {OTHERS}",
    )
