"""Find the directory that a step runs in."""

from __future__ import annotations

from amplihack.recipes.engine.job import Job, StepFailure
from amplihack.recipes.templates import render_text


def working_dir(job: Job) -> str:
    """Return the rendered directory of a step. Raises StepFailure if it does not exist."""
    base = job.run.options.working_dir
    if job.step.working_dir is None:
        return base
    rendered = render_text(job.step.working_dir.text, job.frame.view())
    job.missing(rendered.missing, "working_dir")
    path = job.run.world.places.resolve(base, rendered.text.strip() or ".")
    if not job.run.world.places.is_directory(path):
        raise StepFailure(f"the working directory does not exist: {path}", hopeless=True)
    return path
