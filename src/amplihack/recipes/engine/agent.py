"""Run an agent step: send the prompt, the persona and the model, and return the answer."""

from __future__ import annotations

from amplihack.errors import AmplihackError
from amplihack.patterns import pattern
from amplihack.recipes.agent_port import AgentFailed, AgentReply, AgentRequest
from amplihack.recipes.engine.directories import working_dir
from amplihack.recipes.engine.frame import Frame
from amplihack.recipes.engine.job import Done, Job, StepFailure, cut_off
from amplihack.recipes.events import AgentAsked
from amplihack.recipes.model import Agent
from amplihack.recipes.outputs import JSON_REMINDER
from amplihack.recipes.ports import Persona
from amplihack.recipes.results import add_costs, add_usage
from amplihack.recipes.templates import render_text
from amplihack.recipes.templates.text import literal_warnings
from amplihack.recipes.values import Value, tail
from amplihack.records import replace

_JSON_FROM_THE_START = "\n\nEnd your answer with the requested data as valid JSON."
_PATTERN = pattern(r"[*?\[]")
_PREVIOUS_ANSWER = 2_000


async def ask(job: Job, action: Agent, limit: float | None) -> Done:
    """Ask the agent once. Raises StepFailure."""
    rendered = render_text(action.prompt.text, job.frame.view())
    job.missing(rendered.missing, "prompt")
    for warning in literal_warnings(action.prompt.text, job.frame.view()):
        job.warn(warning)
    prompt = rendered.text
    if job.step.json and job.frame.recipe.dialect == "amplifier":
        prompt += _JSON_FROM_THE_START
    reply = await _answer(job, action, prompt, limit)
    return Done(text=reply.text, usage=reply.usage, cost_usd=reply.cost_usd, stderr=reply.stderr_tail)


async def correct_json(job: Job, action: Agent, limit: float | None, first: Done) -> Done:
    """Ask the same agent once more for JSON and nothing else.

    If it gives no second answer, the first one is returned.
    """
    job.warn("the answer was not JSON; the agent is asked once more")
    prompt = render_text(action.prompt.text, job.frame.view()).text
    reminder = JSON_REMINDER + tail(first.text, _PREVIOUS_ANSWER)
    try:
        reply = await _answer(job, action, prompt + reminder, limit)
    except StepFailure as failure:
        job.warn(f"it gave no second answer: {failure.what}")
        return first
    return replace(
        first,
        text=reply.text,
        usage=add_usage((first.usage, reply.usage)),
        cost_usd=add_costs((first.cost_usd, reply.cost_usd)),
    )


async def _answer(job: Job, action: Agent, prompt: str, limit: float | None) -> AgentReply:
    request = _request(job, action, prompt, limit)
    try:
        return await put_question(job, request)
    except AgentFailed as failure:
        raise _failure(failure) from failure


async def put_question(job: Job, request: AgentRequest) -> AgentReply:
    """Wait for a free slot, then for the answer. Raises AgentFailed."""
    run = job.run
    if run.world.agents is None:
        raise AgentFailed("there is no agent to ask", fix="name one with --agent, such as claude")
    async with run.pace.turn():
        run.record(AgentAsked(job.identity, request.prompt, request.agent, request.model))
        try:
            reply = await run.world.agents.ask(request, lambda line: job.heard("stdout", (line,)))
        except AgentFailed as failure:
            if failure.rate_limited:
                run.pace.rate_limited()
            raise
    run.pace.succeeded()
    if reply.unused:
        job.warn(f"{run.world.agents.name} cannot use what the step says about {', '.join(reply.unused)}")
    if reply.lost:
        job.warn(cut_off(reply.lost))
    for tool in reply.denied:
        job.warn(f"the agent was not allowed to use {tool}")
    return reply


def _request(job: Job, action: Agent, prompt: str, limit: float | None) -> AgentRequest:
    persona = _persona(job, action)
    return AgentRequest(
        prompt=prompt,
        working_dir=working_dir(job),
        step=job.identity,
        persona=persona.text or None,
        agent=action.agent,
        model=_model(job, action) or persona.model,
        mode=action.mode,
        timeout=limit,
        idle_timeout=job.step.idle_timeout,
        options=_options(action, job.frame),
    )


def _model(job: Job, action: Agent) -> str | None:
    """Return the first preferred model with a full name. Patterns need a host that knows all models."""
    named = [each.model for each in action.models if each.model]
    whole = next((model for model in named if not _PATTERN.search(model)), None)
    if named and whole is None:
        job.warn(f"the model is left to the agent: '{named[0]}' is a pattern, not a name")
    return whole


def _options(action: Agent, frame: Frame) -> dict[str, Value]:
    """Return the fields that only some runners can use."""
    options: dict[str, Value] = {}
    if any(each.provider for each in action.models):
        options["providers"] = [{"provider": each.provider, "model": each.model} for each in action.models]
    if action.model_role:
        options["model_role"] = action.model_role
    if config := {**frame.recipe.session_config, **action.config}:
        options["config"] = config
    if action.own_process:
        options["own_process"] = True
    return options


def _persona(job: Job, action: Agent) -> Persona:
    if action.agent is None or action.agent == "self":
        return Persona("")
    try:
        return job.run.world.personas.persona(action.agent)
    except AmplihackError as error:
        if job.run.options.strict_agents:
            raise StepFailure(error.what, hopeless=True, fix=error.fix) from error
        fix = f" (fix: {error.fix})" if error.fix else ""
        job.warn(f"{error.what}; the step runs without this persona{fix}")
        return Persona("")


def _failure(failure: AgentFailed) -> StepFailure:
    details = f"\n{failure.details}" if failure.details else ""
    return StepFailure(
        f"agent step failed: {failure.what}{details}",
        output=failure.stdout_tail,
        stderr=failure.stderr_tail,
        exit_code=failure.tool_exit_code,
        transient=failure.transient,
        timed_out=failure.timed_out,
        fix=failure.fix,
    )
