"""Make modules importable: fetch their sources, let what they miss be installed, put them on `sys.path`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from amplihack.bundles.errors import caused_by
from amplihack.bundles.module_needs import ModuleNeed
from amplihack.bundles.module_sources import NamedSource
from amplihack.bundles.uris import shown
from amplihack.errors import AmplihackError, Problem
from amplihack.records import Record, field
from amplihack.system.files import real
from amplihack.system.modules.entry_points import installed_module
from amplihack.system.modules.environments import Environments
from amplihack.system.modules.errors import ModuleActivationError, ModuleError
from amplihack.system.modules.package import ModulePackage, read_module
from amplihack.system.modules.provision import Provision
from amplihack.system.modules.reasons import with_reason
from amplihack.system.modules.root_packages import CODE_DIRECTORIES, root_packages
from amplihack.system.modules.wanted import Wanted
from amplihack.system.sources import Sources

_NOWHERE: Mapping[str, NamedSource] = {}
ALLOW_NATIVE = "AMPLIHACK_ALLOW_NATIVE_MODULES"
Progress: TypeAlias = Callable[[str, str], None]  # an action and the name that it is about


def tell_nobody(action: str, name: str) -> None:
    """Show no progress."""


class ActivationRequest(Record, kw_only=True):
    """How to bring modules here. `redirect` gives another source for a module, or the same."""

    sources: Sources
    cache_dir: Path
    variables: dict[str, str] = field(default_factory=dict, repr=False)
    install: bool = True
    offline: bool = False
    redirect: Callable[[str, str], str] | None = None
    progress: Progress = tell_nobody
    python: Path | None = None  # that receives installs, instead of environments of ours
    constraints: Path | None = None
    base: Path | None = None  # where relative sources start
    shipped: frozenset[str] = frozenset()  # modules of our own, which stand in for those that cannot be had


class Activator:
    """Brings modules here, each once, however many ask at the same time."""

    def __init__(self, request: ActivationRequest) -> None:
        self._request = request
        self._provision = Provision(
            environments=Environments.here(request.cache_dir),
            variables=request.variables,
            offline=request.offline,
            constraints=request.constraints,
            python=request.python,
            installing=lambda name: request.progress("installing", name),
        )
        self.packages: dict[str, ModulePackage] = {}
        self.package_paths: list[str] = []
        self.effective_sources: dict[str, str] = {}
        self.problems: list[Problem] = []
        self._alone = asyncio.Lock()

    async def activate_all(
        self, needs: Sequence[ModuleNeed], roots: Iterable[Path] = ()
    ) -> dict[str, AmplihackError]:
        """Bring all modules here, side by side, and the Python packages at the roots of bundles.

        Returns those that failed, with the reason.
        """
        async with self._alone:
            shared = await asyncio.to_thread(root_packages, list(dict.fromkeys(map(real, roots))))
            for name in shared:
                self._request.progress("installing_package", name)
            new = [need for need in needs if need.module not in self.packages]
            found = await asyncio.gather(*(self._find(need) for need in new))
            modules = {need.module: each for need, each in zip(new, found, strict=True)}
            failed = {name: each for name, each in modules.items() if isinstance(each, AmplihackError)}
            good = {name: each for name, each in modules.items() if isinstance(each, ModulePackage)}
            packages = {**{_apart(name, good): each for name, each in shared.items()}, **good}
            failed |= await self._install(packages)
            self._take(packages, failed, good)
            return failed

    async def activate(self, module: str, source: str) -> Path:
        """Bring one module here. Raises an AmplihackError."""
        failed = await self.activate_all([ModuleNeed(module, source)])
        if module in failed:
            raise failed[module]
        return self.packages[module].root

    def _take(
        self,
        packages: Mapping[str, ModulePackage],
        failed: Mapping[str, object],
        modules: Mapping[str, object],
    ) -> None:
        """Put what can be had on the path: modules, and the code that they share."""
        for name, package in packages.items():
            if name in failed:
                continue
            if name in modules:
                self.packages[name] = package
                put_on_path(str(package.root))
            else:
                self._share(package.directory)
            self._request.progress("done", name)
        for name in failed:
            self._request.progress("failed", name)

    def _share(self, directory: Path) -> None:
        for name in CODE_DIRECTORIES:
            if (directory / name).is_dir():
                path = str(directory / name)
                put_on_path(path)
                if path not in self.package_paths:
                    self.package_paths.append(path)

    async def _find(self, need: ModuleNeed) -> ModulePackage | AmplihackError | None:
        """Return a module's package on this disk; None if an installed one stands in for it."""
        source = self._request.redirect(need.module, need.source) if self._request.redirect else need.source
        self.effective_sources[need.module] = source
        self._request.progress("activating", need.module)
        try:
            place = await self._request.sources.resolve(source, base=self._request.base)
            self._request.progress("fetched", need.module)
            return await asyncio.to_thread(self._read, place.active_path, need.module)
        except AmplihackError as error:
            return await asyncio.to_thread(self._stand_in, need, source, error)

    def _read(self, directory: Path, module: str) -> ModulePackage:
        package = read_module(directory, module)
        if package.is_native:
            _require_allowed(package, module, self._request.variables)
        for each in package.other_peers:
            what = f"{module} requires {each}; it is tried all the same"
            fix = "use a version of the module that fits, or another amplihack"
            self.problems.append(Problem(what, None, fix, "warning", "module-peer"))
        return package

    def _stand_in(self, need: ModuleNeed, source: str, error: AmplihackError) -> AmplihackError | None:
        if need.module not in self._request.shipped and installed_module(need.module) is None:
            return error
        what = f"{need.module} cannot be had from {shown(source)}: {error.what}; the installed one is used"
        self.problems.append(Problem(what, None, error.fix, "warning", "module-stand-in"))
        return None

    async def _install(self, packages: Mapping[str, ModulePackage]) -> dict[str, AmplihackError]:
        """Let what is missing be installed, in one call. Returns the packages that cannot be had."""
        wanted = await asyncio.to_thread(_wanted, packages)
        if not wanted:
            return {}
        if not self._request.install:
            await asyncio.to_thread(self._provision.use_what_is_here, wanted)
            return {}
        try:
            failed = await self._provision.provide(wanted)
        except AmplihackError as error:  # of all of them: no room, no installer, a lock that nobody gives up
            return {one.name: error for one in wanted}
        others = [each for name, each in {**self.packages, **packages}.items() if name not in failed]
        return {
            name: with_reason(why, packages[name], others, offline=self._request.offline)
            for name, why in failed.items()
        }


