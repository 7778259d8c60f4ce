"""Read, write and edit files inside the directories that the settings allow: `tool-filesystem`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplihack.modules.settings import ModuleSettings
from amplihack.modules.tools.filesystem.editing import EditFile, WriteFile
from amplihack.modules.tools.filesystem.places import FilePlaces
from amplihack.modules.tools.filesystem.reading import ReadFile

__amplifier_module_type__ = "tool"


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    settings = ModuleSettings(coordinator, "tool-filesystem", config)
    places = FilePlaces(
        coordinator=coordinator,
        read=settings.texts("allowed_read_paths", (".",)),
        write=settings.texts("allowed_write_paths", (".",)),
        not_read=settings.texts("denied_read_paths"),
        not_write=settings.texts("denied_write_paths"),
        most_bytes=settings.count("max_file_bytes", 10_000_000),
    )
    most_lines = settings.count("max_lines", 2_000)
    settings.no_approval()
    settings.done()
    for tool in (ReadFile(places, most_lines), WriteFile(places), EditFile(places)):
        await coordinator.mount("tools", tool, name=tool.name)
