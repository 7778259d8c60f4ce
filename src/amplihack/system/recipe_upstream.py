"""Compare a project's recipes with the repository that they came from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from amplihack.errors import NotFound, UsageError
from amplihack.patterns import pattern
from amplihack.records import Record
from amplihack.system.git import Git, GitFailed

DEFAULT_URL = "https://github.com/microsoft/amplifier-bundle-recipes"
_PATHS = ("amplifier-bundle/recipes/", "src/amplihack/amplifier-bundle/recipes/")
_SUMMARY_BYTES = 500
_REMOTE = pattern(r"[A-Za-z0-9_-]+")
_BRANCH = pattern(r"(?!.*(\.\.|//|/\.|\.lock(/|$)))[A-Za-z0-9_][A-Za-z0-9_./+#-]*(?<![./])")


class UpstreamReport(Record):
    has_changes: bool
    files_changed: tuple[str, ...]
    diff_summary: str
    upstream_ref: str


def upstream_url(environment: Mapping[str, str]) -> str:
    """Return the repository to compare with: RECIPE_RUNNER_UPSTREAM_URL, else the public one."""
    return environment.get("RECIPE_RUNNER_UPSTREAM_URL", DEFAULT_URL)


def compare_with_upstream(
    repository: Path,
    url: str,
    branch: str = "main",
    remote: str = "amplifier-recipes",
    *,
    environment: Mapping[str, str],
) -> UpstreamReport:
    """Fetch the branch and tell what taking its recipes would change here. Changes no file.

    The branch is kept under a name of our own, and the remote `upstream-<remote>` is added if there is none.
    Raises UsageError, NotFound outside a git repository, or GitFailed.
    """
    check_url(url)
    _check_names(branch, remote)
    git = Git(_top(repository, environment), environment)
    _add_remote(git, f"upstream-{remote}", url)
    reference = f"refs/amplihack/upstream/{remote}/{branch}"
    options = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
    git.run("fetch", *options, "--", url, f"+refs/heads/{branch}:{reference}")
    files = tuple(name for name in _diff(git, reference, "--name-only", "-z").split("\0") if name)
    return UpstreamReport(bool(files), files, _summary(_diff(git, reference, "--stat=100")), reference)


def check_url(url: str) -> None:
    """Refuse what is not a plain web address. Messages never hold the URL: it may contain a password."""
    fix = "use an address such as https://example.org/recipes.git"
    if not url.strip():
        raise UsageError("the upstream URL is empty", fix=fix)
    if any(character.isspace() or not character.isprintable() for character in url):
        raise UsageError("the upstream URL contains spaces or control characters", fix=fix)
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise UsageError("the upstream URL is malformed", fix=fix) from None  # the cause quotes the URL
    if parts.scheme not in ("http", "https"):
        raise UsageError("the upstream URL must begin with http:// or https://", fix=fix)
    if "@" in parts.netloc:
        raise UsageError("the upstream URL must not contain a user name or a password", fix=fix)
    if not host:
        raise UsageError("the upstream URL names no host", fix=fix)


def _check_names(branch: str, remote: str) -> None:
    if not _BRANCH.fullmatch(branch):
        raise UsageError(f"{branch!r} is not the name of a branch", fix="use a name such as main")
    if not _REMOTE.fullmatch(remote):
        raise UsageError(f"{remote!r} is not the name of a remote", fix="use letters, digits, - and _ only")


def _top(repository: Path, environment: Mapping[str, str]) -> Path:
    try:
        return Path(Git(repository, environment).run("rev-parse", "--show-toplevel").removesuffix("\n"))
    except GitFailed as error:
        raise NotFound(
            f"{repository} is not part of a git repository: {error.what}",
            fix="run it in a clone of the project",
        ) from error


def _add_remote(git: Git, name: str, url: str) -> None:
    if not git.succeeds("config", "--get", f"remote.{name}.url"):
        git.run("remote", "add", "--", name, url)


def _diff(git: Git, reference: str, *form: str) -> str:
    options = ("--no-ext-diff", "--no-textconv", "--no-renames", "--no-color", "--ignore-submodules=all")
    return git.run("diff", "-R", *options, *form, reference, "--", *_PATHS)


def _summary(text: str) -> str:
    data = text.strip("\n").encode()
    if not data:
        return "No changes"
    if len(data) <= _SUMMARY_BYTES:
        return data.decode()
    kept = data[:_SUMMARY_BYTES].decode("utf-8", "ignore")
    return f"{kept}... (truncated from {len(data)} bytes)"
