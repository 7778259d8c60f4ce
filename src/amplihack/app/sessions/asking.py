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
from pathlib import Path
from typing import Any

from amplihack.app.sessions.agent_plans import agent_plan, line_plan
from amplihack.app.sessions.models_here import model_here
from amplihack.app.sessions.prepared import BundleHere, HostParts, load_here, prepare_loaded
from amplihack.app.sessions.stored_facts import stored_facts
from amplihack.app.sessions.talk import Talk
from amplihack.app.workspace import Workspace
from amplihack.bundles.child_plan import ChildPlan
from amplihack.bundles.mount_plan import mount_plan
from amplihack.records import Record, field, replace
from amplihack.sessions.calls import Message
from amplihack.sessions.happenings import Hearing, OnHappening
from amplihack.sessions.host_plan import HostWishes, fitted, require_session, with_response_format
from amplihack.sessions.kept_children import KeptChild
from amplihack.sessions.model_choice import ChosenModel
from amplihack.system.modules.activation import Progress, tell_nobody
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


async def open_talk(
    workspace: Workspace, request: AskRequest, host: TalkHost, *, here: BundleHere | None = None
) -> Talk:
    """Open a session, new or stored. Raises AmplihackError before anything was asked of a model.

    `here` is the bundle, if it is loaded already.
    """
    before = await asyncio.to_thread(_before, workspace, request)
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


def _before(workspace: Workspace, request: AskRequest) -> dict[str, Any]:
    """Return what is known of the session that goes on; nothing of a new one. Blocking."""
    if request.resume is None:
        return {}
    store = SessionStore(workspace.home.root / "sessions")
    return stored_facts(store, request.resume, may_move=request.working_dir is not None)


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
