"""Run an agent step: send the prompt, the persona and the model, and return the answer."""

from __future__ import annotations

from amplihack.errors import AmplihackError
from amplihack.patterns import pattern
from amplihack.recipes.agent_port import AgentFailed, AgentReply, AgentRequest, AgentWaits
from amplihack.recipes.engine.directories import working_dir
from amplihack.recipes.engine.frame import Frame
from amplihack.recipes.engine.gates import ToolGates, wait
from amplihack.recipes.engine.job import Done, Job, StepFailure, cut_off, no_text, run_ended
from amplihack.recipes.events import AgentAsked, AgentPaid, AgentPaused
from amplihack.recipes.model import Agent
from amplihack.recipes.outputs import json_reminder
from amplihack.recipes.ports import Persona
from amplihack.recipes.spending import Spending, add_costs, add_usage, total
from amplihack.recipes.templates import render_text
from amplihack.recipes.templates.text import literal_warnings
from amplihack.recipes.values import Value, tail, to_json
from amplihack.records import replace

_JSON_FROM_THE_START = "\n\nEnd your answer with the requested data as valid JSON."
_JSON_THAT_FITS = "\n\nEnd your answer with one JSON value that fits this JSON Schema:\n"
_PATTERN = pattern(r"[*?\[]")
_PREVIOUS_ANSWER = 2_000


async def ask(job: Job, action: Agent, limit: float | None) -> Done:
    """Ask the agent once. Raises StepFailure."""
    rendered = render_text(action.prompt.text, job.frame.view())
    job.missing(rendered.missing, "prompt")
    for warning in literal_warnings(action.prompt.text, job.frame.view()):
        job.remark(warning)
    reply = await _answer(job, action, rendered.text + _form(job), limit, may_wait=True)
    return Done(text=reply.text, usage=reply.usage, cost_usd=reply.cost_usd, stderr=reply.stderr_tail)


def _form(job: Job) -> str:
    """Return what a prompt says at its end of the JSON that is asked for."""
    if job.step.json and job.step.json.schema is not None:
        return _JSON_THAT_FITS + to_json(job.step.json.schema)
    other = job.step.json and job.frame.recipe.dialect == "amplifier"
    return _JSON_FROM_THE_START if other else ""


async def correct_json(job: Job, action: Agent, limit: float | None, first: Done, mismatch: str) -> Done:
    """Ask the same agent once more for JSON and nothing else; `mismatch` tells why what it gave does not fit.

    If it gives no second answer, the first one is returned.
    """
    why = f"the answer does not fit json_schema: {mismatch}" if mismatch else "the answer was not JSON"
    job.warn(f"{why}; the agent is asked once more")
    prompt = render_text(action.prompt.text, job.frame.view()).text + _form(job)
    reminder = json_reminder(mismatch) + tail(first.text, _PREVIOUS_ANSWER)
    try:
        reply = await _answer(job, action, prompt + reminder, limit)
    except StepFailure as failure:
        job.warn(f"it gave no second answer: {failure.what}")
        return first
    return replace(
        first,
        text=reply.text if reply.text.strip() else first.text,
        usage=add_usage((first.usage, reply.usage)),
        cost_usd=add_costs((first.cost_usd, reply.cost_usd)),
    )


async def _answer(
    job: Job, action: Agent, prompt: str, limit: float | None, *, may_wait: bool = False
) -> AgentReply:
    request = _request(job, action, prompt, limit)
    try:
        reply = await (_wait_or_answer(job, request) if may_wait else put_question(job, request))
    except AgentFailed as failure:
        raise _failure(failure) from failure
    if request.model is None and "providers" in reply.unused and (names := _named(action)):
        job.remark(f"the model is left to the agent: '{names[0]}' is a pattern, not a name")
    return reply


