"""Open a session for a command: the one wiring behind `run`, `chat`, `session resume` and agent steps.

    async with await open_talk(workspace, AskRequest(model="openai/gpt-5"), host) as talk:
        answer = await talk.ask("What is in this directory?")
        answer.text, answer.usage, answer.cost_usd, talk.session_id

Which bundle: the named one (a name, a path, a source), else the one that a resumed session had, else the
active one of the settings, else our own `foundation`. Which model: `model` (`provider/model`, the name of a
model, a .gguf file, `scripted:FILE`), else that of the resumed session, else AMPLIHACK_MODEL, else the
providers of the bundle and the settings, else a key in the environment, else a model of this machine.

What happens is told to `host.on_happening` (`sessions.happenings`), also of children; what is worth a word
to `host.display`; approvals are asked of `host.approvals`, and denied where there is nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from amplihack.app.sessions.agent_plans import agent_plan, line_plan, spawned_agents
from amplihack.app.sessions.going_on import to_go_on
from amplihack.app.sessions.models_here import model_here
from amplihack.app.sessions.prepared import BundleHere, HostParts, Prepared, load_here, prepare_loaded
from amplihack.app.workspace import Workspace
from amplihack.bundles.child_plan import ChildPlan
from amplihack.bundles.mount_plan import mount_plan
from amplihack.errors import AmplihackError, Problem
from amplihack.records import Record, field, replace
from amplihack.sessions.calls import Message
from amplihack.sessions.errors import SessionError, TurnFailed
from amplihack.sessions.happenings import Hearing, OnHappening
from amplihack.sessions.host_plan import HostWishes, fitted, require_session, with_response_format
from amplihack.sessions.ids import is_fit_id
from amplihack.sessions.kept_children import KeptChild
from amplihack.sessions.model_choice import ChosenModel
from amplihack.sessions.usage import TokenUsage
from amplihack.system.kernel.session import LiveSession
from amplihack.system.modules.activation import Progress, tell_nobody
from amplihack.system.session_store.children import spawned_line
from amplihack.system.session_store.reading import read_metadata
from amplihack.system.session_store.store import SessionStore
from amplihack.system.settings_files import read_settings

OWN_BUNDLE = "foundation"


class AskRequest(Record, kw_only=True):
    """Which session to open. `resume` is the id of a stored one, or its beginning."""

    bundle: str | None = None
    model: str | None = None
    resume: str | None = None
    session_id: str | None = None  # of a new one
    wishes: HostWishes = HostWishes()
    offline: bool = False
    strict: bool = False  # a module that fails is the failure of the session
    keep: bool = True
    agent: str = ""  # an agent of the bundle that answers in its place
    persona: str = ""  # what such an agent is told, if the bundle does not have it
    leave_out: frozenset[str] = frozenset()  # modules of the bundle that are not wanted
    response_format: Any = None  # `json`, or a JSON Schema that answers keep to
    working_dir: Path | None = None  # else that of the workspace, or of the resumed session
    messages: list[Message] | None = None  # what was said before, in a session that nothing on the disk keeps
    children: Sequence[KeptChild] = ()  # and the agents that it had started


class TalkHost(Record, kw_only=True):
    """What the program around a session brings: all of it may be missing."""

    approvals: Any = None  # async request_approval(prompt, options, timeout, default) -> an option
    display: Any = None  # show_message(message, level, source)
    on_happening: OnHappening | None = None
    progress: Progress = tell_nobody  # of modules that have to be fetched and installed
    capabilities: Mapping[str, Any] = field(default_factory=dict)


class TurnAnswer(Record, kw_only=True):
    """The answer of one turn, and what the turn used. The cost is None where no price is known.

    `unfinished` tells why the turn ended before the model was done: a limit of steps, a budget, a hook.
    """

    text: str
    usage: TokenUsage
    cost_usd: Decimal | None = None
    unfinished: str = ""


class Talk:
    """An open session, as commands use it."""

    def __init__(self, session: LiveSession, prepared: Prepared, model: ChosenModel) -> None:
        self.session, self.model = session, model.label
        self._prepared, self.has_tools = prepared, model.uses_tools
        self._ending: dict[str, Any] = {}
        session.coordinator.hooks.register("orchestrator:complete", self._hear_end, name="amplihack:ending")

    @property
    def session_id(self) -> str:
        return self.session.session_id

    @property
    def bundle(self) -> str:
        return self._prepared.name

    @property
    def working_dir(self) -> Path:
        return Path(str(self.session.coordinator.get_capability("session.working_dir")))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Return what is worth telling before the first prompt, besides what `host.display` has heard.

        Notes about a bundle are for its author, who asks `bundle validate` for them.
        """
        told = tuple(each for each in self._prepared.problems if each.severity != "note")
        if self.has_tools:
            return told
        what = f"{self.model} is too small to use tools, so that it answers without them"
        fix = "ask a larger model: `amplihack model list`, or --model"
        return (*told, Problem(what, None, fix, "note", "no-tools"))

    @property
    def usage(self) -> TokenUsage:
        """Return what was used until now, before it was resumed included."""
        return self.session.usage

    async def cost_usd(self) -> Decimal | None:
        found = await self.session.cost_usd()
        return found if isinstance(found, Decimal) else None

    async def ask(self, prompt: str, *, attached: str = "") -> TurnAnswer:
        """Run one turn. Raises TurnFailed, or TurnCancelled after `cancel(immediate=True)`.

        Files that the prompt mentions (`@notes.md`) come with it; `attached` is given to the model as it is.
        """
        whole = await asyncio.to_thread(self._prepared.with_mentioned, prompt, self.working_dir)
        return await self._turn("\n\n".join(part for part in (whole, attached) if part))

    async def go_on(self, prompt: str) -> TurnAnswer:
        """Go on with a turn that had stopped before its calls had results; `prompt` is what had begun it."""
        text, goes_on = await to_go_on(self.session, prompt)
        return await self._turn(text, goes_on=goes_on)

    async def _turn(self, prompt: str, *, goes_on: bool = False) -> TurnAnswer:
        before, spent = self.usage, await self.cost_usd()
        self._ending.clear()
        try:
            text = await self.session.execute(prompt, goes_on=goes_on)
        except AmplihackError:
            raise
        except Exception as error:
            raise failed_turn(error) from error
        now = await self.cost_usd()
        cost = None if now is None else now - (spent or Decimal())
        return TurnAnswer(
            text=text, usage=self.usage.minus(before), cost_usd=cost, unfinished=_unfinished(self._ending)
        )

    async def _hear_end(self, _event: str, data: dict[str, Any]) -> Any:
        self._ending.update(data)

    async def cancel(self, immediate: bool = False) -> bool:
        """End the running turn: after the tools that run now, or at once with them."""
        return await self.session.cancel(immediate)

    async def close(self) -> None:
        await self.session.cleanup()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def open_talk(
    workspace: Workspace, request: AskRequest, host: TalkHost, *, here: BundleHere | None = None
) -> Talk:
    """Open a session, new or stored. Raises AmplihackError before anything was asked of a model.

    `here` is the bundle, if it is loaded already.
    """
    before = await asyncio.to_thread(_stored_facts, workspace, request)
    line = before.get("line", [])  # an agent goes on as the one that it was, under the same policy
    if line and not request.agent:
        request = replace(request, agent=line[-1].name)
    source = _source(workspace, request.bundle) or before.get("bundle_source")
    source = source or await asyncio.to_thread(default_source, workspace)
    wish, models = _lasting(workspace, request.model) or before.get("model"), list[ChosenModel]()
    here = here or await load_here(workspace, source, offline=request.offline)
    require_session(mount_plan(here.loaded.bundle), here.loaded.bundle.name)
    agent, laid = _agent(here, request), list[ChildPlan]()

    def adapt(plan: dict[str, Any]) -> dict[str, Any]:
        models.append(model_here(workspace, planned_providers(plan), wish))
        plan = {**plan, "providers": models[0].providers}
        if line and line[-1].name == request.agent:
            laid.append(line_plan(plan, line)[0])
        elif agent:
            laid.append(agent_plan(plan, request.agent, agent, {}))
        plan = laid[0].plan if laid else plan
        return _wanted(plan, request, models[0], shows=host.on_happening is not None)

    prepared = await prepare_loaded(workspace, here, keep=request.keep, progress=host.progress, adapt=adapt)
    parts = _parts(request, host, {"bundle_source": source, "model": wish})
    parts = replace(parts, agent=request.agent, instruction=str(agent.get("instruction") or ""))
    for each in laid:
        parts = replace(parts, hidden_tools=each.hidden_tools, own_modules=each.own_modules)
    if request.resume is None:
        opening = prepared.create_session(request.session_id, parts)
    else:
        opening = prepared.resume_session(before["session_id"], parts)
    talk = Talk(await opening, prepared, models[0])
    await _remember(talk, request, before, parts)
    return talk


