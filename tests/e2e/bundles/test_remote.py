"""Bundles from repositories, archives and servers: fetched once, updated on request, never when offline."""

from __future__ import annotations

import io
import json
import zipfile
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from tests.support.bundle_place import address, home, repository
from tests.support.git_server import Repository, WebServer, say, serving
from tests.support.workspace import Workspace

ROOT = """\
---
bundle: {name: far, version: %s}
includes:
  - far:behaviors/x
---
Far away.

@far:context/words.md
"""
BEHAVIOR = "bundle: {name: far-x}\ntools:\n  - module: tool-x\n    config: {value: %d}\n"


def far(workspace: Workspace, value: int = 1) -> Repository:
    return repository(
        workspace,
        "far",
        {
            "bundle.md": ROOT % "1.0.0",
            "behaviors/x.yaml": BEHAVIOR % value,
            "context/words.md": "Words from afar.\n",
            "sub/bundle.yaml": "bundle: {name: sub}\ncontext:\n  include: [sub:context/own.md]\n",
            "sub/context/own.md": "Own words.\n",
        },
    )


def value(workspace: Workspace, source: str, *more: str) -> int:
    answer = workspace.run("bundle", "show", source, "--plan", *more)
    assert answer.exit_code == 0, answer.stderr
    found: int = answer.json["tools"][0]["config"]["value"]
    return found


def test_a_repository_is_loaded_with_its_own_behaviour_and_context(workspace: Workspace) -> None:
    answer = workspace.run("bundle", "show", address(far(workspace)), "--prompt")
    assert answer.exit_code == 0, answer.stderr
    assert "Words from afar." in answer.stdout


def test_a_loaded_bundle_is_known_by_name_from_then_on(workspace: Workspace) -> None:
    source = address(far(workspace))
    assert value(workspace, source) == 1
    assert json.loads((home(workspace) / "registry.json").read_text())["bundles"].keys() == {"far"}
    assert value(workspace, "far") == 1
    assert value(workspace, "far:behaviors/x", "--offline") == 1


def test_a_bundle_does_not_take_a_name_that_means_another(workspace: Workspace) -> None:
    first = far(workspace)
    assert value(workspace, address(first)) == 1
    liar = {"bundle.md": ROOT % "9.9.9", "behaviors/x.yaml": BEHAVIOR % 666, "context/words.md": "Lies.\n"}
    other = repository(workspace, "other", liar)
    answer = workspace.run("bundle", "show", address(other), "--plan")
    assert answer.json["tools"][0]["config"]["value"] == 666  # what was asked for
    assert f"the name 'far' goes on meaning {address(first)}" in answer.stderr
    assert "added: {far:" in answer.stderr
    assert value(workspace, "far") == 1
    workspace.write("home/.amplihack/settings.yaml", f"bundle: {{added: {{far: '{address(other)}'}}}}\n")
    assert value(workspace, "far") == 666


@pytest.mark.parametrize("name", ["foundation", "recipes", "amplifier-bundle"])
def test_a_bundle_does_not_take_a_name_that_everybody_knows(workspace: Workspace, name: str) -> None:
    liar = repository(workspace, "liar", {"bundle.yaml": f"bundle: {{name: {name}}}\n"})
    through = {"bundle.yaml": f"bundle: {{name: through}}\nincludes: ['{address(liar)}']\n"}
    both = (liar, repository(workspace, "through", through))
    for each in both:
        answer = workspace.run("bundle", "show", address(each))
        assert answer.exit_code == 0, answer.stderr
        assert ("goes on meaning" in answer.stderr) == (each is liar)
    names = {each["name"]: each["uri"] for each in workspace.run("bundle", "list", "--json").json}
    assert names[name] != address(liar)
    assert names["through"] == address(both[1])


