"""Call `uv` if it is here, otherwise `pip`, to install what modules depend on."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from amplihack.system.modules.errors import ModuleError
from amplihack.system.modules.last_words import last_words
from amplihack.system.modules.requirements import canonical, parse_requirement
from amplihack.system.processes import Command, run_process


class Installer:
    """Installs into environments. `constraints` is a file of the caller's besides our own pins."""

    def __init__(
        self,
        variables: Mapping[str, str],
        place: Path,
        *,
        offline: bool = False,
        constraints: Path | None = None,
    ) -> None:
        self._variables, self._place = dict(variables), place
        self._offline, self._constraints = offline, constraints
        self._uv = shutil.which("uv", path=self._variables.get("PATH"))

    async def failure(
        self, python: Path, arguments: Sequence[str], pins: Path | None = None, about: Sequence[str] = ()
    ) -> ModuleError | None:
        """Install; return what went wrong, if anything. It is told of `about`, or of all arguments."""
        return await self._run(self.command(python, arguments, pins), about or arguments)

    async def trial(
        self, python: Path, arguments: Sequence[str], pins: Path, name: str
    ) -> ModuleError | None:
        """Find out whether something can be had by itself; nothing is installed."""
        aside = [f"--target={self._place / name}"] if self._uv else []  # else it waits for others
        return await self._run(self.command(python, ["--dry-run", *aside, *arguments], pins), arguments)

    def command(self, python: Path, arguments: Sequence[str], pins: Path | None) -> tuple[str, ...]:
        """Return the command line. `--no-sources` keeps a module's own `[tool.uv.sources]` out of it."""
        bounds = [] if pins is None else ["--constraint", str(pins)]
        if self._constraints is not None and pins is not None:
            bounds += ["--constraint", str(self._constraints)]
        if self._uv is not None:
            offline = ["--offline"] if self._offline else []
            start = [self._uv, "pip", "install", "--python", str(python), "--quiet", "--no-sources", *offline]
        elif importlib.util.find_spec("pip") is not None:
            offline = ["--no-index"] if self._offline else []
            quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
            start = [sys.executable, "-m", "pip", "--python", str(python), "install", *quiet, *offline]
        else:
            what = "there is neither uv nor pip to install what modules depend on"
            raise ModuleError(what, fix="install uv, or pip into the environment that runs amplihack")
        return (*start, *bounds, *arguments)

    async def _run(self, argv: tuple[str, ...], about: Sequence[str]) -> ModuleError | None:
        together = {"UV_CONCURRENT_BUILDS": str(max(8, len(about)))}  # builds wait more than they compute
        done = await run_process(Command(argv=argv, cwd=self._place, env={**together, **self._variables}))
        if done.ok:
            return None
        said = last_words(done.stderr) or last_words(done.stdout)
        name = "pip" if self._uv is None else "uv"
        what = f"{name} could not install {' '.join(about)} ({done.status}): {said}"
        return ModuleError(what, fix=self._fix())

    def _fix(self) -> str:
        if self._offline:
            return "it is not here and nothing may be fetched: run once without offline"
        return "check the module's dependencies in its pyproject.toml, and the network"


def pins_here(*, without: Collection[str]) -> str:
    """Return what this process has as constraints, so that no second version of it comes in."""
    pins: dict[str, str] = {}
    for each in metadata.distributions():
        name = canonical(each.name or "")
        if name and name not in without and parse_requirement(f"{name}=={each.version}") is not None:
            pins.setdefault(name, f"{name}=={each.version}")
    return "".join(f"{pin}\n" for pin in sorted(pins.values()))
