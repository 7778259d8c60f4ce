"""Load and mount modules for the kernel: errors keep their types, and what each one mounted is known."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any, TypeAlias, TypeVar

from amplihack.errors import AmplihackError, Problem
from amplihack.records import Record
from amplihack.sessions.errors import ModuleFailure
from amplihack.system.files import real
from amplihack.system.kernel.hook_switches import HookSwitches
from amplihack.system.kernel.module_faults import fix_for
from amplihack.system.kernel.resolver import BundleModuleResolver
from amplihack.system.modules.activation import entry_point_package
from amplihack.system.modules.package import ModulePackage

MountFunction: TypeAlias = Callable[[Any], Awaitable[Any]]
_Result = TypeVar("_Result")
_NOTICEABLE = 3.0  # seconds after which whoever waits for a module wants to know for which
_AGAIN = 0.5  # seconds after which a mount() that swallowed its cancellation is cancelled again
_TRIES = 10
_KINDS = {"providers": "provider", "tools": "tool", "hooks": "hook"}
_POINTS = ("providers", "tools")
# Modules that the kernel's validator has passed in this process; it mounts each of them on trial.
_VALIDATED: set[tuple[str, str]] = set()


class MountsNothingError(AmplihackError):
    pass


class Mounted(Record):
    """What a module put where: names of its tools and providers, and the events that its hooks hear."""

    module: str
    kind: str
    names: tuple[str, ...] = ()


class ModuleMounter:
    """The kernel's loader for one session; it asks the kernel's own to do the work."""

    def __init__(
        self,
        coordinator: Any,
        plan: Mapping[str, Any],
        resolver: BundleModuleResolver | None,
        shipped: Mapping[str, str],
    ) -> None:
        from amplifier_core import HookResult
        from amplifier_core.loader import ModuleLoader

        self._kernel = ModuleLoader(coordinator=coordinator)
        self._coordinator, self._resolver, self._shipped = coordinator, resolver, shipped
        self._expected = list(_expected(plan))
        self._task: asyncio.Task[Any] | None = None
        self.failures: list[ModuleFailure] = []
        self.problems: list[Problem] = []
        self.mounted: list[Mounted] = []
        self.hooks = HookSwitches(lambda: HookResult(action="continue"))

    async def load(
        self, module_id: str, config: Any = None, source_hint: Any = None, coordinator: Any = None
    ) -> MountFunction:
        """Return the function that mounts a module. Raises what kept it from being loaded."""
        kind, instance = self._next(module_id)
        self._task = asyncio.current_task()
        try:
            with self._telling(f"{module_id} is still being loaded"):
                inner = await _staying(self._loaded(module_id, config, source_hint, coordinator))
        except Exception as error:
            self._note(kind, module_id, instance, error)
            raise

        async def mount(target: Any) -> Any:
            try:
                with self._telling(f"{module_id} is still in its mount()"):
                    return await _staying(self._mount(inner, target, kind, module_id))
            except Exception as error:
                self._note(kind, module_id, instance, error)
                raise

        ready = getattr(inner, "__on_session_ready__", None)
        if ready is not None:
            known = self._ready(ready, module_id) if kind == "hook" else ready
            mount.__on_session_ready__ = known  # type: ignore[attr-defined] # the kernel looks for it there
        return mount

    @contextmanager
    def _telling(self, what: str) -> Iterator[None]:
        """Show what is waited for, if it takes long. An import that never ends would be silent otherwise."""
        show = getattr(self._coordinator.display_system, "show_message", None)
        if show is None:
            yield
            return
        told = asyncio.get_running_loop().call_later(_NOTICEABLE, show, what, "info", "amplihack")
        try:
            yield
        finally:
            told.cancel()

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
        mounted = next((each.module for each in self.mounted if name in each.names), None)
        return mounted or self.hooks.owner_of(name)

    async def _loaded(self, module_id: str, config: Any, hint: Any, coordinator: Any) -> MountFunction:
        package = await self._package(module_id, hint)
        if package is None and module_id in self._shipped:
            await _import_aside(self._shipped[module_id])
            return _mount_function(module_id, self._shipped[module_id], "mount", config)
        if package is None and self._resolver is not None and (name := entry_point_package(module_id)):
            await _import_aside(name)
        if package is None or not package.is_python:
            return await self._by_kernel(module_id, config, hint, coordinator)
        known = (module_id, str(package.root))
        await _import_aside(_imported_name(package), package.root)
        if package.for_kernel and known not in _VALIDATED:
            loaded = await self._by_kernel(module_id, config, hint, coordinator)
            _VALIDATED.add(known)
            return loaded
        return _directly(module_id, package, config)

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

    async def _mount(self, inner: MountFunction, target: Any, kind: str, module_id: str) -> Any:
        before = _standing(target)
        returned = await inner(self.hooks.standing_in(target, module_id) if kind == "hook" else target)
        after = _standing(target)
        new = tuple(name for name in after if after[name] is not before.get(name))
        if kind == "tool" and not any(point == "tools" for point, _ in new):
            returned = await _mount_returned(target, returned)
            after = _standing(target)
            new = tuple(name for name in after if after[name] is not before.get(name))
        new = await self._without_unnamed(target, module_id, new)
        if kind == "tool" and not new:
            what = "protocol_compliance: No tool was mounted and mount() did not return a Tool instance"
            raise MountsNothingError(what, fix=fix_for("mounts_nothing", module_id))
        if kind in ("orchestrator", "context") and target.get(kind) is None:
            what = f"protocol_compliance: No {kind} was mounted and mount() did not return one"
            raise MountsNothingError(what, fix=fix_for("was mounted and mount() did not return", module_id))
        self._note_replaced(module_id, [name for point, name in new if (point, name) in before])
        self.mounted.append(Mounted(module_id, kind, tuple(name for _, name in new)))
        return returned if callable(returned) else None

    async def _without_unnamed(
        self, target: Any, module_id: str, new: Sequence[tuple[str, str]]
    ) -> tuple[tuple[str, str], ...]:
        """Take away tools that no model could call: a service would refuse every request because of them."""
        unnamed = [name for point, name in new if point == "tools" and not name.strip()]
        for name in unnamed:
            await target.unmount("tools", name=name)
            what, fix = (
                f"{module_id} has a tool without a name; it is left out",
                fix_for("tool_name", module_id),
            )
            self.problems.append(Problem(what, None, fix, "warning", "tool-unnamed"))
        return tuple(each for each in new if each[0] != "tools" or each[1] not in unnamed)

    def _note_replaced(self, module_id: str, names: Sequence[str]) -> None:
        """Note tools of other modules that are gone now. Instances of providers the kernel puts back."""
        for name in names:
            first = next((each for each in self.mounted if name in each.names and each.kind == "tool"), None)
            if first is not None and first.module != module_id:
                what = (
                    f"{first.module} and {module_id} both have a tool {name!r}; that of {module_id} is used"
                )
                fix = "keep one of the two modules"
                self.problems.append(Problem(what, None, fix, "warning", "tool-replaced"))

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


def _directly(module_id: str, package: ModulePackage, config: Any) -> MountFunction:
    """Mount without the kernel's trial: it passed before, or the kernel cannot find such a package."""
    name = _imported_name(package)
    file = getattr(importlib.import_module(name), "__file__", None)
    if file is not None and not real(Path(file)).is_relative_to(real(package.root)):
        what = f"Refusing to load {name} from {package.root}: this process has it from {file}"
        raise MountsNothingError(what, fix=fix_for(what, module_id))
    attribute = (package.target or package.package).partition(":")[2]
    return _mount_function(module_id, name, attribute.strip(), config)


