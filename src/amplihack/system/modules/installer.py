"""Install what modules depend on, with `uv` if it is here, otherwise with `pip`."""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

from amplihack.patterns import pattern
from amplihack.system.modules.environment import ModuleEnvironment, editable_path
from amplihack.system.modules.errors import ModuleError
from amplihack.system.modules.requirements import canonical, parse_requirement
from amplihack.system.modules.wanted import Build, Wanted
from amplihack.system.processes import Command, run_process
from amplihack.system.scratch import scratch_directory

_LAST_WORDS = 8_000  # bytes of what an installer said
_LAST_LINES = 8
_RAISED = pattern(r"\s*[A-Za-z_.]*(Error|Exception): ")


class Installer:
    """Installs into one environment. `constraints` is a file of the caller's besides our own pins.

    `settled` are requirements that are met and have to stay so.
    """

    def __init__(
        self,
        environment: ModuleEnvironment,
        variables: Mapping[str, str],
        *,
        offline: bool = False,
        constraints: Path | None = None,
        settled: Sequence[str] = (),
    ) -> None:
        self._environment, self._variables = environment, dict(variables)
        self._offline, self._constraints, self._settled = offline, constraints, settled
        self._uv = shutil.which("uv", path=self._variables.get("PATH"))
        self._built: set[Build] = set()

    async def install(self, wanted: Sequence[Wanted]) -> dict[str, ModuleError]:
        """Install everything in one call; else all that can be had. Returns what failed, by name."""
        with scratch_directory("install") as scratch:
            pins = scratch / "constraints.txt"
            pinned = await asyncio.to_thread(host_pins, without=self._environment.site_packages)
            pins.write_text("".join((pinned, *(f"{each}\n" for each in self._settled))), "utf-8")
            failed = await self._build_aside(wanted, pins)
            return failed | await self._together([one for one in wanted if one.name not in failed], pins)

    async def _build_aside(self, wanted: Sequence[Wanted], pins: Path) -> dict[str, ModuleError]:
        """Build side by side, without what it needs, where there is only pip: it builds one after another."""
        builds = [(one.name, each) for one in wanted for each in one.builds]
        if self._uv is not None or len(builds) < 2:
            return {}
        done = await asyncio.gather(*(self._run(each.arguments, pins, ["--no-deps"]) for _, each in builds))
        failed: dict[str, ModuleError] = {}
        for (name, build), error in zip(builds, done, strict=True):
            if error is None:
                self._built.add(build)
            else:
                failed[name] = error
        return failed

    async def _together(self, wanted: Sequence[Wanted], pins: Path) -> dict[str, ModuleError]:
        error = await self._failure(wanted, pins)
        if error is None:
            return {}
        if len(wanted) == 1:
            return {wanted[0].name: error}
        failed = await self._tried(wanted, pins)
        rest = [one for one in wanted if one.name not in failed]
        if rest and (not failed or await self._failure(rest, pins) is not None):
            failed |= await self._one_by_one(rest, pins)
        return failed

    async def _tried(self, wanted: Sequence[Wanted], pins: Path) -> dict[str, ModuleError]:
        """Return what cannot be resolved by itself, found out side by side; nothing is installed."""

        async def tried(one: Wanted) -> ModuleError | None:
            aside = [f"--target={pins.parent / one.name}"] if self._uv else []  # else it waits for the others
            return await self._failure([one], pins, ["--dry-run", *aside])

        errors = await asyncio.gather(*map(tried, wanted))
        return {one.name: each for one, each in zip(wanted, errors, strict=True) if each is not None}

    async def _one_by_one(self, wanted: Sequence[Wanted], pins: Path) -> dict[str, ModuleError]:
        """Add one after the other: they do not get along, or one fails only when it is built.

        Whoever comes first keeps what it needs.
        """
        failed: dict[str, ModuleError] = {}
        kept: list[Wanted] = []
        for one in wanted:
            error = await self._failure([*kept, one], pins)
            if error is None:
                kept.append(one)
            else:
                failed[one.name] = error
        return failed

    async def _failure(
        self, wanted: Sequence[Wanted], pins: Path, options: Sequence[str] = ()
    ) -> ModuleError | None:
        """Return what fails: it is about the last one that is wanted, if the others were installed before."""
        arguments = await asyncio.to_thread(self._arguments, wanted)
        own = self._arguments(wanted[-1:])
        return await self._run(arguments, pins, options, about=own) if arguments else None

    def _arguments(self, wanted: Sequence[Wanted]) -> list[str]:
        """Return what is left to install: of what is built already, what it requires."""
        builds = [each for one in wanted for each in one.builds]
        found = [each for build in builds if build not in self._built for each in build.arguments]
        found += [each for one in wanted for each in one.wheels]
        built = [each for each in builds if each in self._built]
        return found + (self._required_by(built) if built else [])

    def _required_by(self, builds: Sequence[Build]) -> list[str]:
        """Return what freshly built packages say that they require."""
        places = {str(each.project) for each in builds}
        names = {each.name for each in builds if each.name}
        found: list[str] = []
        for each in metadata.distributions(path=[str(self._environment.site_packages)]):
            if canonical(each.name or "") in names or editable_path(each) in places:
                found += [line for line in each.requires or () if "extra ==" not in line]
        return found

    async def _run(
        self, arguments: Sequence[str], pins: Path, options: Sequence[str] = (), about: Sequence[str] = ()
    ) -> ModuleError | None:
        argv = self.command([*options, *arguments], pins)
        together = {"UV_CONCURRENT_BUILDS": str(max(8, len(arguments)))}  # builds wait more than they compute
        env = {**together, **self._variables}
        done = await run_process(Command(argv=argv, cwd=pins.parent, env=env))
        if done.ok:
            return None
        said = last_words(done.stderr.tail(_LAST_WORDS) or done.stdout.tail(_LAST_WORDS))
        name, those = "pip" if self._uv is None else "uv", " ".join(about or arguments)
        return ModuleError(f"{name} could not install {those} ({done.status}): {said}", fix=self._fix())

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


def last_words(text: str) -> str:
    """Return the end of what a program said, its last error in front; lines are whole."""
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    last = lines[-_LAST_LINES:]
    shift = min((len(line) - len(line.lstrip()) for line in last), default=0)
    shown = "\n".join(line[shift:] for line in last)
    if len(lines) <= _LAST_LINES:
        return shown
    raised = next((line.strip() for line in reversed(lines) if _RAISED.match(line)), "")
    return f"{raised or lines[-1].strip()}\n…\n{shown}"


def host_pins(*, without: Path) -> str:
    """Return what runs us as constraints, so that no second version of it comes in."""
    pins: dict[str, str] = {}
    for each in metadata.distributions(path=[path for path in sys.path if path != str(without)]):
        name = canonical(each.name or "")
        if name and parse_requirement(f"{name}=={each.version}") is not None:
            pins.setdefault(name, f"{name}=={each.version}")
    return "".join(f"{pin}\n" for pin in sorted(pins.values()))
