"""`bundle lock`, `--frozen` and `status`: exactly what was locked, or nothing."""

from __future__ import annotations

import json
import shutil
import zipfile

import pytest
from tests.support.bundle_place import address, repository, thin_bundle
from tests.support.git_server import Repository, WebServer, git_backend, serving
from tests.support.workspace import Workspace

FAR = "bundle: {name: far}\ntools:\n  - module: tool-far\n    config: {value: %d}\n"


def with_far(workspace: Workspace) -> Repository:
    """The thin bundle, with an include from a repository whose branch may move."""
    thin_bundle(workspace)
    made = repository(workspace, "far", {"bundle.yaml": FAR % 1})
    base = (workspace.path / "base/bundle.md").read_text()
    workspace.write("base/bundle.md", base.replace("session:", f"includes: ['{address(made)}']\nsession:", 1))
    return made


def locked(workspace: Workspace) -> Repository:
    made = with_far(workspace)
    answer = workspace.run("bundle", "lock")
    assert (answer.exit_code, answer.stdout) == (0, "bundle.lock\n"), answer.stderr
    return made


def far_value(workspace: Workspace, *more: str) -> int:
    plan = workspace.run("bundle", "show", "--plan", *more).json
    found: int = next(each for each in plan["tools"] if each["module"] == "tool-far")["config"]["value"]
    return found


def test_the_lock_names_the_whole_closure(workspace: Workspace) -> None:
    made = locked(workspace)
    lock = json.loads((workspace.path / "bundle.lock").read_text())
    sources = {each["uri"]: each for each in lock["sources"]}
    assert sources.keys() == {
        "./agents/worker.md",
        "./base/bundle.md",
        "./behaviors/work.yaml",
        "./bundle.md",
        "./context/guide.md",
        "./context/rules.md",
        "./modules/tool-work",
        address(made),
    }
    assert sources[address(made)]["commit"] == made.git("rev-parse", "HEAD")
    assert all(each["content"] for each in sources.values())
    assert lock["kernel"]


def test_locking_twice_changes_nothing(workspace: Workspace) -> None:
    locked(workspace)
    before = (workspace.path / "bundle.lock").read_bytes()
    assert workspace.run("bundle", "lock", "--json").json["entries"] == 8
    assert (workspace.path / "bundle.lock").read_bytes() == before
    status = workspace.run("bundle", "status")
    assert status.exit_code == 0
    assert status.stderr == "✓ as locked\n"


def test_a_frozen_load_uses_the_locked_commit_though_the_branch_has_moved(workspace: Workspace) -> None:
    made = locked(workspace)
    made.commit({"bundle.yaml": FAR % 2})
    assert "`amplihack bundle lock` writes what is new" in workspace.run("bundle", "update").stderr
    assert "bundle.lock" not in workspace.run("bundle", "update").stderr  # nothing is newer now
    assert far_value(workspace) == 2
    assert far_value(workspace, "--frozen") == 1
    status = workspace.run("bundle", "status", "--json")
    assert status.exit_code == 1
    assert {each["change"] for each in status.json["drift"]} == {"commit", "content"}


def test_a_frozen_load_needs_no_network_for_what_is_cached(workspace: Workspace) -> None:
    repository(workspace, "far", {"bundle.yaml": FAR % 1})
    server = WebServer(otherwise=git_backend(workspace.path / "repositories"))
    with serving(server):
        workspace.write("bundle.yaml", f"bundle: {{name: a}}\nincludes: ['git+{server.url}/far/.git@main']\n")
        assert workspace.run("bundle", "lock").exit_code == 0
        server.asked.clear()
        assert far_value(workspace, "--frozen", "--offline") == 1
        assert server.asked == []


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("behaviors/work.yaml", "bundle: {name: work-behavior}\n"),
        ("context/rules.md", "Other rules.\n"),
        ("context/guide.md", "Another guide.\n"),
        ("agents/worker.md", "---\nmeta: {name: worker, description: Other.}\n---\nOther.\n"),
        ("modules/tool-work/amplifier_module_tool_work/__init__.py", "pass\n"),
    ],
)
def test_an_edited_file_is_drift_and_stops_a_frozen_load(workspace: Workspace, file: str, text: str) -> None:
    locked(workspace)
    workspace.write(file, text)
    answer = workspace.run("bundle", "show", "--frozen")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert "./" + file.partition("/amplifier_module")[0] in answer.stderr
    assert workspace.run("bundle", "status").exit_code == 1


def test_a_new_include_is_drift_and_is_not_fetched(workspace: Workspace) -> None:
    locked(workspace)
    other = repository(workspace, "other", {"bundle.yaml": "bundle: {name: other}\n"})
    text = (workspace.path / "bundle.md").read_text()
    workspace.write("bundle.md", text.replace("includes:\n", f"includes:\n  - bundle: {address(other)}\n"))
    answer = workspace.run("bundle", "show", "--frozen")
    assert answer.exit_code == 2
    assert f"{address(other)} is not in the lock file" in answer.stderr
    cached = [path.name for path in (workspace.path / "home/.amplihack/cache").glob("other*")]
    assert cached == []
    assert workspace.run("bundle", "status").exit_code == 1


def test_an_include_that_is_gone_is_drift(workspace: Workspace) -> None:
    locked(workspace)
    text = (workspace.path / "behaviors/work.yaml").read_text()
    workspace.write("behaviors/work.yaml", text.partition("context:")[0])
    changes = {
        each["uri"]: each["change"] for each in workspace.run("bundle", "status", "--json").json["drift"]
    }
    assert changes["./context/rules.md"] == "gone"