def test_a_name_that_means_another_bundle_in_this_load_is_told(workspace: Workspace) -> None:
    files = {"bundle.yaml": "bundle: {name: foundation}\n", "x.yaml": "tools: []\n"}
    liar = address(repository(workspace, "liar", files))
    includes = f"includes:\n  - {liar}\n  - foundation\n  - foundation:x\n  - recipes:y\n"
    workspace.write("bundle.yaml", f"bundle: {{name: mine}}\n{includes}")
    answer = workspace.run("bundle", "validate", "--json", "--offline").json
    told = [each for each in answer["problems"] if each["code"] == "name-elsewhere"]
    assert [each["line"] for each in told] == [4, 5]
    assert f"foundation means {liar} here" in told[0]["message"]
    workspace.write("home/.amplihack/settings.yaml", f"bundle: {{added: {{foundation: '{liar}'}}}}\n")
    answer = workspace.run("bundle", "validate", "--json", "--offline").json
    assert "name-elsewhere" not in {each["code"] for each in answer["problems"]}


def test_the_name_of_a_bundle_moves_with_the_version_that_was_asked_for(workspace: Workspace) -> None:
    made = far(workspace)
    assert value(workspace, address(made, "main")) == 1
    made.git("checkout", "--quiet", "-b", "next")
    made.commit({"behaviors/x.yaml": BEHAVIOR % 2})
    through = {"bundle.yaml": f"bundle: {{name: through}}\nincludes: ['{address(made, 'next')}']\n"}
    assert value(workspace, address(repository(workspace, "through", through))) == 2
    assert value(workspace, "far") == 1  # another bundle does not move it
    assert value(workspace, address(made, "next")) == 2
    assert value(workspace, "far") == 2


def test_branches_tags_and_commits_are_what_they_were_asked_for(workspace: Workspace) -> None:
    made = far(workspace)
    first = made.git("rev-parse", "HEAD")
    made.git("tag", "v1.0")
    made.git("checkout", "--quiet", "-b", "next")
    made.commit({"behaviors/x.yaml": BEHAVIOR % 2})
    assert value(workspace, address(made, "main")) == 1
    assert value(workspace, address(made, "next")) == 2
    assert value(workspace, address(made, "v1.0")) == 1
    assert value(workspace, address(made, first)) == 1


def test_a_branch_that_moved_is_used_after_an_update_and_not_before(workspace: Workspace) -> None:
    made = far(workspace)
    assert value(workspace, address(made)) == 1
    made.commit({"behaviors/x.yaml": BEHAVIOR % 2})
    assert value(workspace, address(made)) == 1
    status = workspace.run("bundle", "status", address(made))
    assert "update available" in status.stdout
    (report,) = workspace.run("bundle", "update", address(made), "--json").json
    assert (report["outcome"], report["after"]) == ("updated", made.git("rev-parse", "HEAD"))
    assert value(workspace, address(made)) == 2
    assert workspace.run("bundle", "update", address(made)).stdout.startswith("unchanged")


def test_what_an_update_newly_includes_is_fetched_with_it(workspace: Workspace) -> None:
    made = far(workspace)
    other = repository(workspace, "other", {"bundle.yaml": "bundle: {name: other}\n"})
    assert value(workspace, address(made)) == 1
    made.commit({"behaviors/x.yaml": f"includes: ['{address(other)}']\n{BEHAVIOR % 3}"})
    outcomes = [each["outcome"] for each in workspace.run("bundle", "update", "far", "--json").json]
    assert outcomes == ["updated", "unchanged"]
    assert value(workspace, "far", "--offline") == 3


def test_an_update_repairs_a_bundle_that_cannot_be_loaded(workspace: Workspace) -> None:
    made = far(workspace)
    made.commit({"bundle.md": "---\nbundle: [\n---\n"})
    assert workspace.run("bundle", "show", address(made)).exit_code == 2
    assert workspace.run("bundle", "update", address(made)).exit_code == 2  # nothing new that would help
    made.commit({"bundle.md": ROOT % "2.0.0"})
    answer = workspace.run("bundle", "update", address(made), "--json")
    assert [each["outcome"] for each in answer.json] == ["updated"]
    assert value(workspace, address(made)) == 1


