"""Load and mount modules for the kernel: errors keep their types, and what each one mounted is known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from amplihack.errors import Problem
from amplihack.sessions.errors import ModuleFailure
from amplihack.system.kernel.closing import within_time
from amplihack.system.kernel.hook_switches import HookSwitches
from amplihack.system.kernel.importing import import_aside, staying
from amplihack.system.kernel.module_faults import fix_for
from amplihack.system.kernel.mount_functions import MountFunction, imported_name, mount_function, of_package
from amplihack.system.kernel.mounted import Mounted, MountedModules
from amplihack.system.kernel.resolver import BundleModuleResolver
from amplihack.system.modules.entry_points import installed_module
from amplihack.system.modules.package import ModulePackage

_NOTICEABLE = 3.0  # seconds after which whoever waits for a module wants to know for which
_AGAIN = 0.5  # seconds after which a mount() that swallowed its cancellation is cancelled again
_TRIES = 10
_KINDS = {"providers": "provider", "tools": "tool", "hooks": "hook"}
# Modules that the kernel's validator has passed in this process; it mounts each of them on trial.
_VALIDATED: set[tuple[str, str]] = set()


class ModuleMounter:
    """The kernel's loader for one session; it asks the kernel's own to do the work."""

    def __init__(
        self,
        coordinator: Any,
        plan: Mapping[str, Any],
        resolver: BundleModuleResolver | None,
        shipped: Mapping[str, str],
        told: Callable[[str], None] | None = None,
    ) -> None:
        from amplifier_core import HookResult
        from amplifier_core.loader import ModuleLoader

        self._kernel = ModuleLoader(coordinator=coordinator)
        self._coordinator, self._resolver, self._shipped, self._told = coordinator, resolver, shipped, told
        self._expected = list(_expected(plan))
        self._task: asyncio.Task[Any] | None = None
        self.failures: list[ModuleFailure] = []
        self._mounted = MountedModules()
        self.hooks = HookSwitches(lambda: HookResult(action="continue"))

    async def load(
        self, module_id: str, config: Any = None, source_hint: Any = None, coordinator: Any = None
    ) -> MountFunction:
        """Return the function that mounts a module. Raises what kept it from being loaded."""
        kind, instance = self._next(module_id)
        self._task = asyncio.current_task()
        try:
            with self._telling(f"{module_id} is still being loaded"):
                inner = await staying(self._loaded(module_id, config, source_hint, coordinator))
        except Exception as error:
            self._note(kind, module_id, instance, error)
            raise

        ready = getattr(inner, "__on_session_ready__", None)

        async def mount(target: Any) -> Any:
            try:
                with self._telling(f"{module_id} is still in its mount()"):
                    known = self.hooks.standing_in(target, module_id) if kind == "hook" else target
                    before = _capabilities(target)
                    cleanup = await staying(self._mounted.note(inner(known), target, kind, module_id))
                    if kind == "hook" and ready is None and _capabilities(target) == before:
                        self._note_deaf(module_id)
                    return None if cleanup is None else within_time(cleanup, module_id, self.tell)
            except Exception as error:
                self._note(kind, module_id, instance, error)
                raise

        if ready is not None:
            known = self._ready(ready, module_id) if kind == "hook" else ready
            mount.__on_session_ready__ = known  # type: ignore[attr-defined] # the kernel looks for it there
        return mount

    @contextmanager
    def _telling(self, what: str) -> Iterator[None]:
        """Show what is waited for, if it takes long. An import that never ends would be silent otherwise."""
        told = asyncio.get_running_loop().call_later(_NOTICEABLE, self.tell, what, "info")
        try:
            yield
        finally:
            told.cancel()

    def tell(self, what: str, level: str = "warning") -> None:
        """Show something where the host shows messages; one that shows none may hear it in its log."""
        show = getattr(self._coordinator.display_system, "show_message", None)
        if show is not None:
            show(what, level, "amplihack")
        elif self._told is not None:
            self._told(what)

    def _ready(self, ready: tuple[str, MountFunction], module_id: str) -> tuple[str, MountFunction]:
        """Let a module of hooks register late handlers as it registers those of its mount()."""

        async def on_session_ready(coordinator: Any) -> Any:
            return await ready[1](self.hooks.standing_in(coordinator, module_id))

        return ready[0], on_session_ready

    def enqueue_on_session_ready(self, module_id: str, ready: Callable[..., Any]) -> None:
        self._kernel.enqueue_on_session_ready(module_id, ready)

    def get_on_session_ready_queue(self) -> Any:
        return self._kernel.get_on_session_ready_queue()

    def clear_on_session_ready_queue(self) -> None:
        self._kernel.clear_on_session_ready_queue()

    def cleanup(self) -> None:
        """Take what the kernel's loader put on `sys.path` away again."""
        self._kernel.cleanup()

    async def stop(self) -> None:
        """End what is being mounted. The kernel goes on with it when nobody waits any more."""
        task = self._task
        for _ in range(_TRIES):
            if task is None or task.done():
                return
            task.cancel()
            await asyncio.wait({task}, timeout=_AGAIN)

    def owner_of(self, name: str) -> str | None:
        """Return the module that mounted a tool, a provider or a hook."""
        return self._mounted.owner_of(name) or self.hooks.owner_of(name)

    @property
    def mounted(self) -> Sequence[Mounted]:
        return self._mounted.modules

    @property
    def problems(self) -> Sequence[Problem]:
        """Return what is worth a word about modules that were mounted."""
        return self._mounted.problems

    async def _loaded(self, module_id: str, config: Any, hint: Any, coordinator: Any) -> MountFunction:
        package = await self._package(module_id, hint)
        if package is None and module_id in self._shipped:
            await import_aside(self._shipped[module_id])
            return mount_function(module_id, self._shipped[module_id], "mount", config)
        if package is None and self._resolver is not None and (found := installed_module(module_id)):
            await import_aside(found.package)
            return mount_function(module_id, found.package, found.attribute, config)
        if package is None or not package.is_python:
            return await self._by_kernel(module_id, config, hint, coordinator)
        known = (module_id, str(package.root))
        await import_aside(imported_name(package), package.root)
        if package.for_kernel and known not in _VALIDATED:
            loaded = await self._by_kernel(module_id, config, hint, coordinator)
            _VALIDATED.add(known)
            return loaded
        return of_package(module_id, package, config)

    async def _by_kernel(self, module_id: str, config: Any, hint: Any, coordinator: Any) -> MountFunction:
        """Let the kernel load a module. Raises why its source failed, where that is why there is none."""
        try:
            loaded: MountFunction = await self._kernel.load(
                module_id, config, source_hint=hint, coordinator=coordinator
            )
        except Exception as error:
            why = self._resolver.failure_of(module_id) if self._resolver is not None else None
            if why is None:
                raise
            raise why from error
        return loaded

    async def _package(self, module_id: str, hint: Any) -> ModulePackage | None:
        """Return a module's package; one that was added to the plan after preparing is brought here first."""
        from amplifier_core.module_sources import ModuleNotFoundError as ModuleNotHere

        if self._resolver is None:
            return None
        found = self._resolver.package_of(module_id)
        if found is None and isinstance(hint, str) and module_id not in self._shipped:
            with suppress(ModuleNotHere):  # then the kernel says it, or knows an installed one
                await self._resolver.async_resolve(module_id, source_hint=hint)
                found = self._resolver.package_of(module_id)
        return found

    def _note_deaf(self, module_id: str) -> None:
        """Note a module of hooks that neither hears anything nor brings anything."""
        if not self.hooks.hears(module_id) and not any(
            m.module == module_id and m.names for m in self.mounted
        ):
            what = f"{module_id} registers no handler in mount(), so that it does nothing"
            fix = "call `coordinator.hooks.register(event, handler, name=…)` in its mount()"
            self._mounted.problems.append(Problem(what, None, fix, "warning", "hook-deaf"))

    def _next(self, module_id: str) -> tuple[str, str]:
        """Return which entry of the plan is being loaded: the kernel goes through it in order."""
        for index, (kind, module, instance) in enumerate(self._expected):
            if module == module_id:
                del self._expected[index]
                return kind, instance
        return "module", ""

    def _note(self, kind: str, module_id: str, instance: str, error: Exception) -> None:
        own = [getattr(error, name, "") for name in ("what", "fix")]  # errors of our providers have them too
        what, fix = (each if isinstance(each, str) else "" for each in own)
        what = what or _said(error)
        fix = fix or fix_for(what, module_id)
        self.failures.append(ModuleFailure(kind, module_id, what, fix, instance, error))


def _expected(plan: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    session = plan.get("session") or {}
    found = [(role, session[role]["module"], "") for role in ("orchestrator", "context") if role in session]
    for section, kind in _KINDS.items():
        found += [
            (kind, entry["module"], str(entry.get("instance_id") or "")) for entry in plan.get(section) or ()
        ]
    return found


def _said(error: Exception) -> str:
    text = str(error)
    return text if text else type(error).__name__


def _capabilities(coordinator: Any) -> list[str]:
    return sorted(coordinator.to_dict().get("capabilities") or ())
