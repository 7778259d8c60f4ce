"""List all agents in one table, which choosing, help pages and error messages read.

To add a tool, write its module and add a row to `AGENTS`. Importing the table loads none of the tools.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from amplihack.records import Record

if TYPE_CHECKING:
    from amplihack.recipes.agent_port import AgentRunner
    from amplihack.system.agent_tools.spec import AgentSearch
    from amplihack.system.agent_tools.tool import Tool


class Start(Record, kw_only=True):
    """How to start a program. `allow` are the flags that extend its permissions."""

    program: str
    extra: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()


class LaunchedAgent(Record, kw_only=True):
    """A name that only a launcher understands."""

    takes_system_prompt: bool = False


class InstalledAgent(Record, kw_only=True):
    """A command-line tool that a user installs, chosen by its name or its path."""

    install: str
    start: Callable[[Start], Tool]
    allow_all_tools: tuple[str, ...] = ()  # its flags for AMPLIHACK_ALLOW_ALL_TOOLS
    takes_system_prompt: bool = False  # behind a launcher


class DescribedAgent(Record, kw_only=True):
    """An agent that is described rather than installed: `<name>:<argument>`."""

    argument: str  # as help pages show it
    open: Callable[[str, AgentSearch], AgentRunner]
    is_path: bool = False  # a nested run must find the same file from any directory


class OwnAgent(Record, kw_only=True):
    """Sessions of our own: the name alone, or `<name>:<argument>`. The wiring of runs opens them."""

    argument: str


AgentKind: TypeAlias = InstalledAgent | DescribedAgent | LaunchedAgent | OwnAgent

SESSION = "session"


def _claude(start: Start) -> Tool:
    from amplihack.system.agent_tools.claude import Claude  # deferred, as below: only the chosen one loads

    return Claude(start.program, start.extra)


def _copilot(start: Start) -> Tool:
    from amplihack.system.agent_tools.copilot import Copilot

    return Copilot(start.program, start.extra, start.allow)


def _codex(start: Start) -> Tool:
    from amplihack.system.agent_tools.codex import Codex

    return Codex(start.program, start.extra)


def _command(template: str, search: AgentSearch) -> AgentRunner:
    from amplihack.system.agent_tools.command import read_template
    from amplihack.system.agent_tools.tool import ToolAgent

    return ToolAgent(read_template(template, search), search.child_environment(f"command:{template}"))


def _scripted(file: str, _search: AgentSearch) -> AgentRunner:
    from amplihack.system.agent_tools.scripted import load_script

    return load_script(Path(file))


# Without a choice the first program that is installed is used, in this order.
AGENTS: dict[str, AgentKind] = {
    "claude": InstalledAgent(
        install="npm install -g @anthropic-ai/claude-code", start=_claude, takes_system_prompt=True
    ),
    "copilot": InstalledAgent(
        install="npm install -g @github/copilot", start=_copilot, allow_all_tools=("--allow-all-tools",)
    ),
    "codex": InstalledAgent(install="npm install -g @openai/codex", start=_codex),
    "command": DescribedAgent(argument="<template>", open=_command),
    "scripted": DescribedAgent(argument="<file>", open=_scripted, is_path=True),
    SESSION: OwnAgent(argument="bundle"),
    "launch": LaunchedAgent(takes_system_prompt=True),
    "RustyClawd": LaunchedAgent(takes_system_prompt=True),
}


def programs() -> dict[str, InstalledAgent]:
    """Return the tools that can be installed, in order of preference."""
    return {name: kind for name, kind in AGENTS.items() if isinstance(kind, InstalledAgent)}


def choices() -> str:
    """Return everything that `--agent` accepts, for a help page or an error message."""
    own = [f"{name}[:{kind.argument}]" for name, kind in AGENTS.items() if isinstance(kind, OwnAgent)]
    forms = [f"{name}:{kind.argument}" for name, kind in AGENTS.items() if isinstance(kind, DescribedAgent)]
    return _listed([*programs(), *own, *forms], "or")


def program_names() -> str:
    """Return the names of the installable tools, as a sentence lists them."""
    return _listed(list(programs()), "and")


def _listed(words: list[str], last: str) -> str:
    return f"{', '.join(words[:-1])} {last} {words[-1]}"
