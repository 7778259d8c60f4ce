"""One attempt by an agent to finish what a failed sub-recipe left undone."""

from __future__ import annotations

from amplihack.recipes.agents import AgentFailed, AgentRequest
from amplihack.recipes.classify import classify
from amplihack.recipes.engine.directories import working_dir
from amplihack.recipes.engine.state import Done, Frame, Run, StepFailure
from amplihack.recipes.events import LinePrinted
from amplihack.recipes.model import Step
from amplihack.recipes.results import StepResult


async def recover(
    run: Run,
    step: Step,
    frame: Frame,
    identity: str,
    name: str,
    summary: str,
    results: tuple[StepResult, ...],
) -> Done:
    """The agent's answer, if it says that the work is complete. Raises StepFailure otherwise."""
    unsuccessful = StepFailure(
        f"Sub-recipe '{name}' failed and agentic recovery was unsuccessful.\n{summary}", children=results
    )
    if classify(summary) == "unrecoverable" or run.world.agents is None:
        raise unsuccessful
    request = AgentRequest(prompt=_prompt(name, summary), working_dir=working_dir(run, step, frame, identity))
    try:
        async with run.pace.turn():
            reply = await run.world.agents.ask(
                request, lambda line: run.record(LinePrinted(identity, "stdout", line))
            )
    except AgentFailed as failure:
        raise unsuccessful from failure
    last = next((line.strip() for line in reversed(reply.text.splitlines()) if line.strip()), "")
    if last.strip("*`_ .").upper() != "STATUS: COMPLETE":
        raise unsuccessful
    run.warn(identity, f"sub-recipe '{name}' failed; an agent finished its work")
    return Done(text=reply.text, children=results, usage=reply.usage, cost_usd=reply.cost_usd)


def _prompt(name: str, summary: str) -> str:
    return (
        f"The workflow '{name}' failed before it was done. Finish the work that remains.\n\n{summary}\n\n"
        "Do what the failed steps were meant to do, check that it worked, and say what you did. End with "
        "the line STATUS: COMPLETE if, and only if, everything is done; otherwise end with STATUS: FAILED "
        "and the reason."
    )
