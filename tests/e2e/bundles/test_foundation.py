"""Our own bundle `foundation`: the thin bundles of the guides run with it, from nothing."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest
from tests.support.model_server import ModelServer, Say, UseTool
from tests.support.workspace import Workspace

NO_KEYS = {"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "", "OPENAI_BASE_URL": "", "AMPLIHACK_MODEL": ""}
GIT = "git+https://github.com/microsoft/amplifier-foundation@main"
ROOT = """\
---
bundle:
  name: my-capability
  version: 1.0.0
  description: Provides X capability

includes:
  - bundle: {foundation}
  - bundle: my-capability:behaviors/my-capability
---

# My Capability

@my-capability:context/instructions.md

---

@foundation:context/shared/common-system-base.md
"""
BEHAVIOR = """\
bundle:
  name: my-capability-behavior
  version: 1.0.0
  description: Adds X capability with agents and context

agents:
  include:
    - my-capability:agent-one

context:
  include:
    - my-capability:context/instructions.md
"""
AGENT = """\
---
meta:
  name: agent-one
  description: Use for one thing.
---

You do one thing.
"""
WITH_ANTHROPIC = """\
bundle:
  name: my-capability-anthropic
  version: 1.0.0

includes:
  - bundle: my-capability
  - bundle: foundation:providers/anthropic-opus
"""
needs_openai = pytest.mark.skipif(find_spec("openai") is None, reason="the extra is not here")


@pytest.fixture
def thin(workspace: Workspace) -> Workspace:
    workspace.env |= NO_KEYS
    workspace.write("mine/bundle.md", ROOT.format(foundation="foundation"))
    workspace.write("mine/behaviors/my-capability.yaml", BEHAVIOR)
    workspace.write("mine/agents/agent-one.md", AGENT)
    workspace.write("mine/context/instructions.md", "Always mention the capability.\n")
    workspace.write("mine/bundles/with-anthropic.yaml", WITH_ANTHROPIC)
    return workspace


def test_the_bundle_is_valid_and_found_by_its_name(workspace: Workspace) -> None:
    answer = workspace.run("bundle", "validate", "foundation", "--strict")
    assert answer.exit_code == 0, answer.stdout + answer.stderr
    shown = workspace.run("bundle", "show", "foundation").stdout
    for module in ("loop-streaming", "context-simple", "tool-bash", "tool-search", "hooks-approval"):
        assert module in shown


@needs_openai
def test_a_thin_bundle_of_the_guide_runs(thin: Workspace) -> None:
    with ModelServer(UseTool("glob", {"pattern": "mine/**"}), Say("found it")) as server:
        thin.env |= {"OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "dummy"}
        answer = thin.run("run", "--bundle", "./mine", "--json", "look around")
        assert answer.exit_code == 0, answer.stderr
        assert (answer.json["response"], answer.json["bundle"]) == ("found it", "my-capability")
        system = json.dumps([each for each in server.last.body["messages"] if each["role"] == "system"])
        assert "Always mention the capability." in system
        assert "You work in a directory" in system
        results = [each["content"] for each in server.last.body["messages"] if each["role"] == "tool"]
        assert "mine/agents/agent-one.md" in json.dumps(results)
        delegate = next(each for each in server.last.body["tools"] if each["function"]["name"] == "delegate")
        assert "my-capability:agent-one" in json.dumps(delegate)


@pytest.mark.skipif(find_spec("anthropic") is None, reason="the extra is not here")
def test_a_variant_chooses_its_provider(thin: Workspace) -> None:
    thin.write(".amplihack/settings.yaml", "bundle: {added: {my-capability: ./mine}}\n")
    with ModelServer(Say("opus speaks")) as server:
        thin.env |= {"ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_BASE_URL": server.url}
        answer = thin.run("run", "--bundle", "my-capability:bundles/with-anthropic", "hello", "-q")
        assert answer.exit_code == 0, answer.stderr
        assert answer.stdout == "opus speaks\n"
        assert server.last.body["model"] == "claude-opus-4-5"


def test_ours_stands_in_for_the_repository_that_cannot_be_had(thin: Workspace) -> None:
    thin.write("mine/bundle.md", ROOT.format(foundation=GIT))
    thin.write("script.yaml", "- text: fine\n")
    answer = thin.run("run", "--offline", "--bundle", "./mine", "--model", "scripted:script.yaml", "hi")
    assert (answer.exit_code, answer.stdout) == (0, "fine\n"), answer.stderr
    assert "stands in for it" in answer.stderr
    other = GIT.replace("amplifier-foundation", "amplifier-bundle-other")
    thin.write("mine/bundle.md", ROOT.format(foundation=other))
    refused = thin.run("run", "--offline", "--bundle", "./mine", "--model", "scripted:script.yaml", "hi")
    assert refused.exit_code != 0
    assert "amplifier-bundle-other" in refused.stderr


def test_its_agents_are_known_to_the_check(workspace: Workspace) -> None:
    step = "name: r\ndialect: amplihack\nsteps:\n  - {{id: a, agent: 'foundation:{name}', prompt: go}}\n"
    workspace.write("known.yaml", step.format(name="explorer"))
    workspace.write("unknown.yaml", step.format(name="explorr"))
    assert "explorer" not in workspace.run("recipe", "check", "known.yaml").stdout
    assert "foundation:explorer" in workspace.run("recipe", "check", "unknown.yaml").stdout
