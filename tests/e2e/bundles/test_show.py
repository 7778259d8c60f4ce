"""`bundle show`, `graph` and `agents`: the composed bundle, who brought what, and what it costs."""

from __future__ import annotations

import pytest
from tests.support.bundle_place import BASE, home, thin_bundle
from tests.support.golden import Golden
from tests.support.workspace import Workspace


def test_show_prints_every_part_with_its_bundle_file_line_and_cost(
    workspace: Workspace, golden: Golden
) -> None:
    thin_bundle(workspace)
    answer = workspace.run("bundle", "show")
    assert (answer.exit_code, answer.stderr) == (0, "")
    parts, _, total = answer.stdout.rpartition("\nabout ")
    golden.check("bundle-show", parts)
    assert int(total.split()[0]) > 31 + 1 + 5 + 11 + 8  # the prompt names files by paths, which cost as well


def test_show_json_holds_the_plan_the_parts_and_the_fingerprint(workspace: Workspace) -> None:
    thin_bundle(workspace)
    shown = workspace.run("bundle", "show", "--json").json
    assert shown["name"] == "mine"
    assert shown["mount_plan"]["session"]["orchestrator"] == {"module": "loop-basic"}
    tools = {tool["module"]: tool for tool in shown["mount_plan"]["tools"]}
    assert tools["tool-bash"]["config"] == {"timeout": 60, "allowed": ["ls"]}
    parts = {part["name"]: part for part in shown["parts"]}
    assert parts["tool-work"]["tokens"] > 0
    assert parts["mine:context/rules.md"]["file"] == "behaviors/work.yaml"
    assert len(shown["fingerprint"]) == 64


def test_the_plan_is_printed_with_its_variables_as_they_were_written(workspace: Workspace) -> None:
    thin_bundle(workspace)
    answer = workspace.run("bundle", "show", "--plan", env={"X_KEY": "sk-123"})
    assert answer.json["providers"][0]["config"]["api_key"] == "${X_KEY}"
    assert "sk-123" not in answer.stdout + answer.stderr


def test_a_secret_that_was_written_into_settings_is_never_shown(workspace: Workspace) -> None:
    thin_bundle(workspace)
    settings = "providers:\n  - module: provider-x\n    config: {api_key: sk-very-secret}\n"
    workspace.write("home/.amplihack/settings.yaml", settings)
    asked = (
        ("bundle", "show"),
        ("bundle", "show", "--json"),
        ("bundle", "show", "--plan"),
        ("bundle", "why", "provider-x"),
        ("bundle", "why", "--json", "providers.provider-x.config.api_key"),
        ("bundle", "validate", "--complete"),
    )
    answers = [workspace.run(*words) for words in asked]
    assert all("sk-very-secret" not in answer.stdout + answer.stderr for answer in answers)
    assert answers[4].json[0]["value"] == "***"


def test_the_prompt_is_the_instruction_then_mentions_then_context(workspace: Workspace) -> None:
    thin_bundle(workspace)
    prompt = workspace.run("bundle", "show", "--prompt").stdout
    places = [prompt.index(text) for text in ("Work with care.", "Read before you write.", "Never guess.")]
    assert places == sorted(places)
    assert "You are helpful." not in prompt
    assert workspace.run("bundle", "show", "--prompt", "--json").json["prompt"] == prompt.removesuffix("\n")


@pytest.mark.parametrize("form", ["mermaid", "dot", "svg"])
def test_the_graph_shows_who_includes_whom(workspace: Workspace, golden: Golden, form: str) -> None:
    thin_bundle(workspace)
    answer = workspace.run("bundle", "graph", "--format", form)
    assert (answer.exit_code, answer.stderr) == (0, "")
    golden.check(f"bundle-graph-{form}", answer.stdout)


def test_the_graph_as_json_has_boxes_and_edges(workspace: Workspace) -> None:
    thin_bundle(workspace)
    graph = workspace.run("bundle", "graph", "--json").json
    names = {box["key"]: box["name"] for box in graph["boxes"]}
    edges = {(names[above], names[below]) for above, below in graph["edges"]}
    assert edges == {("mine", "base"), ("mine", "work-behavior")}


