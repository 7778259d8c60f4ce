"""Run shell commands with our process code, which leaves nothing running: `tool-bash`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplihack.modules.settings import ModuleSettings
from amplihack.modules.tools.bash.commands import BashSettings, BashTool

__amplifier_module_type__ = "tool"


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Any:
    """Mount the tool. What it left running is ended with the session."""
    settings = ModuleSettings(coordinator, "tool-bash", config)
    chosen = BashSettings(
        seconds=settings.seconds("timeout", 30.0) or 30.0,
        most_seconds=settings.seconds("max_timeout", 600.0) or 600.0,
        most_output=settings.count("max_output_bytes", 100_000, least=200),
        most_jobs=settings.count("max_background_jobs", 8, least=0),
        hidden=settings.texts("hide_env"),
        shown=settings.texts("show_env"),
        allowed=settings.texts("allowed_commands"),
        denied=settings.texts("denied_commands"),
    )
    settings.no_approval()
    settings.done()
    tool = BashTool(coordinator, chosen)
    await coordinator.mount("tools", tool, name=tool.name)
    return tool.close
