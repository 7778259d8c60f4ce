"""Install what modules depend on, with `uv` if it is here, otherwise with `pip`."""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

from amplihack.system.modules.environment import ModuleEnvironment
from amplihack.system.modules.errors import ModuleError
from amplihack.system.modules.requirements import canonical, parse_requirement
from amplihack.system.modules.wanted import Wanted
from amplihack.system.processes import Command, run_process

_LAST_WORDS = 2_000  # bytes of what an installer said


class Installer:
    """Installs into one environment. `constraints` is a file of the caller's besides our own pins."""

    def __init__(
        self,
        environment: ModuleEnvironment,
        variables: Mapping[str, str],
        *,
        offline: bool = False,
        constraints: Path | None = None,
    ) -> None:
        self._environment, self._variables = environment, dict(variables)
        self._offline, self._constraints = offline, constraints
        self._uv = shutil.which("uv", path=self._variables.get("PATH"))

    async def install(self, wanted: Sequence[Wanted]) -> dict[str, ModuleError]:
        """Install everything in one call; if that fails, each alone. Returns what failed, by name."""
        with tempfile.TemporaryDirectory(prefix="amplihack-install-") as scratch:
            pins = Path(scratch) / "constraints.txt"
            pins.write_text(host_pins(without=self._environment.site_packages), "utf-8")
            together = await self._failure([each for one in wanted for each in one.arguments], wanted, pins)
            if together is None:
                return {}
            if len(wanted) == 1:
                return {wanted[0].name: together}
            failed: dict[str, ModuleError] = {}
            for one in wanted:
                error = await self._failure(list(one.arguments), [one], pins)
                if error is not None:
                    failed[one.name] = error
            return failed

    async def _failure(
        self, arguments: list[str], wanted: Sequence[Wanted], pins: Path
    ) -> ModuleError | None:
        projects = [one.project for one in wanted if one.project is not None]
        if self._uv is None and len(projects) > 1:
            error = await self._build_together(projects, pins)
            if error is not None:
                return error
            arguments = [
                *(each for one in wanted for each in one.requirements),
                *self._required_by(projects),
            ]
        return await self._run(arguments, pins) if arguments else None

    async def _build_together(self, projects: Sequence[Path], pins: Path) -> ModuleError | None:
        """Install projects side by side, without what they need: pip itself builds one after another."""
        done = await asyncio.gather(*(self._run(["--no-deps", "-e", str(each)], pins) for each in projects))
        return next((error for error in done if error is not None), None)

    def _required_by(self, projects: Sequence[Path]) -> list[str]:
        """Return what freshly installed projects say that they require."""
        places = {str(each) for each in projects}
        found: list[str] = []
        for each in metadata.distributions(path=[str(self._environment.site_packages)]):
            if self._environment.installed_from(each.name or "") in places:
                found += [line for line in each.requires or () if "extra ==" not in line]
        return found

    async def _run(self, arguments: Sequence[str], pins: Path) -> ModuleError | None:
        argv = self.command(arguments, pins)
        together = {"UV_CONCURRENT_BUILDS": str(max(8, len(arguments)))}  # builds wait more than they compute
        env = {**together, **self._variables}
        done = await run_process(Command(argv=argv, cwd=pins.parent, env=env))
        if done.ok:
            return None
        said = (done.stderr.tail(_LAST_WORDS) or done.stdout.tail(_LAST_WORDS)).strip()
        what = f"{Path(argv[0]).name} could not install {' '.join(arguments)} ({done.status}): {said}"
        return ModuleError(what, fix=self._fix())

    def command(self, arguments: Sequence[str], pins: Path) -> tuple[str, ...]:
        """Return the command line. `--no-sources` keeps a module's own `[tool.uv.sources]` out of it."""
        python = str(self._environment.python)
        constrained = ["--constraint", str(pins)]
        if self._constraints is not None:
            constrained += ["--constraint", str(self._constraints)]
        if self._uv is not None:
            offline = ["--offline"] if self._offline else []
            start = [self._uv, "pip", "install", "--python", python, "--quiet", "--no-sources", *offline]
        elif importlib.util.find_spec("pip") is not None:
            offline = ["--no-index"] if self._offline else []
            quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
            start = [sys.executable, "-m", "pip", "--python", python, "install", *quiet, *offline]
        else:
            what = "there is neither uv nor pip to install what modules depend on"
            raise ModuleError(what, fix="install uv, or pip into the environment that runs amplihack")
        return (*start, *constrained, *arguments)

    def _fix(self) -> str:
        if self._offline:
            return "it is not here and nothing may be fetched: run once without offline"
        return "check the module's dependencies in its pyproject.toml, and the network"


def host_pins(*, without: Path) -> str:
    """Return what runs us as constraints, so that no second version of it comes in."""
    pins: dict[str, str] = {}
    for each in metadata.distributions(path=[path for path in sys.path if path != str(without)]):
        name = canonical(each.name or "")
        if name and parse_requirement(f"{name}=={each.version}") is not None:
            pins.setdefault(name, f"{name}=={each.version}")
    return "".join(f"{pin}\n" for pin in sorted(pins.values()))
