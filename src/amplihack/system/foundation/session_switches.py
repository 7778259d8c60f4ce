"""Switch parts of a running session off and on: what is off lies in a stash, and comes back as it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from amplihack.sessions.nested import get_nested, set_nested
from amplihack.system.kernel.hook_switches import HookSwitches

Item: TypeAlias = tuple[str, str]  # a category and a name
CATEGORIES = ("context", "tools", "hooks", "providers", "agents")
_OF_ORIGIN = {
    "context": "context",
    "tool": "tools",
    "hook": "hooks",
    "provider": "providers",
    "agent": "agents",
}
CHANGED = "configuration:changed"
_KEPT = "the kernel gives no handler back once it is registered"
_NOT_OURS = f"this session was not opened by `create_session`, and {_KEPT}"
_NOT_OF_A_MODULE = f"no module under `hooks:` registered it, and {_KEPT}; leave out what registers it"


class SessionSwitches:
    """The switches of one session. `context` and `origins` are the bundle's own; changes show next turn."""

    def __init__(
        self,
        coordinator: Any,
        *,
        context: Callable[[], dict[str, Any]],
        origins: Callable[[], Mapping[str, Sequence[Any]]],
        owner_of: Callable[[str], str | None] = lambda _: None,
        warn: Callable[[str], None] = lambda _: None,
        hooks: HookSwitches | None = None,
    ) -> None:
        self.coordinator, self._hooks = coordinator, hooks
        self._context, self._origins, self._owner_of, self._warn = context, origins, owner_of, warn
        self._stash: dict[str, dict[str, Any]] = {category: {} for category in CATEGORIES}
        self._owners: dict[str, str] = {}  # of stashed tools and providers
        self.disabled_behaviors: list[str] = []
        self.config_overrides: dict[str, Any] = {}
        self._original = self.snapshot()

    # context and agents are entries of a mapping -----------------------------------------------------------

    def context_disable(self, name: str) -> None:
        self._put_away("context", name, self._context())

    def context_enable(self, name: str) -> None:
        self._bring_back("context", name, self._context())

    def agent_disable(self, name: str) -> None:
        self._put_away("agents", name, self._agents())

    def agent_enable(self, name: str) -> None:
        self._bring_back("agents", name, self._agents())

    # tools and providers are mounted -----------------------------------------------------------------------

    async def tool_disable(self, name: str) -> None:
        """Switch off a tool, or all tools of a module. Raises ValueError if there is none."""
        await self._switch_off("tools", name)

    async def tool_enable(self, name: str) -> None:
        await self._switch_on("tools", name)

    async def tool_disable_module(self, module_id: str) -> list[str]:
        return await self._switch_off("tools", module_id)

    async def tool_enable_module(self, module_id: str) -> list[str]:
        return await self._switch_on("tools", module_id)

    async def provider_disable(self, name: str) -> None:
        await self._switch_off("providers", name)

    async def provider_enable(self, name: str) -> None:
        await self._switch_on("providers", name)

    # hooks of modules are asked or not; what else is registered cannot be had back -------------------------

    def hook_disable(self, name: str) -> None:
        """Switch off a hook, or all hooks of a module. One that cannot be switched is told and stays on."""
        self._warned(lambda: self._switch_hooks(name, on=False))

    def hook_enable(self, name: str) -> None:
        self._warned(lambda: self._switch_hooks(name, on=True))

    # everything that one bundle brought in -----------------------------------------------------------------

    async def behavior_disable(self, name: str) -> dict[str, list[str]]:
        """Switch off what only this bundle brought in. Raises ValueError if it brought nothing in."""
        if name in self.disabled_behaviors:
            return {"disabled": [], "warnings": []}
        mine = self._brought_by(name)
        off = {*self.disabled_behaviors, name}
        told = {"disabled": [], "warnings": []}  # type: dict[str, list[str]]
        for key in mine:
            # A bundle that has an item only through one that is off does not keep it on.
            claims = self._origins()[key]
            if not any(each.bundle not in off and each.via_behavior not in off for each in claims):
                await self._change(key, told, "disabled", on=False)
        self.disabled_behaviors.append(name)
        await self._tell("disable", name, told["disabled"])
        return told

    async def behavior_enable(self, name: str) -> dict[str, list[str]]:
        """Switch on again what was switched off with a bundle."""
        mine = self._brought_by(name)
        told = {"enabled": [], "warnings": []}  # type: dict[str, list[str]]
        if name in self.disabled_behaviors:
            self.disabled_behaviors.remove(name)
        for key in mine:
            await self._change(key, told, "enabled", on=True)
        await self._tell("enable", name, told["enabled"])
        return told

    # values ------------------------------------------------------------------------------------------------

    def config_get(self, path: str) -> Any:
        return get_nested(self.coordinator.config, path.split("."))

    def config_set(self, path: str, value: Any) -> None:
        set_nested(self.coordinator.config, path.split("."), value)
        self.config_overrides[path] = value

    # how it stands -----------------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, dict[str, list[str]]]:
        """Return the names that are on and off, by category."""
        on = {
            "context": list(self._context()),
            "tools": list(self._mounted("tools")),
            "hooks": self._hook_names(),
            "providers": list(self._mounted("providers")),
            "agents": list(self._agents()),
        }
        return {
            category: {"enabled": on[category], "disabled": self._off(category)} for category in CATEGORIES
        }

    def take_snapshot(self) -> dict[str, dict[str, list[str]]]:
        """Let differences be counted from now on."""
        self._original = self.snapshot()
        return self._original

    def diff_from_original(self) -> list[dict[str, str]]:
        """Return what was switched since the session began, or since the last snapshot."""
        now, found = self.snapshot(), []
        for category in CATEGORIES:
            before, after = self._original[category]["enabled"], now[category]["enabled"]
            gone = [
                {"category": category, "name": each, "action": "disabled"}
                for each in before
                if each not in after
            ]
            new = [
                {"category": category, "name": each, "action": "enabled"}
                for each in after
                if each not in before
            ]
            found += [*gone, *new]
        return found

    def saved(self) -> dict[str, Any]:
        """Return what is off and what was set, as settings keep it."""
        off = {category: sorted(self._off(category)) for category in CATEGORIES}
        return {
            "disabled": {"behaviors": list(self.disabled_behaviors), **off},
            "config_overrides": dict(self.config_overrides),
        }

    async def apply_saved_settings(self, settings: Mapping[str, Any]) -> list[str]:
        """Do again what settings remember. Names that are gone are skipped, and told."""
        saved = settings.get("configurator", settings)
        off = saved.get("disabled") if isinstance(saved, Mapping) else None
        warnings: list[str] = []
        for name in _names(off, "behaviors"):
            try:
                warnings += (await self.behavior_disable(name))["warnings"]
            except ValueError as error:
                warnings.append(str(error))
        for category in CATEGORIES:
            for name in _names(off, category):
                if name not in self._off(category):
                    await self._apply_one(category, name, warnings)
        overrides = saved.get("config_overrides") if isinstance(saved, Mapping) else None
        for path, value in overrides.items() if isinstance(overrides, Mapping) else ():
            self.config_set(str(path), value)
        return warnings

    def owner(self, name: str) -> str | None:
        """Return the module of a tool, a provider or a hook, whether it is on or off."""
        return self._owner_of(name) or self._owners.get(name)

    # inside ------------------------------------------------------------------------------------------------

    async def _apply_one(self, category: str, name: str, warnings: list[str]) -> None:
        try:
            if category in ("tools", "providers"):
                await self._switch_off(category, name)
            elif category == "hooks":
                self._switch_hooks(name, on=False)
            else:
                self._put_away(category, name, self._context() if category == "context" else self._agents())
        except ValueError as error:
            warnings.append(str(error))

    async def _change(self, key: str, told: dict[str, list[str]], word: str, *, on: bool) -> None:
        kind, _, name = key.partition(":")
        category = _OF_ORIGIN.get(kind)
        if category is None:
            return
        try:
            if category == "hooks":
                changed = self._switch_hooks(name, on=on)
            elif category in ("tools", "providers"):
                changed = await (self._switch_on if on else self._switch_off)(category, name)
            else:
                entries = self._context() if category == "context" else self._agents()
                changed = [name] if on == (name in self._stash[category]) else []
                _ = (self._bring_back if on else self._put_away)(category, name, entries) if changed else None
        except ValueError as error:
            told["warnings"].append(str(error))
            return
        if changed:
            told[word].append(key)

    def _put_away(self, category: str, name: str, entries: dict[str, Any]) -> None:
        if name in self._stash[category]:
            return
        if name not in entries:
            raise ValueError(f"{category} {name!r} not found")
        self._stash[category][name] = entries.pop(name)

    def _bring_back(self, category: str, name: str, entries: dict[str, Any]) -> None:
        if name in entries:
            return
        if name not in self._stash[category]:
            raise ValueError(f"{category} {name!r} not in stash")
        entries[name] = self._stash[category].pop(name)

    async def _switch_off(self, category: str, wanted: str) -> list[str]:
        names = self._meant(wanted, list(self._mounted(category)))
        if not names and not self._meant(wanted, list(self._stash[category])):
            raise ValueError(f"{category} {wanted!r} not found")
        for name in names:
            self._stash[category][name] = self._mounted(category)[name]
            self._owners[name] = self._owner_of(name) or ""
            try:
                await self.coordinator.unmount(category, name=name)
            except Exception as error:  # noqa: BLE001 - it stays in the stash, and can be mounted again
                self._warn(f"{name} could not be unmounted: {error}")
        return names

    async def _switch_on(self, category: str, wanted: str) -> list[str]:
        names = self._meant(wanted, list(self._stash[category]))
        if not names and not self._meant(wanted, list(self._mounted(category))):
            raise ValueError(f"{category} {wanted!r} not in stash")
        for name in names:
            found = self._stash[category].pop(name)
            try:
                await self.coordinator.mount(category, found, name=name)
            except BaseException:
                self._stash[category][name] = found
                raise
        return names

    def _switch_hooks(self, wanted: str, *, on: bool) -> list[str]:
        """Switch hooks and return their names. Raises ValueError, with the reason, if none can be."""
        hooks = self._hooks
        if hooks is None:
            raise ValueError(f"the hook {wanted!r} stays as it is: {_NOT_OURS}")
        found = hooks.named(wanted, on=not on)
        if not found and not hooks.named(wanted, on=on):
            known = self._hook_names()
            if wanted in known:
                raise ValueError(f"the hook {wanted!r} stays on: {_NOT_OF_A_MODULE}")
            raise ValueError(f"hooks {wanted!r} not found; there are {', '.join(known) or 'none'}")
        for each in found:
            hooks.switch(each, on=on)
        return [name for _, name in found]

    def _warned(self, work: Callable[[], object]) -> None:
        try:
            work()
        except ValueError as error:
            self._warn(str(error))

    def _off(self, category: str) -> list[str]:
        if category == "hooks":
            return self._hooks.off if self._hooks is not None else []
        return list(self._stash[category])

    def _hook_names(self) -> list[str]:
        """Return the names of the hooks that are on; those of our own are no part of the bundle."""
        found = self.coordinator.hooks.list_handlers()
        handlers = [name for names in found.values() for name in names if not name.startswith("amplihack:")]
        shown = self._hooks.shown if self._hooks is not None else lambda _: None
        off = self._off("hooks")
        return [each for each in dict.fromkeys(shown(name) or name for name in handlers) if each not in off]

    def _meant(self, wanted: str, names: list[str]) -> list[str]:
        """Return the names that a name means: itself, or everything that a module of that name mounted."""
        if wanted in names:
            return [wanted]
        return [name for name in names if self.owner(name) == wanted]

    def _brought_by(self, bundle: str) -> list[str]:
        found = [
            key for key, origins in self._origins().items() if any(each.bundle == bundle for each in origins)
        ]
        if not found:
            raise ValueError(f"behavior {bundle!r} not found in provenance")
        return found

    def _mounted(self, category: str) -> Mapping[str, Any]:
        return self.coordinator.get(category) or {}

    def _agents(self) -> dict[str, Any]:
        agents: dict[str, Any] = self.coordinator.config.setdefault("agents", {})
        return agents

    async def _tell(self, action: str, target: str, changes: list[str]) -> None:
        await self.coordinator.hooks.emit(CHANGED, {"action": action, "target": target, "changes": changes})


def _names(saved: object, category: str) -> list[str]:
    listed = saved.get(category) if isinstance(saved, Mapping) else None
    return [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
