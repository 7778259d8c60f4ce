"""Look at and switch the parts of a running session."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from amplifier_foundation.configurator._types import IncludeStep, ItemRecord
from amplifier_foundation.paths.resolution import get_amplifier_home
from amplihack.bundles.foundation.include_walks import walk_back
from amplihack.bundles.masking import masked_value
from amplihack.system.foundation.app_yaml import read_now, write_now
from amplihack.system.foundation.session_switches import SessionSwitches
from amplihack.system.foundation.session_working_dir import get_working_dir

__all__ = ["SessionConfigurator", "walk_include_chain", "walk_include_chains"]

_logger = logging.getLogger(__name__)
_KINDS = {"tools": "tool", "hooks": "hook", "providers": "provider", "agents": "agent", "context": "context"}


class SessionConfigurator(SessionSwitches):
    """Switches of a session, and lists of what it is made of."""

    def __init__(self, session: Any, prepared_bundle: Any, registry: Mapping[str, Any] | None = None) -> None:
        self._bundle, self._plan, self._registry = (
            prepared_bundle.bundle,
            prepared_bundle.mount_plan,
            registry or {},
        )
        super().__init__(
            session.coordinator,
            context=lambda: prepared_bundle.bundle.context,
            origins=lambda: prepared_bundle.bundle.origins,
            owner_of=getattr(session, "owner_of", lambda _: None),
            warn=_logger.warning,
            hooks=getattr(session, "hook_switches", None),
        )

    def save(self, scope: Literal["global", "project"] = "global") -> Path:
        """Write what is off to `settings.yaml`; its other keys stay. Raises ValueError for another scope."""
        if scope == "global":
            path = get_amplifier_home() / "settings.yaml"
        elif scope == "project":
            path = get_working_dir(self.coordinator) / ".amplifier" / "settings.yaml"
        else:
            raise ValueError(f"Invalid scope {scope!r}: use global or project")
        settings = read_now(path) or {}
        write_now(path, {**settings, "configurator": self.saved()})
        return path

    def context_list(self) -> list[ItemRecord]:
        return self._records("context")

    def tools_list(self) -> list[ItemRecord]:
        return self._records("tools")

    def hooks_list(self) -> list[ItemRecord]:
        return self._records("hooks")

    def providers_list(self) -> list[ItemRecord]:
        return self._records("providers")

    def agents_list(self) -> list[ItemRecord]:
        return self._records("agents")

    def behaviors_list(self) -> list[ItemRecord]:
        """Return the bundles that brought something in."""
        names = dict.fromkeys(each.bundle for found in self._bundle.origins.values() for each in found)
        return [self._behavior(name) for name in names]

    def _behavior(self, name: str) -> ItemRecord:
        return ItemRecord(
            category="behavior",
            name=name,
            enabled=name not in self.disabled_behaviors,
            module_id=None,
            source_uri=None,
            config_summary=None,
            origins=[],
            include_paths=walk_include_chains(name, self._registry),
            runtime_injection=False,
        )

    def _records(self, category: str) -> list[ItemRecord]:
        standing = self.snapshot()[category]
        on = [self._record(category, name, enabled=True) for name in standing["enabled"]]
        return [*on, *(self._record(category, name, enabled=False) for name in standing["disabled"])]

    def _record(self, category: str, name: str, *, enabled: bool) -> ItemRecord:
        module = self.owner(name) if category in ("tools", "providers", "hooks") else None
        entry = self._entry(category, module or name)
        key = f"{_KINDS[category]}:{module or name}"
        origins = list(self._bundle.origins.get(key, ()))
        config = entry.get("config") if entry is not None else None
        return ItemRecord(
            category=_KINDS[category],
            name=name,
            enabled=enabled,
            module_id=str(entry["module"]) if entry is not None and "module" in entry else module,
            source_uri=entry.get("source") if entry is not None else None,
            config_summary={each: masked_value(each, config[each]) for each in config} if config else None,
            origins=origins,
            include_paths=[
                way for each in origins for way in walk_include_chains(each.bundle, self._registry)
            ],
            runtime_injection=not origins and entry is None and category != "context",
        )

    def _entry(self, category: str, name: str) -> Mapping[str, Any] | None:
        for entry in self._plan.get(category) or () if category in ("tools", "hooks", "providers") else ():
            if isinstance(entry, Mapping) and name in (entry.get("id"), entry.get("module")):
                return entry
        return None


def walk_include_chain(name: str, registry: Mapping[str, Any]) -> list[IncludeStep]:
    """Return the way from a root to a bundle; through parents that a user asked for, if there are any."""
    ways = walk_include_chains(name, registry, max_paths=1)
    return ways[0] if ways else []


def walk_include_chains(
    name: str, registry: Mapping[str, Any], max_paths: int = 10
) -> list[list[IncludeStep]]:
    """Return every way from a root to a bundle, up to a number. Circles are broken, and logged."""
    if name not in registry:
        return []
    ways = walk_back(name, registry, most=max_paths, warn=_logger.warning)
    return [[_step(each, registry[each]) for each in way] for way in ways]


def _step(name: str, entry: Any) -> IncludeStep:
    def said(key: str) -> Any:
        return entry.get(key) if isinstance(entry, Mapping) else getattr(entry, key, None)

    return IncludeStep(name, str(said("version") or ""), str(said("uri") or ""), bool(said("is_root")))
