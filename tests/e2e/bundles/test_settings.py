"""Settings of three scopes: which bundle is meant, what is laid over it, and what secrets it needs."""

from __future__ import annotations

import json

import pytest
from tests.support.bundle_place import thin_bundle
from tests.support.workspace import Workspace

PLAIN = "bundle: {{name: {name}}}\n"


def test_the_active_bundle_is_the_narrowest_scopes(workspace: Workspace) -> None:
    thin_bundle(workspace)
    for name in ("one", "two", "three"):
        workspace.write(f"{name}.yaml", PLAIN.format(name=name))
    workspace.write("home/.amplihack/settings.yaml", f"bundle: {{active: {workspace.path}/one.yaml}}\n")
    assert workspace.run("bundle", "show", "--json").json["name"] == "one"
    workspace.write(".amplihack/settings.yaml", "bundle: {active: ./two.yaml}\n")
    assert workspace.run("bundle", "show", "--json").json["name"] == "two"
    workspace.write(".amplihack/settings.local.yaml", "bundle: {active: ./three.yaml}\n")
    assert workspace.run("bundle", "show", "--json").json["name"] == "three"
    assert workspace.run("bundle", "show", ".", "--json").json["name"] == "mine"


def test_relative_paths_start_at_the_project_or_at_the_home_root(workspace: Workspace) -> None:
    workspace.write("home/.amplihack/own/bundle.yaml", PLAIN.format(name="own"))
    workspace.write("home/.amplihack/settings.yaml", "bundle: {added: {mine: ./own}}\n")
    workspace.write("project/b.yaml", PLAIN.format(name="b"))
    workspace.write("project/.amplihack/settings.yaml", "bundle: {added: {there: ./b.yaml}}\n")
    assert workspace.run("bundle", "show", "mine", "-C", "project", "--json").json["name"] == "own"
    assert workspace.run("bundle", "show", "there", "-C", "project", "--json").json["name"] == "b"
    assert workspace.run("bundle", "show", "there").exit_code == 3


def test_the_home_directory_is_no_project_of_its_own(workspace: Workspace) -> None:
    for name in ("one", "two"):
        workspace.write(f"home/.amplihack/{name}.yaml", PLAIN.format(name=name))
    workspace.write("home/.amplihack/settings.yaml", "bundle: {active: ./one.yaml}\n")
    workspace.write("home/.amplihack/settings.local.yaml", "bundle: {active: ./two.yaml}\n")
    assert workspace.run("bundle", "show", "-C", "home", "--json").json["name"] == "one"


def test_a_path_may_start_at_the_users_home(workspace: Workspace) -> None:
    workspace.write("home/own/bundle.yaml", PLAIN.format(name="own"))
    workspace.write("bundle.yaml", "bundle: {name: a}\nincludes: [~/own]\n")
    graph = workspace.run("bundle", "graph", "--json").json
    assert [box["name"] for box in graph["boxes"]] == ["a", "own"]
    workspace.write(".amplihack/settings.yaml", "bundle: {active: ~/own}\n")
    assert workspace.run("bundle", "show", "--json").json["name"] == "own"


def test_policies_are_laid_over_the_bundle_and_keep_its_instruction(workspace: Workspace) -> None:
    thin_bundle(workspace)
    workspace.write(
        "alerts.md", "---\nbundle: {name: alerts}\nhooks:\n  - module: hooks-alert\n---\nObey me.\n"
    )
    workspace.write(".amplihack/settings.yaml", "bundle: {app: [./alerts.md, ./gone.md]}\n")
    answer = workspace.run("bundle", "show", "--json")
    assert answer.exit_code == 0
    assert [each["module"] for each in answer.json["mount_plan"]["hooks"]] == ["hooks-log", "hooks-alert"]
    assert answer.json["name"] == "mine"
    assert "Obey me" not in workspace.run("bundle", "show", "--prompt").stdout
    assert ".amplihack/settings.yaml:1:29: warning: the policy" in answer.stderr
    assert "is left out" in answer.stderr


def test_sources_can_be_replaced_for_modules_and_for_includes(workspace: Workspace) -> None:
    thin_bundle(workspace)
    workspace.write("fork/bundle.yaml", "bundle: {name: base}\nproviders:\n  - module: provider-fork\n")
    workspace.write(
        ".amplihack/settings.yaml",
        "sources:\n"
        "  modules: {tool-bash: ./forks/bash}\n"
        "  bundles: {./base: ./fork}\n"
        "overrides:\n"
        "  tool-work: {source: git+https://example.com/o/work@main}\n",
    )
    plan = workspace.run("bundle", "show", "--plan").json
    sources = {each["module"]: each.get("source") for each in plan["tools"]}
    assert sources["tool-bash"] == f"{workspace.path}/forks/bash"
    assert sources["tool-work"] == "git+https://example.com/o/work@main"
    assert [each["module"] for each in plan["providers"]] == ["provider-fork"]


