"""Fill new environments with what modules want, and find out which of them cannot have it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from amplihack.system.modules.building import build_all
from amplihack.system.modules.environments import Environments, ModuleEnvironment
from amplihack.system.modules.errors import ModuleError
from amplihack.system.modules.installer import Installer, pins_here
from amplihack.system.modules.wanted import Build, Wanted, projects
from amplihack.system.undisturbed import undisturbed


class Filler:
    """Makes environments while it holds the lock on them; what it needs besides is in `place`."""

    def __init__(
        self,
        environments: Environments,
        variables: Mapping[str, str],
        place: Path,
        offline: bool,
        constraints: Path | None,
    ) -> None:
        self._environments, self._variables, self._place = environments, variables, place
        self._installer = Installer(variables, place, offline=offline, constraints=constraints)
        self._pins = place / "constraints.txt"
        self._wheels: dict[Build, Path | ModuleError] = {}
        self._backends: dict[frozenset[str], asyncio.Lock] = {}

    async def filled(
        self, wanted: Sequence[Wanted]
    ) -> tuple[ModuleEnvironment | None, dict[str, ModuleError]]:
        """Return an environment with all that can be had, if anything can, and what cannot, by name."""
        await asyncio.to_thread(self._pinned, wanted)
        failed = await self._unbuilt(wanted)
        rest = [one for one in wanted if one.name not in failed]
        if not rest:
            return None, failed
        made, why = await self._together(rest)
        return made, failed | why

    async def installed_into(self, python: Path, wanted: Sequence[Wanted]) -> dict[str, ModuleError]:
        """Install everything for another interpreter, editable where it is built. Returns what failed."""
        failed: dict[str, ModuleError] = {}
        pins = await asyncio.to_thread(self._pinned, wanted)
        if await self._installer.failure(python, _editable(wanted), pins) is not None:
            for one in wanted:  # now each by itself, to tell which one it is
                error = await self._installer.failure(python, _editable([one]), pins)
                if error is not None:
                    failed[one.name] = error
        return failed

    async def with_backend(self, requires: Sequence[str]) -> ModuleEnvironment:
        """Return an environment that has what a build requires; projects that need the same share it."""
        async with self._backends.setdefault(frozenset(requires), asyncio.Lock()):
            serving = self._environments.serving(requires, "", "build")
            found = await asyncio.to_thread(lambda: next((each for each in serving if each.is_held()), None))
            if found is not None:
                return found
            made = await asyncio.to_thread(self._environments.make)
            error = await self._installer.failure(made.python, requires) if requires else None
            if error is not None:
                await asyncio.to_thread(self._environments.discard, made)
                raise error
            return await asyncio.to_thread(self._environments.finish, made, requires, "", "build")

    async def _unbuilt(self, wanted: Sequence[Wanted]) -> dict[str, ModuleError]:
        """Build what has to be built, side by side. Returns what cannot be."""
        new = [each for one in wanted for each in one.builds if each not in self._wheels]
        done = await build_all(new, self, self._variables, self._place)
        self._wheels |= dict(zip(new, done, strict=True))
        built = ((one.name, self._wheels[each]) for one in wanted for each in one.builds)
        return {name: each for name, each in built if isinstance(each, ModuleError)}

    async def _together(
        self, wanted: Sequence[Wanted]
    ) -> tuple[ModuleEnvironment | None, dict[str, ModuleError]]:
        """Install all in one call; else all that can be had."""
        made = await self._one_call(wanted)
        if isinstance(made, ModuleEnvironment):
            return made, {}
        if len(wanted) == 1:
            return None, {wanted[0].name: made}
        failed = await self._tried(wanted)
        rest = [one for one in wanted if one.name not in failed]
        if failed and rest:
            made = await self._one_call(rest)
            if isinstance(made, ModuleEnvironment):
                return made, failed
        kept, more = await self._one_by_one(rest)
        return kept, failed | more

    async def _tried(self, wanted: Sequence[Wanted]) -> dict[str, ModuleError]:
        """Return what cannot be had even by itself, found out side by side."""
        python = (await self.with_backend(())).python
        tried = [
            self._installer.trial(python, self._arguments([one]), self._pins, f"trial-{number}")
            for number, one in enumerate(wanted)
        ]
        errors = await asyncio.gather(*tried)
        return {one.name: each for one, each in zip(wanted, errors, strict=True) if each is not None}

    async def _one_by_one(
        self, wanted: Sequence[Wanted]
    ) -> tuple[ModuleEnvironment | None, dict[str, ModuleError]]:
        """Add one after the other: they do not get along. Whoever comes first keeps what it needs."""
        failed: dict[str, ModuleError] = {}
        kept: list[Wanted] = []
        last: ModuleEnvironment | None = None
        for one in wanted:
            made = await self._one_call([*kept, one])
            if isinstance(made, ModuleError):
                failed[one.name] = made
                continue
            if last is not None:
                await asyncio.to_thread(self._environments.discard, last)
            last = made
            kept.append(one)
        return last, failed

    async def _one_call(self, wanted: Sequence[Wanted]) -> ModuleEnvironment | ModuleError:
        """Return a new environment with all of it, or why not: that is told of the last one."""
        made = await asyncio.to_thread(self._environments.make)
        try:
            about = self._arguments(wanted[-1:])
            error = await self._installer.failure(made.python, self._arguments(wanted), self._pins, about)
        except BaseException:
            await undisturbed(asyncio.to_thread(self._environments.discard, made))
            raise
        if error is not None:
            await asyncio.to_thread(self._environments.discard, made)
            return error
        return made

    def _pinned(self, wanted: Sequence[Wanted]) -> Path:
        self._pins.write_text(pins_here(without=projects(wanted)), "utf-8")
        return self._pins

    def _arguments(self, wanted: Sequence[Wanted]) -> list[str]:
        found = [each for one in wanted for each in one.others]
        for build in (each for one in wanted for each in one.builds):
            wheel = self._wheels[build]
            if isinstance(wheel, Path):
                found.append(build.argument(wheel))
        return found


def _editable(wanted: Sequence[Wanted]) -> list[str]:
    own = [each for one in wanted if one.built for each in ("-e", str(one.directory))]
    return own + [each for one in wanted for each in one.requirements]
