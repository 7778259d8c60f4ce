"""Bundles and modules in the shape that the ecosystem's guide shows, written to a directory of the test."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

from amplifier_foundation import load_bundle
from amplifier_foundation.bundle import PreparedBundle

PYPROJECT = """\
[project]
name = "amplifier-module-{name}"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = [{dependencies}]

[project.entry-points."amplifier.modules"]
{name} = "amplifier_module_{package}:mount"

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
packages = ["amplifier_module_{package}"]
"""

TOOL = '''
"""Amplifier tool module."""
from typing import Any
from amplifier_core import ToolResult


class EchoTool:
    @property
    def name(self) -> str:
        return "echo"

    @property
    def description(self) -> str:
        return "Says what it is told, and where."

    @property
    def input_schema(self) -> dict:
        return {"type": "object", "properties": {"text": {"type": "string"}}}

    def __init__(self, coordinator, config):
        self.coordinator, self.config = coordinator, config

    async def execute(self, input_data: dict[str, Any]) -> ToolResult:
        here = self.coordinator.get_capability("session.working_dir")
        said = f"{self.config.get('prefix', '')}{input_data.get('text')}"
        return ToolResult(success=True, output=f"{said} in {here}")


async def mount(coordinator: Any, config: dict[str, Any] | None = None) -> dict[str, Any]:
    tool = EchoTool(coordinator, config or {})
    await coordinator.mount("tools", tool, name=tool.name)
    return {"name": "tool-echo", "version": "0.1.0", "provides": ["echo"]}
'''

LOOP = '''
"""A loop: asks the provider until it wants no more tools."""
from amplifier_core import HookResult
from amplifier_core.message_models import ChatRequest, Message

__amplifier_module_type__ = "orchestrator"


class Loop:
    def __init__(self, config):
        self.config = config

    async def execute(self, prompt, context, providers, tools, hooks, coordinator=None, **kwargs):
        await hooks.emit("execution:start", {"prompt": prompt})
        await context.add_message({"role": "user", "content": prompt})
        provider = min(providers.values(), key=lambda each: getattr(each, "priority", 100))
        for step in range(self.config.get("max_iterations", 50)):
            if coordinator.cancellation.is_cancelled:
                break
            messages = await context.get_messages_for_request()
            request = ChatRequest(messages=[Message(**_clean(each)) for each in messages])
            response = await provider.complete(request)
            usage = response.usage.model_dump(mode="json") if response.usage else None
            await hooks.emit("llm:response", {"provider": provider.name, "usage": usage})
            text = "".join(getattr(block, "text", "") for block in response.content)
            calls = provider.parse_tool_calls(response)
            said = {"role": "assistant", "content": text}
            if calls:
                said["tool_calls"] = [{"id": c.id, "tool": c.name, "arguments": c.arguments} for c in calls]
            await context.add_message(said)
            if not calls:
                await hooks.emit("orchestrator:complete", {"turn_count": step + 1, "status": "success"})
                return text
            for call in calls:
                result = await self.call(call, tools, hooks, coordinator)
                await context.add_message(
                    {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": result}
                )
        return "stopped"

    async def call(self, call, tools, hooks, coordinator):
        before = await hooks.emit("tool:pre", {"tool_name": call.name, "tool_input": call.arguments})
        decided = await coordinator.process_hook_result(before, "tool:pre", "test")
        if decided.action == "deny":
            return f"denied: {decided.reason}"
        found = await tools[call.name].execute(call.arguments)
        await hooks.emit("tool:post", {"tool_name": call.name, "result": found.model_dump(mode="json")})
        return found.get_serialized_output()


def _clean(message):
    kept = ("role", "content", "tool_call_id", "name")
    return {key: value for key, value in message.items() if key in kept}


async def mount(coordinator, config=None):
    await coordinator.mount("orchestrator", Loop(config or {}))
'''

CONTEXT = '''
"""A conversation in memory."""

__amplifier_module_type__ = "context"


class Memory:
    def __init__(self):
        self.messages, self.factory = [], None

    async def add_message(self, message):
        self.messages.append(message)

    async def get_messages_for_request(self, token_budget=None, provider=None):
        if self.factory is None:
            return list(self.messages)
        return [{"role": "system", "content": await self.factory()}, *self.messages]

    async def get_messages(self):
        return list(self.messages)

    async def set_messages(self, messages):
        self.messages = list(messages)

    async def clear(self):
        self.messages = []

    async def set_system_prompt_factory(self, factory):
        self.factory = factory


async def mount(coordinator, config=None):
    await coordinator.mount("context", Memory())
'''

PROVIDER = '''
"""A provider that follows a script: its config says what it answers to which prompt."""
import asyncio
from decimal import Decimal

from amplifier_core import ModelInfo, ProviderInfo
from amplifier_core import llm_errors
from amplifier_core.message_models import ChatResponse, TextBlock, ToolCall, Usage


class Scripted:
    name = "scripted"

    def __init__(self, config):
        self.config = config
        self.priority = config.get("priority", 100)
        self.requests = []

    def get_info(self):
        return ProviderInfo(id="scripted", display_name="Scripted")

    async def list_models(self):
        return [ModelInfo(id=each, display_name=each, context_window=1000, max_output_tokens=100)
                for each in self.config.get("models", ["small-1", "small-2", "large-1"])]

    async def complete(self, request, **kwargs):
        self.requests.append(request)
        words = [message.content for message in request.messages if message.role == "user"][-1].split()
        last = request.messages[-1]
        usage = Usage(input_tokens=10, output_tokens=5, total_tokens=15, cost_usd=Decimal("0.01"))
        if last.role == "tool":
            return ChatResponse(content=[TextBlock(text=f"tool said: {last.content}")], usage=usage)
        if words[0] == "fail":
            raise llm_errors.RateLimitError("slow down", provider="scripted", retry_after=3.0)
        if words[0] == "die":
            await asyncio.sleep(0)
            raise llm_errors.StreamError("the stream broke off", provider="scripted")
        if words[0] == "wait":
            await asyncio.sleep(60)
        if words[0] == "system":
            text = request.messages[0].content if request.messages[0].role == "system" else "none"
            return ChatResponse(content=[TextBlock(text=text)], usage=usage)
        if words[0] == "call":
            said = {"text": " ".join(words[2:])}
            call = ToolCall(id=f"call-{len(self.requests)}", name=words[1], arguments=said)
            return ChatResponse(content=[], tool_calls=[call], usage=usage)
        model = self.config.get("default_model", "")
        return ChatResponse(content=[TextBlock(text=f"{model}you said: {' '.join(words)}")], usage=usage)

    def parse_tool_calls(self, response):
        return list(response.tool_calls or [])


async def mount(coordinator, config=None):
    provider = Scripted(config or {})
    await coordinator.mount("providers", provider, name="scripted")
'''

HOOK = '''
"""A hook that notes the events that it hears."""
from amplifier_core import HookResult


async def mount(coordinator, config=None):
    heard = []

    async def note(event, data):
        heard.append(event)
        return HookResult(action="continue")

    for event in ("session:start", "tool:pre", "tool:post", "execution:start"):
        coordinator.hooks.register(event, note, name="hooks-notes")
    coordinator.register_capability("notes", heard)
'''

# A tool in the shape of the ecosystem's: it knows nothing but the capability.
DELEGATE = """
from amplifier_core import ToolResult


