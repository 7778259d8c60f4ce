"""Say why a module cannot be installed, and what to do, where we know better than the installer."""

from __future__ import annotations

from collections.abc import Sequence

from amplihack.system.modules.environments import version_outside
from amplihack.system.modules.errors import ModuleError
from amplihack.system.modules.package import ModulePackage
from amplihack.system.modules.requirements import Requirement, installed_version, is_met


def with_reason(
    error: ModuleError, package: ModulePackage, others: Sequence[ModulePackage], *, offline: bool
) -> ModuleError:
    """Return the error with the reason for it. `others` are the packages that can be had."""
    missing = package.missing
    if strays := ", ".join(sorted(package.uv_sources & {each.name for each in missing})):
        fix = f"[tool.uv.sources] has no effect here: share {strays} through the bundle's own package"
        return ModuleError(error.what, fix=fix)
    for each in (each for each in missing if each.is_bound):
        if why := _in_the_way(each, others):
            what = f"it requires {each.text}, and {why}, and modules share their packages: {error.what}"
            fix = "let the module take the version that is here, or use it in another process"
            return ModuleError(what, fix=fix)
    if package.must_build and not offline:
        return ModuleError(error.what, fix=f"correct what its build needs or does, in {package.directory}")
    return error


def _in_the_way(requirement: Requirement, others: Sequence[ModulePackage]) -> str:
    """Return what keeps a version out."""
    wishes = (each for package in others for each in package.requirements)
    same = (each for each in wishes if each.name == requirement.name and each.is_bound)
    if ours := version_outside(requirement.name):
        return f"what runs us has {ours}"
    if other := next((each.text for each in same if each.text != requirement.text), ""):
        return f"another one here requires {other}"
    here = installed_version(requirement.name)
    if here is not None and not is_met(requirement, here):
        return f"this process has {requirement.name} {here} already, for what was prepared before"
    return ""
