"""Keep an environment of our own for what modules depend on; the one that runs us is never changed."""

from __future__ import annotations

import hashlib
import json
import site
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import invalidate_caches
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from amplihack.system.locks import locked_async
from amplihack.system.modules.errors import ModuleError
from amplihack.system.modules.requirements import canonical

if TYPE_CHECKING:
    from importlib import metadata

_PATIENCE = 900.0  # seconds for another process that installs


class ModuleEnvironment:
    """A virtual environment in the cache, one for each interpreter that runs us."""

    def __init__(self, cache_dir: Path, *, python: Path | None = None) -> None:
        mark = hashlib.sha256(f"{sys.prefix} {sys.base_prefix}".encode()).hexdigest()[:8]
        name = f"{sys.implementation.cache_tag}-{mark}"
        self.directory = Path(cache_dir) / "environment" / name
        self.python = python or self.directory / "bin" / "python"
        self.is_ours = python is None

    @property
    def site_packages(self) -> Path:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.directory / "lib" / version / "site-packages"

    @property
    def exists(self) -> bool:
        return (
            (self.directory / "pyvenv.cfg").is_file() and self.python.exists() and self.site_packages.is_dir()
        )

    @asynccontextmanager
    async def held(self, variables: Mapping[str, str]) -> AsyncIterator[dict[str, str]]:
        """Hold the environment for installing, and give the variables for whoever changes it.

        Other processes wait. What a killed one left running there is ended first.
        """
        from amplihack.system.process_marks import (
            VARIABLE,
            with_mark,
        )  # slow, and most bundles install nothing
        from amplihack.system.process_tree import end_tree

        place = hashlib.sha256(str(self.directory).encode()).hexdigest()[:16]
        mark = f"install-{place}:"
        async with locked_async(self.directory.with_suffix(".lock"), patience=_PATIENCE):
            if not await end_tree(mark, grace=0):  # whoever holds the lock starts them, and that is us
                what = f"an installer that was left running in {self.directory} does not end"
                raise ModuleError(what, fix="end it by hand, then try again")
            yield {**variables, VARIABLE: with_mark(variables, mark)}

    async def make(self, variables: dict[str, str]) -> None:
        """Make the environment if it is not there or was left half-made. Needs the lock."""
        if not self.is_ours or self.exists:
            return
        from amplihack.system.processes import Command, run_process  # slow, and most bundles install nothing

        self.directory.parent.mkdir(parents=True, exist_ok=True)
        argv = (sys.executable, "-m", "venv", "--without-pip", "--clear", str(self.directory))
        done = await run_process(Command(argv=argv, cwd=self.directory.parent, env=variables))
        if not done.ok:
            last = done.stderr.tail(500).strip()
            fix = "check the disk and that this Python has its `venv` module"
            raise ModuleError(f"cannot make the environment for modules: {done.status}: {last}", fix=fix)

    def enter(self) -> None:
        """Let this process import what is installed there; packages of our own come first."""
        if self.is_ours and self.site_packages.is_dir():
            path = str(self.site_packages)
            if path in sys.path:
                before = list(sys.path)
                sys.path.remove(path)
                site.addsitedir(path)  # again: editable installs may be new
                sys.path[:] = [*before, *(each for each in sys.path if each not in before)]
            else:
                site.addsitedir(path)
        invalidate_caches()

    def version_beside(self, name: str) -> str | None:
        """Return the version of a package that this process has from elsewhere; None if it has none."""
        from importlib import metadata  # slow as well

        elsewhere = [path for path in sys.path if path != str(self.site_packages)]
        return next((each.version for each in metadata.distributions(name=name, path=elsewhere)), None)

    def installed_from(self, name: str) -> str | None:
        """Return the directory that a distribution was installed from, editable; None if it was not."""
        from importlib import metadata  # slow as well

        for each in metadata.distributions(path=[str(self.site_packages)]):
            if canonical(each.name or "") == canonical(name):
                return editable_path(each)
        return None


def editable_path(distribution: metadata.Distribution) -> str | None:
    """Return the directory that a distribution was installed from; None for one from elsewhere."""
    try:
        data = json.loads(distribution.read_text("direct_url.json") or "{}")
    except ValueError:
        return None
    url = data.get("url") if isinstance(data, dict) else None
    if not isinstance(url, str) or not url.startswith("file://"):
        return None
    return unquote(url.removeprefix("file://"))
