"""Open a session: everything that modules may ask for while they are mounted is there before."""

from __future__ import annotations

import asyncio
import atexit
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from inspect import isawaitable
from pathlib import Path
from typing import Any

from amplihack.errors import Problem
from amplihack.records import Record, field
from amplihack.sessions.calls import Message
from amplihack.sessions.errors import ModuleFailure, ModulesFailed, SessionError, SessionNotStored
from amplihack.sessions.happenings import LAST
from amplihack.sessions.kept_results import kept_result
from amplihack.sessions.usage import Tally, TokenUsage
from amplihack.system.files import real
from amplihack.system.foundation.session_working_dir import WORKING_DIR_CAPABILITY
from amplihack.system.kernel import import_kernel
from amplihack.system.kernel.approvals import ApprovalDesk, ApprovalMemory
from amplihack.system.kernel.closing import close_kernel
from amplihack.system.kernel.module_faults import fix_for
from amplihack.system.kernel.mounter import ModuleMounter
from amplihack.system.kernel.recorder import RecordedContext
from amplihack.system.kernel.resolver import BundleModuleResolver
from amplihack.system.kernel.session import LiveSession, SessionParts
from amplihack.system.kernel.turn import HeldTurn
from amplihack.system.prompt_source import PromptSource
from amplihack.system.session_store.log import SessionLog
from amplihack.system.undisturbed import undisturbed

SESSION_CAPABILITY = "amplihack.session"  # the open session itself, for whoever spawns from it
_COUNTED = ("llm:response", "provider:response")
# Hooks that only keep a session from things: without them it would do, spend or show what it should not.
_GUARDS = frozenset({"hooks-approval", "hooks-redaction", "hooks-cost"})
_SETTLING = 0.05  # seconds at the end of a process that had a session


class OpenRequest(Record, kw_only=True):
    """What to open. `plan` is this session's own, as `kernel_plan` made it."""

    plan: dict[str, Any] = field(repr=False)
    resolver: Any = None
    shipped: Mapping[str, str] = field(default_factory=dict)  # modules of our own, with their packages
    working_dir: Path
    session_id: str | None = None
    parent_id: str | None = None
    approval_system: Any = None
    display_system: Any = None
    is_resumed: bool = False
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    prompt: PromptSource | None = None
    messages: list[Message] | None = None
    used: TokenUsage = TokenUsage()
    log: SessionLog | None = None
    memory: ApprovalMemory | None = None
    depth: int = 0
    agent: str = ""
    problems: tuple[Problem, ...] = ()
    strict: bool = False  # any module that fails is the failure of the session
    allow_partial: bool = False  # open even without any provider
    required: frozenset[str] = frozenset()  # modules that it cannot do without
    on_close: tuple[Callable[[], Awaitable[None]], ...] = ()
    told: Callable[[str], None] | None = None  # hears what takes long, where nothing shows messages
    before: Callable[[Any], Awaitable[None]] | None = None  # gets the kernel's session before any module


async def open_live(request: OpenRequest) -> LiveSession:
    """Open a session. Raises ModulesFailed when it lacks what it cannot do without, else SessionError."""
    kernel = await asyncio.to_thread(_imported)  # 0.2 s, the first time
    raw = _kernel_session(kernel, request)
    coordinator = raw.coordinator
    mounter = ModuleMounter(coordinator, request.plan, _own(request.resolver), request.shipped, request.told)
    coordinator.loader = mounter
    await _equip(coordinator, request)
    _hear_failures(coordinator, kernel, mounter)
    tally = Tally()
    tally.add(request.used)
    try:
        if request.before is not None:
            await request.before(raw)
        await _initialise(raw, mounter, request)
        turn = await _stand_in(coordinator, request)
        _listen(coordinator, kernel, tally, request.log)
    except BaseException:
        await undisturbed(_give_up(raw, mounter))
        raise
    coordinator.register_capability("hook_metadata", _hook_metadata(coordinator))
    session = LiveSession(
        SessionParts(
            kernel=raw,
            mounter=mounter,
            turn=turn,
            tally=tally,
            log=request.log,
            depth=request.depth,
            agent=request.agent,
            problems=request.problems,
            on_close=request.on_close,
        )
    )
    coordinator.register_capability(SESSION_CAPABILITY, session)
    try:
        _show(session, request.display_system)
    except BaseException:  # the display is the host's, and so is its error
        await session.cleanup()
        raise
    return session


