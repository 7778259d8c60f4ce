"""One of our tools, mounted on a coordinator of the kernel, in a directory of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from amplifier_core import create_test_coordinator

from amplihack.modules.table import MODULES


class MountedTools:
    """Calls tools by name, and tells whether they succeeded."""

    def __init__(self, coordinator: Any) -> None:
        self.coordinator = coordinator

    async def call(self, name: str, **given: Any) -> Any:
        """Return the output of a call that succeeds."""
        result = await self.coordinator.get("tools")[name].execute(given)
        assert result.success, result.output
        return result.output

    async def fails(self, name: str, **given: Any) -> str:
        """Return what a call that fails says."""
        result = await self.coordinator.get("tools")[name].execute(given)
        assert not result.success, result.output
        return str(result.output)


@asynccontextmanager
async def mounted(
    module: str,
    working_dir: Path,
    *,
    config: Mapping[str, Any] | None = None,
    capabilities: Mapping[str, Any] | None = None,
) -> AsyncIterator[MountedTools]:
    coordinator = create_test_coordinator()
    coordinator.register_capability("session.working_dir", str(working_dir))
    for name, value in (capabilities or {}).items():
        coordinator.register_capability(name, value)
    close = await import_module(MODULES[module].package).mount(coordinator, dict(config or {}))
    try:
        yield MountedTools(coordinator)
    finally:
        if close is not None:
            await close()
