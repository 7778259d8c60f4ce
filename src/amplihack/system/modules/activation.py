"""Make modules importable: fetch their sources, install what they miss, put them on `sys.path`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from amplihack.bundles.module_needs import ModuleNeed
from amplihack.bundles.uris import shown
from amplihack.errors import AmplihackError, Problem
from amplihack.records import Record, field, replace
from amplihack.system.files import real
from amplihack.system.modules.environment import ModuleEnvironment, editable_path
from amplihack.system.modules.errors import ModuleActivationError, ModuleError
from amplihack.system.modules.install_state import InstallStateManager
from amplihack.system.modules.package import (
    ENTRY_POINTS,
    PEERS,
    ModulePackage,
    is_installable,
    read_module,
    read_project,
)
from amplihack.system.modules.requirements import Requirement, installed_version
from amplihack.system.modules.wanted import Wanted
from amplihack.system.sources import Sources

if TYPE_CHECKING:
    from amplihack.system.modules.installer import Installer

ALLOW_NATIVE = "AMPLIHACK_ALLOW_NATIVE_MODULES"
Progress: TypeAlias = Callable[[str, str], None]  # an action and the name that it is about
_CODE_DIRECTORIES = ("src", "lib")  # of a bundle that is a package too


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
    python: Path | None = None  # that receives installs, instead of an environment of ours
    constraints: Path | None = None
    base: Path | None = None  # where relative sources start
    shipped: frozenset[str] = frozenset()  # modules of our own, which stand in for those that cannot be had


class Activator:
    """Brings modules here, each once, however many ask at the same time."""

    def __init__(self, request: ActivationRequest) -> None:
        self._request = request
        self.environment = ModuleEnvironment(request.cache_dir, python=request.python)
        self.packages: dict[str, ModulePackage] = {}
        self.package_paths: list[str] = []
        self.effective_sources: dict[str, str] = {}
        self.problems: list[Problem] = []
        self._alone = asyncio.Lock()

    async def activate_all(self, needs: Sequence[ModuleNeed]) -> dict[str, AmplihackError]:
        """Bring all modules here, side by side. Returns those that failed, with the reason."""
        async with self._alone:
            new = [need for need in needs if need.module not in self.packages]
            found = await asyncio.gather(*(self._find(need) for need in new))
            packages = {need.module: each for need, each in zip(new, found, strict=True)}
            failed = {name: each for name, each in packages.items() if isinstance(each, AmplihackError)}
            good = {name: each for name, each in packages.items() if isinstance(each, ModulePackage)}
            failed |= await self._install(good)
            for name, package in good.items():
                if name not in failed:
                    self.packages[name] = package
                    _put_on_path(str(package.root))
                    self._request.progress("done", name)
            for name in failed:
                self._request.progress("failed", name)
            return failed

    async def activate(self, module: str, source: str) -> Path:
        """Bring one module here. Raises an AmplihackError."""
        failed = await self.activate_all([ModuleNeed(module, source)])
        if module in failed:
            raise failed[module]
        return self.packages[module].root

    async def activate_bundle_packages(self, directories: Iterable[Path]) -> dict[str, AmplihackError]:
        """Make the Python packages at the roots of bundles importable, before any module needs them."""
        async with self._alone:
            found = await asyncio.to_thread(_root_packages, list(dict.fromkeys(map(real, directories))))
            for name in found:
                self._request.progress("installing_package", name)
            failed = await self._install(found)
            for name, package in found.items():
                if name not in failed:
                    self._share(package.directory)
            return failed

    def _share(self, directory: Path) -> None:
        for name in _CODE_DIRECTORIES:
            if (directory / name).is_dir():
                path = str(directory / name)
                _put_on_path(path)
                if path not in self.package_paths:
                    self.package_paths.append(path)

    async def _find(self, need: ModuleNeed) -> ModulePackage | AmplihackError | None:
        """Return a module's package on this disk; None if an installed one stands in for it."""
        source = self._request.redirect(need.module, need.source) if self._request.redirect else need.source
        self.effective_sources[need.module] = source
        self._request.progress("activating", need.module)
        try:
            place = await self._request.sources.resolve(source, base=self._request.base)
            return await asyncio.to_thread(self._read, place.active_path, need.module)
        except AmplihackError as error:
            return await asyncio.to_thread(self._stand_in, need, source, error)

    def _read(self, directory: Path, module: str) -> ModulePackage:
        package = read_module(directory, module)
        if package.is_native:
            _require_allowed(package, module, self._request.variables)
        return package

    def _stand_in(self, need: ModuleNeed, source: str, error: AmplihackError) -> AmplihackError | None:
        if need.module not in self._request.shipped and not has_entry_point(need.module):
            return error
        what = f"{need.module} cannot be had from {shown(source)}: {error.what}; the installed one is used"
        self.problems.append(Problem(what, None, error.fix, "warning", "module-stand-in"))
        return None

    async def _install(self, packages: dict[str, ModulePackage]) -> dict[str, AmplihackError]:
        """Install what is missing, in one call. Returns the modules that cannot be had."""
        if not self._request.install or not packages:
            await asyncio.to_thread(self.environment.enter)
            return {}
        await asyncio.to_thread(self.environment.enter)
        if not await asyncio.to_thread(self._wanted, packages):
            return {}
        installer = await asyncio.to_thread(_installer)
        async with self.environment.held(self._request.variables) as variables:
            await self.environment.make(variables)
            await asyncio.to_thread(self.environment.enter)  # another process may have installed it meanwhile
            wanted = await asyncio.to_thread(self._wanted, packages)
            for each in wanted:
                self._request.progress("installing", each.name)
            settled = self._settled(packages, wanted)
            install = installer(
                self.environment,
                variables,
                offline=self._request.offline,
                constraints=self._request.constraints,
                settled=[each.text for each in settled],
            ).install
            failed = await install(wanted) if wanted else {}
            await asyncio.to_thread(self._remember, [each for each in wanted if each.name not in failed])
            return {name: self._with_reason(why, packages[name], settled) for name, why in failed.items()}

    def _settled(self, packages: dict[str, ModulePackage], wanted: Sequence[Wanted]) -> list[Requirement]:
        """Return what modules that lack nothing require, so that no other one takes it away from them."""
        lacking = {each.name for each in wanted}
        whole = ((name, each) for name, each in {**self.packages, **packages}.items() if name not in lacking)
        found = {each.text: each for _, package in whole for each in package.requirements}
        return [each for each in found.values() if each.is_bound and each.name not in PEERS]

    def _with_reason(
        self, error: ModuleError, package: ModulePackage, settled: Sequence[Requirement]
    ) -> ModuleError:
        """Say why an install failed, and what to do, where we know better than the installer."""
        names = {each.name for each in package.missing}
        if strays := ", ".join(sorted(package.uv_sources & names)):
            fix = f"[tool.uv.sources] has no effect here: share {strays} through the bundle's own package"
            return ModuleError(error.what, fix=fix)
        for each in (each for each in package.missing if each.is_bound):
            ours = self.environment.version_beside(each.name)
            others = next((other.text for other in settled if other.name == each.name), None)
            if ours is not None or others is not None:
                why = (
                    f"what runs us has {ours}" if ours is not None else f"another one here requires {others}"
                )
                what = f"it requires {each.text}, and {why}, and modules share their packages: {error.what}"
                return ModuleError(what, fix="let the module take the version that is here")
        if package.must_build and not self._request.offline:
            return ModuleError(
                error.what, fix=f"correct what its build needs or does, in {package.directory}"
            )
        return error

    def _wanted(self, packages: dict[str, ModulePackage]) -> list[Wanted]:
        state = self._state()
        return [one for name, each in packages.items() if (one := self._wants(name, each, state)) is not None]

    def _wants(self, name: str, package: ModulePackage, state: InstallStateManager) -> Wanted | None:
        if not package.is_python:
            return None
        if not package.must_build:
            missing = tuple(each.text for each in package.missing)
            if not missing or (package.is_unclear and state.is_installed(package.directory)):
                return None
            return Wanted(name, package.directory, missing)
        place = self.environment.installed_from(package.name) if package.name else None
        if place == str(package.directory) and state.is_installed(package.directory):
            return None
        return Wanted(name, package.directory, built=True)

    def _remember(self, installed: Sequence[Wanted]) -> None:
        state = self._state()
        for each in installed:
            state.mark_installed(each.directory)
        state.save()
        self.environment.enter()

    def _state(self) -> InstallStateManager:
        def told(what: str) -> None:
            fix = "check the directory and the free space"
            self.problems.append(Problem(what, None, fix, "warning", "install-state"))

        return InstallStateManager(self._request.cache_dir, self.environment.python, told)


