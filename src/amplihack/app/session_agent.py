"""Answer the agent steps of a recipe with sessions of our own: `--agent session[:bundle]`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from amplihack.app.run_approvals import RunApprovals
from amplihack.app.session_lines import SessionLines
from amplihack.app.session_models import Met, StepModels
from amplihack.app.session_pause import Pause, answer_or_wait, paused_before
from amplihack.app.sessions.asking import AskRequest, TalkHost, default_source, open_talk
from amplihack.app.sessions.prepared import BundleHere, load_here
from amplihack.app.sessions.talk import Talk, TurnAnswer
from amplihack.app.workspace import Workspace
from amplihack.bundles.mount_plan import mount_plan
from amplihack.errors import AmplihackError, NotFound
from amplihack.recipes.agent_port import AgentFailed, AgentReply, AgentRequest, AgentWaits, Usage
from amplihack.recipes.ports import Persona, Personas
from amplihack.records import Record, replace
from amplihack.sessions.errors import TurnFailed
from amplihack.sessions.happenings import Happening
from amplihack.sessions.host_plan import require_session
from amplihack.sessions.usage import TokenUsage
from amplihack.system.agent_tools.environment import check_depth
from amplihack.system.agent_tools.prompts import task_text, whole_text
from amplihack.system.agent_tools.table import SESSION
from amplihack.system.undisturbed import undisturbed

_NOT_FOR_STEPS = frozenset({"hooks-logging"})  # the run keeps what happens, with its secrets masked


class SessionAgent:
    """An agent that is a bundle of ours. Each question is a session, which nothing on the disk keeps."""

    name = SESSION

    def __init__(
        self,
        workspace: Workspace,
        bundle: str,
        environment: Mapping[str, str],
        approvals: RunApprovals,
    ) -> None:
        self._workspace, self._bundle = workspace, bundle
        self._environment, self._approvals = environment, approvals
        self._alone = asyncio.Lock()
        self._here: BundleHere | None = None

    async def ready(self) -> BundleHere:
        """Load the bundle and choose the usual model, once. Raises AmplihackError."""
        async with self._alone:
            if self._here is None:
                source = self._bundle or await asyncio.to_thread(default_source, self._workspace)
                here = await load_here(self._workspace, source)
                require_session(mount_plan(here.loaded.bundle), here.loaded.bundle.name)
                self._models = StepModels(self._workspace, here)
                self._here = here
            return self._here

    def personas(self, files: Personas) -> BundlePersonas:
        """Return where agents are found: in the bundle, else where they are found otherwise."""
        return BundlePersonas(self, files)

    def agent_called(self, reference: str) -> str | None:
        """Return the agent of the bundle that a step means: by its whole name, or by the end of it."""
        if self._here is None:
            return None
        known = list(mount_plan(self._here.loaded.bundle).get("agents") or ())
        ends = [each for each in known if each.rpartition(":")[2] == reference]
        return reference if reference in known else ends[0] if len(ends) == 1 else None

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        check_depth(self._environment)
        lines = SessionLines(on_line)
        try:
            here = await self.ready()
            met = await self._models.for_step(self._preferences(request), on_line)
            return await self._in_time(request, here, met, lines)
        except TurnFailed as error:
            raise AgentFailed(
                error.what,
                fix=error.fix,
                transient=error.transient,
                rate_limited=error.rate_limited,
                retry_after=error.retry_after,
            ) from error
        except (AgentFailed, AgentWaits):
            raise
        except AmplihackError as error:
            raise AgentFailed(error.what, fix=error.fix) from error
        finally:
            lines.end()

    async def _in_time(
        self, request: AgentRequest, here: BundleHere, met: Met, lines: SessionLines
    ) -> AgentReply:
        """Ask within the limits of the step. A limit that is met ends the turn and its tools."""
        loop, silence = asyncio.get_running_loop(), request.idle_timeout
        whole, idle = asyncio.timeout(request.timeout), asyncio.timeout(silence)

        def heard(what: Happening) -> None:
            if silence is not None and not idle.expired():
                idle.reschedule(loop.time() + silence)
            lines.happened(what)

        try:
            async with whole, idle:
                return await self._ask(request, here, met, heard, lines)
        except TimeoutError as error:
            what, limit = f"{self.name} timed out after {request.timeout or 0:g}s", "timeout"
            if not whole.expired():
                what, limit = f"{self.name} did nothing for {silence or 0:g}s", "idle_timeout"
            fix = f"give it more time with `{limit}:`, or less to do"
            raise AgentFailed(what, fix=fix, transient=True, timed_out=True) from error

    async def _ask(
        self,
        request: AgentRequest,
        here: BundleHere,
        met: Met,
        heard: Callable[[Happening], None],
        lines: SessionLines,
    ) -> AgentReply:
        asked = self._approvals.of(request.allow, lines.tell)
        host = TalkHost(
            approvals=asked,
            display=lines,
            on_happening=heard,
            capabilities={"session.environment": dict(self._environment)},
        )
        pause = paused_before(request, self._approvals.secrets())
        opened = replace(self._request(request, met), **_before(pause))
        async with await open_talk(self._workspace, opened, host, here=here) as talk:
            for problem in talk.problems:
                lines.tell(f"{problem.severity}: {problem.what}")
            asked.advise = talk.session.coordinator.get_capability("session.steer")
            text = _text(request, talk)
            turn = talk.ask("", attached=text) if pause is None else talk.go_on(text)
            try:
                answer = await answer_or_wait(request, talk, turn, asked, self._approvals.secrets)
                reply = _reply(answer, talk.session_id, asked.denied, (*met.unmet, *_unused(request)))
                return replace(reply, went_on=pause is not None)
            except BaseException:
                await undisturbed(_tell_paid(request, talk))
                raise

    def _request(self, request: AgentRequest, met: Met) -> AskRequest:
        name = self.agent_called(request.agent) if request.agent else None
        wanted: Any = dict(request.json_schema) if request.json_schema is not None else None
        if wanted is None and request.wants_json and met.is_local:
            wanted = "json"  # a small model must be held to it; others find their own way
        return AskRequest(
            model=met.wish,
            keep=False,
            agent=name or (request.agent or "persona" if request.persona else ""),
            persona=request.persona or "",
            leave_out=_NOT_FOR_STEPS,
            response_format=wanted,
            working_dir=Path(request.working_dir),
        )

    def _preferences(self, request: AgentRequest) -> list[tuple[str, str]]:
        """Return providers and models in order of preference: the step's own, else those of its agent."""
        listed: Any = request.options.get("providers")
        if not listed and not request.model and request.agent and self._here is not None:
            name = self.agent_called(request.agent)
            agents = mount_plan(self._here.loaded.bundle).get("agents") or {}
            listed = (agents.get(name or "") or {}).get("provider_preferences")
        found = [
            (str(each.get("provider") or "").removeprefix("provider-"), str(each.get("model") or ""))
            for each in (listed if isinstance(listed, list | tuple) else ())
            if isinstance(each, Mapping)
        ]
        return found or ([("", request.model)] if request.model else [])


