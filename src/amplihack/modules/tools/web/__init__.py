"""Fetch pages from the public network: `tool-web`. A bundle has to ask for it; there is no search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplihack.modules.settings import ModuleSettings
from amplihack.modules.tools.web.fetching import WebFetch, WebSettings

__amplifier_module_type__ = "tool"


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    also = {"allowed_domains": "allowed_hosts", "max_size": "max_bytes", "default_limit": "page_characters"}
    settings = ModuleSettings(coordinator, "tool-web", config, also=also)
    blocked = settings.texts("blocked_domains")
    chosen = WebSettings(
        offline=settings.flag("offline", default=False),
        seconds=settings.seconds("timeout", 30.0) or 30.0,
        most_bytes=settings.count("max_bytes", 5_000_000),
        page=settings.count("page_characters", 50_000, least=100),
        allowed=settings.texts("allowed_hosts"),
        denied=(*settings.texts("denied_hosts"), *blocked, *(f"*.{domain}" for domain in blocked)),
        private=settings.texts("allowed_private_hosts"),
    )
    settings.done()
    tool = WebFetch(chosen)
    await coordinator.mount("tools", tool, name=tool.name)
