"""Stage with git what changes in a work tree while an agent works."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from amplihack.errors import AmplihackError
from amplihack.recipes.ports import LeftAlone, Staging, TreeMarks
from amplihack.system.processes import Command, Finished, run_process

if TYPE_CHECKING:
    from amplihack.system.work_tree_changes import SiftedChanges, Snapshot

_LIMIT = 60.0  # seconds for one git command
_MOST_OUTPUT = 256_000_000  # bytes: a list of files that is cut would be a wrong list
_BUSY = "index.lock"
_PATIENCE = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # seconds to wait for another git, in turn
# What git says where there is nothing to stage in.
_NO_WORK_TREE = ("not a git repository", "must be run in a work tree")


class GitWorkTree:
    """Finds the work tree of a directory, with the user's own git and its settings.

    It remembers what was staged during this run, for steps that change the same files again. What a run had
    staged before it was continued, it learns from whoever watches.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = {
            **environment,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",  # a look must not stand in the way of a git that the agent starts
            "LC_ALL": "C",
        }
        self._staged: dict[str, dict[str, str]] = {}  # by work tree: the index entry of each path
        self._one_at_a_time = asyncio.Lock()

    async def watch(self, directory: str, earlier: Sequence[TreeMarks] = ()) -> WatchedTree | None:
        """Remember the state of the work tree; None outside of one. Raises AmplihackError.

        What the step had left before it was cut off, and is as it was then, counts as not yet changed.
        """
        found = await self.git(directory, "rev-parse", "--show-toplevel")
        if not found.ok:
            if any(words in found.stderr.text() for words in _NO_WORK_TREE):
                return None
            raise _failed("rev-parse", found)
        root = found.stdout.read(0, found.stdout.size).removesuffix(b"\n").decode("utf-8", "surrogateescape")
        before = await self._look(root, ignored=True)
        here = [marks for marks in earlier if marks.root == root]
        if here and root not in self._staged:
            self._staged[root] = {path: entry for marks in here for path, entry in marks.staged.items()}
        if left := {path: mark for marks in here for path, mark in marks.left.items()}:
            before = before.without(left)
        return WatchedTree(self, root, before)

    async def stage_since(self, root: str, before: Snapshot) -> Staging:
        """Stage what is new or different since then, except what was somebody's own already."""
        ours = self._staged.setdefault(root, {})
        async with self._one_at_a_time:  # git refuses two that write at once
            decision = await self._changed_since(root, before, ours)
            if decision.stage:
                await self._add(root, decision.stage)
            # What git holds now, also where the agent staged it itself.
            after = await self._look(root, ignored=False)
            made = {path: after.staged[path] for path in decision.ours if path in after.staged}
            ours.update(made)
        marks = TreeMarks(root, staged=_sayable(made))
        return Staging(decision.stage, decision.left, decision.disturbed, marks)

    async def leave_since(self, root: str, before: Snapshot, why: str) -> Staging:
        """Return what is new or different since then, which is all left as it is, and why."""
        decision = await self._changed_since(root, before, self._staged.get(root, {}))
        left = (*(LeftAlone(path, why) for path in decision.stage), *decision.left)
        marks = TreeMarks(root, left=_sayable(decision.marks))
        return Staging((), left, decision.disturbed, marks)

    async def _changed_since(self, root: str, before: Snapshot, ours: Mapping[str, str]) -> SiftedChanges:
        from amplihack.system.work_tree_changes import decide, has_lost_untracked  # deferred, as below

        now = await self._look(root, ignored=False)
        if has_lost_untracked(before, now):
            now = await self._look(root, ignored=True)
        return decide(before, now, ours)

    async def _look(self, root: str, *, ignored: bool) -> Snapshot:
        from amplihack.system.work_tree_changes import read_status  # deferred: many runs ask no agent

        words = ["status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames"]
        words.append("--ignore-submodules=none")
        if ignored:
            words.append("--ignored=matching")
        found = await self.git(root, *words)
        if not found.ok or found.stdout.lost:
            raise _failed("status", found)
        return read_status(root, found.stdout.read(0, found.stdout.size))

    async def _add(self, root: str, paths: tuple[str, ...]) -> None:
        names = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
        for pause in (*_PATIENCE, None):
            # Unlike `git add` it takes names as they are: no patterns, nothing below a directory.
            done = await self.git(
                root, "update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=names
            )
            if done.ok:
                return
            if pause is None or _BUSY not in done.stderr.text():
                raise _failed("update-index", done)
            await asyncio.sleep(pause)

    async def git(self, directory: str, *words: str, stdin: bytes | None = None) -> Finished:
        return await run_process(
            Command(
                argv=("git", *words),
                cwd=Path(directory),
                env=self._environment,
                stdin=stdin,
                timeout=_LIMIT,
                output_limit=_MOST_OUTPUT,
            )
        )


class WatchedTree:
    """A work tree, and its state at one moment."""

    def __init__(self, tree: GitWorkTree, root: str, before: Snapshot) -> None:
        self._tree, self._root, self._before = tree, root, before

    async def stage(self) -> Staging:
        return await self._tree.stage_since(self._root, self._before)

    async def leave(self, why: str) -> Staging:
        return await self._tree.leave_since(self._root, self._before, why)


def _sayable(marks: Mapping[str, str]) -> dict[str, str]:
    """Return the marks of files whose names are text; others cannot be written down."""
    return {path: mark for path, mark in marks.items() if path.isascii() or _is_text(path)}


def _is_text(path: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in path)


def _failed(command: str, finished: Finished) -> AmplihackError:
    if finished.timed_out:
        return AmplihackError(
            f"git {command} did not finish within {_LIMIT:g} seconds",
            fix="stage by hand, and use --no-auto-stage in a work tree this large",
        )
    said = [line for line in finished.stderr.text().splitlines() if line.strip()]
    why = next((line for line in said if _BUSY in line), said[0] if said else finished.status)
    return AmplihackError(
        f"git {command} failed: {why.removeprefix('fatal: ')}",
        fix="run `git status` to see what is wrong; --no-auto-stage leaves git alone",
    )