def test_a_tag_that_was_deleted_stays_usable_and_its_update_says_so(workspace: Workspace) -> None:
    made = far(workspace)
    made.git("tag", "soon-gone")
    assert value(workspace, address(made, "soon-gone")) == 1
    made.git("tag", "--delete", "soon-gone")
    answer = workspace.run("bundle", "update", address(made, "soon-gone"), "--json")
    assert (answer.exit_code, answer.json[0]["outcome"]) == (1, "failed")
    assert "soon-gone" in answer.json[0]["error"]
    assert value(workspace, address(made, "soon-gone")) == 1


def test_a_subdirectory_is_a_bundle_of_its_own_below_its_root(workspace: Workspace) -> None:
    made = far(workspace)
    answer = workspace.run("bundle", "show", address(made, inside="sub"), "--prompt")
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert "Own words." in answer.stdout
    missing = workspace.run("bundle", "show", address(made, inside="nope"))
    assert missing.exit_code == 3
    assert "there is no nope in it" in missing.stderr


def test_a_repository_in_a_path_with_a_space_is_a_source(workspace: Workspace) -> None:
    made = repository(
        workspace, "my bundles/one", {"bundle.yaml": "bundle: {name: one}\ntools: [{module: t}]\n"}
    )
    assert workspace.run("bundle", "show", address(made), "--plan").json["tools"] == [{"module": "t"}]
    refused = workspace.run("bundle", "show", "git+https://example.org/my bundles/one@main")
    assert (refused.exit_code, "%20" in refused.stderr) == (2, True)


@pytest.mark.parametrize("ref", ["nope", "0" * 40])
def test_a_ref_that_is_not_there_is_not_found(workspace: Workspace, ref: str) -> None:
    answer = workspace.run("bundle", "show", address(far(workspace), ref))
    assert (answer.exit_code, answer.stdout) == (3, "")


def test_an_archive_is_a_source_like_any_other(workspace: Workspace) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("pack/bundle.md", ROOT % "1.0.0")
        archive.writestr("pack/behaviors/x.yaml", BEHAVIOR % 7)
        archive.writestr("pack/context/words.md", "Packed words.\n")
    file = workspace.write("pack.zip", packed.getvalue())
    assert value(workspace, f"zip+file://{file}") == 7
    file.write_bytes(b"not a zip at all")
    broken = workspace.run("bundle", "show", f"zip+file://{file}")
    assert broken.exit_code in (1, 2)
    assert "Traceback" not in broken.stderr


def test_offline_never_asks_a_server(workspace: Workspace) -> None:
    with serving(WebServer(otherwise=say(500))) as server:
        source = f"git+{server.url}/far@main"
        workspace.write("bundle.yaml", f"bundle: {{name: a}}\nincludes: ['{source}']\n")
        answers = [
            workspace.run("bundle", "show", "--offline"),
            workspace.run("bundle", "show", source, "--offline"),
            workspace.run("bundle", "status", "--offline", "--allow-partial"),
            workspace.run("bundle", "show", env={"AMPLIHACK_OFFLINE": "1"}),
        ]
        assert server.asked == []
    assert [answer.exit_code for answer in answers] == [1, 1, 0, 1]
    assert all("offline, and not in the cache" in answer.stderr for answer in answers)


def test_a_server_that_hangs_is_given_up_after_the_time_that_was_set(workspace: Workspace) -> None:
    def hang(handler: BaseHTTPRequestHandler) -> None:
        handler.rfile.read(1)  # of a request that has no body: until the client leaves

    with serving(WebServer(otherwise=hang)) as server:
        source = f"git+{server.url}/far@main"
        answer = workspace.run("bundle", "show", source, env={"AMPLIFIER_GIT_CLONE_TIMEOUT_S": "1"})
    assert answer.exit_code == 1
    assert "did not finish within 1 seconds" in answer.stderr


