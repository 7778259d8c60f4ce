from __future__ import annotations

import pytest
from tests.unit.bundles.world import World, bundle

from amplihack.bundles.compose import compose
from amplihack.bundles.errors import BundleLoadError
from amplihack.bundles.foundation.modes import decode_mode
from amplihack.bundles.mount_plan import mount_plan
from amplihack.bundles.roster import agent_paths, decode_agent, fill_roster
from amplihack.bundles.tree import to_plain

HELPER = """\
---
meta:
  name: Helper
  description: Helps a lot.
  model_role: fast
tools: [tool-x, {module: tool-y, source: ./modules/y}]
model_role: coding
agents: none
---

You help.
"""


def test_an_agent_file_gives_its_meta_and_what_stands_beside_it() -> None:
    agent = decode_agent(HELPER, "/w/agents/helper.md", base_path="/w")
    assert (agent.name, agent.problems) == ("Helper", ())
    assert to_plain(agent.definition) == {
        "description": "Helps a lot.",
        "model_role": "coding",
        "tools": [{"module": "tool-x"}, {"module": "tool-y", "source": "/w/modules/y"}],
        "agents": "none",
        "instruction": "You help.",
    }
    assert agent.definition.entries["instruction"].line == 11


def test_flat_frontmatter_works_too() -> None:
    agent = decode_agent("---\nname: flat\ndescription: d\ntools: [t]\n---\nGo.", "/w/agents/x.md")
    assert agent.name == "flat"
    assert to_plain(agent.definition) == {
        "description": "d",
        "tools": [{"module": "t"}],
        "instruction": "Go.",
    }


def test_a_file_without_frontmatter_is_an_agent_of_its_file_name() -> None:
    agent = decode_agent("Just do it.", "/w/agents/doer.md")
    assert (agent.name, to_plain(agent.definition)) == ("doer", {"instruction": "Just do it."})


@pytest.mark.parametrize(
    ("value", "kept"), [("all", "all"), ("[a, b]", ["a", "b"]), ("{include: [x]}", None)]
)
def test_access_to_other_agents_is_carried_over(value: str, kept: object) -> None:
    agent = decode_agent(f"---\nmeta: {{name: a}}\nagents: {value}\n---\n", "/w/a.md")
    assert [each.severity for each in agent.problems] == ([] if kept else ["note"])
    assert to_plain(agent.definition).get("agents") == kept


@pytest.mark.parametrize("value", ["some", "7", "[1]", "true"])
def test_unclear_access_is_an_error_with_file_and_value(value: str) -> None:
    (problem,) = decode_agent(f"---\nmeta: {{name: a}}\nagents: {value}\n---\n", "/w/a.md").problems
    assert (problem.code, problem.severity) == ("agent-access", "error")
    assert "/w/a.md" in problem.what


def test_an_agent_file_with_bad_yaml_says_where() -> None:
    with pytest.raises(BundleLoadError) as caught:
        decode_agent("---\nmeta: [\n---\n", "/w/a.md")
    assert caught.value.path == "/w/a.md"


ROSTER = """\
bundle: {name: w}
agents:
  include: ["w:helper", "w:agents/other.md", plain, "./agents/plain.md", "w:group/deep", "w:gone"]
  inline:
    description: Mine.
    instructions: w:agents/helper.md
  own:
    path: docs/own.md
  named:
    path: w:docs/own.md
    description: Named.
"""


def roster_world() -> World:
    return World(
        {
            "/w/agents/helper.md": HELPER,
            "/w/agents/other.md": "---\nmeta: {description: Other.}\n---\n",
            "/w/agents/plain.md": "---\nmeta: {description: Plain.}\n---\n",
            "/w/agents/group/deep.md": "---\nmeta: {description: Deep.}\n---\n",
            "/w/docs/own.md": "Own text.",
        }
    )