class Delegate:
    name, description = "delegate", "Hands work to an agent: its first word names the agent."
    input_schema = {"type": "object", "properties": {"text": {"type": "string"}}}

    def __init__(self, coordinator, config):
        self.coordinator, self.config = coordinator, config

    async def execute(self, input_data):
        agent, _, rest = input_data["text"].partition(" ")
        spawn = self.coordinator.get_capability("session.spawn")
        try:
            found = await spawn(
                agent_name=agent, instruction=rest, parent_session=self.coordinator.session,
                agent_configs=self.coordinator.config.get("agents", {}), **self.config.get("more", {}),
            )
        except Exception as error:
            return ToolResult(success=False, error={"message": f"{type(error).__name__}: {error}"})
        self.coordinator.session_state.setdefault("children", []).append(found)
        return ToolResult(success=True, output=found["output"])


async def mount(coordinator, config=None):
    tool = Delegate(coordinator, config or {})
    await coordinator.mount("tools", tool, name=tool.name)
"""

NAMES = """
from amplifier_core import ToolResult


class Names:
    name, description, input_schema = "names", "Lists the tools of its session.", {"type": "object"}

    def __init__(self, coordinator):
        self.coordinator = coordinator

    async def execute(self, input_data):
        return ToolResult(success=True, output=" ".join(sorted(self.coordinator.get("tools"))))


