"""Find the `mount` of a package, as the kernel's loader does."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

from amplihack.system.files import real
from amplihack.system.kernel.importing import UnmountableError
from amplihack.system.kernel.module_faults import fix_for
from amplihack.system.modules.package import ModulePackage

MountFunction: TypeAlias = Callable[[Any], Awaitable[Any]]


def of_package(module_id: str, package: ModulePackage, config: Any) -> MountFunction:
    """Mount without the kernel's trial: it passed before, or the kernel cannot find such a package."""
    name = imported_name(package)
    file = getattr(importlib.import_module(name), "__file__", None)
    if file is not None and not real(Path(file)).is_relative_to(real(package.root)):
        what = f"Refusing to load {name} from {package.root}: this process has it from {file}"
        rename = "rename the package: Python itself has one of that name"
        is_pythons = name.partition(".")[0] in sys.stdlib_module_names
        raise UnmountableError(what, fix=rename if is_pythons else fix_for(what, module_id))
    attribute = (package.target or package.package).partition(":")[2]
    return mount_function(module_id, name, attribute.strip(), config)


def imported_name(package: ModulePackage) -> str:
    if package.for_kernel:
        return package.package
    return (package.target or package.package).partition(":")[0].strip()


def mount_function(module_id: str, name: str, attribute: str, config: Any) -> MountFunction:
    module = importlib.import_module(name)
    function = getattr(module, attribute or "mount", None) or getattr(module, "mount", None)
    if not callable(function):
        what = f"mount_exists: No mount() function found in module {name}"
        raise UnmountableError(what, fix=fix_for("mount_exists", module_id))

    async def mount(coordinator: Any) -> Any:
        mounting = function(coordinator, config or {})
        if not inspect.isawaitable(mounting):
            what = "mount_signature: mount() should be async (async def mount(...))"
            raise UnmountableError(what, fix=fix_for("mount_signature", module_id))
        return await mounting

    ready = getattr(module, "on_session_ready", None)
    if inspect.iscoroutinefunction(ready):
        mount.__on_session_ready__ = (module_id, ready)  # type: ignore[attr-defined] # as the kernel does
    return mount
