"""Stage with git what an agent step changed, and tell which files these are."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from amplihack.errors import AmplihackError
from amplihack.recipes.engine.directories import working_dir
from amplihack.recipes.engine.job import MOST_NAMES, Done, Job, StepFailure
from amplihack.recipes.events import Staged, WorkTreeLeft
from amplihack.recipes.model import Agent
from amplihack.recipes.ports import Staging, TreeMarks, Watched
from amplihack.recipes.values import some

_FAILED = "the step failed"
_CUT_OFF = "the step was cut off"
_LAST_LOOK = 5.0  # seconds for git to tell what a step had changed when it was cut off


def stages(job: Job, action: Agent) -> bool:
    """Tell whether this run stages what the step changes."""
    default = job.run.options.auto_stage and job.frame.recipe.dialect == "amplihack"
    return default if action.auto_stage is None else action.auto_stage


async def staging(job: Job, work: Callable[[], Awaitable[Done]]) -> Done:
    """Do the work with all its attempts. If it succeeds, stage what changed meanwhile and nothing else.

    So it is if it waits. If it fails or is cut off, they are only told; where the run goes on with the step,
    they are its own as long as nobody else has touched them.
    """
    watched = await _watch(job)
    if watched is None:
        return await work()
    try:
        done = await work()
    except StepFailure as failure:
        await _settle(job, watched.stage() if failure.waits else watched.leave(_FAILED))
        raise
    except asyncio.CancelledError:
        await _look_back(job, watched)
        raise
    await _settle(job, watched.stage())
    return done


async def _look_back(job: Job, watched: Watched) -> None:
    """Tell what a step had changed that was interrupted, or cancelled with the steps around it."""
    try:
        async with asyncio.timeout(_LAST_LOOK):
            await _settle(job, watched.leave(_CUT_OFF))
    except TimeoutError:
        job.warn("cut off, and git did not tell in time what it had changed (fix: run `git status`)")


async def _watch(job: Job) -> Watched | None:
    earlier = [TreeMarks(each.root, each.staged, each.left) for each in job.run.state.trees(job.identity)]
    try:
        return await job.run.world.work_tree.watch(working_dir(job), earlier)
    except StepFailure:
        return None  # the work meets the same trouble, and tells
    except AmplihackError as error:  # staging is a courtesy: without git there is nothing to stage for
        _tell(job, error)
        return None


async def _settle(job: Job, settling: Awaitable[Staging]) -> None:
    """Wait until what changed is dealt with, and tell what became of it."""
    try:
        result = await settling
    except AmplihackError as error:
        _tell(job, error)
        return
    marks = result.marks
    if marks.staged or marks.left:
        job.run.record(WorkTreeLeft(job.identity, marks.root, marks.staged, marks.left))
    if result.staged:
        job.run.record(Staged(job.identity, tuple(map(shown, result.staged))))
    if result.left:
        names = [f"{shown(each.path)} ({each.why})" for each in result.left]
        job.warn(f"changed during the step, but not staged: {some(names, MOST_NAMES)}")
    if result.disturbed:
        names = [f"{shown(each.path)} ({each.how})" for each in result.disturbed]
        job.warn(f"no longer as it was before the step: {some(names, MOST_NAMES)}")


def _tell(job: Job, error: AmplihackError) -> None:
    job.warn(f"the agent's changes are not staged: {error.what}")


def shown(path: str) -> str:
    """Return a path in one line. Bytes that are no text and control characters are escaped."""
    return path if path.isprintable() else "".join(map(_escaped, path))


def _escaped(char: str) -> str:
    if char.isprintable():
        return char
    is_byte = "\udc80" <= char <= "\udcff"  # one that is no UTF-8, as Python writes it
    return f"\\x{ord(char) - 0xDC00:02x}" if is_byte else ascii(char)[1:-1]
