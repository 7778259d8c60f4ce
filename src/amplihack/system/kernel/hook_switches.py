"""Let hooks of a running session be switched off and on.

The kernel gives no handler back once it is registered. So modules of hooks register through a coordinator
that stands in front of the kernel's: a handler is called only while its hook is on. Whatever else they do
with the coordinator goes to the kernel's own.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import isawaitable
from typing import Any, TypeAlias

from amplihack.system.kernel.importing import UnmountableError

Hook: TypeAlias = tuple[str, str]  # a module, and what its handlers are called


class HookSwitches:
    """The hooks of one session that can be switched, in the order of their coming, and which are off."""

    def __init__(self, proceed: Callable[[], Any]) -> None:
        self._proceed = proceed  # makes the answer of a hook that is off
        self._hooks: dict[Hook, set[str]] = {}  # with the names that the kernel has for their handlers
        self._off: set[Hook] = set()
        self._given: dict[tuple[int, str], Any] = {}

    def standing_in(self, coordinator: Any, module: str) -> Any:
        """Return the coordinator that a module of hooks gets: always the same one."""
        known = (id(coordinator), module)
        if known not in self._given:
            registry = _Registry(coordinator.hooks, self, module)
            self._given[known] = _Coordinator(coordinator, registry)
        return self._given[known]

    def named(self, wanted: str, *, on: bool) -> list[Hook]:
        """Return the hooks of that name or that module which are on, or off."""
        return [each for each in self._hooks if wanted in each and (each not in self._off) == on]

    def switch(self, hook: Hook, *, on: bool) -> None:
        self._off = self._off - {hook} if on else self._off | {hook}

    def shown(self, handler: str) -> str | None:
        """Return the hook of a handler, by the kernel's name for it; None if it cannot be switched."""
        return next((name for (_, name), known in self._hooks.items() if handler in known), None)

    def hears(self, module: str) -> bool:
        """Tell whether a module has registered any handler."""
        return any(module == each for each, _ in self._hooks)

    def owner_of(self, name: str) -> str | None:
        return next((module for module, hook in self._hooks if hook == name), None)

    @property
    def off(self) -> list[str]:
        """Return the names of the hooks that are off altogether."""
        on = {name for module, name in self._hooks if (module, name) not in self._off}
        return list(
            dict.fromkeys(name for each in self._hooks if each in self._off and (name := each[1]) not in on)
        )

    def wrapped(self, module: str, name: str | None, handler: Any) -> Any:
        hook = (module, name or module)
        self._hooks.setdefault(hook, set())

        async def heard(*args: Any, **kwargs: Any) -> Any:
            if hook in self._off:
                return self._proceed()
            try:
                answer = handler(*args, **kwargs)
                return await answer if isawaitable(answer) else answer
            except SystemExit as error:  # it would end the program, and not only what it was asked about
                what = f"the hook {hook[1]} wanted to end the program: SystemExit({error})"
                raise UnmountableError(what, fix="let it deny what it does not want") from error

        return heard

    def note(self, module: str, name: str | None, handlers: set[str]) -> None:
        """Note what the kernel calls the handlers of a hook; it names those that have no name."""
        self._hooks[module, name or module] |= handlers


class _Registry:
    """The kernel's registry of hooks, as one module sees it."""

    def __init__(self, registry: Any, switches: HookSwitches, module: str) -> None:
        self._registry, self._switches, self._module = registry, switches, module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._registry, name)

    def register(self, event: str, handler: Any, priority: int = 0, name: str | None = None) -> Any:
        wrapped = self._switches.wrapped(self._module, name, handler)
        before = set() if name else self._names(event)
        done = self._registry.register(event, wrapped, priority=priority, name=name)
        self._switches.note(self._module, name, {name} if name else self._names(event) - before)
        return done

    on = register

    def _names(self, event: str) -> set[str]:
        return set(self._registry.list_handlers(event).get(event, ()))


class _Coordinator:
    """The kernel's coordinator, with another registry of hooks. It equals the kernel's, as a key does."""

    __slots__ = ("_coordinator", "_hooks")

    def __init__(self, coordinator: Any, hooks: _Registry) -> None:
        object.__setattr__(self, "_coordinator", coordinator)
        object.__setattr__(self, "_hooks", hooks)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._coordinator, name)

    def __eq__(self, other: object) -> bool:
        return self._coordinator is (other._coordinator if isinstance(other, _Coordinator) else other)

    def __hash__(self) -> int:
        return hash(self._coordinator)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._coordinator, name, value)

    @property
    def hooks(self) -> Any:
        return self._hooks

    def get(self, mount_point: str, name: str | None = None) -> Any:
        return self._hooks if mount_point == "hooks" else self._coordinator.get(mount_point, name)
