"""A maintainer asks which recipes changed, since the manifest or since upstream."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.support.workspace import Workspace

RECIPE = "name: a\nsteps: [{id: a, command: ls}]\n"


def test_a_manifest_remembers_and_tells_new_modified_and_deleted(workspace: Workspace) -> None:
    for name in ("kept", "changed", "gone"):
        workspace.write(f"shelf/{name}.yaml", RECIPE)
    written = workspace.run("recipe", "manifest", "shelf", "--update")
    assert written.exit_code == 0
    assert written.stdout == f"{workspace.path}/shelf/_recipe_manifest.json\n"
    shelf = workspace.path / "shelf"
    assert workspace.run("recipe", "manifest", "shelf").stderr == f"✓ nothing has changed in {shelf}\n"

    workspace.write("shelf/changed.yaml", RECIPE + "# more\n")
    workspace.write("shelf/added.yaml", RECIPE)
    (workspace.path / "shelf/gone.yaml").unlink()
    told = workspace.run("recipe", "manifest", "shelf")
    assert told.stdout == "new       added\nmodified  changed\ndeleted   gone\n"
    assert told.stderr == f"3 change(s) in {shelf} since its manifest was written\n"


def test_the_changes_as_json(workspace: Workspace) -> None:
    workspace.write("shelf/a.yaml", RECIPE)
    (change,) = workspace.run("recipe", "manifest", "shelf", "--json").json
    assert (change["name"], change["status"], change["stored_hash"]) == ("a", "new", "")
    assert len(change["local_hash"]) == 16


def test_a_manifest_that_is_no_json_is_told_with_its_place(workspace: Workspace) -> None:
    workspace.write("shelf/_recipe_manifest.json", "{")
    answer = workspace.run("recipe", "manifest", "shelf")
    assert answer.exit_code == 2
    assert "_recipe_manifest.json:1:1: the recipe manifest is not JSON" in answer.stderr


def test_without_a_directory_there_must_be_one_to_find(workspace: Workspace) -> None:
    assert workspace.run("recipe", "manifest").exit_code == 3
    workspace.write(".claude/recipes/a.yaml", RECIPE)
    assert workspace.run("recipe", "manifest").stdout == "new       a\n"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[str]:
    """A repository with one recipe, served on 127.0.0.1 by a plain file server."""
    source = tmp_path / "upstream"
    recipes = source / "amplifier-bundle" / "recipes"
    recipes.mkdir(parents=True)
    (recipes / "a.yaml").write_text(RECIPE)
    _git(source, "init", "--quiet", "--initial-branch", "main")
    _git(source, "add", ".")
    _git(source, "commit", "--quiet", "--message", "first")
    _git(source, "update-server-info")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(source)))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/.git"
    server.shutdown()
    server.server_close()
    thread.join()


def _git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_sync_tells_what_taking_the_upstream_recipes_would_change(
    workspace: Workspace, upstream: str
) -> None:
    project = workspace.path / "project"
    subprocess.run(["git", "clone", "--quiet", upstream, str(project)], check=True, capture_output=True)
    same = workspace.run("recipe", "sync", "-C", "project", "--url", upstream)
    assert (same.exit_code, same.stdout) == (0, "No changes\n")

    workspace.write("project/amplifier-bundle/recipes/a.yaml", RECIPE + "# mine\n")
    report = workspace.run("recipe", "sync", "-C", "project", "--url", upstream, "--json")
    assert report.exit_code == 0
    assert set(report.json) == {"has_changes", "files_changed", "diff_summary", "upstream_ref"}
    assert report.json["files_changed"] == ["amplifier-bundle/recipes/a.yaml"]
    assert "# mine" in (project / "amplifier-bundle/recipes/a.yaml").read_text()


def test_sync_outside_a_repository_says_so(workspace: Workspace) -> None:
    answer = workspace.run("recipe", "sync", "--url", "http://127.0.0.1:9/none.git")
    assert answer.exit_code == 3
    assert "is not part of a git repository" in answer.stderr


def test_an_address_with_a_password_is_refused_and_never_shown(workspace: Workspace) -> None:
    answer = workspace.run(
        "recipe", "sync", env={"RECIPE_RUNNER_UPSTREAM_URL": "https://me:hunter2@example.org/r.git"}
    )
    assert answer.exit_code == 2
    assert "must not contain a user name or a password" in answer.stderr
    assert "hunter2" not in answer.stderr
    assert json.dumps(answer.stdout) == '""'