def test_a_frozen_load_pins_the_modules_of_the_plan(workspace: Workspace) -> None:
    module = repository(workspace, "module", {"pyproject.toml": "[project]\nname = 'x'\n"})
    workspace.write(
        "bundle.yaml", f"bundle: {{name: a}}\ntools:\n  - {{module: tool-m, source: '{address(module)}'}}\n"
    )
    assert workspace.run("bundle", "lock").exit_code == 0
    commit = module.git("rev-parse", "HEAD")
    plan = workspace.run("bundle", "show", "--plan", "--frozen").json
    assert plan["tools"][0]["source"] == address(module, commit)
    assert workspace.run("bundle", "show", "--plan").json["tools"][0]["source"] == address(module)
    workspace.write("bundle.yaml", "bundle: {name: a}\ntools: [{module: t, source: 'git+file:///no@main'}]\n")
    assert workspace.run("bundle", "show", "--frozen").exit_code == 2


def test_a_module_that_cannot_be_had_cannot_be_locked(workspace: Workspace) -> None:
    workspace.write("bundle.yaml", "bundle: {name: a}\ntools:\n  - {module: t, source: ./modules/missing}\n")
    answer = workspace.run("bundle", "lock")
    assert answer.exit_code == 2
    assert "a module cannot be locked" in answer.stderr
    assert not (workspace.path / "bundle.lock").exists()
    assert workspace.run("bundle", "lock", "--allow-partial").exit_code == 0


def test_frozen_without_a_lock_says_how_to_make_one(workspace: Workspace) -> None:
    thin_bundle(workspace)
    answer = workspace.run("bundle", "show", "--frozen")
    assert answer.exit_code == 3
    assert "`amplihack bundle lock` writes it" in answer.stderr
    assert workspace.run("bundle", "status").stderr == (
        "there is no bundle.lock here: `amplihack bundle lock` writes it\n"
    )


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 9}', '{"version": 1, "sources": [{}]}'])
def test_a_lock_that_makes_no_sense_is_refused(workspace: Workspace, text: str) -> None:
    thin_bundle(workspace)
    workspace.write("bundle.lock", text)
    for verb in ("show", "validate"):
        answer = workspace.run("bundle", verb, "--frozen")
        assert answer.exit_code == 2
        assert "bundle.lock:1:" in answer.stderr + answer.stdout
    assert workspace.run("bundle", "status").exit_code == 2


def test_a_lock_that_lost_its_sources_does_not_let_clean_remove_them(workspace: Workspace) -> None:
    locked(workspace)
    workspace.write("bundle.lock", '{"version": 1, "entries": []}\n')
    for command in (("clean", "--dry-run"), ("status",), ("show", "--frozen")):
        answer = workspace.run("bundle", *command)
        assert answer.exit_code == 2, answer.stdout
        assert "the lock file should have `sources`" in answer.stderr


def test_a_module_that_moved_since_it_was_locked_is_told(workspace: Workspace) -> None:
    made = repository(workspace, "tool", {"pyproject.toml": "", "x.py": "1"})
    workspace.write(
        "bundle.yaml", f"bundle: {{name: m}}\ntools: [{{module: t, source: '{address(made)}'}}]\n"
    )
    assert workspace.run("bundle", "lock").exit_code == 0
    before, after = made.git("rev-parse", "HEAD"), made.commit({"x.py": "2"})
    assert workspace.run("bundle", "status").exit_code == 0
    workspace.run("bundle", "update")
    moved = workspace.run("bundle", "status")
    assert (moved.exit_code, moved.stdout.count("[lock-drift]")) == (1, 1)
    assert f"the commit was {before[:12]} and is {after[:12]}" in moved.stdout
    assert before in json.dumps(workspace.run("bundle", "show", "--plan", "--frozen").json)


def test_a_cached_version_that_somebody_changed_is_no_new_version(workspace: Workspace) -> None:
    locked(workspace)
    cache = workspace.path / "home/.amplihack/cache"
    (entry,) = cache.glob("far-*@*")
    (entry / "bundle.yaml").write_text(FAR % 7)
    refused = workspace.run("bundle", "show", "--frozen")
    assert (refused.exit_code, "somebody changed what was fetched" in refused.stderr) == (2, True)
    assert f"{entry.name}: it is fetched again" in refused.stderr
    shutil.rmtree(entry)
    assert far_value(workspace, "--frozen") == 1


def test_clean_keeps_the_versions_that_the_lock_names(workspace: Workspace) -> None:
    module = repository(workspace, "tool", {"pyproject.toml": "", "x.py": "1"})
    files = {"bundle.md": "---\nbundle: {name: far}\n---\nThe first.\n"}
    made = repository(workspace, "far", files)
    packed = workspace.path / "far.zip"

    def pack(text: str) -> None:
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("bundle.yaml", f"bundle: {{name: packed, description: {text}}}\n")

    pack("first")
    includes = f"includes: ['zip+file://{packed}', '{address(made)}']"
    tools = f"tools: [{{module: t, source: '{address(module)}'}}]"
    workspace.write("bundle.yaml", f"bundle: {{name: m}}\n{includes}\n{tools}\n")
    assert workspace.run("bundle", "lock").exit_code == 0
    made.commit({"bundle.md": files["bundle.md"].replace("first", "second")})
    module.commit({"x.py": "2"})
    pack("another")
    assert workspace.run("bundle", "update").exit_code == 0
    assert workspace.run("bundle", "clean").stderr == "freed 0 bytes\n"
    for path in (made.path, module.path, packed):
        path.rename(path.with_name("gone-" + path.name))
    assert workspace.run("bundle", "show", "--frozen", "--prompt").stdout.startswith("The first.")
    assert workspace.run("bundle", "lock", "--offline").exit_code == 0  # what is current stays as well
