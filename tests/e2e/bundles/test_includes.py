"""Includes: what fails stops the load and is told with its chain; circles are cut; nothing loads twice."""

from __future__ import annotations

import json

import pytest
from tests.support.bundle_place import address, repository, thin_bundle
from tests.support.workspace import Workspace


def bundle(name: str, *includes: str, more: str = "") -> str:
    listed = "".join(f"  - {include}\n" for include in includes)
    return f"bundle: {{name: {name}}}\n" + (f"includes:\n{listed}" if includes else "") + more


def tool(name: str, value: int) -> str:
    return f"tools:\n  - module: {name}\n    config: {{value: {value}}}\n"


def test_a_failing_include_is_an_error_with_its_whole_chain(workspace: Workspace) -> None:
    workspace.write("bundle.yaml", bundle("a", "./b.yaml"))
    workspace.write("b.yaml", bundle("b", "./c.yaml"))
    workspace.write("c.yaml", bundle("c", "./missing.yaml"))
    answer = workspace.run("bundle", "show")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.startswith("c.yaml:3:5: there is no bundle at missing.yaml ")
    assert "(included by a -> b -> c -> ./missing.yaml)" in answer.stderr


def test_every_failing_include_is_told_at_once(workspace: Workspace) -> None:
    workspace.write("bundle.yaml", bundle("a", "./one.yaml", "nobody", "nobody:x", "./b.yaml", "./broken.md"))
    workspace.write("b.yaml", bundle("b", "./two.yaml", "./broken.md"))
    workspace.write("broken.md", "---\nbundle: [unclosed\n---\n")
    told = workspace.run("bundle", "show").stderr
    for text in ("one.yaml", "two.yaml", "'nobody'", "nobody:x", "a -> ./broken.md", "a -> b -> ./broken.md"):
        assert text in told


def test_partial_loads_say_what_is_missing_and_go_on(workspace: Workspace) -> None:
    workspace.write("bundle.yaml", bundle("a", "./b.yaml", more=tool("tool-a", 1)))
    workspace.write("b.yaml", bundle("b", "./missing.yaml", more=tool("tool-b", 2)))
    answer = workspace.run("bundle", "show", "--allow-partial", "--json")
    assert answer.exit_code == 0
    assert "warning: include skipped: there is no bundle at missing.yaml" in answer.stderr
    assert [each["module"] for each in answer.json["mount_plan"]["tools"]] == ["tool-b", "tool-a"]
    (skipped,) = answer.json["skipped"]
    assert (skipped["source"], skipped["chain"]) == ("./missing.yaml", ["a", "b"])


@pytest.mark.parametrize("question", [["graph"], ["why", "tool-a"], ["why", "nothing"], ["show"]])
def test_every_question_tells_what_is_missing(workspace: Workspace, question: list[str]) -> None:
    workspace.write("bundle.yaml", bundle("a", "./missing.yaml", more=tool("tool-a", 1)))
    told = workspace.run("bundle", *question, "--allow-partial").stderr
    assert "warning: include skipped: there is no bundle at missing.yaml" in told


def test_bundles_that_include_each_other_below_a_common_parent_load(workspace: Workspace) -> None:
    workspace.write("bundle.yaml", bundle("a", "./b.yaml", "./c.yaml"))
    workspace.write("b.yaml", bundle("b", "./c.yaml", more=tool("tool-b", 1)))
    workspace.write("c.yaml", bundle("c", "./b.yaml", more=tool("tool-c", 2)))
    answer = workspace.run("bundle", "show", "--json")
    assert answer.exit_code == 0
    assert "c.yaml:3:5: warning: Circular Include Skipped: b -> c -> b [circular-include]" in answer.stderr
    assert {each["module"] for each in answer.json["mount_plan"]["tools"]} == {"tool-b", "tool-c"}


@pytest.mark.parametrize("spelling", ["./bundle.yaml", ".", "a", "link.yaml", "file://{dir}/bundle.yaml"])
def test_a_bundle_that_includes_itself_in_any_spelling_is_a_circle(
    workspace: Workspace, spelling: str
) -> None:
    workspace.write("bundle.yaml", bundle("a", spelling.format(dir=workspace.path)))
    (workspace.path / "link.yaml").symlink_to("bundle.yaml")
    answer = workspace.run("bundle", "show")
    assert answer.exit_code == 0
    assert "Circular Include Skipped: a -> a" in answer.stderr