def test_agents_lists_what_each_agent_does_and_where_it_comes_from(workspace: Workspace) -> None:
    thin_bundle(workspace)
    (agent,) = workspace.run("agents", "--json").json
    assert agent == {
        "name": "mine:worker",
        "description": "Works.",
        "bundle": "work-behavior",
        "file": "behaviors/work.yaml",
        "line": 11,
    }
    text = workspace.run("agents").stdout
    assert text == "mine:worker  Works.\n             work-behavior (behaviors/work.yaml:11)\n"


def test_a_bundle_without_agents_says_so(workspace: Workspace) -> None:
    thin_bundle(workspace)
    assert workspace.run("agents", "base").exit_code == 3  # a plain name, and no bundle has it
    assert workspace.run("agents", "./base").stdout == "This bundle has no agents.\n"
    assert workspace.run("agents", "./base", "--json").json == []


def test_an_agent_file_is_a_bundle_too(workspace: Workspace) -> None:
    thin_bundle(workspace)
    shown = workspace.run("bundle", "show", "agents/worker.md", "--json").json
    assert (shown["name"], shown["description"]) == ("worker", "Works.")
    assert workspace.run("bundle", "show", "agents/worker.md", "--prompt").stdout == "You work alone.\n"


@pytest.mark.parametrize(
    "source", ["bundle.md", "./bundle.md", ".", "mine", "{dir}", "{dir}/bundle.md", "file://{dir}/bundle.md"]
)
def test_all_ways_to_name_a_bundle_lead_to_the_same_one(workspace: Workspace, source: str) -> None:
    thin_bundle(workspace)
    asked = workspace.run("bundle", "show", source.format(dir=workspace.path), "--json").json
    assert asked["fingerprint"] == workspace.run("bundle", "show", "--json").json["fingerprint"]


def test_a_path_inside_this_directorys_bundle_is_named_by_its_namespace(workspace: Workspace) -> None:
    thin_bundle(workspace)
    by_name = workspace.run("bundle", "show", "mine:behaviors/work", "--json").json
    by_path = workspace.run("bundle", "show", "behaviors/work.yaml", "--json").json
    assert by_name["name"] == "work-behavior"
    assert by_name["fingerprint"] == by_path["fingerprint"]


def test_another_working_directory_is_where_the_bundle_is_looked_for(workspace: Workspace) -> None:
    workspace.write("elsewhere/bundle.md", BASE)
    workspace.write("elsewhere/context/shared.md", "Shared.\n")
    answer = workspace.run("bundle", "show", "-C", "elsewhere", "--json")
    assert answer.json["name"] == "base"
    assert {part["file"] for part in answer.json["parts"]} >= {"elsewhere/bundle.md"}


def test_nothing_is_written_for_a_bundle_on_this_disk(workspace: Workspace) -> None:
    thin_bundle(workspace)
    before = sorted(path for path in workspace.path.rglob("*"))
    for words in (("show",), ("validate",), ("graph",), ("why", "tool-bash"), ("status",), ("list",)):
        workspace.run("bundle", *words)
    after = {path for path in workspace.path.rglob("*") if "__pycache__" not in path.parts}
    assert after - set(before) <= {home(workspace), home(workspace) / "cache"}


@pytest.mark.parametrize(
    "command", ["show", "show --json", "show --plan", "validate", "why agents", "why context --json", "graph"]
)
def test_a_login_in_an_address_that_stands_for_a_name_is_never_printed(
    workspace: Workspace, command: str
) -> None:
    address = "git+https://ann:pa55-one@host.invalid/x"
    workspace.write(
        "bundle.yaml",
        f"bundle: {{name: b}}\ncontext: {{include: ['{address}']}}\nagents: {{include: ['{address}']}}\n",
    )
    answer = workspace.run("bundle", *command.split())
    assert "pa55" not in answer.stdout + answer.stderr


def test_the_list_of_agents_prints_no_login(workspace: Workspace) -> None:
    address = "git+https://ann:pa55-one@host.invalid/x"
    workspace.write("bundle.yaml", f"bundle: {{name: b}}\nagents: {{'{address}': {{description: d}}}}\n")
    assert "git+https://***@host.invalid/x" in workspace.run("agents").stdout
