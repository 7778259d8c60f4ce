"""Agents as command-line tools: `choose_agent` finds the one to use, and it answers."""

from __future__ import annotations

from amplihack.system.agents.choose import Surroundings, agent_spec, choose_agent
from amplihack.system.agents.environment import RunIdentity, child_environment

__all__ = ["RunIdentity", "Surroundings", "agent_spec", "child_environment", "choose_agent"]
