"""Give this process what modules lack: an environment that is here already, or a new one."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from amplihack.records import Record
from amplihack.system.modules.environments import Environments, ModuleEnvironment
from amplihack.system.modules.errors import ModuleError
from amplihack.system.modules.wanted import Wanted, projects

if TYPE_CHECKING:
    from amplihack.system.modules.filling import Filler

_TRIES = 3  # others of this process may bring another version in while we install


class Provision(Record, kw_only=True):
    """Where modules get what they lack, and from whom."""

    environments: Environments
    variables: Mapping[str, str]
    offline: bool = False
    constraints: Path | None = None
    python: Path | None = None  # an interpreter of the caller's that receives installs instead
    installing: Callable[[str], None] = lambda _: None  # hears the name of whatever takes an install

    def use_what_is_here(self, wanted: Sequence[Wanted]) -> bool:
        """Enter an environment that has all that is wanted, if there is one; else one for each, if any."""
        if self._is_here(wanted):
            return True
        for one in wanted:
            self._is_here([one])
        return False

    async def provide(self, wanted: Sequence[Wanted]) -> dict[str, ModuleError]:
        """Let this process import all that is wanted. Returns what cannot be had, by name."""
        if self.python is None and await asyncio.to_thread(self._is_here, wanted):
            return {}
        from amplihack.system.modules.filling import Filler  # slow, and most bundles install nothing
        from amplihack.system.scratch import scratch_directory

        async with self.environments.held(self.variables) as variables:
            await asyncio.to_thread(self.environments.clean)
            with scratch_directory("install") as scratch:
                for one in wanted:
                    self.installing(one.name)
                filler = Filler(self.environments, variables, scratch, self.offline, self.constraints)
                if self.python is not None:
                    return await filler.installed_into(self.python, wanted)
                return await self._provided(filler, wanted)

    async def _provided(self, filler: Filler, wanted: Sequence[Wanted]) -> dict[str, ModuleError]:
        failed: dict[str, ModuleError] = {}
        for _ in range(_TRIES):
            rest = [one for one in wanted if one.name not in failed]
            if not rest or await asyncio.to_thread(self._is_here, rest):
                return failed  # another process may have installed it meanwhile
            made, why = await filler.filled(rest)
            failed |= why
            left = [one for one in rest if one.name not in why]
            if made is not None:
                kept = await asyncio.to_thread(self._finished, made, left)
                if await asyncio.to_thread(self._is_entered, kept, left):
                    return failed
        what = "while it was installed, other modules of this process brought in other versions"
        fix = "prepare one bundle after the other, or in another process"
        return failed | {one.name: ModuleError(what, fix=fix) for one in wanted if one.name not in failed}

    def _finished(self, made: ModuleEnvironment, wanted: Sequence[Wanted]) -> ModuleEnvironment:
        return self.environments.finish(made, _marks(wanted), self._bounds, "run")

    def _is_here(self, wanted: Sequence[Wanted]) -> bool:
        serving = self.environments.serving(_marks(wanted), self._bounds, "run")
        return any(self._is_entered(each, wanted) for each in serving)

    def _is_entered(self, environment: ModuleEnvironment, wanted: Sequence[Wanted]) -> bool:
        return environment.is_held() and environment.is_entered(own=projects(wanted))

    @property
    def _bounds(self) -> str:
        if self.constraints is None:
            return ""
        try:
            return hashlib.sha256(self.constraints.read_bytes()).hexdigest()
        except OSError as error:
            what = f"cannot read the constraints {self.constraints}: {error.strerror}"
            raise ModuleError(what, fix="check the path") from error


def _marks(wanted: Sequence[Wanted]) -> list[str]:
    return [mark for one in wanted for mark in one.marks]
