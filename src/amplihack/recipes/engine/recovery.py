"""Ask an agent to finish the work of a failed sub-recipe."""

from __future__ import annotations

from amplihack.recipes.agent_port import AgentFailed, AgentRequest
from amplihack.recipes.classify import classify
from amplihack.recipes.engine.agent import put_question
from amplihack.recipes.engine.directories import working_dir
from amplihack.recipes.engine.job import Done, Job, StepFailure
from amplihack.recipes.results import StepResult, every_result
from amplihack.recipes.spending import Spending


async def recover(job: Job, name: str, summary: str, results: tuple[StepResult, ...]) -> Done:
    """Return the agent's answer if it says that the work is complete. Raises StepFailure otherwise."""
    unsuccessful = StepFailure(
        f"Sub-recipe '{name}' failed and agentic recovery was unsuccessful.\n{summary}"
    )
    if _hopeless(summary, results):
        raise unsuccessful
    request = AgentRequest(prompt=_prompt(name, summary), working_dir=working_dir(job))
    try:
        reply = await put_question(job, request)
    except AgentFailed as failure:
        raise unsuccessful from failure
    # Only the last line counts: an agent may quote the instruction itself earlier. Markdown around it is
    # allowed.
    last = next((line.strip() for line in reversed(reply.text.splitlines()) if line.strip()), "")
    if last.strip("*`_ .").upper() != "STATUS: COMPLETE":
        unsuccessful.spent = Spending(usage=reply.usage, cost_usd=reply.cost_usd)
        raise unsuccessful
    job.warn(f"sub-recipe '{name}' failed; an agent finished its work")
    return Done(text=reply.text, usage=reply.usage, cost_usd=reply.cost_usd)


def _hopeless(summary: str, results: tuple[StepResult, ...]) -> bool:
    failures = [each for each in every_result(results) if each.status == "failed" and not each.allowed]
    outlooks = [classify(each.error, each.exit_code) for each in failures]
    return "unrecoverable" in (classify(summary), *outlooks)


def _prompt(name: str, summary: str) -> str:
    return (
        f"The workflow '{name}' failed before it was done. Finish the work that remains.\n\n{summary}\n\n"
        "Do what the failed steps were meant to do, check that it worked, and say what you did. End with "
        "the line STATUS: COMPLETE if, and only if, everything is done; otherwise end with STATUS: FAILED "
        "and the reason."
    )
