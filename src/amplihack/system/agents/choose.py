"""The agent that a specification means, ready to be asked."""

from __future__ import annotations

import shlex
from pathlib import Path

from amplihack.documents.suggest import closest
from amplihack.errors import NothingToUse, UsageError
from amplihack.recipes.agents import AgentRunner
from amplihack.system.agents.claude import Claude
from amplihack.system.agents.codex import Codex
from amplihack.system.agents.command import CommandTemplate
from amplihack.system.agents.copilot import Copilot
from amplihack.system.agents.environment import child_environment
from amplihack.system.agents.launcher import Launcher
from amplihack.system.agents.rate_limits import Patient, patience_from
from amplihack.system.agents.scripted import load_script
from amplihack.system.agents.spec import INSTALL, OTHERS, Surroundings, agent_spec
from amplihack.system.agents.tool import Tool, ToolAgent


def choose_agent(spec: str | None, around: Surroundings) -> AgentRunner:
    """The agent to use. Raises NothingToUse when there is none, or the one that is named is not installed."""
    spec = agent_spec(spec, around)
    kind, _, rest = spec.partition(":")
    if kind == "scripted" and rest:
        agent: AgentRunner = load_script(Path(rest))
    else:
        environment = child_environment(around.environment, agent=spec, run=around.run)
        agent = ToolAgent(_tool(spec, around), environment)
    return Patient(agent, patience_from(around.environment))


def _tool(spec: str, around: Surroundings) -> Tool:
    kind, _, rest = spec.partition(":")
    if kind == "command" and rest:
        return _template(rest, around)
    launcher = around.variable("AMPLIHACK_LAUNCHER_BINARY")
    return _launched(launcher, spec, around) if launcher else _direct(spec, around)


def _direct(spec: str, around: Surroundings) -> Tool:
    name = Path(spec).name
    if name not in INSTALL:
        near = closest(spec, INSTALL)
        fix = f'did you mean "{near}"?' if near else f"install one of the known agents, {OTHERS}"
        raise UsageError(f'unknown agent "{spec}"', fix=fix)
    program = around.find(spec)
    if program is None:
        raise NothingToUse(f'the agent "{spec}" is not installed', fix=f"`{INSTALL[name]}`, {OTHERS}")
    extra = _extra(around)
    match name:
        case "claude":
            return Claude(program, extra)
        case "codex":
            return Codex(program, extra)
        case _:
            return Copilot(program, extra, _may_use_all_tools(around))


def _launched(launcher: str, spec: str, around: Surroundings) -> Launcher:
    program = around.find(launcher)
    if program is None:
        fix = "correct AMPLIHACK_LAUNCHER_BINARY, or unset it to start agents directly"
        raise NothingToUse(f'the launcher "{launcher}" is not installed', fix=fix)
    return Launcher(program, spec, _extra(around), _may_use_all_tools(around))


def _template(text: str, around: Surroundings) -> CommandTemplate:
    try:
        program, *arguments = shlex.split(text)
    except ValueError as error:
        raise UsageError(
            f"the agent's command cannot be read: {error}", fix=f"check its quotes: {text}"
        ) from error
    found = around.find(program)
    if found is None:
        raise NothingToUse(
            f'the agent\'s command "{program}" is not installed', fix="check its name and the PATH"
        )
    return CommandTemplate(found, tuple(arguments))


def _extra(around: Surroundings) -> tuple[str, ...]:
    """More arguments for the tool, which is also how a user widens what it may do."""
    try:
        return tuple(shlex.split(around.variable("AMPLIHACK_AGENT_ARGS")))
    except ValueError as error:
        raise UsageError(f"AMPLIHACK_AGENT_ARGS cannot be read: {error}", fix="check its quotes") from error


def _may_use_all_tools(around: Surroundings) -> bool:
    asked = around.variable("AMPLIHACK_ALLOW_ALL_TOOLS") not in ("", "0")
    return asked and not around.variable("AMPLIHACK_NO_ALLOW_ALL_TOOLS")
