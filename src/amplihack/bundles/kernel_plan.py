"""Turn a mount plan, however it was put together, into what the kernel takes without stumbling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from amplihack.bundles.module_needs import ROLES
from amplihack.bundles.sections.table import MODULE_SECTIONS, SECTIONS
from amplihack.errors import Problem
from amplihack.records import Record

_OURS = frozenset(section.name for section in SECTIONS if not section.for_kernel)


class KernelPlan(Record):
    """The plan of one session. Nothing in it is shared with anything."""

    plan: dict[str, Any]
    problems: tuple[Problem, ...] = ()


def kernel_plan(plan: Mapping[str, Any]) -> KernelPlan:
    """Return a plan of clean lists and mappings; an entry that cannot be read is left out and told."""
    problems: list[Problem] = []
    whole = {key: deepcopy(value) for key, value in plan.items() if key not in _OURS}
    whole["session"] = _session(whole, problems)
    for section in MODULE_SECTIONS:
        whole[section] = list(_modules(section, whole.get(section), problems))
    agents = whole.get("agents")
    if agents is not None and not isinstance(agents, dict):
        problems.append(_unreadable("agents", agents, "a mapping of names to agents"))
    whole["agents"] = agents if isinstance(agents, dict) else {}
    return KernelPlan(whole, tuple(problems))


def _session(plan: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """Write both roles in their long form: the short one has its source and config elsewhere."""
    found = plan.get("session")
    session: dict[str, Any] = found if isinstance(found, dict) else {}
    for role in ROLES:
        entry = session.get(role)
        if isinstance(entry, str) and entry:
            beside = plan.get(role)
            config = beside.get("config") if isinstance(beside, dict) else None
            source = session.pop(f"{role}_source", None)
            entry = {"module": entry, "source": source, "config": config}
        if entry is not None:
            clean = _entry(f"session.{role}", entry, problems)
            if clean is None:
                session.pop(role)
            else:
                session[role] = clean
    return session


def _modules(section: str, listed: object, problems: list[Problem]) -> Iterator[dict[str, Any]]:
    if listed is None:
        return
    if not isinstance(listed, list | tuple):
        problems.append(_unreadable(section, listed, "a list of modules"))
        return
    seen: set[str] = set()
    for index, entry in enumerate(listed):
        clean = _entry(f"{section}[{index}]", entry, problems)
        if clean is not None:
            again = clean["module"] in seen and not clean.get("instance_id")
            if again and section != "hooks":  # two of those hear side by side
                problems.append(_doubled(section, clean["module"]))
            seen.add(clean["module"])
            yield clean


def _entry(path: str, entry: object, problems: list[Problem]) -> dict[str, Any] | None:
    if isinstance(entry, str) and entry:
        return {"module": entry}
    if not isinstance(entry, dict) or not isinstance(entry.get("module"), str) or not entry["module"]:
        problems.append(_unreadable(path, entry, "a mapping with a 'module'"))
        return None
    clean = {key: value for key, value in entry.items() if value is not None and key != "id"}
    if "id" in entry and "instance_id" not in entry and path.startswith("providers"):
        clean["instance_id"] = entry["id"]
    if not isinstance(clean.get("config", {}), dict):
        problems.append(_unreadable(f"{path}.config", clean.pop("config"), "a mapping"))
    if not isinstance(clean.get("source", ""), str):
        problems.append(_unreadable(f"{path}.source", clean.pop("source"), "a text"))
    return clean


def _doubled(section: str, module: str) -> Problem:
    what = f"{section} has {module} twice; the later one takes the place of the first"
    fix = "give each further one an `id:`" if section == "providers" else "keep one of them"
    return Problem(what, fix=fix, severity="warning", code="module-twice")


def _unreadable(path: str, value: object, wanted: str) -> Problem:
    what = f"{path} should be {wanted}, and is {type(value).__name__}: {value!r}; it is left out"
    return Problem(what, fix="correct it in the bundle or in settings", code="unreadable-entry")