def test_secrets_of_addresses_are_neither_shown_nor_written(workspace: Workspace) -> None:
    with serving(WebServer(otherwise=say(404))) as server:
        source = f"git+http://user:hunter2@127.0.0.1:{server.port}/far@main"
        workspace.write("bundle.yaml", f"bundle: {{name: a}}\nincludes: ['{source}']\n")
        told = [
            workspace.run("bundle", "show"),
            workspace.run("bundle", "show", "--allow-partial", "--json"),
            workspace.run("bundle", "validate", "--json"),
            workspace.run("bundle", "update"),
        ]
    assert all("hunter2" not in answer.stderr.replace(f"'{source}'", "") for answer in told)
    assert all("hunter2" not in answer.stdout for answer in told)
    assert all(b"hunter2" not in path.read_bytes() for path in home(workspace).rglob("*") if path.is_file())


def test_two_processes_at_once_fetch_once_and_both_succeed(workspace: Workspace) -> None:
    made = far(workspace)
    other = repository(workspace, "other", {"bundle.yaml": "bundle: {name: other}\n"})
    with ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(
                lambda source: workspace.run("bundle", "show", source, "--json"),
                [address(made), address(other)] * 2,
            )
        )
    assert [answer.exit_code for answer in answers] == [0] * 4, answers
    assert answers[0].json["fingerprint"] == answers[2].json["fingerprint"]
    bundles = json.loads((home(workspace) / "registry.json").read_text())["bundles"]
    assert bundles.keys() == {"far", "other"}


def test_clean_removes_what_no_name_leads_to(workspace: Workspace) -> None:
    made, other = far(workspace), repository(workspace, "other", {"bundle.yaml": "tools: []\n"})
    assert workspace.run("bundle", "show", address(made)).exit_code == 0
    assert workspace.run("bundle", "show", address(other)).exit_code == 0  # it has no name
    would = workspace.run("bundle", "clean", "--dry-run", "--json").json
    assert [Path(path).name.startswith("other") for path in would["removed"]] == [True]
    assert workspace.run("bundle", "clean", "--json").json["removed"] == would["removed"]
    assert value(workspace, "far", "--offline") == 1
    assert workspace.run("bundle", "clean").stderr == "freed 0 bytes\n"


def test_a_home_that_cannot_be_written_still_loads_what_is_local(workspace: Workspace) -> None:
    workspace.write("bundle.yaml", "bundle: {name: a}\n")
    workspace.write("home/.amplihack", "a file where the directory should be")
    assert workspace.run("bundle", "show").exit_code == 0


def test_an_include_that_cannot_be_had_is_an_update_that_failed(workspace: Workspace) -> None:
    gone = f"git+file://{workspace.path}/gone@main"
    workspace.write("bundle.yaml", f"bundle: {{name: mine}}\nincludes: ['{gone}', './missing.yaml']\n")
    answer = workspace.run("bundle", "update")
    assert answer.exit_code == 1
    assert answer.stdout.splitlines() == [f"failed     {gone}", "failed     ./missing.yaml"]
    assert answer.stderr.count("Failed to clone") == 1
    assert "every source is local" not in answer.stderr
    told = workspace.run("bundle", "update", "--json")
    assert told.exit_code == 1
    assert [each["outcome"] for each in told.json] == ["failed", "failed"]
    assert "no bundle at" in told.json[1]["error"]


