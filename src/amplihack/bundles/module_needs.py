"""List the modules that a mount plan needs, each once, with where they come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amplihack.bundles.sections.table import MODULE_SECTIONS
from amplihack.bundles.uris import shown
from amplihack.errors import Problem
from amplihack.records import Record

ROLES = ("orchestrator", "context")  # of the session: it has exactly one of each


class ModuleNeed(Record):
    """A module, its source as written, and the agent that alone wants it, if any."""

    module: str
    source: str
    agent: str = ""


class ModuleNeeds(Record):
    needs: tuple[ModuleNeed, ...]
    problems: tuple[Problem, ...] = ()


def module_needs(plan: Mapping[str, Any]) -> ModuleNeeds:
    """Return the modules that have a source. One process holds one copy of each: the session's wins."""
    found: dict[str, ModuleNeed] = {}
    problems: dict[str, Problem] = {}
    spawn = plan.get("spawn")
    for_children = _needs(spawn, "") if isinstance(spawn, Mapping) else ()
    for need in (*_needs(plan, ""), *_agent_needs(plan), *for_children):
        known = found.setdefault(need.module, need)
        if known.source != need.source:
            wants = f"agent {need.agent!r}" if need.agent else "another entry"
            problems.setdefault(
                f"{need.module} {need.agent}",
                Problem(
                    f"{need.module} comes from {shown(known.source)}; {wants} wants it from"
                    f" {shown(need.source)}, and a process can hold only one of them",
                    fix="give both the same source, or name one of the modules differently",
                    severity="warning",
                    code="two-sources",
                ),
            )
    return ModuleNeeds(tuple(found.values()), tuple(problems.values()))


def _agent_needs(plan: Mapping[str, Any]) -> Iterator[ModuleNeed]:
    agents = plan.get("agents")
    for name, agent in agents.items() if isinstance(agents, Mapping) else ():
        if isinstance(agent, Mapping):
            yield from _needs(agent, str(name))


def _needs(plan: Mapping[str, Any], agent: str) -> Iterator[ModuleNeed]:
    for entry in _entries(plan):
        module, source = entry.get("module"), entry.get("source")
        if isinstance(module, str) and isinstance(source, str) and module and source:
            yield ModuleNeed(module, source, agent)


def _entries(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    session = plan.get("session")
    if isinstance(session, Mapping):
        for role in ROLES:
            entry = session.get(role)
            if isinstance(entry, Mapping):
                yield entry
            elif isinstance(entry, str):
                yield {"module": entry, "source": session.get(f"{role}_source")}
    for section in MODULE_SECTIONS:
        listed = plan.get(section)
        for entry in listed if isinstance(listed, list) else ():
            if isinstance(entry, Mapping):
                yield entry
