"""Let a Python caller replace this machine by an adapter, and listen to a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from amplihack.errors import AmplihackError
from amplihack.recipes.agent_port import AgentFailed, AgentReply, AgentRequest, kept_answer
from amplihack.recipes.events import Event, LinesPrinted, RunFinished, StepFinished, StepStarted
from amplihack.recipes.ports import LeftRunning, OnLines, ShellOutcome, ShellRequest
from amplihack.recipes.results import RunResult, StepResult
from amplihack.recipes.templates import shell_variables
from amplihack.records import Record
from amplihack.system.listeners.listener import Listener


class Adapter(Protocol):
    """Does the work of steps. An exception fails the step, and its text becomes the step's error."""

    @property
    def name(self) -> str: ...

    def is_available(self) -> bool: ...

    def execute_bash_step(
        self, command: str, working_dir: str, timeout: float | None, extra_env: Mapping[str, str]
    ) -> str: ...

    def execute_agent_step(
        self,
        prompt: str,
        *,
        agent_name: str | None,
        system_prompt: str | None,
        mode: str | None,
        working_dir: str,
        model: str | None,
        timeout: float | None,
    ) -> str: ...


class ExecutionListener:
    """Is told about a run, with secrets masked. Override the methods that you need.

    A listener that raises an exception is dropped. The run continues, and its warnings name the exception.
    """

    def on_step_start(self, step_id: str, step_type: str) -> None:
        pass

    def on_step_complete(self, result: StepResult) -> None:
        pass

    def on_output(self, step_id: str, line: str) -> None:
        pass

    def on_run_complete(self, result: RunResult) -> None:
        pass


class AdapterShell(Record):
    """Passes rendered commands to an adapter, with every variable that they may refer to."""

    adapter: Adapter

    async def run(self, request: ShellRequest, on_lines: OnLines) -> ShellOutcome:
        variables = {**shell_variables(request.scope), **request.script.variables, **request.env}
        try:
            text = await asyncio.to_thread(
                self.adapter.execute_bash_step,
                request.script.source,
                request.working_dir,
                request.timeout,
                variables,
            )
        except Exception as error:
            raise AmplihackError(f"{error}") from error
        on_lines("stdout", text.splitlines())
        return ShellOutcome(stdout=text, exit_code=0)

    def inherits(self, name: str) -> bool:  # noqa: ARG002 - the adapter gets every variable from us
        return False

    async def end_step(self, step: str) -> None:
        """Do nothing: the adapter must end what it starts."""

    async def close(self) -> Sequence[LeftRunning]:
        return ()


class AdapterAgent(Record):
    """Passes prompts to an adapter."""

    adapter: Adapter

    @property
    def name(self) -> str:
        return self.adapter.name

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        try:
            text = await asyncio.to_thread(
                self.adapter.execute_agent_step,
                request.prompt,
                agent_name=request.agent,
                system_prompt=request.persona,
                mode=request.mode,
                working_dir=request.working_dir,
                model=request.model,
                timeout=request.timeout,
            )
        except Exception as error:
            raise AgentFailed(str(error)) from error
        for line in text.splitlines():
            on_line(line)
        return AgentReply(text=kept_answer(text))


class CallersListener(Listener):
    """Passes events to the caller's own listener, whose exceptions can be of any kind."""

    name = "the listener"

    def __init__(self, listener: ExecutionListener) -> None:
        self._listener = listener

    def wants(self, kind: type[Event]) -> bool:
        return kind in _TOLD_BY and _overrides(self._listener, _TOLD_BY[kind])

    def hear(self, event: Event) -> None:
        try:
            self._tell(event)
        except Exception as error:
            raise AmplihackError(f"{type(error).__name__}: {error}") from error

    def _tell(self, event: Event) -> None:
        match event:
            case StepStarted():
                self._listener.on_step_start(event.step_id, event.kind)
            case StepFinished():
                self._listener.on_step_complete(event.result)
            case LinesPrinted():
                for line in event.lines:
                    self._listener.on_output(event.identity, line)
            case RunFinished():
                self._listener.on_run_complete(event.result)
            case _:
                pass


_TOLD_BY: Mapping[type[Event], str] = {
    StepStarted: "on_step_start",
    StepFinished: "on_step_complete",
    LinesPrinted: "on_output",
    RunFinished: "on_run_complete",
}


def _overrides(listener: ExecutionListener, method: str) -> bool:
    """Tell whether the caller's listener has a method of its own, in its class or in the object itself."""
    own = getattr(getattr(listener, method, None), "__func__", None)
    return own is not getattr(ExecutionListener, method)
