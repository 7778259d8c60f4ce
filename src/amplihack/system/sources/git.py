"""Clone repositories with the user's git and our settings only: shallowly, and checked afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from amplihack.documents.durations import seconds_in
from amplihack.system.git import safe_argv
from amplihack.system.processes import Command, Finished, ProcessError, run_process
from amplihack.system.sources.address import Address
from amplihack.system.sources.cache import head_commit
from amplihack.system.sources.errors import (
    GitCloneTimeoutError,
    GitMissing,
    SourceNotFound,
    SourceRefused,
    SourceUnavailable,
)
from amplihack.system.sources.git_access import Access
from amplihack.system.sources.git_errors import failure, is_missing_object
from amplihack.system.sources.hosts import Destination
from amplihack.system.sources.model import FetchLimits

TIMEOUT_VARIABLE = "AMPLIFIER_GIT_CLONE_TIMEOUT_S"
_QUIET = ("--quiet", "--no-tags", "--no-recurse-submodules")
_EVERYTHING = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
_OUTPUT = 1_000_000


class GitClient:
    def __init__(
        self, environment: Mapping[str, str], limits: FetchLimits, warn: Callable[[str], None]
    ) -> None:
        self._environment, self._limits, self._warn = environment, limits, warn
        self._access = Access(environment)

    async def clone(self, address: Address, into: Path) -> str:
        """Clone the address into a new directory, and return its commit."""
        timeout = clone_seconds(self._environment, self._limits.clone_seconds, self._warn)
        work = _Work(self, address, into, timeout)
        await asyncio.to_thread(into.mkdir, parents=True)
        if address.pin:
            await self._clone_commit(work, address.pin)
        else:
            await self._clone_ref(work)
        commit = await asyncio.to_thread(head_commit, into)
        if commit is None or address.pin not in (None, commit):
            raise SourceRefused(f"{address.uri}: got commit {commit}, not the one asked for", uri=address.uri)
        return commit

    async def destination(self, address: Address) -> Destination:
        """Return the host that git will really ask."""
        return await self._access.destination(address)

    async def remote_commit(self, address: Address) -> str | None:
        """Return the commit that the ref means now, or None if there is no such ref any more."""
        seconds = self._limits.status_seconds
        work = _Work(self, address, Path("/"), seconds, "check")
        ref = address.ref
        names = (
            ("HEAD",) if ref == "HEAD" else (f"refs/heads/{ref}", f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}")
        )
        listed = await work.must("ls-remote", "--quiet", "--", address.url, *names)
        rows = [line.partition("\t") for line in listed.splitlines()]
        found = {name: commit for commit, _, name in rows}
        return next((found[name] for name in names if name in found), None)

    async def _clone_ref(self, work: _Work) -> None:
        branch = () if work.address.ref == "HEAD" else (f"--branch={work.address.ref}",)
        arguments = (*_QUIET, "--single-branch", "--template=", *branch)
        done = await work.run("clone", "--depth=1", *arguments, "--", work.address.url, ".")
        # A plain file server cannot make a shallow clone.
        if not done.ok and "shallow capabilities" in done.stderr.text():
            done = await work.run("clone", *arguments, "--", work.address.url, ".")
        if not done.ok:
            raise failure(work.address, done.stderr.text())
        # On no branch: a version that never changes is a commit, and its HEAD can be read without git.
        await work.must("checkout", "--quiet", "--detach", "--no-recurse-submodules")

    async def _clone_commit(self, work: _Work, commit: str) -> None:
        await work.must("init", "--quiet", "--template=")
        await work.must("config", "remote.origin.url", work.address.url)
        done = await work.run(
            "fetch", "--depth=1", *_QUIET, "--no-write-fetch-head", "--", work.address.url, commit
        )
        if not done.ok:
            # Many servers do not send a commit by its id alone; then everything is fetched.
            if not is_missing_object(done.stderr.text()):
                raise failure(work.address, done.stderr.text())
            await work.must("fetch", *_QUIET, "--no-write-fetch-head", "--", work.address.url, *_EVERYTHING)
        if not (await work.run("cat-file", "-e", f"{commit}^{{commit}}")).ok:
            what = f"Failed to clone {work.address.uri}: it has no commit {commit}"
            raise SourceNotFound(what, uri=work.address.uri, fix="check the commit and the repository")
        await work.must("checkout", "--quiet", "--detach", "--no-recurse-submodules", commit)

    async def start(
        self, address: Address, directory: Path, seconds: float, words: tuple[str, ...]
    ) -> Finished:
        environment = await self._access.environment_for(address)
        environment["GIT_CEILING_DIRECTORIES"] = str(directory.parent)  # a repository around us is not ours
        protocols = await self._access.protocols(address)
        argv = safe_argv(*words, protocols=protocols, helpers=True)
        command = Command(
            argv=(*argv[:1], "-c", "core.longpaths=true", *argv[1:]),
            cwd=directory,
            env=environment,
            timeout=max(seconds, 0.01),
            output_limit=_OUTPUT,
        )
        try:
            return await run_process(command)
        except ProcessError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                raise GitMissing from error
            raise SourceUnavailable(
                f"Failed to clone {address.uri}: {error.what}", uri=address.uri
            ) from error


class _Work:
    """The git commands of one attempt, which share one deadline."""

    def __init__(
        self, client: GitClient, address: Address, directory: Path, seconds: float, doing: str = "clone"
    ) -> None:
        self.address = address
        self._client, self._directory, self._seconds, self._doing = client, directory, seconds, doing
        self._deadline = asyncio.get_running_loop().time() + seconds

    async def run(self, *words: str) -> Finished:
        left = self._deadline - asyncio.get_running_loop().time()
        done = await self._client.start(self.address, self._directory, left, words)
        if done.timed_out:
            raise GitCloneTimeoutError(words, self._seconds, uri=self.address.uri, doing=self._doing)
        return done

    async def must(self, *words: str) -> str:
        done = await self.run(*words)
        if not done.ok:
            raise failure(self.address, done.stderr.text(), self._doing)
        return done.stdout.text()


def clone_seconds(environment: Mapping[str, str], default: float, warn: Callable[[str], None]) -> float:
    """Return how long one attempt may take: the variable if it is a positive number, else the default."""
    text = environment.get(TIMEOUT_VARIABLE, "")
    if not text:
        return default
    if seconds := seconds_in(text):
        return seconds
    warn(f"{TIMEOUT_VARIABLE}={text!r} is not a number of seconds; using {default:g}")
    return default