async def _remember(talk: Talk, request: AskRequest, before: Mapping[str, Any], parts: HostParts) -> None:
    """Write down what a resumed session is opened with now, where that was not known or is another."""
    log = talk.session.log
    if request.resume is None or log is None:
        return
    changes: dict[str, Any] = {}
    if request.bundle or request.model or "bundle_source" not in before:
        changes.update(bundle=talk.bundle, **parts.described)
    if request.working_dir is not None or "working_dir" not in log.metadata:
        changes["working_dir"] = str(talk.working_dir)
    if changes:
        await log.describe(**changes)


def planned_providers(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the providers that a plan names."""
    return [dict(each) for each in plan.get("providers") or () if isinstance(each, dict)]


def _agent(here: BundleHere, request: AskRequest) -> Mapping[str, Any]:
    """Return what the wanted agent is: one of the bundle's, else whoever the persona describes."""
    known = mount_plan(here.loaded.bundle).get("agents") or {}
    return known.get(request.agent) or ({"instruction": request.persona} if request.persona else {})


def _wanted(plan: dict[str, Any], request: AskRequest, model: ChosenModel, *, shows: bool) -> dict[str, Any]:
    """Return the plan as this session is to have it."""
    if not model.uses_tools:
        plan = {**plan, "tools": [], "spawn": {}}
    for section in ("tools", "hooks"):
        kept = [each for each in plan.get(section) or () if each.get("module") not in request.leave_out]
        plan = {**plan, section: kept}
    if request.response_format is not None:
        plan = with_response_format(plan, request.response_format)
    return fitted(plan, request.wishes, shows=shows)


def _unfinished(ending: Mapping[str, Any]) -> str:
    if ending.get("status") != "incomplete":
        return ""
    metadata = ending.get("metadata")
    reason = metadata.get("reason") if isinstance(metadata, Mapping) else None
    return str(reason or f"the limit of {ending.get('turn_count', 0) - 1} steps was reached")


def failed_turn(error: Exception) -> TurnFailed:
    """Return the failure of a turn in our words."""
    name, own = type(error).__name__, getattr(error, "fix", "")
    return TurnFailed(
        f"{name}: {getattr(error, 'what', error)}",
        fix=_FIXES.get(name) or own or "ask again, or choose another model with --model",
        transient=bool(getattr(error, "retryable", False)),
        rate_limited=name == "RateLimitError",
        retry_after=getattr(error, "retry_after", None),
    )


_FIXES = {
    "AuthenticationError": "check the key of the provider",
    "AccessDeniedError": "check what the key of the provider may do",
    "NotFoundError": "check the name of the model (--model provider/model) and the address of the service",
    "RateLimitError": "wait, and ask again: `amplihack session resume` goes on with a session",
    "NetworkError": "check the network, and the address of the service",
    "InvalidRequestError": "correct what the message names",
    "ContextLengthError": "ask for less at once, begin a new session (/compact or /clear in a chat), or "
    "choose a model with a larger window",
    "QuotaExceededError": "look at the account of the provider: its credit or its limit is used up",
}


def _parts(request: AskRequest, host: TalkHost, described: Mapping[str, Any]) -> HostParts:
    capabilities = dict(host.capabilities)
    if host.on_happening is not None:
        capabilities["display.listener"] = Hearing(host.on_happening)
    return HostParts(
        approval_system=host.approvals,
        display_system=host.display,
        working_dir=request.working_dir,
        strict=request.strict,
        capabilities=capabilities,
        described=described,
        messages=request.messages,
        children=request.children,
    )


def _stored_facts(workspace: Workspace, request: AskRequest) -> dict[str, Any]:
    """Return the bundle and the model that a session was opened with, and its id: `last` may change."""
    if request.resume is None:
        return {}
    store = SessionStore(workspace.home.root / "sessions")
    stored = store.read(request.resume)
    found = stored.metadata
    known = found.get("working_dir")
    if request.working_dir is None and isinstance(known, str) and not Path(known).is_dir():
        what = f"the directory of session {stored.session_id} is not there any more: {known}"
        raise SessionError(what, fix="say where to go on, with -C DIR")
    facts = _texts(_opener(store, found), "bundle_source", "model")
    line = spawned_agents(spawned_line(store, found))
    return {**facts, "session_id": stored.session_id, "line": line}


def _texts(found: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: found[name] for name in names if isinstance(found.get(name), str)}


def _opener(store: SessionStore, found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what is known of the session that a user opened: an agent has its bundle and its model."""
    seen: set[str] = set()
    while isinstance(parent := found.get("parent_id"), str) and "bundle_source" not in found:
        if parent in seen or not is_fit_id(parent) or not (above := store.directory(parent)).is_dir():
            break
        seen.add(parent)
        found = read_metadata(above)[0]
    return found


def _source(workspace: Workspace, given: str | None) -> str | None:
    """Return the source of a bundle; a path is made absolute, so that a resumed session finds it again."""
    if not given or "://" in given or given.startswith("git+"):
        return given
    is_path = given.startswith((".", "~")) or given.endswith((".md", ".yaml", ".yml")) or "/" in given
    return str(path) if is_path and (path := workspace.home.path(given)).exists() else given


def _lasting(workspace: Workspace, wish: str | None) -> str | None:
    """Return the wish for a model with the path in it made absolute, as above."""
    if wish and (wish.startswith("scripted:") or wish.endswith(".gguf")):
        kind, colon, file = wish.rpartition("scripted:")
        return f"{kind}{colon}{workspace.home.path(file.removeprefix('local/'))}"
    return wish


def default_source(workspace: Workspace) -> str:
    """Return the bundle of whoever names none: the active one of the settings, else our own. Blocking."""
    return read_settings(workspace.home, workspace.directory).at("bundle").text("active") or OWN_BUNDLE
