"""Make the mount plan: plain data, exactly as the kernel takes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, cast

from amplihack.bundles.model import Bundle
from amplihack.bundles.sections.table import BY_NAME, PLANS, SECTIONS


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
    """Return new data on every call, without the sections that are empty."""
    return cast(MountPlan, plan_of(plain_sections(bundle)))


def plain_sections(bundle: Bundle) -> dict[str, Any]:
    """Return new plain data for each section of a plan that the bundle has."""
    sections = bundle.sections
    return {name: BY_NAME[name].plain(sections[name]) for name in PLANS if name in sections}


def plan_of(sections: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plan that plain sections make."""
    return {name: plan(found) for name, plan in PLANS.items() if (found := sections.get(name))}


def for_kernel(plan: MountPlan) -> dict[str, Any]:
    """Return what the session is opened with: the plan without the keys that are ours."""
    whole: dict[str, Any] = {
        section.name: plan.get(section.name) for section in SECTIONS if section.for_kernel
    }
    whole["providers"] = [
        {key: value for key, value in entry.items() if key != "id"} for entry in whole["providers"] or ()
    ]
    return {key: value for key, value in whole.items() if value or (key == "session" and value is not None)}


def canonical_json(data: object) -> str:
    """Return one text for one value, whatever the order of its keys."""
    try:
        return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    except TypeError:  # keys of several types have no order; their texts have
        return canonical_json(_with_text_keys(data))


def _with_text_keys(data: object) -> object:
    if isinstance(data, Mapping):
        return {_key_text(key): _with_text_keys(value) for key, value in data.items()}
    return [_with_text_keys(each) for each in data] if isinstance(data, list | tuple) else data


def _key_text(key: object) -> str:
    """Return the key that JSON gives to it, where JSON knows such keys."""
    is_known = key is None or isinstance(key, str | int | float)
    return str(next(iter(json.loads(json.dumps({key: 0}))))) if is_known else repr(key)


def fingerprint(
    bundle: Bundle,
    *,
    context_hashes: Mapping[str, str] | None = None,
    commits: Mapping[str, str] | None = None,
) -> str:
    """Return the sha256 of all that a session is made of: plan, system text, context files, commits."""
    whole = {
        "plan": mount_plan(bundle),
        "instruction": bundle.system_instruction,
        "context": dict(context_hashes or {}),
        "commits": dict(commits or {}),
    }
    return hashlib.sha256(canonical_json(whole).encode("utf-8", "surrogatepass")).hexdigest()
