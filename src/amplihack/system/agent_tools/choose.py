"""Choose the agent that a specification means."""

from __future__ import annotations

import shlex
from pathlib import Path

from amplihack.documents.suggest import closest
from amplihack.errors import NothingToUse, UsageError
from amplihack.recipes.agent_port import AgentRunner
from amplihack.system.agent_tools.launcher import Launcher
from amplihack.system.agent_tools.rate_limits import Patient, patience_from
from amplihack.system.agent_tools.spec import AgentSearch, agent_spec, another
from amplihack.system.agent_tools.table import (
    AGENTS,
    DescribedAgent,
    InstalledAgent,
    LaunchedAgent,
    Start,
    programs,
)
from amplihack.system.agent_tools.tool import Tool, ToolAgent


def choose_agent(spec: str | None, search: AgentSearch) -> AgentRunner:
    """Return the agent to use. Raises NothingToUse if none, or not the named one, is installed."""
    return patient(_agent(agent_spec(spec, search), search), search)


def patient(agent: AgentRunner, search: AgentSearch) -> AgentRunner:
    """Return the agent so that it waits when it meets a rate limit."""
    return Patient(agent, patience_from(search.environment))


def _agent(spec: str, search: AgentSearch) -> AgentRunner:
    kind, _, rest = spec.partition(":")
    form = AGENTS.get(kind)
    if isinstance(form, DescribedAgent) and rest:
        return form.open(rest, search)
    launcher = search.variable("AMPLIHACK_LAUNCHER_BINARY")
    tool = _launched(launcher, spec, search) if launcher else _direct(spec, search)
    return ToolAgent(tool, search.child_environment(spec))


def _direct(spec: str, search: AgentSearch) -> Tool:
    known = programs()
    tool = known.get(Path(spec).name)
    if tool is None:
        raise UsageError(f'unknown agent "{spec}"', fix=_meant(spec, search))
    program = search.find(spec)
    if program is None:
        raise NothingToUse(f'the agent "{spec}" is not installed', fix=f"`{tool.install}`, {another()}")
    return tool.start(Start(program=program, extra=_extra(search), allow=_allow(tool, search)))


def _meant(spec: str, search: AgentSearch) -> str:
    """Return how to name the agent that was probably meant: a known one, a program or a file of answers."""
    kind = spec.partition(":")[0]
    form = AGENTS.get(kind)
    if isinstance(form, DescribedAgent):
        return f"write {kind}:{form.argument}"
    if spec.endswith((".yaml", ".yml", ".json")):
        return f"--agent {shlex.quote(f'scripted:{spec}')} takes the answers of a file"
    program = spec.split()[0] if spec.split() else ""
    if program and search.find(program):
        how = "the prompt goes to its stdin, or in place of {prompt}"
        return f"--agent {shlex.quote(f'command:{spec}')} uses this program: {how}"
    near = closest(spec, programs())
    return f'did you mean "{near}"?' if near else f"install one of the known agents, {another()}"


def _launched(launcher: str, name: str, search: AgentSearch) -> Tool:
    program = search.find(launcher)
    if program is None:
        fix = "correct AMPLIHACK_LAUNCHER_BINARY, or unset it to start agents directly"
        raise NothingToUse(f'the launcher "{launcher}" is not installed', fix=fix)
    kind = AGENTS.get(name)
    return Launcher(
        Start(
            program=program,
            extra=_extra(search),
            allow=_allow(kind, search) if isinstance(kind, InstalledAgent) else (),
        ),
        name,
        takes_system_prompt=isinstance(kind, InstalledAgent | LaunchedAgent) and kind.takes_system_prompt,
    )


def _extra(search: AgentSearch) -> tuple[str, ...]:
    """Return more arguments for the tool. Users also extend its permissions this way."""
    try:
        return tuple(shlex.split(search.variable("AMPLIHACK_AGENT_ARGS")))
    except ValueError as error:
        raise UsageError(f"AMPLIHACK_AGENT_ARGS cannot be read: {error}", fix="check its quotes") from error


def _allow(tool: InstalledAgent, search: AgentSearch) -> tuple[str, ...]:
    asked = search.variable("AMPLIHACK_ALLOW_ALL_TOOLS") not in ("", "0")
    return tool.allow_all_tools if asked and not search.variable("AMPLIHACK_NO_ALLOW_ALL_TOOLS") else ()