def test_a_bundle_that_is_reached_twice_takes_part_once_and_is_no_circle(workspace: Workspace) -> None:
    workspace.write("bundle.yaml", bundle("a", "./b.yaml", "./c.yaml"))
    workspace.write("b.yaml", bundle("b", "./d.yaml"))
    workspace.write("c.yaml", bundle("c", "d"))
    workspace.write("d.yaml", bundle("d", more=tool("tool-d", 1)))
    answer = workspace.run("bundle", "graph", "--json")
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert [box["name"] for box in answer.json["boxes"]] == ["a", "b", "c", "d"]


def test_includes_start_at_the_including_file_wherever_the_command_runs(workspace: Workspace) -> None:
    workspace.write("deep/down/bundle.yaml", bundle("a", "../b.yaml"))
    workspace.write("deep/b.yaml", bundle("b", "sub/c.yaml"))
    workspace.write("deep/sub/c.yaml", bundle("c"))
    workspace.write("b.yaml", bundle("wrong"))
    boxes = workspace.run("bundle", "graph", "deep/down", "--json").json["boxes"]
    assert [box["name"] for box in boxes] == ["a", "b", "c"]


def test_a_nested_bundle_may_include_its_root_and_the_root_its_nested_ones(workspace: Workspace) -> None:
    thin_bundle(workspace)
    workspace.write("providers/big.yaml", bundle("big", more="providers:\n  - module: provider-big\n"))
    workspace.write("bundles/with-big.yaml", bundle("with-big", "mine", "mine:providers/big"))
    answer = workspace.run("bundle", "show", "mine:bundles/with-big", "--json")
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert [each["module"] for each in answer.json["mount_plan"]["providers"]] == [
        "provider-x",
        "provider-big",
    ]


def test_a_bundle_of_this_load_is_meant_before_one_that_was_loaded_another_time(
    workspace: Workspace,
) -> None:
    other = repository(workspace, "other", {"bundle.md": "---\nbundle: {name: found}\n---\nOther.\n"})
    assert workspace.run("bundle", "show", address(other)).exit_code == 0
    workspace.write("bundle.yaml", bundle("a", "found:behaviors/x", "./mine"))
    workspace.write("mine/bundle.yaml", bundle("found"))
    workspace.write("mine/behaviors/x.yaml", bundle("x", more=tool("tool-x", 1)))
    answer = workspace.run("bundle", "show", "--json")
    assert answer.exit_code == 0, answer.stderr
    assert answer.json["mount_plan"]["tools"][0]["module"] == "tool-x"


def test_a_namespace_that_only_settings_know_is_fetched_to_look_inside(workspace: Workspace) -> None:
    found = repository(
        workspace,
        "found",
        {
            "bundle.md": "---\nbundle: {name: found}\ntools:\n  - module: tool-whole\n---\nText.\n",
            "behaviors/x.yaml": bundle("x", more=tool("tool-x", 1)),
        },
    )
    settings = {"bundle": {"added": {"found": address(found), "alias": address(found)}}}
    workspace.write(".amplihack/settings.yaml", json.dumps(settings))
    workspace.write("bundle.yaml", bundle("a", "found:behaviors/x"))
    for source in (".", "found:behaviors/x", "alias:behaviors/x"):
        answer = workspace.run("bundle", "show", source, "--json")
        assert answer.exit_code == 0, answer.stderr
        assert [each["module"] for each in answer.json["mount_plan"]["tools"]] == ["tool-x"]


def test_two_bundles_of_one_name_are_reported_with_both_places(workspace: Workspace) -> None:
    workspace.write("bundle.yaml", bundle("a", "./one", "./two"))
    workspace.write("one/bundle.yaml", bundle("same"))
    workspace.write("two/bundle.yaml", bundle("same"))
    answer = workspace.run("bundle", "show")
    assert answer.exit_code == 0
    assert "two bundles are called 'same'" in answer.stderr


@pytest.mark.parametrize("path", ["mine:../outside", "mine:behaviors/../../outside"])
def test_an_include_may_not_lead_out_of_its_namespace(workspace: Workspace, path: str) -> None:
    workspace.write("outside.yaml", bundle("outside"))
    workspace.write("in/bundle.yaml", bundle("mine", path))
    answer = workspace.run("bundle", "show", "./in")
    assert answer.exit_code == 2
    assert "leads out of mine" in answer.stderr
