"""The bundles of docs/examples do what their text says, without a network."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.support.workspace import Workspace

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples" / "bundles"


@pytest.fixture
def examples(workspace: Workspace) -> Workspace:
    shutil.copytree(EXAMPLES, workspace.path, dirs_exist_ok=True)
    workspace.env["AMPLIHACK_OFFLINE"] = "1"
    return workspace


@pytest.mark.parametrize(
    "name",
    ["foundation", "my-capability", "recipes", "my-capability:bundles/with-anthropic",
     "my-capability:behaviors/my-capability", "recipes:behaviors/recipes",
     "foundation:providers/anthropic-opus"],
)  # fmt: skip
def test_every_example_is_valid_and_free_of_bad_habits(examples: Workspace, name: str) -> None:
    answer = examples.run("bundle", "validate", "--strict", name)
    assert (answer.exit_code, answer.stdout) == (0, ""), answer


def test_a_thin_bundle_has_everything_of_its_base_and_its_own_behaviour(examples: Workspace) -> None:
    shown = examples.run("bundle", "show", "--json").json
    assert shown["name"] == "my-capability"
    tools = [each["module"] for each in shown["mount_plan"]["tools"]]
    assert tools == ["tool-filesystem", "tool-bash", "tool-my-capability"]
    assert list(shown["mount_plan"]["agents"]) == ["my-capability:agent-one", "my-capability:agent-two"]
    assert shown["mount_plan"]["spawn"] == {"exclude_tools": ["tool-task"]}


def test_the_prompt_of_the_thin_bundle_holds_its_own_and_the_shared_context(examples: Workspace) -> None:
    prompt = examples.run("bundle", "show", "--prompt").stdout
    assert prompt.index("# My Capability\n") < prompt.index("You have access to the my_capability tool")
    assert prompt.count("You have access to the my_capability tool") == 1
    assert "Say what you do, and do what you say." in prompt


def test_a_standalone_bundle_is_complete_once_its_key_is_set(examples: Workspace) -> None:
    words = ("bundle", "validate", "--complete", "my-capability:bundles/with-anthropic")
    assert examples.run(*words).exit_code == 2
    assert examples.run(*words, env={"ANTHROPIC_API_KEY": "k"}).exit_code == 0


def test_a_behaviour_can_be_added_to_any_bundle(examples: Workspace) -> None:
    examples.write(
        "mine/bundle.yaml",
        "bundle: {name: mine}\nincludes: [foundation, my-capability:behaviors/my-capability]\n",
    )
    shown = examples.run("bundle", "show", "./mine", "--json").json
    assert "my-capability:agent-one" in shown["mount_plan"]["agents"]
    assert "my-capability:context/instructions.md" in {part["name"] for part in shown["parts"]}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("fat.md", "redeclared"),
        ("at-in-yaml.yaml", "at-in-yaml"),
        ("repository-name.yaml", "repository-as-namespace"),
    ],
)
def test_every_bad_habit_is_pointed_at(examples: Workspace, name: str, code: str) -> None:
    answer = examples.run("bundle", "validate", "--strict", "--json", f"anti-patterns/{name}")
    assert answer.exit_code == 2
    assert code in {problem["code"] for problem in answer.json["problems"]}
