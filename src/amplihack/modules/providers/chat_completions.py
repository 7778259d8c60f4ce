"""Ask a service of your own that speaks chat completions: Ollama, vLLM, llama.cpp, LM Studio, a gateway."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplihack.modules.providers.openai import mount_chat

__amplifier_module_type__ = "provider"


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Any:
    return await mount_chat(coordinator, config, module="provider-chat-completions", own_service=True)
