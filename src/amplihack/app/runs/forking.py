"""Fork a run: begin another one that shares all that came before a step, with other values if wanted."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from amplihack.app.runs.keeping import reachable
from amplihack.app.runs.recipes_then import read_then, with_gone
from amplihack.app.runs.resuming import Resumption, prepare, workspace_again
from amplihack.app.variables import Given, overrides, refuse_unknown
from amplihack.app.workspace import Opened, Workspace
from amplihack.errors import UsageError
from amplihack.recipes.events import identity_in
from amplihack.recipes.model import Step, every_step
from amplihack.recipes.recipe_changes import reads
from amplihack.recipes.run_fork import find_step, shared_events
from amplihack.recipes.run_state import RunState
from amplihack.recipes.secrets import redactor_for
from amplihack.recipes.values import MISSING, Value, to_json
from amplihack.records import replace
from amplihack.system.run_store.forks import create_fork
from amplihack.system.run_store.ids import new_run_id
from amplihack.system.run_store.rows import Inputs, KeptRun, NewRun
from amplihack.system.run_store.store import RunStore


def fork(store: RunStore, name: str, step: str, given: Given) -> Resumption:
    """Return a new run that is ready to go on from the step. Raises AmplihackError, and then leaves none."""
    source = store.find(name)
    if source.path is None or source.request.get("adapter"):
        raise UsageError(
            f"run {source.run_id} cannot be forked here: it was started by a program of its own",
            fix="start its recipe anew from that program",
        )
    events = [(at, event) for _, at, event in store.events(source)]
    identity = find_step(events, step)
    recorded = store.recipes(source)
    workspace = with_gone(workspace_again(source, given), recorded)
    _, opened, _ = read_then(workspace, recorded, Path(source.path))
    refuse_unknown(workspace, opened, given, ())
    values = overrides(given, workspace.home, {**opened.located.recipe.context, **source.inputs.values})
    inputs = _inputs(workspace, opened, source, values)
    kept = {key: value for key, value in values.items() if key in inputs.values}
    shared = list(shared_events(events, identity, kept))
    made = create_fork(store, _new(source, workspace, inputs), source, shared)
    secrets = tuple(f"{key}={to_json(values[key])}" for key in values if key not in kept)
    old = {**opened.located.recipe.context, **source.inputs.values}
    changed = {key for key, value in values.items() if old.get(key, MISSING) != value}
    try:
        ready = prepare(store, made, Given(documents=secrets))
        told = _outdated(opened, RunState(event for _, event in shared), changed)
        return replace(ready, notes=(*ready.notes, *told))
    except BaseException:
        store.remove(made)
        raise


def _outdated(opened: Opened, state: RunState, changed: Collection[str]) -> Iterator[str]:
    """Yield what to tell of shared steps that read a variable which has another value from now on."""
    for name in sorted(changed):
        kept = [
            step.id
            for step in opened.located.recipe.steps
            if state.finished(identity_in("", step.id)) is not None and name in _all_reads(step)
        ]
        if kept:
            yield f"note: with the old value of {name}, these stay as they were: {', '.join(kept)}"


def _all_reads(step: Step) -> frozenset[str]:
    return frozenset(name for each in every_step((step,)) for name in reads(each))


def _new(source: KeptRun, workspace: Workspace, inputs: Inputs) -> NewRun:
    return NewRun(
        run_id=new_run_id(),
        recipe=source.recipe,
        path=source.path,
        working_dir=source.working_dir,
        request={**source.request, "env_files": [str(path) for path in workspace.env_files]},
        inputs=inputs,
        forked_from=source.run_id,
    )


def _inputs(workspace: Workspace, opened: Opened, source: KeptRun, given: Mapping[str, Value]) -> Inputs:
    """Return the inputs of the source with what is given now; what holds a secret is only named."""
    values = {**source.inputs.values, **given}
    recipe = opened.located.recipe
    redactor = redactor_for(workspace.environment, recipe, values)
    for each in reachable(workspace, opened.located):
        redactor.know(each)
    shown = redactor.redact_value(values)
    same = shown if isinstance(shown, Mapping) else {}
    secret = (name for name, value in values.items() if same.get(name, MISSING) != value)
    left_out = dict.fromkeys((*source.inputs.left_out, *secret))
    return Inputs({name: value for name, value in values.items() if name not in left_out}, tuple(left_out))