async def mount(coordinator, config=None):
    await coordinator.mount("tools", Names(coordinator), name="names")
"""

MODULES = {
    "tool-echo": TOOL,
    "loop-plain": LOOP,
    "context-memory": CONTEXT,
    "provider-scripted": PROVIDER,
    "hooks-notes": HOOK,
}

BUNDLE = """\
---
bundle:
  name: house
  version: 1.0.0

session:
  orchestrator: {module: loop-plain, source: ./modules/loop-plain}
  context: {module: context-memory, source: ./modules/context-memory}
providers:
  - {module: provider-scripted, source: ./modules/provider-scripted}
tools:
  - {module: tool-echo, source: ./modules/tool-echo}
hooks:
  - {module: hooks-notes, source: ./modules/hooks-notes}
---

You are a careful helper.

@house:context/rules.md
"""


def write_module(place: Path, name: str, code: str, *, dependencies: str = "") -> Path:
    """Write a module package as the guide lays it out; returns its directory."""
    package = name.replace("-", "_")
    directory = place / name
    inner = directory / f"amplifier_module_{package}"
    inner.mkdir(parents=True)
    text = PYPROJECT.format(name=name, package=package, dependencies=dependencies)
    (directory / "pyproject.toml").write_text(text)
    (inner / "__init__.py").write_text(dedent(code))
    return directory


def write_house(place: Path, *, bundle: str = BUNDLE, modules: Mapping[str, str] | None = None) -> Path:
    """Write a whole bundle with one module of each kind; returns its file."""
    for name, code in (MODULES if modules is None else modules).items():
        write_module(place / "modules", name, code)
    (place / "context").mkdir(parents=True)
    (place / "context" / "rules.md").write_text("Never guess.\n")
    (place / "bundle.md").write_text(bundle)
    return place / "bundle.md"


class House:
    """A bundle on the disk, to be changed by a test and then prepared."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.file = write_house(directory)
        self.work = directory.parent / "work"
        self.work.mkdir()

    def add(self, section: str, name: str, code: str, **entry: object) -> None:
        """Add a module with this code to a section of the bundle."""
        write_module(self.directory / "modules", name, code)
        settings = "".join(f", {key}: {json.dumps(value)}" for key, value in entry.items())
        line = f"  - {{module: {name}, source: ./modules/{name}{settings}}}"
        text = self.file.read_text()
        assert f"{section}:\n" in text
        self.file.write_text(text.replace(f"{section}:\n", f"{section}:\n{line}\n", 1))

    def change(self, old: str, new: str) -> None:
        text = self.file.read_text()
        assert old in text
        self.file.write_text(text.replace(old, new, 1))

    def write(self, name: str, text: str) -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return path

    async def prepare(self, **options: Any) -> PreparedBundle:
        bundle = await load_bundle(str(self.file))
        return await bundle.prepare(**options)
