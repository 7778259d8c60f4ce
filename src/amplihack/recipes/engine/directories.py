"""Where a step runs: rendered, seen from the run's directory, and really there."""

from __future__ import annotations

from amplihack.recipes.engine.state import Frame, Run, StepFailure, missing_names
from amplihack.recipes.model import Step
from amplihack.recipes.templates import render_text


def working_dir(run: Run, step: Step, frame: Frame, identity: str) -> str:
    """The directory of a step; raises StepFailure, naming it, when there is none."""
    if step.working_dir is None:
        return run.options.working_dir
    rendered = render_text(step.working_dir.text, frame.view())
    missing_names(run, identity, rendered.missing, "working_dir")
    path = run.world.places.resolve(run.options.working_dir, rendered.text.strip() or ".")
    if not run.world.places.is_directory(path):
        raise StepFailure(f"the working directory does not exist: {path}", hopeless=True)
    return path