def _require_allowed(package: ModulePackage, module: str, variables: Mapping[str, str]) -> None:
    """Raise ModuleError unless programs of bundles may run here: they get the whole environment."""
    if variables.get(ALLOW_NATIVE, "0").lower() in ("", "0", "false"):
        what = f"Module '{module}' is a native program ({package.directory}), and these are not allowed here"
        fix = f"set `allow_native_modules: true` in settings.yaml of the home root, or {ALLOW_NATIVE}=1"
        raise ModuleError(what, fix=fix)


def _installer() -> type[Installer]:
    from amplihack.system.modules.installer import Installer  # slow, and most bundles install nothing

    return Installer


def activation_error(failed: dict[str, AmplihackError], count: int) -> ModuleActivationError:
    """Make one error of all modules that failed."""
    each = "; ".join(f"{name}: {error.what}" for name, error in failed.items())
    found = tuple(
        Problem(f"{name}: {error.what}", error.where, error.fix, code="module-failed")
        for name, error in failed.items()
    )
    first = next(iter(failed.values()))
    what = f"{len(failed)} of {count} modules failed to activate: {each}"
    error = ModuleActivationError(what, fix=first.fix, found=found)
    error.__cause__ = first
    return error


def has_entry_point(module: str) -> bool:
    """Tell whether an installed distribution offers the module."""
    return entry_point_package(module) is not None


def entry_point_package(module: str) -> str | None:
    """Return what an installed distribution has to be imported for the module; None if none offers it."""
    from importlib import metadata  # slow as well

    found = metadata.entry_points(group=ENTRY_POINTS, name=module)
    return next((each.module for each in found), None)


def _root_packages(directories: Sequence[Path]) -> dict[str, ModulePackage]:
    found: dict[str, ModulePackage] = {}
    for directory in directories:
        if not is_installable(directory):
            continue
        package = read_project(directory)
        if package.name and installed_version(package.name) and not _is_editable_here(package):
            continue  # as a wheel: its sources on the path would shadow it
        if not any((directory / name).is_dir() for name in _CODE_DIRECTORIES):
            package = replace(package, must_build=True)
        found[package.name or directory.name] = package
    return found


def _is_editable_here(package: ModulePackage) -> bool:
    """Tell whether what is installed under that name is this very directory."""
    from importlib import metadata

    try:
        return editable_path(metadata.distribution(package.name)) == str(package.directory)
    except metadata.PackageNotFoundError:
        return False


def _put_on_path(path: str) -> None:
    if path not in sys.path:
        sys.path.insert(0, path)