def test_a_variable_that_is_not_set_is_found_by_a_complete_validation(workspace: Workspace) -> None:
    thin_bundle(workspace)
    answer = workspace.run("bundle", "validate", "--complete", "--json")
    (missing,) = [each for each in answer.json["problems"] if each["code"] == "missing-variable"]
    assert "providers.provider-x.config.api_key needs the environment variable X_KEY" in missing["message"]
    assert answer.exit_code == 2
    set_now = workspace.run("bundle", "validate", "--complete", "--json", env={"X_KEY": "k"})
    # The modules of this bundle come from nowhere, and our tool-bash has no `allowed`, which is told as well.
    assert {each["code"] for each in set_now.json["problems"]} == {"module-unknown", "module-setting"}


@pytest.mark.parametrize("place", ["home/.amplihack/settings.yaml", ".amplihack/settings.local.yaml"])
def test_malformed_settings_stop_the_command_and_are_pointed_at(workspace: Workspace, place: str) -> None:
    thin_bundle(workspace)
    workspace.write(place, "bundle:\n  active: [x\n")
    answer = workspace.run("bundle", "show")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.startswith(f"{place}:")


def test_a_misspelt_key_of_settings_is_told(workspace: Workspace) -> None:
    thin_bundle(workspace)
    workspace.write(".amplihack/settings.yaml", "provider:\n  - module: x\n")
    answer = workspace.run("bundle", "show")
    assert answer.exit_code == 0
    assert "`provider` is not known" in answer.stderr
    assert "did you mean `providers`?" in answer.stderr


def test_names_come_from_settings_then_loads_then_folders_then_what_is_well_known(
    workspace: Workspace,
) -> None:
    workspace.write(".amplihack/settings.yaml", "bundle: {added: {alpha: ./alpha.yaml}}\n")
    workspace.write(".amplihack/bundles/beta/bundle.yaml", PLAIN.format(name="beta"))
    workspace.write("home/.amplihack/bundles/gamma.md", "---\nbundle: {name: gamma}\n---\n")
    registry = {"version": 1, "bundles": {"delta": {"uri": "git+https://u:secret@example.com/d@main"}}}
    workspace.write("home/.amplihack/registry.json", json.dumps(registry))
    listed = {each["name"]: each for each in workspace.run("bundle", "list", "--json").json}
    assert list(listed) == sorted(listed)
    assert listed["alpha"]["source"] == "settings"
    assert listed["beta"]["uri"].endswith("/.amplihack/bundles/beta/bundle.yaml")
    assert listed["gamma"]["uri"].endswith("/gamma.md")
    assert listed["delta"] == {
        "name": "delta",
        "uri": "git+https://***@example.com/d@main",
        "source": "registry",
    }
    assert listed["foundation"]["uri"].endswith("/own_bundles/foundation/bundle.md")
    assert listed["recipes"]["source"] == "well-known"
    assert workspace.run("bundle", "show", "beta", "--json").json["name"] == "beta"


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"version": 7, "bundles": {}}', '{"version": 1, "bundles": []}']
)
def test_a_registry_that_makes_no_sense_is_kept_aside(workspace: Workspace, text: str) -> None:
    thin_bundle(workspace)
    workspace.write("home/.amplihack/registry.json", text)
    assert workspace.run("bundle", "show").exit_code == 0
    assert (workspace.path / "home/.amplihack/registry.json.unreadable").read_text() == text


def test_a_misspelt_module_of_settings_is_told_with_the_one_that_was_meant(workspace: Workspace) -> None:
    thin_bundle(workspace)
    workspace.write(
        ".amplihack/settings.yaml",
        "sources:\n  modules: {tool-bahs: ./elsewhere}\n"
        "overrides:\n  tool-wrok: {config: {a: 1}}\n  tool-bash: {confg: {a: 1}}\n"
        "  quite-other: {config: {a: 1}}\n",
    )
    answer = workspace.run("bundle", "show")
    told = " ".join(answer.stderr.split())
    assert answer.exit_code == 0
    assert "settings.yaml:4:14: warning: settings: `overrides.tool-wrok` changes nothing" in told
    assert "`sources.modules.tool-bahs` changes nothing" in told
    assert "overrides.tool-bash: `confg` is not known" in told
    for meant in ("tool-work", "tool-bash", "config"):
        assert f"did you mean `{meant}`?" in told
    assert "warning: settings: `overrides.quite-other`" not in told  # it may be meant for another bundle


def test_overrides_reach_agents_in_files_of_their_own_and_what_is_spawned(workspace: Workspace) -> None:
    workspace.write(
        "bundle.md",
        "---\nbundle: {name: b}\nagents: {include: [b:helper]}\n"
        "spawn: {tools: [{module: tool-spawned, source: ./s}]}\n---\n",
    )
    workspace.write(
        "agents/helper.md",
        "---\nmeta: {name: helper, description: d}\ntools: [{module: tool-own, source: ./h}]\n---\nHelp.\n",
    )
    workspace.write(
        ".amplihack/settings.yaml",
        "overrides:\n  tool-own: {config: {a: 1}}\n  tool-spawned: {source: ./other}\n",
    )
    plan = workspace.run("bundle", "show", "--plan").json
    assert plan["agents"]["b:helper"]["tools"][0]["config"] == {"a": 1}
    assert plan["spawn"]["tools"][0]["source"] == f"{workspace.path}/other"
