"""Decide what a child session gets of its parent's plan: the spawn policy, and what the agent says itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from amplihack.bundles.merge import deep_merge, merge_module_lists, module_key
from amplihack.bundles.sections.spawn import SPAWN_KEYS, is_count
from amplihack.documents.suggest import closest
from amplihack.errors import Problem
from amplihack.records import Record

_ACCESS = ("all", "none")


class Inheritance(Record, kw_only=True):
    """What a caller asks for besides the policy; `inherit_…` lists win over `exclude_…` lists."""

    tools: Mapping[str, Any] | None = None
    hooks: Mapping[str, Any] | None = None
    protected: Collection[str] = ()  # keys of a provider's config that no agent changes


class ChildPlan(Record):
    """A plan, and the tools to take away once its modules are mounted: a policy may name tools, too."""

    plan: dict[str, Any]
    problems: tuple[Problem, ...] = ()
    hidden_tools: frozenset[str] = frozenset()
    own_modules: frozenset[str] = frozenset()  # whose tools the agent keeps, whatever they are called


def child_plan(
    parent: Mapping[str, Any],
    agent: Mapping[str, Any],
    asked: Inheritance = Inheritance(),  # noqa: B008 - frozen
) -> ChildPlan:
    """Lay an agent over its parent's plan. What the agent declares itself is never filtered out.

    Nothing of the result is shared with either. Raises ValueError for an `agents:` or a policy that means
    nothing.
    """
    own_policy, policy = mapping_of(agent.get("spawn")), policy_of(parent)
    problems = [*_doubts(own_policy or policy), *_without_effect(own_policy)]
    if any(own_policy.get(key) is not None for key in ("tools", "exclude_tools")):
        policy = own_policy  # of one that says nothing about tools, the bundle's still holds
    hidden = _excluded_tools(_entries(parent, "tools"), policy, asked.tools)
    plan: dict[str, Any] = {key: deepcopy(value) for key, value in parent.items()}
    inherited = _inherited_tools(_entries(parent, "tools"), policy, problems)
    inherited = _asked(inherited, asked.tools, "tools")
    plan["tools"] = _with_own(inherited, _entries(parent, "tools"), _entries(agent, "tools"))
    hooks = _asked(_entries(parent, "hooks"), asked.hooks, "hooks")
    plan["hooks"] = _with_own(hooks, _entries(parent, "hooks"), _entries(agent, "hooks"))
    plan["providers"] = _providers(
        _entries(parent, "providers"), _entries(agent, "providers"), asked.protected
    )
    session = mapping_of(agent.get("session"))
    plan["session"] = deep_merge(_long(parent.get("session")), _long(session))
    plan["agents"] = _agents(mapping_of(parent.get("agents")), agent.get("agents"))
    own = frozenset(str(each["module"]) for each in _entries(agent, "tools") if each.get("module"))
    return ChildPlan(plan, tuple(problems), hidden, own)


def with_met_policy(plan: dict[str, Any], parent: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out of a policy the tools that it has taken away from a plan: there they are names of nothing."""
    policy = policy_of(plan)
    excluded = policy.get("exclude_tools")
    if not isinstance(excluded, list):
        return plan
    known, before = (
        {name for each in _entries(of, "tools") for name in _names(each)} for of in (plan, parent)
    )
    kept = [name for name in excluded if name in known or name not in before]
    return {**plan, "spawn": {**policy, "exclude_tools": kept}}


def with_orchestrator_config(plan: dict[str, Any], config: Mapping[str, Any] | None) -> dict[str, Any]:
    """Lay settings of the caller over the loop's: where the kernel reads them, and where programs look."""
    if not config:
        return plan
    session = _long(plan.get("session"))
    role = session.get("orchestrator")
    if isinstance(role, dict):
        role = {**role, "config": {**(role.get("config") or {}), **deepcopy(dict(config))}}
        session["orchestrator"] = role
    beside = mapping_of(plan.get("orchestrator"))
    merged = {**mapping_of(beside.get("config")), **deepcopy(dict(config))}
    return {**plan, "session": session, "orchestrator": {**beside, "config": merged}}


