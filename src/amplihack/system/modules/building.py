"""Build projects of this disk side by side, each by its own backend in one process.

Installers start Python three times for a build, and pip does one after the other. What a backend needs is
installed once, into an environment that all projects share which need the same.
"""

from __future__ import annotations

import asyncio
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from amplihack.records import Record
from amplihack.system.modules.environments import ModuleEnvironment
from amplihack.system.modules.errors import ModuleError
from amplihack.system.modules.last_words import last_words
from amplihack.system.modules.wanted import Build
from amplihack.system.processes import Command, run_process

_RESULT = "result.json"
# PEP 517 and 660. What the backend needs besides is told instead of a wheel, unless it was given already.
_ASK = """
import importlib, json, os, sys
asked = json.loads(sys.argv[1])
sys.path[:0] = asked["path"]
module, _, inside = asked["backend"].partition(":")
backend = importlib.import_module(module)
for part in filter(None, inside.split(".")):
    backend = getattr(backend, part)
hook = getattr(backend, asked["hook"], None)
if hook is None:
    sys.exit(f"the build backend {asked['backend']} has no {asked['hook']}()")
needs = getattr(backend, "get_requires_for_" + asked["hook"], None)
more = [] if needs is None or asked["given"] is not None else list(needs())
result = {"more": more} if more else {"wheel": os.path.basename(hook(asked["target"]))}
with open(os.path.join(asked["target"], "result.json"), "w", encoding="utf-8") as file:
    json.dump(result, file)
"""


class BackendEnvironments(Protocol):
    async def with_backend(self, requires: Sequence[str]) -> ModuleEnvironment:
        """Return an environment that has what a build requires. Raises ModuleError."""


class BuildSystem(Record):
    """What a project says about its build."""

    requires: tuple[str, ...] = ("setuptools>=40.8.0",)
    backend: str = "setuptools.build_meta:__legacy__"
    path: tuple[str, ...] = ()


async def build_all(
    builds: Sequence[Build], environments: BackendEnvironments, variables: Mapping[str, str], place: Path
) -> list[Path | ModuleError]:
    """Build projects into a directory, all at once. Returns a wheel or what went wrong, for each."""

    async def built(number: int, build: Build) -> Path | ModuleError:
        target = place / f"build-{number}"
        target.mkdir()
        try:
            return await _built(build, environments, variables, target)
        except ModuleError as error:
            return error

    return list(await asyncio.gather(*(built(number, each) for number, each in enumerate(builds))))


def build_system(project: Path) -> BuildSystem:
    """Read what a project says about its build. Raises ModuleError."""
    file = project / "pyproject.toml"
    try:
        table = tomllib.loads(file.read_text("utf-8")).get("build-system")
    except FileNotFoundError:
        return BuildSystem()
    except (OSError, ValueError) as error:
        raise ModuleError(f"cannot read {file}: {error}", fix="correct it") from error
    if not isinstance(table, dict):
        return BuildSystem()
    known: dict[str, Any] = {}
    if isinstance(table.get("requires"), list):
        known["requires"] = tuple(map(str, table["requires"]))
    if isinstance(table.get("build-backend"), str):
        known["backend"] = table["build-backend"]
    if isinstance(table.get("backend-path"), list):
        known["path"] = tuple(str(project / str(each)) for each in table["backend-path"])
    return BuildSystem(**known)


async def _built(
    build: Build, environments: BackendEnvironments, variables: Mapping[str, str], target: Path
) -> Path:
    system = await asyncio.to_thread(build_system, build.project)
    more: list[str] | None = None
    while True:
        environment = await environments.with_backend((*system.requires, *(more or ())))
        result = await _asked(build, system, environment, variables, target, more)
        if "wheel" in result:
            return target / str(result["wheel"])
        more = [str(each) for each in result["more"]]


async def _asked(
    build: Build,
    system: BuildSystem,
    environment: ModuleEnvironment,
    variables: Mapping[str, str],
    target: Path,
    given: list[str] | None,
) -> dict[str, Any]:
    asked = {
        "path": system.path,
        "backend": system.backend,
        "hook": build.hook,
        "target": str(target),
        "given": given,
    }
    argv = (str(environment.python), "-I", "-c", _ASK, json.dumps(asked))
    programs = f"{environment.directory / 'bin'}:{variables.get('PATH', '')}"
    done = await run_process(Command(argv=argv, cwd=build.project, env={**variables, "PATH": programs}))
    if not done.ok:
        said = last_words(done.stderr) or last_words(done.stdout)
        fix = f"correct what its build needs or does, in {build.project}"
        raise ModuleError(f"building {build.project} failed ({done.status}): {said}", fix=fix)
    try:
        result: dict[str, Any] = json.loads((target / _RESULT).read_text("utf-8"))
    except (OSError, ValueError) as error:
        what = f"the build backend {system.backend} of {build.project} ended without a result"
        raise ModuleError(what, fix="let its hooks return") from error
    return result