def _wanted(packages: Mapping[str, ModulePackage]) -> list[Wanted]:
    """Return what has to be built, and what is required and not here."""
    found: list[Wanted] = []
    for name, each in packages.items():
        if not each.is_python:
            continue
        if each.must_build:
            found.append(Wanted(name, each.directory, built=True, project=each.name))
        elif missing := tuple(one.text for one in each.missing):
            found.append(Wanted(name, each.directory, missing))
    return found


def _apart(name: str, modules: Mapping[str, object]) -> str:
    """Return a name for the package of a bundle that no module has."""
    return f"{name} (package of the bundle)" if name in modules else name


def _require_allowed(package: ModulePackage, module: str, variables: Mapping[str, str]) -> None:
    """Raise ModuleError unless programs of bundles may run here: they get the whole environment."""
    if variables.get(ALLOW_NATIVE, "0").lower() in ("", "0", "false"):
        what = f"Module '{module}' is a native program ({package.directory}), and these are not allowed here"
        fix = f"set `allow_native_modules: true` in settings.yaml of the home root, or {ALLOW_NATIVE}=1"
        raise ModuleError(what, fix=fix)


def activation_error(
    failed: Mapping[str, AmplihackError], count: int, named: Mapping[str, NamedSource] = _NOWHERE
) -> ModuleActivationError:
    """Make one error of all modules that failed; `named` tells where each has its source from."""
    found = tuple(
        (named.get(name) or NamedSource(name, None)).told(error, "module-failed")
        for name, error in failed.items()
    )
    each = "; ".join(f"{name}: {error.what}" for name, error in failed.items())
    what = f"{len(failed)} of {count} modules failed to activate: {each}"
    whole = ModuleActivationError(what, where=found[0].where, fix=found[0].fix, found=found)
    return caused_by(whole, tuple(failed.values()))


def put_on_path(path: str) -> None:
    """Let packages of a directory be imported, before those of others."""
    if path not in sys.path:
        sys.path.insert(0, path)