def test_a_tag_that_was_moved_is_told_by_status_as_update_would_take_it(workspace: Workspace) -> None:
    made = far(workspace)
    made.git("tag", "v1.0-long-name")
    source = address(made, "v1.0-long-name")
    workspace.write("bundle.yaml", f"bundle: {{name: a}}\nincludes: ['{source}']\n")
    assert workspace.run("bundle", "status").stdout == f"{source}: pinned to v1.0-long-name\n"
    made.commit({"behaviors/x.yaml": BEHAVIOR % 2})
    made.git("tag", "--force", "v1.0-long-name")
    moved = workspace.run("bundle", "status", "--json").json["sources"][0]
    assert (moved["has_update"], moved["summary"][:17]) == (True, "update available ")
    assert workspace.run("bundle", "update").stdout.startswith(f"updated    {source} ")
    assert workspace.run("bundle", "status").stdout == f"{source}: pinned to v1.0-long-name\n"
    made.git("tag", "--delete", "v1.0-long-name")
    gone = workspace.run("bundle", "status")
    assert (gone.exit_code, gone.stdout) == (1, f"{source}: the repository has no v1.0-long-name any more\n")
    (made.path / ".git").rename(made.path / "away")
    unasked = workspace.run("bundle", "status")
    assert (unasked.exit_code, unasked.stdout) == (0, f"{source}: pinned to v1.0-long-name\n")


def test_an_update_repairs_an_include_that_cannot_be_read(workspace: Workspace) -> None:
    made = far(workspace)
    part = f"git+file://{made.path}#subdirectory=behaviors/x.yaml"  # the branch is left out on purpose
    workspace.write("bundle.yaml", f"bundle: {{name: mine}}\nincludes: ['{part}']\n")
    assert value(workspace, ".") == 1
    made.commit({"behaviors/x.yaml": "tools: [\n"})
    broken = workspace.run("bundle", "update")
    assert (broken.exit_code, broken.stdout.split()[0]) == (1, "updated")
    assert broken.stderr.count("YAML") == 1
    again = workspace.run("bundle", "update")
    assert (again.exit_code, [line.split()[0] for line in again.stdout.splitlines()]) == (1, ["unchanged"])
    made.commit({"behaviors/x.yaml": BEHAVIOR % 2})
    mended = workspace.run("bundle", "update")
    assert (mended.exit_code, mended.stdout.split()[0], mended.stderr) == (0, "updated", "")
    assert value(workspace, ".") == 2


def test_an_update_repairs_the_namespace_of_an_include_and_a_policy(workspace: Workspace) -> None:
    made = far(workspace)
    policy = repository(workspace, "policy", {"bundle.yaml": "bundle: {name: policy}\n"})
    workspace.write(
        ".amplihack/settings.yaml",
        f"bundle: {{added: {{far: '{address(made)}'}}, app: ['{address(policy)}']}}\n",
    )
    workspace.write("bundle.yaml", "bundle: {name: mine}\nincludes: ['far:behaviors/x']\n")
    assert value(workspace, ".") == 1
    made.commit({"bundle.md": "---\nbundle: [\n---\n"})
    policy.commit({"bundle.yaml": "bundle: [\n"})
    assert workspace.run("bundle", "update").exit_code == 1
    made.commit({"bundle.md": ROOT % "2.0.0", "behaviors/x.yaml": BEHAVIOR % 2})
    policy.commit({"bundle.yaml": "bundle: {name: policy}\n"})
    mended = workspace.run("bundle", "update")
    assert (mended.exit_code, mended.stderr) == (0, "")
    assert value(workspace, ".") == 2


def test_an_update_brings_a_directory_that_an_include_names_and_that_is_not_there_yet(
    workspace: Workspace,
) -> None:
    made = far(workspace)
    assert value(workspace, address(made)) == 1
    made.commit({"behaviors/new.yaml": BEHAVIOR % 7})
    part = f"{address(made)}#subdirectory=behaviors/new.yaml"
    workspace.write("bundle.yaml", f"bundle: {{name: mine}}\nincludes: ['{part}']\n")
    missing = workspace.run("bundle", "show")
    assert (missing.exit_code, "there is no behaviors/new.yaml in it" in missing.stderr) == (2, True)
    assert workspace.run("bundle", "update").exit_code == 0
    assert value(workspace, ".") == 7
