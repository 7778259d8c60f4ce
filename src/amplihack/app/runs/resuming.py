"""Prepare a kept run to go on: take it, end what still lives of it, and look at its recipes again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from amplihack.app.run_request import RunRequest
from amplihack.app.runs.keeping import options_of
from amplihack.app.runs.last_steps import last_steps
from amplihack.app.runs.recipes_then import Then, read_then, with_gone
from amplihack.app.variables import Given, overrides
from amplihack.app.workspace import Opened, Workspace, open_workspace
from amplihack.errors import AmplihackError, NotFound, UsageError
from amplihack.recipes.doubts import in_doubt
from amplihack.recipes.events import RecipeEntered, Recorded
from amplihack.recipes.recipe_changes import Changes, Work, compare
from amplihack.recipes.results import StepResult
from amplihack.recipes.run_parts import CUT_SHORT
from amplihack.recipes.run_state import RunState
from amplihack.recipes.values import Value
from amplihack.records import Record
from amplihack.system.event_loop import run_to_end
from amplihack.system.limit_marks import Sign
from amplihack.system.process_table import look_up
from amplihack.system.process_tree import end_tree
from amplihack.system.run_store.journal import RunJournal
from amplihack.system.run_store.ownership import boot_id
from amplihack.system.run_store.rows import KeptRun
from amplihack.system.run_store.store import RunStore
from amplihack.system.spawn import GRACE

_OVER = {"completed": "it is completed", "degraded": "it is completed, with degraded steps"}


class Resumption(Record, kw_only=True):
    """A run that is ready to go on, and what a person should know or decide before it does."""

    run: KeptRun
    workspace: Workspace
    opened: Opened
    values: Mapping[str, Value]
    request: RunRequest
    memory: RunJournal
    changes: Changes | None  # None if no recipe was edited
    in_doubt: tuple[StepResult, ...]  # steps that a person must allow to run again
    notes: tuple[str, ...] = ()

    def settle_changes(self, *, accept: bool) -> None:
        """Forget what edited recipes undo, if the user accepts that. Raises UsageError if not."""
        if self.changes is None:
            return
        if self.changes.refused:
            raise UsageError(
                f"run {self.run.run_id} cannot go on with the edited recipe: {self.changes.refused}",
                fix="take the gate away, or start the recipe anew with `amplihack recipe run`",
            )
        if not accept:
            raise UsageError(
                f"the recipe of run {self.run.run_id} was edited since it ran",
                fix="--accept-changes goes on with the edited recipe; or put the old one back",
            )
        for undone in self.changes.undone:
            self.memory.keep(undone)

    @property
    def doubt(self) -> str:
        """Return what keeps the run from going on unasked, in words."""
        reasons = []
        if cut_off := [step for step in self.in_doubt if step.error == CUT_SHORT]:
            whose = "its" if len(cut_off) == 1 else "their"
            reasons.append(
                f"it is not known whether {_named(cut_off)} did {whose} work before it was cut off"
            )
        if secret := [step for step in self.in_doubt if step.error != CUT_SHORT]:
            reasons.append(
                f"the result of {_named(secret)} is secret and was not kept, so it would run again"
            )
        return f"{'; '.join(reasons)}; `idempotent: false` says that doing it twice does harm"

    def settle_doubts(self, *, run_again: bool) -> None:
        """Raise UsageError if steps may have done their work, and nobody allows them to run again."""
        if self.in_doubt and not run_again:
            raise UsageError(
                f"run {self.run.run_id} does not go on: {self.doubt}",
                fix="look at what it has done; --run-again runs it again",
            )


def _named(steps: Sequence[StepResult]) -> str:
    return ", ".join(f"'{step.identity}'" for step in steps)


def find_resumable(store: RunStore, name: str, *, adapter: bool = False) -> KeptRun:
    """Return the run of that name. Raises UsageError if it cannot go on, and why.

    `adapter` tells whether the caller can do what the adapter of a Python program did.
    """
    run = store.find(name)
    if run.status in _OVER:
        raise UsageError(
            f"run {run.run_id} cannot be resumed: {_OVER[run.status]}",
            fix=f"`amplihack runs show {run.run_id}` shows it; `amplihack recipe run` starts it anew",
        )
    if run.status == "denied" and not last_steps(store, run):
        raise UsageError(
            f"run {run.run_id} cannot be resumed: it was denied, and that is final",
            fix="`amplihack recipe run` starts it anew",
        )
    if (run.request.get("adapter") and not adapter) or run.path is None:
        raise UsageError(
            f"run {run.run_id} cannot be resumed here: it was started by a program of its own",
            fix="resume it from that program, with `RecipeRunner.resume`",
        )
    return run


def prepare(store: RunStore, run: KeptRun, given: Given, *, adapter: bool = False) -> Resumption:
    """Take the run and read all that is needed to go on. Raises AmplihackError, and then gives it back."""
    memory = store.claim(run)
    try:
        run = find_resumable(store, run.run_id, adapter=adapter)  # somebody may have been faster
        history = tuple(memory.history())
        state = RunState(history)
        run_to_end(_end_processes(run, state))
        recorded = store.recipes(run)
        workspace = with_gone(workspace_again(run, given), recorded)
        then, opened, notes = read_then(workspace, recorded, Path(run.path or ""))
        return Resumption(
            run=run,
            workspace=workspace,
            opened=opened,
            values=_values(run, workspace, opened, given),
            request=_request(store, run),
            memory=memory,
            changes=_changes(run, then, state, history),
            in_doubt=in_doubt(state),
            notes=notes,
        )
    except BaseException:
        memory.close()
        raise


def _request(store: RunStore, run: KeptRun) -> RunRequest:
    kept = options_of(run.request)
    return RunRequest(run_id=run.run_id, store=store, standalone=True, **kept)  # type: ignore[arg-type]  # as kept


def workspace_again(run: KeptRun, given: Given) -> Workspace:
    """Open what the run works with: its directories and files of variables, and files that are given now.

    Raises NotFound if its directory is gone, or a file of variables that nothing is given for.
    """
    if not Path(run.working_dir).is_dir():
        raise NotFound(
            f"the directory that run {run.run_id} works in is gone: {run.working_dir}",
            fix="put it back; or start the recipe anew in another one, with `amplihack recipe run -C`",
        )
    files = _texts(run.request.get("env_files"))
    gone = [file for file in files if not Path(file).is_file()]  # also a pipe: it was read then
    if gone and not given.env_files:
        raise NotFound(
            f"run {run.run_id} had variables from a file that is gone: {', '.join(gone)}",
            fix="put it back, or name another one with --env-file",
        )
    kept = [file for file in files if file not in gone]
    return open_workspace(
        _texts(run.request.get("recipe_dirs")),
        run.working_dir,
        (*kept, *given.env_files),
        generation=str(run.request.get("generation") or ""),
    )


def _texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


async def _end_processes(run: KeptRun, state: RunState) -> None:
    """End every process of an earlier life: those with the run's mark, and those that were recorded."""
    ends = [end_tree(Sign(f"{run.run_id}."), grace=GRACE)]
    for known in state.instances().values():
        process = known.process
        if process is None or known.finished or run.owner is None or run.owner.boot != boot_id():
            continue
        now = look_up(process.pid)
        if now is not None and now.started == process.started:
            ends.append(end_tree(Sign(f"{run.run_id}."), leader=process.pid, grace=GRACE))
    for end in ends:
        if not await end:
            raise AmplihackError(
                f"processes of run {run.run_id} do not end", fix="end them by hand, then resume"
            )