def _imported() -> Any:
    kernel = import_kernel()
    atexit.unregister(_let_threads_end)
    atexit.register(_let_threads_end)
    for name in ("amplifier_core._session_init", "amplifier_core.loader"):
        logging.getLogger(name).addFilter(_untold)  # adding it again changes nothing
    return kernel


def _kernel_session(kernel: Any, request: OpenRequest) -> Any:
    try:
        return kernel.AmplifierSession(
            request.plan,
            session_id=request.session_id,
            parent_id=request.parent_id,
            display_system=request.display_system,
            is_resumed=request.is_resumed,
        )
    except (ValueError, TypeError) as error:
        fix = "give the bundle `session: {orchestrator: …, context: …}`, or include one that has them"
        raise SessionError(f"no session can be opened with this plan: {error}", fix=fix) from error


async def _equip(coordinator: Any, request: OpenRequest) -> None:
    """Give a session what its modules may ask for: sources, approvals, the directory, capabilities."""
    if request.resolver is not None:
        await coordinator.mount("module-source-resolver", request.resolver)
    if request.approval_system is not None:
        memory = request.memory or ApprovalMemory()
        coordinator.approval_system = ApprovalDesk(request.approval_system, coordinator.hooks.emit, memory)
    coordinator.register_capability(WORKING_DIR_CAPABILITY, str(real(request.working_dir)))
    for name, value in request.capabilities.items():
        coordinator.register_capability(name, value)


def _let_threads_end() -> None:
    """Wait for the kernel's threads: one that still holds our objects when Python ends aborts the process."""
    time.sleep(_SETTLING)


def _untold(record: logging.LogRecord) -> bool:
    """Keep out what the kernel logs about modules that fail, with tracebacks: each is told as a failure."""
    return not record.getMessage().startswith("Failed to load")


def _own(resolver: Any) -> BundleModuleResolver | None:
    return resolver if isinstance(resolver, BundleModuleResolver) else None


async def _initialise(raw: Any, mounter: ModuleMounter, request: OpenRequest) -> None:
    try:
        await raw.initialize()
    except Exception as error:
        failed = next((each for each in mounter.failures if each.kind in ("orchestrator", "context")), None)
        if failed is None:
            several = "Multi-instance" in str(error)
            fix = "give each further one an `id:`" if several else "check the modules of the bundle"
            raise SessionError(f"the session cannot be opened: {error}", fix=fix) from error
        raise _refused(failed.problem.what, tuple(mounter.failures)) from failed.error
    _judge(mounter, request)


def _hear_failures(coordinator: Any, kernel: Any, mounter: ModuleMounter) -> None:
    """Note failures that only the kernel sees: a provider that mounted nothing, a late start that raised."""
    proceed = kernel.HookResult(action="continue")

    async def failed(event: str, data: dict[str, Any]) -> Any:
        module, instance = str(data.get("module_id")), str(data.get("instance_id") or "")
        if event == "module:on_session_ready_failed":
            what = f"its on_session_ready() raised: {data.get('error')}"
            mounter.failures.append(ModuleFailure("module", module, what, fix_for(what, module)))
        elif not any((each.module, each.instance) == (module, instance) for each in mounter.failures):
            kind, what = str(data.get("module_type")), str(data.get("error"))
            mounter.failures.append(ModuleFailure(kind, module, what, fix_for(what, module), instance))
        return proceed

    for event in ("module:load_failed", "module:on_session_ready_failed"):
        coordinator.hooks.register(event, failed, name="amplihack:failures")


