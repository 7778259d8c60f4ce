"""What the guides of the format show, done as they show it; what opens a session is tested with sessions."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from amplifier_foundation import (
    BaseMentionResolver,
    Bundle,
    BundleRegistry,
    get_working_dir,
    load_bundle,
    load_mentions,
    set_working_dir,
)

FOUNDATION = {
    "bundle.md": """\
        ---
        bundle: {name: foundation, version: 1.0.0}
        session:
          orchestrator: {module: loop-streaming, source: git+https://github.com/o/loop@main}
          context: {module: context-simple}
        tools:
          - module: tool-filesystem
            source: git+https://github.com/o/fs@main
            config: {allowed_write_paths: [.]}
        spawn: {exclude_tools: [tool-task]}
        ---
        @foundation:context/shared/common-system-base.md
        """,
    "context/shared/common-system-base.md": "Be kind.",
    "providers/anthropic-opus.yaml": """\
        bundle: {name: provider-anthropic-opus}
        providers:
          - module: provider-anthropic
            config: {default_model: opus}
        """,
    "bundles/with-anthropic.yaml": """\
        bundle: {name: with-anthropic}
        includes:
          - bundle: foundation
          - bundle: foundation:providers/anthropic-opus
        """,
}
CAPABILITY = {
    "bundle.md": """\
        ---
        bundle:
          name: my-capability
          version: 1.0.0
          description: Adds X capability

        includes:
          - bundle: foundation
          - bundle: my-capability:behaviors/my-capability    # Behavior pattern

        ---

        # My Capability

        @my-capability:context/instructions.md

        ---

        @foundation:context/shared/common-system-base.md
        """,
    "behaviors/my-capability.yaml": """\
        bundle:
          name: my-capability-behavior
          version: 1.0.0
          description: Adds X capability with agents and context

        tools:
          - module: tool-my-capability
            source: git+https://github.com/o/my-capability@main#subdirectory=modules/tool-my-capability

        agents:
          include:
            - my-capability:agent-one
          my-agent:
            description: "Agent with bundle-specific tool access"
            instructions: my-capability:agents/my-agent.md
            tools:
              - module: tool-special
                source: ../modules/tool-special

        context:
          include:
            - my-capability:context/instructions.md
        """,
    "agents/agent-one.md": "---\nmeta: {name: agent-one, description: First.}\n---\nYou are one.\n",
    "agents/my-agent.md": "---\nmeta: {name: my-agent, description: In its file.}\n---\nYou are mine.\n",
    "context/instructions.md": "# My Capability Instructions",
    "modules/tool-special/pyproject.toml": "",
}


def write(base: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return base


@pytest.fixture
def registry(tmp_path: Path) -> BundleRegistry:
    registry = BundleRegistry(tmp_path / "home")
    registry.register({"foundation": str(write(tmp_path / "foundation", FOUNDATION))})
    write(tmp_path / "capability", CAPABILITY)
    return registry


def test_later_configuration_overrides_earlier() -> None:
    base = Bundle("base", session={"orchestrator": "loop-basic"}, tools=[{"module": "tool-bash"}])
    overlay = Bundle("overlay", session={"context": "context-simple"}, instruction="Overlay")
    result = base.compose(overlay)
    assert result.to_mount_plan() == {
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
        "tools": [{"module": "tool-bash"}],
    }
    assert result.instruction == "Overlay"


@pytest.mark.asyncio
async def test_bundles_and_agents_are_loaded_by_the_same_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path / "home"))
    write(
        tmp_path,
        {
            "bundle.md": "---\nbundle: {name: mine, version: 1.0.0}\n---\nHello.\n",
            "agents/my-agent.md": "---\nmeta: {name: my-agent, description: Helps.}\n---\nYou help.\n",
        },
    )
    monkeypatch.chdir(tmp_path)
    bundle = await load_bundle("./bundle.md")
    agent = await load_bundle("./agents/my-agent.md")
    assert (bundle.name, bundle.instruction) == ("mine", "Hello.")
    assert (agent.name, agent.description, agent.instruction) == ("my-agent", "Helps.", "You help.")


@pytest.mark.asyncio
async def test_a_nested_bundle_shares_the_namespace_of_its_root(registry: BundleRegistry) -> None:
    bundle = await load_bundle("foundation:bundles/with-anthropic", registry=registry, strict=False)
    assert bundle.name == "with-anthropic"
    assert [entry["module"] for entry in bundle.providers] == ["provider-anthropic"]
    assert bundle.session["orchestrator"]["module"] == "loop-streaming"
    assert bundle.load_report == []
    state = registry.get_state("with-anthropic")
    assert state is not None
    assert (state.is_root, state.root_name) == (False, "foundation")


@pytest.mark.asyncio
async def test_a_thin_bundle_inherits_everything_else(registry: BundleRegistry, tmp_path: Path) -> None:
    bundle = await registry.load(tmp_path / "capability")
    assert bundle.load_report == []
    plan = bundle.to_mount_plan()
    assert [tool["module"] for tool in plan["tools"]] == ["tool-filesystem", "tool-my-capability"]
    assert plan["spawn"] == {"exclude_tools": ["tool-task"]}
    assert plan["agents"]["my-capability:agent-one"]["description"] == "First."
    inline = plan["agents"]["my-agent"]
    assert inline["description"] == "Agent with bundle-specific tool access"
    assert inline["instruction"] == "You are mine."
    assert inline["tools"][0]["source"] == str(tmp_path / "capability/modules/tool-special")
    bundle.resolve_pending_context()
    assert bundle.context == {
        "my-capability:context/instructions.md": tmp_path / "capability/context/instructions.md"
    }


@pytest.mark.asyncio
async def test_mentions_lead_into_every_bundle_that_is_included(
    registry: BundleRegistry, tmp_path: Path
) -> None:
    bundle = await registry.load(tmp_path / "capability")
    resolver = BaseMentionResolver(dict.fromkeys(bundle.source_base_paths, bundle))
    results = await load_mentions(bundle.instruction or "", resolver)
    assert [result.content for result in results] == ["# My Capability Instructions", "Be kind."]


@pytest.mark.asyncio
async def test_settings_of_an_app_extend_the_configuration_of_a_tool(
    registry: BundleRegistry, tmp_path: Path
) -> None:
    bundle = await registry.load("foundation")
    paths = ["/home/user/projects"]
    app = Bundle("app", tools=[{"module": "tool-filesystem", "config": {"allowed_write_paths": paths}}])
    (tool,) = bundle.compose(app).tools
    assert tool["config"] == {"allowed_write_paths": [".", "/home/user/projects"]}
    assert tool["source"] == "git+https://github.com/o/fs@main"


def test_the_working_directory_of_a_session_is_a_capability() -> None:
    class Coordinator:
        def __init__(self) -> None:
            self.known: dict[str, Any] = {}

        def get_capability(self, name: str) -> Any:
            return self.known.get(name)

        def register_capability(self, name: str, value: Any) -> None:
            self.known[name] = value

    coordinator = Coordinator()
    assert get_working_dir(coordinator) == Path.cwd()
    set_working_dir(coordinator, "/home/user/myproject")
    assert get_working_dir(coordinator) == Path("/home/user/myproject")
    assert coordinator.known == {"session.working_dir": "/home/user/myproject"}
