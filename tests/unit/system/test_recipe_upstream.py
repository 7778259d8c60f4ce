from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from amplihack.errors import NotFound, NothingToUse, UsageError
from amplihack.system.git import Git, GitFailed
from amplihack.system.recipe_upstream import DEFAULT_URL, check_url, compare_with_upstream, upstream_url

RECIPES = Path("amplifier-bundle", "recipes")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        pass


@contextmanager
def served(directory: Path) -> Iterator[str]:
    """The directory's files over http, as a git client without a smart server reads a repository."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(directory)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}


class Repository:
    def __init__(self, path: Path, environment: dict[str, str]) -> None:
        self.path, self.environment = path, environment
        path.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        command = ["git", *identity, *arguments]
        ended = subprocess.run(command, cwd=self.path, env=self.environment, capture_output=True, check=True)
        return ended.stdout.decode()

    def commit(self, **files: str) -> None:
        for name, text in files.items():
            file = self.path / RECIPES / f"{name}.yaml"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "change")
        self.git("update-server-info")


@pytest.fixture
def upstream(tmp_path: Path, environment: dict[str, str]) -> Repository:
    repository = Repository(tmp_path / "served" / "upstream", environment)
    repository.commit(build="name: build\n", test="name: test\n")
    return repository


@pytest.fixture
def project(tmp_path: Path, environment: dict[str, str], upstream: Repository) -> Repository:
    repository = Repository(tmp_path / "project", environment)
    repository.commit(build="name: build\n", test="name: test\n")
    return repository


@pytest.fixture
def url(upstream: Repository) -> Iterator[str]:
    with served(upstream.path.parent) as address:
        yield f"{address}/upstream/.git"


def test_equal_recipes_have_no_changes(project: Repository, url: str) -> None:
    report = compare_with_upstream(project.path, url, environment=project.environment)
    assert not report.has_changes
    assert report.files_changed == ()
    assert report.diff_summary == "No changes"
    tip = project.git("rev-parse", report.upstream_ref).strip()
    assert len(tip) == 40


def test_every_changed_file_is_named(project: Repository, upstream: Repository, url: str) -> None:
    upstream.commit(build="name: build\nversion: 2\n", new="name: new\n")
    upstream.git("rm", "--quiet", str(RECIPES / "test.yaml"))
    upstream.commit()
    (upstream.path / "README.md").write_text("not a recipe")
    upstream.commit()
    report = compare_with_upstream(project.path / RECIPES, url, environment=project.environment)
    assert report.has_changes
    assert report.files_changed == tuple(f"{RECIPES}/{name}.yaml" for name in ("build", "new", "test"))
    assert "3 files changed, 2 insertions(+), 1 deletion(-)" in report.diff_summary


def test_a_renamed_file_is_named_under_both_names(
    project: Repository, upstream: Repository, url: str
) -> None:
    upstream.git("mv", str(RECIPES / "test.yaml"), str(RECIPES / "verify.yaml"))
    upstream.commit()
    report = compare_with_upstream(project.path, url, environment=project.environment)
    assert report.files_changed == (f"{RECIPES}/test.yaml", f"{RECIPES}/verify.yaml")


def test_comparing_leaves_files_branches_and_index_alone(
    project: Repository, upstream: Repository, url: str
) -> None:
    upstream.commit(build="name: other\n")
    upstream.git("tag", "v1")
    upstream.git("update-server-info")
    before = project.git("status", "--porcelain"), project.git("branch", "--all"), project.git("tag")
    compare_with_upstream(project.path, url, environment=project.environment)
    assert (
        project.git("status", "--porcelain"),
        project.git("branch", "--all"),
        project.git("tag"),
    ) == before
    assert (project.path / RECIPES / "build.yaml").read_text() == "name: build\n"


def test_the_remote_is_added_once_and_never_replaced(project: Repository, url: str) -> None:
    compare_with_upstream(project.path, url, environment=project.environment)
    assert project.git("remote", "get-url", "upstream-amplifier-recipes").strip() == url
    project.git("remote", "set-url", "upstream-amplifier-recipes", "https://example.org/mine")
    compare_with_upstream(project.path, url, environment=project.environment)
    assert (
        project.git("remote", "get-url", "upstream-amplifier-recipes").strip() == "https://example.org/mine"
    )


def test_a_long_summary_is_cut_and_says_so(project: Repository, upstream: Repository, url: str) -> None:
    upstream.commit(**{f"recipe-{number:03}": "name: x\n" for number in range(40)})
    report = compare_with_upstream(project.path, url, environment=project.environment)
    assert len(report.files_changed) == 40
    kept, _, rest = report.diff_summary.partition("... (truncated from ")
    assert len(kept.encode()) == 500
    assert int(rest.removesuffix(" bytes)")) > 500


def test_another_branch_can_be_compared(project: Repository, upstream: Repository, url: str) -> None:
    upstream.git("checkout", "--quiet", "-b", "feature/new")
    upstream.commit(build="name: other\n")
    report = compare_with_upstream(project.path, url, "feature/new", "other", environment=project.environment)
    assert report.files_changed == (f"{RECIPES}/build.yaml",)
    assert report.upstream_ref == "refs/amplihack/upstream/other/feature/new"


def test_hooks_of_the_project_do_not_run(project: Repository, url: str) -> None:
    hook = project.path / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ran\n")
    hook.chmod(0o755)
    compare_with_upstream(project.path, url, environment=project.environment)
    assert not list(project.path.rglob("ran"))


def test_configuration_of_the_user_does_not_count(project: Repository, url: str) -> None:
    Path(project.environment["HOME"], ".gitconfig").write_text("not git configuration\n")
    report = compare_with_upstream(project.path, url, environment=project.environment)
    assert not report.has_changes


def test_a_server_that_has_no_such_repository_fails_without_the_url(project: Repository, url: str) -> None:
    with pytest.raises(GitFailed, match="git fetch failed") as caught:
        compare_with_upstream(project.path, f"{url}/missing", environment=project.environment)
    assert "127.0.0.1" not in caught.value.what
    assert "<url>" in caught.value.what


def test_a_server_that_never_answers_is_given_up_on_with_its_helpers(project: Repository) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/x"
        git = Git(project.path, project.environment, timeout=2)
        with pytest.raises(GitFailed, match="did not finish within 2 seconds"):
            git.run("fetch", "--", address)
        silent.settimeout(10)
        connection, _ = silent.accept()
        with connection:
            connection.settimeout(10)
            while connection.recv(65536):  # ends only once the helper that held the connection is gone
                pass


def test_a_directory_outside_a_repository_is_not_found(
    tmp_path: Path, environment: dict[str, str], url: str
) -> None:
    (tmp_path / "plain").mkdir()
    for place in ("plain", "missing"):
        with pytest.raises(NotFound, match="is not part of a git repository"):
            compare_with_upstream(tmp_path / place, url, environment=environment)


def test_without_git_there_is_nothing_to_use(tmp_path: Path) -> None:
    with pytest.raises(NothingToUse, match="git is not installed"):
        Git(tmp_path, {"PATH": str(tmp_path)}).run("status")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("file:///srv/secret", "must begin with"),
        ("ssh://host/secret", "must begin with"),
        ("secret", "must begin with"),
        ("ext::sh -c secret", "spaces"),
        ("--upload-pack=secret", "must begin with"),
        ("https://ann:secret@example.org/x", "user name or a password"),
        ("https://secret@example.org", "user name or a password"),
        ("https:///secret", "names no host"),
        ("https://[secret", "malformed"),
        ("https://host:secret/", "malformed"),
        ("https://host/secret\n", "spaces or control"),
    ],
)
def test_other_addresses_are_refused_and_never_repeated(url: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        compare_with_upstream(tmp_path, url, environment={})
    assert "secret" not in f"{caught.value.what} {caught.value.fix}"
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("url", [DEFAULT_URL, "http://127.0.0.1:8080/a@b", "HTTPS://example.org/x?y"])
def test_plain_web_addresses_are_accepted(url: str) -> None:
    check_url(url)


@pytest.mark.parametrize(
    "branch", ["", "-x", "a b", "a..b", "a/", "a.lock", "a//b", "/a", "a\n", "a:b", "a^"]
)
def test_a_branch_that_git_would_misread_is_refused(branch: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not the name of a branch"):
        compare_with_upstream(tmp_path, DEFAULT_URL, branch, environment={})


def test_a_remote_that_git_would_misread_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not the name of a remote"):
        compare_with_upstream(tmp_path, DEFAULT_URL, "main", "a.b", environment={})


def test_the_address_comes_from_the_environment_or_is_the_public_one() -> None:
    assert upstream_url({}) == DEFAULT_URL
    assert upstream_url({"RECIPE_RUNNER_UPSTREAM_URL": "https://example.org"}) == "https://example.org"
    with pytest.raises(UsageError):
        check_url(upstream_url({"RECIPE_RUNNER_UPSTREAM_URL": ""}))
