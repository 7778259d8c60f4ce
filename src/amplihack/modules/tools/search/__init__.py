"""Search files by content and by name, with ripgrep if it is here and without it if not: `tool-search`."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Any

from amplihack.modules.settings import ModuleSettings
from amplihack.modules.tools.search.glob_tool import GlobTool
from amplihack.modules.tools.search.grep_tool import GrepTool
from amplihack.modules.tools.search.places import SearchPlaces

__amplifier_module_type__ = "tool"


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    settings = ModuleSettings(coordinator, "tool-search", config)
    places = SearchPlaces(
        coordinator=coordinator,
        allowed=settings.texts("allowed_read_paths", (".",)),
        denied=settings.texts("denied_read_paths"),
        seconds=settings.seconds("timeout", 30.0) or 30.0,
    )
    most = settings.count("max_results", 200)
    ripgrep = shutil.which("rg") if settings.flag("ripgrep", default=True) else None
    settings.done()
    for tool in (GrepTool(places, most, ripgrep), GlobTool(places, most)):
        await coordinator.mount("tools", tool, name=tool.name)
