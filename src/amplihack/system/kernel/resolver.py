"""Tell the kernel where the modules of a prepared bundle lie."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amplihack.bundles.uris import shown
from amplihack.errors import AmplihackError
from amplihack.system.modules.activation import Activator, put_on_path
from amplihack.system.modules.environments import enter_again, entered
from amplihack.system.modules.package import ModulePackage, read_module


class BundleModuleSource:
    """A module on this disk, as the kernel asks for it."""

    def __init__(self, path: Path) -> None:
        self._path = Path(path)

    def resolve(self) -> Path:
        return self._path

    def __repr__(self) -> str:
        return f"BundleModuleSource({str(self._path)!r})"


class BundleModuleResolver:
    """Knows the modules of a bundle by id. With an activator, it brings others here when they are wanted."""

    def __init__(
        self,
        module_paths: Mapping[str, Path],
        activator: Any = None,
        failed: Mapping[str, tuple[str, AmplihackError]] | None = None,
    ) -> None:
        self._paths = {name: Path(path) for name, path in module_paths.items()}
        self._activator = activator
        self._failed: dict[str, tuple[str, Exception]] = dict(failed or {})  # by module: a source, and why
        self._packages: dict[str, ModulePackage] = {}  # of modules that another process had brought here
        self._alone = asyncio.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Return where modules lie, for a program that keeps a prepared bundle: nothing else can be kept."""
        here = self._activator.packages if isinstance(self._activator, Activator) else self._packages
        return {"paths": dict(self._paths), "packages": dict(here), "site_dirs": entered()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["paths"])  # type: ignore[misc] # as good as new
        self._packages = state["packages"]
        enter_again(state["site_dirs"])
        for each in self._packages.values():
            put_on_path(str(each.root))

    def resolve(
        self, module_id: str, source_hint: Any = None, profile_hint: Any = None
    ) -> BundleModuleSource:
        """Return where a module lies. Raises the kernel's ModuleNotFoundError."""
        found = self._known(module_id)
        if found is None:
            raise self._not_found(module_id, profile_hint or source_hint)
        return BundleModuleSource(found)

    async def async_resolve(
        self, module_id: str, source_hint: Any = None, profile_hint: Any = None
    ) -> BundleModuleSource:
        """Return where a module lies; one that is not here yet is brought from the hint.

        A source that failed is not asked again.
        """
        hint = profile_hint or source_hint
        if self._known(module_id) is None and self._activator is not None and isinstance(hint, str):
            async with self._alone:
                if self._known(module_id) is None and not self._has_failed(module_id, hint):
                    try:
                        self._paths[module_id] = await self._activator.activate(module_id, hint)
                    except Exception as error:  # noqa: BLE001 - raised below, as the kernel expects it
                        self._failed[module_id] = (hint, error)
                if self._has_failed(module_id, hint):
                    why = self._failed[module_id][1]
                    raise self._not_found(module_id, hint, why) from why
        return self.resolve(module_id, source_hint, profile_hint)

    def failure_of(self, module_id: str) -> Exception | None:
        """Return why a module could not be brought here."""
        return self._failed[module_id][1] if module_id in self._failed else None

    def _has_failed(self, module_id: str, source: str) -> bool:
        return module_id in self._failed and self._failed[module_id][0] == source

    def get_module_source(self, module_id: str) -> str | None:
        found = self._known(module_id)
        return str(found) if found is not None else None

    def package_of(self, module_id: str) -> ModulePackage | None:
        """Return what is known about a module's package; None for a module that is not here."""
        if isinstance(self._activator, Activator) and module_id in self._activator.packages:
            return self._activator.packages[module_id]
        if module_id in self._packages:
            return self._packages[module_id]
        path = self._known(module_id)
        return read_module(path, module_id) if path is not None else None

    def _known(self, module_id: str) -> Path | None:
        if module_id not in self._paths and isinstance(self._activator, Activator):
            package = self._activator.packages.get(module_id)
            return package.root if package is not None else None
        if module_id in self._packages:
            return self._packages[module_id].root
        return self._paths.get(module_id)

    def _not_found(self, module_id: str, hint: Any, error: Exception | None = None) -> Exception:
        from amplifier_core.module_sources import ModuleNotFoundError as NotFoundByKernel

        here = self._activator.packages if isinstance(self._activator, Activator) else self._packages
        available = ", ".join(sorted({*self._paths, *here})) or "none"
        reason = error.what if isinstance(error, AmplihackError) else str(error) if error else ""
        tried = f" Its source {shown(str(hint))} failed: {reason}." if error is not None else ""
        found: Exception = NotFoundByKernel(
            f"Module '{module_id}' is not among those of the bundle.{tried} Available modules: {available}"
        )
        return found