def _imported_name(package: ModulePackage) -> str:
    if package.for_kernel:
        return package.package
    return (package.target or package.package).partition(":")[0].strip()


async def _import_aside(name: str, root: Path | None = None) -> None:
    """Import a package in a thread, so that the event loop stays free; some take seconds.

    Raises MountsNothingError for one that would end the program. Whatever else is wrong with it is said when
    it is imported again, by whoever needs it.
    """
    if name in sys.modules:
        return
    loop = asyncio.get_running_loop()
    done: asyncio.Future[BaseException | None] = loop.create_future()

    def imported() -> None:
        raised: BaseException | None = None
        try:
            with suppress(Exception):
                if root is None or _is_found_in(root, name):
                    importlib.import_module(name)
        except BaseException as error:  # noqa: BLE001 - raised below, where somebody waits for it
            raised = error
        with suppress(RuntimeError):  # the loop may have ended without us
            loop.call_soon_threadsafe(_settle, done, raised)

    # No thread of the loop's own: the program would wait at its end for an import that never ends.
    Thread(target=imported, name=f"import {name}", daemon=True).start()
    error = await done
    if error is not None:
        raise _ending(error) from error


def _settle(done: asyncio.Future[_Result], result: _Result) -> None:
    if not done.done():  # whoever waited may have gone
        done.set_result(result)


def _is_found_in(root: Path, name: str) -> bool:
    """Look for a package in its own directory first: another bundle may have one of the same name."""
    path = str(root)
    if path in sys.path and sys.path[0] != path:
        sys.path.remove(path)
        sys.path.insert(0, path)
    found = importlib.util.find_spec(name.partition(".")[0])
    return (
        found is not None and found.origin is not None and real(Path(found.origin)).is_relative_to(real(root))
    )


async def _staying(work: Awaitable[_Result]) -> _Result:
    """Do work of a module. Raises MountsNothingError where it would end the program, or its own task."""
    try:
        return await work
    except (Exception, GeneratorExit):
        raise
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise  # somebody else wants it
        raise _ending(error) from error


def _ending(error: BaseException) -> MountsNothingError:
    what = f"it raised {type(error).__name__}({error}), which ends programs and not modules"
    return MountsNothingError(what, fix="let its import and its mount() raise other errors")


def _mount_function(module_id: str, name: str, attribute: str, config: Any) -> MountFunction:
    module = importlib.import_module(name)
    function = getattr(module, attribute or "mount", None) or getattr(module, "mount", None)
    if not callable(function):
        what = f"mount_exists: No mount() function found in module {name}"
        raise MountsNothingError(what, fix=fix_for("mount_exists", module_id))

    async def mount(coordinator: Any) -> Any:
        return await function(coordinator, config or {})

    ready = getattr(module, "on_session_ready", None)
    if inspect.iscoroutinefunction(ready):
        mount.__on_session_ready__ = (module_id, ready)  # type: ignore[attr-defined] # as the kernel does
    return mount


async def _mount_returned(coordinator: Any, returned: Any) -> Any:
    """Mount a tool that `mount()` returned instead of mounting it."""
    name = getattr(returned, "name", None)
    if isinstance(name, str) and name and callable(getattr(returned, "execute", None)):
        await coordinator.mount("tools", returned, name=name)
        return None
    return returned


def _standing(coordinator: Any) -> dict[tuple[str, str], Any]:
    return {
        (point, name): found for point in _POINTS for name, found in (coordinator.get(point) or {}).items()
    }


def _said(error: Exception) -> str:
    text = str(error)
    return text if text else type(error).__name__