async def _wait_or_answer(job: Job, request: AgentRequest) -> AgentReply:
    """Put a question, or go on with it where an agent waited. Raises StepFailure if the run waits."""
    known = job.run.state.instance(job.identity)
    paused = known.paused if known is not None else None
    gates = ToolGates(job, paused, may_wait=True)
    if paused is not None:
        request = replace(request, paused=paused.state)
        if not paused.state:
            job.warn("what the agent had said is not kept, as it holds a secret: it is asked again")
    try:
        reply = await put_question(job, request, gates)
    except AgentWaits as pause:
        job.run.record(AgentPaused(job.identity, pause.state, tuple(sorted(gates.used))))
        wait(job.run, f"a tool of the agent of step '{job.identity}'")
        raise run_ended(job.run) from pause
    if request.paused and not reply.went_on:
        job.warn("the agent began anew: it could not go on with the conversation in which a tool waited")
    return reply


async def put_question(job: Job, request: AgentRequest, gates: ToolGates | None = None) -> AgentReply:
    """Wait for a free slot, then for the answer. Raises AgentFailed.

    Where no gates are given, the run does not wait for what tools of the agent may do.
    """
    run, paid = job.run, list[Spending]()
    gates = gates or ToolGates(job)
    request = replace(request, allow=gates.allow, keep=gates.keep)
    if run.world.agents is None:
        raise AgentFailed("there is no agent to ask", fix="name one with --agent, such as claude")
    request = replace(request, paid=lambda usage, cost: paid.append(Spending(usage=usage, cost_usd=cost)))
    async with run.pace.turn():
        run.record(AgentAsked(job.identity, request.prompt, request.agent, request.model))
        try:
            reply = await run.world.agents.ask(request, lambda line: job.heard("stdout", (line,)))
        except AgentFailed as failure:
            if failure.rate_limited:
                run.pace.rate_limited()
            raise
        finally:
            if paid:
                run.record(AgentPaid(job.identity, total(paid)))
    run.pace.succeeded()
    if reply.unused:
        job.remark(f"{run.world.agents.name} cannot use what the step says about {', '.join(reply.unused)}")
    if reply.lost:
        job.warn(cut_off(reply.lost))
    if reply.broken:
        job.warn(no_text(reply.broken))
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
        model=_model(action) or persona.model,
        mode=action.mode,
        timeout=limit,
        idle_timeout=job.step.idle_timeout,
        json_schema=job.step.json.schema if job.step.json else None,
        wants_json=job.step.json is not None,
        options=_options(action, job.frame),
    )


def _model(action: Agent) -> str | None:
    """Return the first preferred model with a full name. Patterns need an agent that knows all models."""
    return next((model for model in _named(action) if not _PATTERN.search(model)), None)


def _named(action: Agent) -> list[str]:
    return [each.model for each in action.models if each.model]


def _options(action: Agent, frame: Frame) -> dict[str, Value]:
    """Return the fields that only some runners can use."""
    options: dict[str, Value] = {}
    if any(each.provider or _PATTERN.search(each.model or "") for each in action.models):
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
        found = job.run.world.personas.persona(action.agent)
    except AmplihackError as error:
        fix = _supply(job, action.agent) or error.fix
        if job.run.options.strict_agents:
            raise StepFailure(error.what, hopeless=True, fix=fix) from error
        job.remark(f"{error.what}; the step runs without this persona{_in_brackets(fix)}")
        return Persona("")
    if found.namesake:
        what, fix = f"there is no agent '{action.agent}' here", _supply(job, action.agent)
        if job.run.options.strict_agents:
            raise StepFailure(what, hopeless=True, fix=fix or f"install it, or name '{found.namesake}'")
        job.remark(f"{what}; '{found.namesake}' answers, which has its name{_in_brackets(fix)}")
    return found


def _supply(job: Job, agent: str) -> str:
    """Return where an agent that is not here comes from, if the recipe says so."""
    if not job.frame.recipe.dependencies:
        return ""
    from amplihack.recipes.dependencies import how_to_get  # deferred: most recipes name no bundles

    return how_to_get(agent, job.frame.recipe)


def _in_brackets(fix: str) -> str:
    return f" (fix: {fix})" if fix else ""


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
