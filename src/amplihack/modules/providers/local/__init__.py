"""Answer with a model that runs in this process: `provider-local`. No account, and no network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplihack.modules.providers.local.provider import LocalProvider, LocalSettings
from amplihack.modules.settings import ModuleSettings

__amplifier_module_type__ = "provider"


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount the provider. The model is loaded by the first question, and not before."""
    settings = ModuleSettings(coordinator, "provider-local", config)
    chosen = LocalSettings(
        model=settings.text("model") or settings.text("default_model"),
        window=settings.count("context_window", 0, least=0),
        most_tokens=settings.count("max_tokens", 1_024),
        threads=settings.count("threads", 0, least=0),
        temperature=settings.anything("temperature", 0),
    )
    if not isinstance(chosen.temperature, int | float) or isinstance(chosen.temperature, bool):
        settings.wrong("'temperature' must be a number")
    name, priority = settings.text("name", "local"), settings.count("priority", 100, least=0)
    settings.done()
    provider = LocalProvider(coordinator, chosen, name=name)
    provider.priority = priority
    await coordinator.mount("providers", provider, name=name)