def _judge(mounter: ModuleMounter, request: OpenRequest) -> None:
    """Raise ModulesFailed if the session should not be opened without what failed."""
    failures = tuple(mounter.failures)
    guards = frozenset() if request.allow_partial else _GUARDS
    needed = tuple(each for each in failures if each.module in request.required | guards)
    if needed or (request.strict and failures):
        raise _refused("; ".join(each.problem.what for each in needed or failures), failures)
    providers = request.plan.get("providers") or ()
    lost = [each for each in failures if each.kind == "provider"]
    if providers and len(lost) >= len(providers) and not request.allow_partial:
        raise _refused("every provider failed: " + "; ".join(each.problem.what for each in lost), failures)


def _refused(what: str, failures: tuple[ModuleFailure, ...]) -> ModulesFailed:
    first = next((each.fix for each in failures if each.fix), "")
    error = ModulesFailed(what, fix=first, failures=failures)
    error.__cause__ = next((each.error for each in failures if each.error is not None), None)
    return error


async def _stand_in(coordinator: Any, request: OpenRequest) -> HeldTurn:
    """Put our turn around the loop and our recorder around the context, and fill the context."""
    turn = HeldTurn(coordinator.get("orchestrator"))
    await coordinator.mount("orchestrator", turn)
    context = coordinator.get("context")
    if request.messages:
        await context.set_messages(list(request.messages))
    if request.prompt is not None and context is not None:
        await _give_prompt(coordinator, context, request.prompt)
    if request.log is not None:
        await coordinator.mount("context", RecordedContext(context, request.log))
    return turn


async def _give_prompt(coordinator: Any, context: Any, source: PromptSource) -> None:
    coordinator.register_contributor(
        "observability.events", "foundation:mention-resolver", lambda: ["mentions:resolved"]
    )

    async def made() -> str:
        prompt = await source.prompt()
        news = source.news(prompt)
        if news is not None:
            await coordinator.hooks.emit("mentions:resolved", news)
        return prompt.text

    give = getattr(context, "set_system_prompt_factory", None)
    if give is not None:
        given = give(made)
        if isawaitable(given):
            await given
    else:
        text = await made()
        if text:
            await context.add_message({"role": "system", "content": text})


def _hook_metadata(coordinator: Any) -> dict[str, Any]:
    """Return which event each handler hears."""
    listed = coordinator.hooks.list_handlers()
    if not isinstance(listed, dict):
        return {}
    return {name: {"event": event} for event, names in listed.items() for name in names}


def _listen(coordinator: Any, kernel: Any, tally: Tally, log: SessionLog | None) -> None:
    proceed = kernel.HookResult(action="continue")

    async def heard(event: str, data: dict[str, Any]) -> Any:
        tally.hear(event, data)
        if log is not None:
            with suppress(SessionNotStored):  # the log remembers it, and the turn raises it at its end
                await log.record(event, data)
        return proceed

    async def ended(_: str, data: dict[str, Any]) -> Any:
        """Keep what a tool gave: the loop may store it only when others have ended too."""
        if log is not None and (result := kept_result(data)) is not None:
            with suppress(SessionNotStored):
                await log.keep_result(result)
        return proceed

    for event in _COUNTED:
        coordinator.hooks.register(event, heard, priority=LAST, name="amplihack:usage")
    if log is not None:
        log.hear_results = _switched(
            lambda: coordinator.hooks.register("tool:post", ended, priority=LAST, name="amplihack:results")
        )


def _switched(register: Callable[[], Callable[[], object]]) -> Callable[[bool], None]:
    """Return what registers a handler and takes it away again. Each handler costs each event something."""
    registered: list[Callable[[], object]] = []

    def switch(wanted: bool) -> None:
        if wanted and not registered:
            registered.append(register())
        elif registered and not wanted:
            registered.pop()()

    return switch


async def _give_up(raw: Any, mounter: ModuleMounter) -> None:
    try:
        await mounter.stop()
        await close_kernel(raw, mounter.tell)
    finally:
        mounter.cleanup()


def _show(session: LiveSession, display: Any) -> None:
    """Show what went wrong before the first prompt, where there is a place to show it."""
    show = getattr(display, "show_message", None)
    if show is None:
        return
    for problem in session.problems:
        show(f"{problem.what}" + (f" (fix: {problem.fix})" if problem.fix else ""), "warning", "amplihack")
