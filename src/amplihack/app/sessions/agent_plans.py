"""Make the plan of an agent, and the bundle that its prompt is made of, from those of its parent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from amplihack.app.sessions.opening import SessionSpec
from amplihack.bundles.child_plan import ChildPlan, Inheritance, child_plan, mapping_of, with_met_policy
from amplihack.bundles.model import Bundle
from amplihack.bundles.tree import Leaf, Table
from amplihack.errors import Problem
from amplihack.records import Record, field, replace
from amplihack.sessions.errors import SpawnRefused
from amplihack.sessions.preferences import PROTECTED_KEYS

_NOT_AN_OVERLAY = frozenset({"name", "description", "instruction", "instructions", "model_role"})


def child_of(spec: SessionSpec, child: Mapping[str, Any], asked: Mapping[str, Any], name: str) -> SessionSpec:
    """Return a spec with the plan of a child that is a bundle of its own, laid over its parent's."""
    return laid(spec, plan_of(spec.plan, child, inheritance(asked), name))


def inheritance(asked: Mapping[str, Any]) -> Inheritance:
    return Inheritance(tools=asked.get("tools"), hooks=asked.get("hooks"), protected=PROTECTED_KEYS)


def laid(spec: SessionSpec, made: ChildPlan) -> SessionSpec:
    hidden = spec.hidden_tools | made.hidden_tools
    return replace(spec, plan=made.plan, hidden_tools=hidden, own_modules=made.own_modules)


def policy_doubts(plan: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Return what is wrong with the policies of a bundle and of its agents, before any is spawned."""
    try:
        found = child_plan(plan, {}).problems
    except ValueError as error:
        what, fix = f"{error}; until then no agent can be spawned", "correct the policy of the bundle"
        return (Problem(what, None, fix, "warning", "spawn-policy"),)
    agents = mapping_of(plan.get("agents")).items()
    of_agents = (_doubts_of(plan, name, each["spawn"]) for name, each in agents if _has_policy(each))
    return (*found, *(each for problems in of_agents for each in problems if each not in found))


def _has_policy(agent: object) -> bool:
    return bool(mapping_of(mapping_of(agent).get("spawn")))


def _doubts_of(plan: Mapping[str, Any], name: str, policy: Mapping[str, Any]) -> tuple[Problem, ...]:
    try:
        found = child_plan(plan, {"spawn": policy}).problems
    except ValueError as error:
        what = f"{error}; until then it cannot be spawned"
        found = (Problem(what, None, "correct the policy of the agent", "warning", "spawn-policy"),)
    return tuple(replace(each, what=f"agent {name}: {each.what}") for each in found)


def agent_plan(
    plan: Mapping[str, Any], name: str, agent: Mapping[str, Any], asked: Mapping[str, Any]
) -> ChildPlan:
    """Return the plan of an agent that answers in place of its bundle. Raises SpawnRefused.

    `asked` is what its caller had wished for, if it was spawned before.
    """
    made = plan_of(plan, agent, inheritance(asked), name)
    return replace(made, plan=with_met_policy(made.plan, plan))


class SpawnedAgent(Record):
    """Who a session was spawned as, and what its caller had wished for."""

    name: str
    asked: Mapping[str, Any] = field(default_factory=dict)
    definition: Mapping[str, Any] = field(default_factory=dict)  # filled in by the bundle


def spawned_agents(line: Sequence[Mapping[str, Any]]) -> list[SpawnedAgent]:
    """Return who sessions were spawned as, from what is kept of them."""
    return [SpawnedAgent(str(each.get("agent_name")), mapping_of(each.get("asked"))) for each in line]


def line_plan(plan: Mapping[str, Any], line: Sequence[SpawnedAgent]) -> tuple[ChildPlan, SpawnedAgent]:
    """Return the plan of an agent that agents had spawned in turn, the topmost first, and who it is.

    What was taken away from one on the way is taken away from those below it. Raises SpawnRefused.
    """
    made, last = ChildPlan(dict(plan)), SpawnedAgent("")
    for each in line:
        agent = mapping_of(mapping_of(made.plan.get("agents")).get(each.name))
        below = agent_plan(made.plan, each.name, agent, each.asked)
        made = replace(below, hidden_tools=made.hidden_tools | below.hidden_tools)
        last = replace(each, definition=agent)
    return made, last


def plan_of(parent: Mapping[str, Any], agent: Mapping[str, Any], asked: Inheritance, name: str) -> ChildPlan:
    overlay = {key: value for key, value in agent.items() if key not in _NOT_AN_OVERLAY}
    try:
        return child_plan(parent, overlay, asked)
    except (ValueError, TypeError) as error:
        raise SpawnRefused(f"agent {name}: {error}", fix="correct the agent's definition") from error


def agent_bundle(bundle: Callable[[], Bundle], name: str, agent: Mapping[str, Any]) -> Callable[[], Bundle]:
    """Return the bundle that an agent's prompt is made of: its own instruction over the parent's context."""
    text = agent.get("instruction")

    def made() -> Bundle:
        whole = bundle()
        if not isinstance(text, str) or not text:
            return whole
        return as_listed(replace(whole, instruction=Leaf(text)), whole, name)

    return made


def as_listed(child: Bundle, parent: Bundle, name: str) -> Bundle:
    """Return a child whose instruction, given as mere text, belongs to the file of the agent that it is.

    So it may mention what that file may, whoever has carried the text here.
    """
    own = child.instruction
    if own is None or own.origin.file:
        return child
    for listed, agent in parent.agents:
        text = agent.get("instruction") if isinstance(agent, Table) else None
        if isinstance(text, Leaf) and (listed == name or str(text.value) in str(own.value)):
            return replace(child, instruction=replace(own, origin=text.origin, line=text.line))
    return child
