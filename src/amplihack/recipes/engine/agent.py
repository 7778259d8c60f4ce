"""An agent step: the prompt, the persona and the model go to whoever answers; the answer comes back."""

from __future__ import annotations

from dataclasses import replace

from amplihack.errors import AmplihackError
from amplihack.recipes.agents import AgentFailed, AgentReply, AgentRequest
from amplihack.recipes.engine.directories import working_dir
from amplihack.recipes.engine.state import Done, Frame, Run, StepFailure, missing_names
from amplihack.recipes.events import LinePrinted
from amplihack.recipes.model import Agent, Step
from amplihack.recipes.outputs import JSON_REMINDER
from amplihack.recipes.ports import Persona
from amplihack.recipes.results import add_usage
from amplihack.recipes.templates import render_text
from amplihack.recipes.values import Value, tail

_JSON_FROM_THE_START = "\n\nEnd your answer with the requested data as valid JSON."
_PREVIOUS_ANSWER = 2_000


async def ask(run: Run, step: Step, action: Agent, frame: Frame, identity: str, limit: float | None) -> Done:
    """One question and its answer. Raises StepFailure."""
    rendered = render_text(action.prompt.text, frame.view())
    missing_names(run, identity, rendered.missing, "prompt")
    prompt = rendered.text
    if step.json and frame.recipe.dialect == "amplifier":
        prompt += _JSON_FROM_THE_START
    request = _request(run, step, action, frame, identity, limit)
    reply = await _answer(run, replace(request, prompt=prompt), identity)
    await _stage(run, action, frame, request.working_dir, identity)
    return Done(text=reply.text, usage=reply.usage, cost_usd=reply.cost_usd, stderr=reply.stderr_tail)


async def correct_json(
    run: Run, step: Step, action: Agent, frame: Frame, identity: str, limit: float | None, first: Done
) -> Done:
    """Asks once more, the same agent in the same place, for JSON and nothing else."""
    run.warn(identity, "the answer was not JSON; the agent is asked once more")
    prompt = render_text(action.prompt.text, frame.view()).text
    request = _request(run, step, action, frame, identity, limit)
    reminder = JSON_REMINDER + tail(first.text, _PREVIOUS_ANSWER)
    reply = await _answer(run, replace(request, prompt=prompt + reminder), identity)
    return replace(
        first,
        text=reply.text,
        usage=add_usage((first.usage, reply.usage)),
        cost_usd=_sum(first.cost_usd, reply.cost_usd),
    )


def _request(
    run: Run, step: Step, action: Agent, frame: Frame, identity: str, limit: float | None
) -> AgentRequest:
    persona = _persona(run, action, identity)
    choice = action.models[0] if action.models else None
    return AgentRequest(
        prompt="",
        working_dir=working_dir(run, step, frame, identity),
        persona=persona.text or None,
        agent=action.agent,
        model=(choice.model if choice else None) or persona.model,
        mode=action.mode,
        timeout=limit,
        idle_timeout=step.idle_timeout,
        options=_options(action, frame),
    )


def _options(action: Agent, frame: Frame) -> dict[str, Value]:
    """What only some runners can use."""
    options: dict[str, Value] = {}
    if action.models:
        options["preferences"] = [{"provider": each.provider, "model": each.model} for each in action.models]
    if action.model_role:
        options["model_role"] = action.model_role
    if config := {**frame.recipe.session_config, **action.config}:
        options["config"] = config
    if action.own_process:
        options["own_process"] = True
    return options


def _persona(run: Run, action: Agent, identity: str) -> Persona:
    if action.agent is None or action.agent == "self":
        return Persona("")
    try:
        return run.world.personas.persona(action.agent)
    except AmplihackError as error:
        if run.options.strict_agents:
            raise StepFailure(error.what) from error
        run.warn(identity, f"{error.what}; the step runs without this persona")
        return Persona("")


async def _answer(run: Run, request: AgentRequest, identity: str) -> AgentReply:
    if run.world.agents is None:
        raise StepFailure("there is no agent to ask", hopeless=True)
    async with run.pace.turn():
        try:
            reply = await run.world.agents.ask(
                request, lambda line: run.record(LinePrinted(identity, "stdout", line))
            )
        except AgentFailed as failure:
            if failure.rate_limited:
                run.pace.rate_limited()
            raise _failure(failure) from failure
    run.pace.succeeded()
    for tool in reply.denied:
        run.warn(identity, f"the agent was not allowed to use {tool}")
    return reply


def _failure(failure: AgentFailed) -> StepFailure:
    details = f"\n{failure.details}" if failure.details else ""
    return StepFailure(
        f"agent step failed: {failure.what}{details}",
        output=failure.stdout_tail,
        stderr=failure.stderr_tail,
        exit_code=failure.tool_exit_code,
        transient=failure.transient,
    )


async def _stage(run: Run, action: Agent, frame: Frame, directory: str, identity: str) -> None:
    """Stages the agent's changes with git, if this run does that and the directory is a work tree."""
    default = run.options.auto_stage and frame.recipe.dialect == "amplihack"
    if not (default if action.auto_stage is None else action.auto_stage):
        return
    count = await run.world.work_tree.stage_all(directory)
    if count:
        run.record(LinePrinted(identity, "stderr", f"staged {count} file(s) with git"))


def _sum(first: float | None, second: float | None) -> float | None:
    known = [each for each in (first, second) if each is not None]
    return sum(known) if known else None