def policy_of(plan: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping_of(plan.get("spawn"))


def max_depth(plan: Mapping[str, Any], default: int) -> int:
    """Return how many levels of agents the policy allows."""
    limit = policy_of(plan).get("max_depth")
    return limit if is_count(limit) else default


def _doubts(policy: Mapping[str, Any]) -> Iterator[Problem]:
    """Find what an author of a policy did not mean."""
    for key in policy:
        meant = closest(str(key), SPAWN_KEYS) if key not in SPAWN_KEYS else None
        if meant:
            yield _doubt(f"spawn.{key} is unknown and does nothing", f"write {meant}")
    if policy.get("tools") is not None and policy.get("exclude_tools"):
        yield _doubt("spawn.exclude_tools does nothing beside spawn.tools", "keep one of the two")
    limit = policy.get("max_depth")
    if limit is not None and not is_count(limit):
        yield _doubt(f"spawn.max_depth is {limit!r}, and does nothing", "write a whole number")


def _without_effect(policy: Mapping[str, Any]) -> Iterator[Problem]:
    if policy.get("max_depth") is not None:
        yield _doubt("spawn.max_depth of an agent does nothing", "write it into `spawn:` of the bundle")


def _doubt(what: str, fix: str) -> Problem:
    return Problem(what, None, fix, "warning", "spawn-policy")


def _listed(policy: Mapping[str, Any], key: str, owner: str = "spawn.") -> Sequence[Any] | None:
    """Return what a policy lists; one name alone is a list too. Raises ValueError for anything else."""
    found = policy.get(key)
    if isinstance(found, str | dict):
        return [found]
    if found is None or isinstance(found, list | tuple):
        return found
    raise ValueError(f"{owner}{key}: {found!r} means nothing: write a list of modules")


def _excluded_tools(
    tools: list[dict[str, Any]], policy: Mapping[str, Any], asked: Mapping[str, Any] | None
) -> frozenset[str]:
    """Return the names that are excluded and that no module has: a tool may have one of them."""
    wishes = asked or {}
    by_policy = _listed(policy, "exclude_tools") if policy.get("tools") is None else None
    by_caller = _listed(wishes, "exclude_tools", "") if wishes.get("inherit_tools") is None else None
    known = {name for each in tools for name in _names(each)}
    excluded = (*(by_policy or ()), *(by_caller or ()))
    return frozenset(each for each in excluded if isinstance(each, str) and each not in known)


def _inherited_tools(
    tools: list[dict[str, Any]], policy: Mapping[str, Any], problems: list[Problem]
) -> list[dict[str, Any]]:
    """Apply the policy of a bundle: `tools` names all there is, `exclude_tools` what there is not."""
    listed = _listed(policy, "tools")
    if listed is not None:
        return [found for each in listed if (found := _named(each, tools, problems)) is not None]
    excluded = _listed(policy, "exclude_tools")
    if excluded is None:
        return tools
    known = {name for each in tools for name in _names(each)}
    for name in excluded:
        if not isinstance(name, str):
            what = f"spawn.exclude_tools: {name!r} is no name, and excludes nothing"
            problems.append(Problem(what, None, "write the name of a module", "warning", "unknown-tool"))
        elif name not in known:
            what = f"spawn.exclude_tools: {name!r} is no module; only a tool of that name is excluded"
            fix = f"the modules are {', '.join(sorted(map(str, known))) or 'none'}"
            problems.append(Problem(what, None, fix, "warning", "unknown-tool"))
    return [each for each in tools if not _names(each) & _plain(excluded)]


def _named(wanted: object, tools: list[dict[str, Any]], problems: list[Problem]) -> dict[str, Any] | None:
    if isinstance(wanted, dict):
        (merged,) = merge_module_lists(
            [each for each in tools if _names(each) & _names(wanted)][:1], [wanted]
        )
        return merged
    for each in tools if isinstance(wanted, str) else ():
        if wanted in _names(each):
            return deepcopy(each)
    what = f"spawn.tools names {wanted!r}, and there is no such tool"
    fix = "name a module of `tools:`, or write a whole entry with its `source:`"
    problems.append(Problem(what, None, fix, "warning", "unknown-tool"))
    return None


def _asked(entries: list[dict[str, Any]], asked: Mapping[str, Any] | None, kind: str) -> list[dict[str, Any]]:
    wishes = asked or {}
    allowed, excluded = (_listed(wishes, f"{word}_{kind}", "") for word in ("inherit", "exclude"))
    if allowed is not None:
        return [each for each in entries if _names(each) & _plain(allowed)]
    return [each for each in entries if not _names(each) & _plain(excluded or ())]


def _plain(names: Sequence[Any]) -> set[str]:
    return {each for each in names if isinstance(each, str)}


def _with_own(
    inherited: list[dict[str, Any]], all_of_parent: list[dict[str, Any]], own: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Add what the agent declares; the settings of the parent's entry of that name lie below it."""
    names = {module_key(each) for each in own}
    below = [each for each in all_of_parent if module_key(each) in names]
    kept = [each for each in inherited if module_key(each) not in names]
    return [*deepcopy(kept), *merge_module_lists(below, own)]


def _providers(
    parent: list[dict[str, Any]], own: list[dict[str, Any]], protected: Collection[str]
) -> list[dict[str, Any]]:
    known = {module_key(each) for each in parent}
    return merge_module_lists(
        parent, [_harmless(each, protected) if module_key(each) in known else each for each in own]
    )


def _harmless(entry: dict[str, Any], protected: Collection[str]) -> dict[str, Any]:
    """Drop from an agent's entry what would send its parent's requests elsewhere."""
    config = {key: value for key, value in mapping_of(entry.get("config")).items() if key not in protected}
    kept = {key: value for key, value in entry.items() if key not in ("config", "source")}
    return {**kept, "config": config} if config else kept


def _agents(agents: Mapping[str, Any], access: object) -> dict[str, Any]:
    """Return whom a child may call. An access that means nothing is never taken for `all`."""
    if access is None or access == "all":
        return deepcopy(dict(agents))
    if access == "none":
        return {}
    if isinstance(access, list | tuple):
        return {name: deepcopy(each) for name, each in agents.items() if name in access}
    if isinstance(access, Mapping):
        return deepcopy({**agents, **access})
    raise ValueError(f"agents: {access!r} means nothing: use {', '.join(_ACCESS)} or a list of names")


def _names(entry: Mapping[str, Any]) -> set[str]:
    names = (entry.get(key) for key in ("id", "instance_id", "module"))
    return {name for name in names if isinstance(name, str)}


def _entries(plan: Mapping[str, Any], section: str) -> list[dict[str, Any]]:
    listed = plan.get(section)
    found: Iterable[Any] = listed if isinstance(listed, list | tuple) else ()
    entries = ({"module": each} if isinstance(each, str) else each for each in found)
    return [each for each in entries if isinstance(each, dict)]


def _long(session: object) -> dict[str, Any]:
    """Write the roles of a session in their long form, so that they merge."""
    found = dict(mapping_of(session))
    for role in ("orchestrator", "context"):
        if isinstance(found.get(role), str):
            source = found.pop(f"{role}_source", None)
            found[role] = {"module": found[role], **({"source": source} if source else {})}
    return found


def mapping_of(value: object) -> Mapping[str, Any]:
    """Return a part of a plan that should be a mapping; anything else holds nothing."""
    return value if isinstance(value, Mapping) else {}
