"""Bring modules here one by one, as programs do that compose their own plans."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from amplifier_foundation.paths.resolution import get_amplifier_home
from amplifier_foundation.sources._handler import open_sources
from amplihack.bundles.module_needs import ModuleNeed
from amplihack.errors import AmplihackError
from amplihack.system.home import this_process
from amplihack.system.modules.activation import ActivationRequest, Activator, activation_error, tell_nobody
from amplihack.system.modules.errors import ModuleActivationError

__all__ = ["ModuleActivationError", "ModuleActivator"]

_logger = logging.getLogger(__name__)
_Progress = Callable[[str, str], None] | None


class ModuleActivator:
    """Brings modules to this process. `install_python` receives installs, else an environment of ours."""

    def __init__(
        self,
        cache_dir: Path | None = None,
        install_deps: bool = True,
        base_path: Path | None = None,
        strict: bool = False,
        install_python: Path | str | None = None,
        install_constraints: Path | str | None = None,
    ) -> None:
        self.cache_dir = Path(cache_dir) if cache_dir is not None else get_amplifier_home() / "cache"
        self.install_deps, self.strict = install_deps, strict
        self._hear: Callable[[str, str], None] = tell_nobody
        sources = open_sources(self.cache_dir, base_path)
        self._activator = Activator(
            ActivationRequest(
                sources=sources,
                cache_dir=self.cache_dir,
                variables=dict(this_process()[0]),
                install=install_deps,
                offline=sources.offline,
                progress=lambda action, name: self._hear(action, name),
                python=Path(install_python) if install_python is not None else None,
                constraints=Path(install_constraints) if install_constraints is not None else None,
                base=base_path,
            )
        )

    @property
    def bundle_package_paths(self) -> list[str]:
        return list(self._activator.package_paths)

    async def activate(self, module_name: str, source_uri: str, progress_callback: _Progress = None) -> Path:
        """Bring one module here and return its directory. Raises BundleError."""
        self._hear = progress_callback or tell_nobody
        return await self._activator.activate(module_name, source_uri)

    async def activate_all(
        self, modules: Sequence[Mapping[str, Any]], progress_callback: _Progress = None
    ) -> dict[str, Path]:
        """Bring all modules here that have a source. Failures are logged, or with `strict` raised as one."""
        self._hear = progress_callback or tell_nobody
        needs = [
            ModuleNeed(str(each["module"]), str(each["source"]))
            for each in modules
            if each.get("module") and each.get("source")
        ]
        failed = await self._activator.activate_all(needs)
        self._judge(failed, len(needs))
        return {name: package.root for name, package in self._activator.packages.items()}

    async def activate_bundle_package(self, bundle_path: Path, progress_callback: _Progress = None) -> None:
        """Make the Python package of a bundle importable, if it is one and is not installed already."""
        self._hear = progress_callback or tell_nobody
        self._judge(await self._activator.activate_all([], [Path(bundle_path)]), 1)

    def finalize(self) -> None:
        """Do nothing: what was installed is remembered at once."""

    def _judge(self, failed: dict[str, AmplihackError], count: int) -> None:
        if failed and self.strict:
            raise activation_error(failed, count)
        for name, error in failed.items():
            _logger.error("Failed to activate %s: %s", name, error.what)