class BundlePersonas(Record):
    """Finds agents in the bundle of a session, else by their files."""

    agent: SessionAgent
    files: Personas

    def persona(self, reference: str) -> Persona:
        try:
            return self.files.persona(reference) if not self._is_known(reference) else Persona("")
        except AmplihackError as error:
            fix = f"{error.fix}; `amplihack agents` lists those of a bundle"
            raise NotFound(error.what, where=error.where, fix=fix) from error

    def _is_known(self, reference: str) -> bool:
        return self.agent.agent_called(reference) is not None


def _before(pause: Pause | None) -> dict[str, Any]:
    return {} if pause is None else {"messages": pause.messages, "children": pause.children}


def _text(request: AgentRequest, talk: Talk) -> str:
    """Return what the model reads. One that is too small for tools is not told about workflows either."""
    if not talk.has_tools:
        return f"MODE: {request.mode}\n\n{request.prompt}" if request.mode else request.prompt
    return whole_text(replace(request, persona=None)) if not request.persona else task_text(request)


def _unused(request: AgentRequest) -> tuple[str, ...]:
    return tuple(name for name in request.options if name not in ("providers", "own_process"))


async def _tell_paid(request: AgentRequest, talk: Talk) -> None:
    """Tell what a turn took that gave no answer, as far as its models have said."""
    used, cost = talk.usage, await talk.cost_usd()
    if cost is not None or used.input_tokens or used.output_tokens:
        request.paid(_usage(used), None if cost is None else float(cost))


def _usage(used: TokenUsage) -> Usage:
    return Usage(
        input_tokens=used.known("input_tokens"),
        output_tokens=used.known("output_tokens"),
        cached_tokens=used.known("cache_read_tokens"),
    )


def _reply(answer: TurnAnswer, session_id: str, denied: Sequence[str], unused: tuple[str, ...]) -> AgentReply:
    """Return the answer of a turn. Raises AgentFailed for one that is empty, or was not finished."""
    text = answer.text.strip()
    if answer.unfinished:
        fix = "give it fewer things to do, or raise the limit in the bundle"
        raise AgentFailed(f"session stopped before it was done: {answer.unfinished}", fix=fix, stdout=text)
    if not text:
        fix = "`retry: {max_attempts: 2}` asks again"
        raise AgentFailed("session ended well but gave an empty answer", fix=fix, transient=True)
    return AgentReply(
        text=text,
        usage=_usage(answer.usage),
        cost_usd=None if answer.cost_usd is None else float(answer.cost_usd),
        session_id=session_id,
        denied=tuple(denied),
        unused=unused,
    )
