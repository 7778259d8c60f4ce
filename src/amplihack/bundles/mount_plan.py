"""The mount plan: plain data, exactly as the kernel takes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, NotRequired, TypedDict, cast

from amplihack.bundles.model import SECTIONS, Bundle
from amplihack.bundles.tree import Leaf, Table, Tree, leaves, to_plain


class Module(TypedDict):
    module: str
    source: NotRequired[str]
    config: NotRequired[dict[str, Any]]
    instance_id: NotRequired[str]


class Session(TypedDict, total=False):
    orchestrator: Module
    context: Module
    raw: bool
    metadata: dict[str, Any]
    injection_size_limit: int | None
    injection_budget_per_turn: int | None


class MountPlan(TypedDict, total=False):
    """`spawn` is ours: a child session needs it, and `for_kernel` takes it out."""

    session: Session
    providers: list[Module]
    tools: list[Module]
    hooks: list[Module]
    agents: dict[str, dict[str, Any]]
    spawn: dict[str, Any]


def mount_plan(bundle: Bundle) -> MountPlan:
    """New data on every call, without the sections that are empty."""
    plan: MountPlan = {}
    session = _session(bundle.session)
    if session:
        plan["session"] = session
    providers = [_with_instance(entry) for entry in bundle.plain("providers")]
    if providers:
        plan["providers"] = providers
    if tools := bundle.plain("tools"):
        plan["tools"] = tools
    if hooks := bundle.plain("hooks"):
        plan["hooks"] = hooks
    if agents := bundle.plain("agents"):
        plan["agents"] = agents
    if spawn := bundle.plain("spawn"):
        plan["spawn"] = spawn
    return plan


def _session(table: Table) -> Session:
    plain: Session = to_plain(table)
    for role in ("orchestrator", "context"):
        part = table.get(role)
        if isinstance(part, Leaf) and isinstance(part.value, str):
            plain[role] = {"module": part.value}
    return plain


def _with_instance(entry: dict[str, Any]) -> Module:
    """The kernel calls the id of one provider among several of its kind `instance_id`."""
    named = {**entry}
    if named.get("id") and not named.get("instance_id"):
        named["instance_id"] = named["id"]
    return cast(Module, named)


def for_kernel(plan: MountPlan) -> dict[str, Any]:
    """What the session is opened with: the plan without the keys that are ours."""
    kernel_keys = ("session", *SECTIONS, "agents")
    whole: dict[str, Any] = {key: value for key, value in plan.items() if key in kernel_keys}
    whole["providers"] = [
        {key: value for key, value in entry.items() if key != "id"} for entry in whole.get("providers", [])
    ]
    return {key: value for key, value in whole.items() if value or key == "session"}


def plan_leaves(bundle: Bundle) -> Iterator[tuple[tuple[str, ...], Tree]]:
    """Every value of the plan with its path, modules and agents under their names."""
    for section in ("session", *SECTIONS, "agents", "spawn"):
        table: Table = getattr(bundle, section)
        if table.entries:
            yield from leaves(table, (section,))


def canonical_json(data: object) -> str:
    """One text for one value, whatever the order of its keys."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


def fingerprint(
    bundle: Bundle,
    *,
    context_hashes: Mapping[str, str] | None = None,
    commits: Mapping[str, str] | None = None,
) -> str:
    """The sha256 of all that a session is made of: plan, system text, context files, source commits."""
    whole = {
        "plan": mount_plan(bundle),
        "instruction": bundle.system_instruction,
        "context": dict(context_hashes or {}),
        "commits": dict(commits or {}),
    }
    return hashlib.sha256(canonical_json(whole).encode("utf-8", "surrogatepass")).hexdigest()