def _values(run: KeptRun, workspace: Workspace, opened: Opened, given: Given) -> dict[str, Value]:
    """Return the variables of the run, with the secrets that were given again. Raises UsageError."""
    recipe = opened.located.recipe
    again = overrides(given, workspace.home, recipe.context)
    secret = {*run.inputs.left_out, *recipe.secrets}
    if others := sorted(again.keys() - secret):
        raise UsageError(
            f"a resumed run has its inputs already: {', '.join(others)} cannot be set",
            fix="only secrets are given again; `amplihack recipe run` starts a run with other inputs",
        )
    missing = [
        name
        for name in run.inputs.left_out
        if name not in again and not _in_environment(workspace, opened, name)
    ]
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        raise UsageError(
            f"run {run.run_id} needs {names} again: secrets are not kept",
            fix=" ".join(f"--set {name}=…" for name in missing),
        )
    return {**run.inputs.values, **again}


def _in_environment(workspace: Workspace, opened: Opened, name: str) -> bool:
    declared = opened.located.recipe.declared.get(name)
    return bool(declared and declared.env and workspace.environment.get(declared.env))


def _changes(run: KeptRun, then: Then, state: RunState, history: Iterable[Recorded]) -> Changes | None:
    if not then.edited:
        return None
    entered = {each.identity: each.path for each in history if isinstance(each, RecipeEntered) and each.path}
    work = Work(state.instances(), entered, frozenset({*run.inputs.values, *run.inputs.left_out}))
    return compare(work, run.path or "", then.before, then.now)
