"""Stage with git what an agent step changed, and tell which files these are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from amplihack.errors import AmplihackError
from amplihack.recipes.engine.directories import working_dir
from amplihack.recipes.engine.job import MOST_NAMES, Done, Job, StepFailure
from amplihack.recipes.events import Staged
from amplihack.recipes.model import Agent
from amplihack.recipes.ports import Staging, Watched
from amplihack.recipes.values import some

_FAILED = "the step failed"


def stages(job: Job, action: Agent) -> bool:
    """Tell whether this run stages what the step changes."""
    default = job.run.options.auto_stage and job.frame.recipe.dialect == "amplihack"
    return default if action.auto_stage is None else action.auto_stage


async def staging(job: Job, work: Callable[[], Awaitable[Done]]) -> Done:
    """Do the work with all its attempts. If it succeeds, stage what changed meanwhile and nothing else.

    So it is if it waits: when it goes on, these changes are no longer seen to be its own. If it fails, they
    are only told.
    """
    watched = await _watch(job)
    if watched is None:
        return await work()
    try:
        done = await work()
    except StepFailure as failure:
        await _settle(job, watched.stage() if failure.waits else watched.leave(_FAILED))
        raise
    await _settle(job, watched.stage())
    return done


async def _watch(job: Job) -> Watched | None:
    try:
        return await job.run.world.work_tree.watch(working_dir(job))
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