def test_a_roster_is_filled_from_its_files() -> None:
    composed = compose(bundle(ROSTER))
    filled = fill_roster(composed, roster_world())
    agents = mount_plan(filled.bundle)["agents"]
    assert agents["w:helper"]["description"] == "Helps a lot."
    assert (agents["w:helper"]["name"], agents["w:helper"]["display_name"]) == ("w:helper", "Helper")
    assert agents["w:agents/other.md"]["description"] == "Other."
    assert agents["./agents/plain.md"]["description"] == "Plain."
    assert agents["plain"]["description"] == "Plain."
    assert agents["w:group/deep"]["description"] == "Deep."
    assert agents["inline"]["description"] == "Mine."
    assert agents["inline"]["instruction"] == "You help."
    assert "instructions" not in agents["inline"]
    assert agents["own"]["instruction"] == agents["named"]["instruction"] == "Own text."
    assert agents["w:helper"]["tools"][1] == {"module": "tool-y", "source": "/w/modules/y"}
    assert [problem.code for problem in filled.problems] == ["agent-not-found", "agent-description"]
    assert "/w/agents/gone.md" in filled.problems[0].what
    assert "'own'" in filled.problems[1].what
    assert mount_plan(composed)["agents"]["w:helper"] == {"name": "w:helper"}


def test_a_module_beside_the_agent_file_is_found_when_the_bundle_has_none() -> None:
    world = World({"/w/agents/a.md": HELPER, "/w/agents/modules/y/pyproject.toml": ""})
    filled = fill_roster(compose(bundle('bundle: {name: w}\nagents:\n  include: ["w:a"]\n')), world)
    assert mount_plan(filled.bundle)["agents"]["w:a"]["tools"][1]["source"] == "/w/agents/modules/y"


def test_an_agent_with_unclear_access_is_not_offered_at_all() -> None:
    world = World({"/w/agents/a.md": "---\nmeta: {name: a}\nagents: some\n---\n"})
    filled = fill_roster(compose(bundle('bundle: {name: w}\nagents:\n  include: ["w:a"]\n')), world)
    assert "agents" not in mount_plan(filled.bundle)
    assert [problem.code for problem in filled.problems] == ["agent-access"]


def test_a_broken_agent_file_leaves_the_agent_bare() -> None:
    world = World({"/w/agents/a.md": "---\nmeta: [\n---\n"})
    filled = fill_roster(compose(bundle('bundle: {name: w}\nagents:\n  include: ["w:a"]\n')), world)
    assert mount_plan(filled.bundle)["agents"] == {"w:a": {"name": "w:a"}}
    assert [problem.code for problem in filled.problems] == ["agent-file"]


def test_no_agent_lies_outside_its_bundle() -> None:
    assert agent_paths(bundle("bundle: {name: w}\n"), "w:../../etc/passwd") == ()


def test_a_mode_is_read_with_its_defaults() -> None:
    mode = decode_mode("---\nmode:\n  description: d\n  tools: strict\n---\nThink.\n", "/w/modes/plan.md")
    assert (mode.name, mode.description, mode.advertised, mode.instruction) == ("plan", "d", True, "Think.")
    assert (mode.rest, mode.problems) == ({"tools": "strict"}, ())


def test_what_a_mode_contributes_is_checked() -> None:
    text = "---\nmode:\n  contributes: {agents: [a], context: x, skill: []}\n---\n"
    problems = decode_mode(text, "/w/modes/plan.md").problems
    assert [problem.severity for problem in problems] == ["warning"] * 3
    assert decode_mode("---\nmode: [\n---\n", "/w/modes/x.md").problems[0].code == "mode-file"


@pytest.mark.parametrize("key", ["includes: [far]", "context: {include: [a.md]}", "spawn: {tools: [x]}"])
def test_sections_of_bundles_in_the_file_of_an_agent_are_told_to_have_no_effect(key: str) -> None:
    head = f"---\nmeta: {{name: a, description: d}}\n{key}\n---\nText.\n"
    (problem,) = decode_agent(head, "/w/agents/a.md").problems
    assert (problem.code, problem.severity) == ("agent-key", "warning")
    assert f"`{key.partition(':')[0]}` in the file of an agent has no effect" in problem.what
    assert problem.fix
    assert decode_agent(head.replace(key, "includes:"), "/w/agents/a.md").problems == ()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("agents: {include: [b]}", ["agent-key"]),
        ("agents: {}", []),
        ("model_role: {a: 1}", ["agent-value"]),
        ("model_role: [fast, 3]", ["agent-value"]),
        ("model_role: [fast, general]", []),
        ("model_role: fast", []),
        ("model_role:", []),
    ],
)
def test_a_roster_and_a_role_that_mean_nothing_in_an_agent_file_are_told(line: str, told: list[str]) -> None:
    agent = decode_agent(f"---\nmeta: {{name: a, description: d}}\n{line}\n---\nGo.", "/w/agents/a.md")
    assert [each.code for each in agent.problems] == told
