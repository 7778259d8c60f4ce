"""Decide which agent is meant: the named one, or the first installed one. Loads none of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from amplihack.errors import NothingToUse
from amplihack.records import Record
from amplihack.system.agent_tools.environment import RunIdentity, child_environment
from amplihack.system.agent_tools.table import (
    AGENTS,
    SESSION,
    DescribedAgent,
    OwnAgent,
    choices,
    program_names,
    programs,
)
from amplihack.system.home import Home

_SETTINGS = ("settings.yaml", "settings.local.yaml")


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
    """Return `spec`, else the one of the environment or the settings, else an installed tool, else `session`.

    A path in it is made absolute: a run inside this one must find the same from any directory.
    """
    return lasting(spec or named_agent(search) or _own_session(search), search.cwd)


def spec_for_children(spec: str | None, search: AgentSearch) -> str | None:
    """Return what runs inside this one are told to use. They find sessions of our own by themselves."""
    found = spec or named_agent(search)
    return lasting(found, search.cwd) if found else None


def named_agent(search: AgentSearch) -> str:
    """Return the agent that the environment or the settings name, else the first installed tool, else ''."""
    return search.variable("AMPLIHACK_AGENT_BINARY") or _of_the_settings(search) or _first_installed(search)


def _of_the_settings(search: AgentSearch) -> str:
    home = Home.from_environment(search.environment, search.cwd)
    if not os.path.lexists(home.root / "settings.yaml"):
        return ""
    from amplihack.system.settings_files import home_agent  # deferred: few have settings

    return home_agent(home)


def lasting(spec: str, cwd: Path) -> str:
    """Return the specification with its path made absolute, so that it means the same in any directory."""
    kind, _, rest = spec.partition(":")
    form = AGENTS.get(kind)
    if not rest:
        return spec
    is_path = isinstance(form, DescribedAgent) and form.is_path
    if isinstance(form, OwnAgent):
        is_path = "://" not in rest and rest[:4] != "git+" and (cwd / rest).exists() and "/" in rest
    if isinstance(form, DescribedAgent) and not form.is_path:
        import shlex  # deferred: ordinary recipes do not need it

        program, blank, arguments = rest.partition(" ")
        is_program = "/" in program and not set(program) & set("'\"\\~") and (cwd / program).exists()
        return f"{kind}:{shlex.quote(str(cwd / program))}{blank}{arguments}" if is_program else spec
    return f"{kind}:{cwd / rest}" if is_path else spec


def session_bundle(spec: str) -> str | None:
    """Return the bundle that a specification of our own sessions names, empty if none; None for others."""
    kind, _, rest = spec.partition(":")
    return rest if isinstance(AGENTS.get(kind), OwnAgent) else None


def another() -> str:
    """Return the advice at the end of every error about an agent."""
    return f"or choose another with --agent: {choices()}"


def _first_installed(search: AgentSearch) -> str:
    known = programs()
    first = next(iter(known))
    if search.variable("AMPLIHACK_LAUNCHER_BINARY"):
        return first
    return next((name for name in known if search.find(name)), "")


def _own_session(search: AgentSearch) -> str:
    """Return sessions of our own. Raises NothingToUse if there is no model to ask."""
    if can_open_session(search.environment, search.cwd):
        return SESSION
    from amplihack.sessions.model_choice import (  # deferred: most runs find a tool, or need none
        ways_to_a_model,
    )
    from amplihack.system.model_facts import model_facts

    first = next(iter(programs().values()))
    facts = model_facts(search.environment, Home.from_environment(search.environment, search.cwd))
    raise NothingToUse(
        f"there is no agent to use: none of {program_names()} is on the PATH, and there is no model to ask",
        fix=f"there are three ways:\n    an agent tool  {program_names()}, such as `{first.install}`\n"
        f"{ways_to_a_model(facts)}\n  {another()}",
    )


def can_open_session(environment: Mapping[str, str], cwd: Path) -> bool:
    """Tell whether there is a model to ask: a provider in the environment or the settings, or one of ours.

    Every run asks where no agent tool is installed, so that it looks at the cheap things first.
    """
    from amplihack.sessions.model_choice import ModelFacts, has_local, is_configured  # deferred, as above

    home = Home.from_environment(environment, cwd)
    if is_configured(ModelFacts(environment=environment)) or _settings_name_a_provider(home, cwd):
        return True
    if not any((home.root / "models").glob("*.gguf")):
        return False
    from amplihack.system.model_facts import model_facts  # deferred, as above

    return has_local(model_facts(environment, home))


def _settings_name_a_provider(home: Home, cwd: Path) -> bool:
    if not any(
        os.path.lexists(each / name) for each in (home.root, cwd / ".amplihack") for name in _SETTINGS
    ):
        return False
    from amplihack.system.settings_files import read_settings  # deferred, as above

    return bool(read_settings(home, cwd).modules.get("providers"))
