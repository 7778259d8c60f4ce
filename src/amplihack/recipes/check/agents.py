"""Agents that nobody here knows."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.documents.suggest import closest
from amplihack.errors import Problem
from amplihack.recipes.check.codes import finding
from amplihack.recipes.model import Agent, Recipe, every_step


def unknown_agents(recipe: Recipe, agents: frozenset[str]) -> Iterator[Problem]:
    """One finding for each name, where it is first used."""
    short = {_short(agent) for agent in agents}
    spaces = {_space(agent) for agent in agents if ":" in agent}
    seen = {"self", ""}
    for step in every_step(recipe.steps):
        name = step.action.agent if isinstance(step.action, Agent) else None
        if name is None or name in seen or "{{" in name:
            continue
        seen.add(name)
        if name in agents or _short(name) in short:
            continue
        meant = closest(name, agents)
        expected = _space(name) in spaces if ":" in name else meant is not None
        yield finding(
            "unknown-agent",
            "warning" if expected else "note",
            f"step '{step.id}': there is no agent '{name}' here",
            step.where,
            f"did you mean '{meant}'?" if meant else "install it, or check its name",
        )


def _space(agent: str) -> str:
    return agent.partition(":")[0]


def _short(agent: str) -> tuple[str, str]:
    """Its namespace and last name: folders in between are optional."""
    return _space(agent) if ":" in agent else "", agent.rpartition(":")[2]
