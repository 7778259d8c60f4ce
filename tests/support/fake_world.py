"""A world for the engine that lives in memory: everything that is asked of it is written down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from amplihack.errors import NotFound
from amplihack.recipes.agent_port import AgentFailed, AgentReply, AgentRequest, Decision
from amplihack.recipes.decode import decode_text
from amplihack.recipes.engine import Options, run_recipe
from amplihack.recipes.events import Event, Recorded, RunFinished
from amplihack.recipes.extends import Located
from amplihack.recipes.ports import (
    Disturbed,
    LeftAlone,
    LeftRunning,
    OnLines,
    Persona,
    ShellOutcome,
    ShellRequest,
    Staging,
    TreeMarks,
    World,
)
from amplihack.recipes.results import RunResult, StepResult
from amplihack.recipes.values import Value


class FakeClock:
    """Time passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.time = 0.0
        self.epoch = 1_000_000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    def wall(self) -> float:
        return self.epoch + self.time

    async def sleep(self, seconds: float) -> None:
        if seconds > 0:
            self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)

    def token(self) -> str:
        return "TOKEN"


@dataclass
class FakeShell:
    """Answers a script by the first of its `answers` that is part of it; one of several, one by one."""

    clock: FakeClock
    answers: dict[str, Any] = field(default_factory=dict)
    requests: list[ShellRequest] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)  # steps that ran out of time
    inherited: frozenset[str] = frozenset()
    running: int = 0
    most_at_once: int = 0

    @property
    def scripts(self) -> list[str]:
        return [request.script.source for request in self.requests]

    async def run(self, request: ShellRequest, on_lines: OnLines) -> ShellOutcome:
        on_lines("stdout", ["working"])
        self.requests.append(request)
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        try:
            return await self._outcome(request.script.source)
        finally:
            self.running -= 1

    def inherits(self, name: str) -> bool:
        return name in self.inherited

    async def end_step(self, step: str) -> None:
        self.ended.append(step)

    async def close(self) -> Sequence[LeftRunning]:
        return ()

    async def _outcome(self, source: str) -> ShellOutcome:
        await asyncio.sleep(0)
        answer = next((self.answers[part] for part in self.answers if part in source), source)
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if callable(answer):
            answer = await answer()
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, int):
            return ShellOutcome(stdout="", stderr="it broke", exit_code=answer)
        return answer if isinstance(answer, ShellOutcome) else ShellOutcome(stdout=str(answer), exit_code=0)


@dataclass
class FakeAgent:
    """Gives its answers in order, the last one again and again."""

    answers: list[str | AgentReply | AgentFailed] = field(default_factory=lambda: ["done"])
    requests: list[AgentRequest] = field(default_factory=list)
    name: str = "fake"

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        self.requests.append(request)
        on_line("thinking")
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        await asyncio.sleep(0)
        if isinstance(answer, AgentFailed):
            raise answer
        return answer if isinstance(answer, AgentReply) else AgentReply(text=answer)


@dataclass
class FakeJournal:
    events: list[Event] = field(default_factory=list)
    past: list[Recorded] = field(default_factory=list)  # of earlier lives

    def record(self, event: Event) -> None:
        self.events.append(event)

    def hears_lines(self) -> bool:
        return True

    def history(self) -> list[Recorded]:
        return self.past

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


class Crash(BaseException):
    """The process is gone. Nothing of the engine may catch this."""


@dataclass
class CrashingJournal(FakeJournal):
    """Takes so many events, and then none."""

    crash_after: int | None = None

    def record(self, event: Event) -> None:
        if self.crash_after is not None and len(self.events) >= self.crash_after:
            raise Crash
        super().record(event)


@dataclass
class FakeApprover:
    decisions: list[Decision | None] = field(default_factory=lambda: [None])
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def decide(self, question: str, prompt: str) -> Decision | None:
        self.asked.append((question, prompt))
        decision = self.decisions.pop(0)
        if decision is None and self.decisions:
            await asyncio.Event().wait()  # a person who never answers
        return decision


@dataclass
class FakePlaces:
    directories: set[str] = field(default_factory=lambda: {"/here"})

    def resolve(self, base: str, path: str) -> str:
        return path if path.startswith("/") else base if path == "." else f"{base}/{path}"

    def exists(self, path: str) -> bool:
        return path in self.directories

    def is_directory(self, path: str) -> bool:
        return path in self.directories

    def is_git_repository(self, path: str) -> bool:
        return path.endswith("/repo")


@dataclass
class FakeWorkTree:
    staged: list[str] = field(default_factory=list)
    left: tuple[LeftAlone, ...] = ()
    disturbed: tuple[Disturbed, ...] = ()
    problem: Exception | None = None
    earlier: Sequence[TreeMarks] = ()

    async def watch(self, directory: str, earlier: Sequence[TreeMarks] = ()) -> FakeWatched:
        self.earlier = earlier
        if self.problem:
            raise self.problem
        return FakeWatched(self, directory)


@dataclass
class FakeWatched:
    tree: FakeWorkTree
    directory: str

    async def stage(self) -> Staging:
        self.tree.staged.append(self.directory)
        return Staging(("made.txt",), self.tree.left, self.tree.disturbed)

    async def leave(self, why: str) -> Staging:
        return Staging((), (LeftAlone("made.txt", why), *self.tree.left), self.tree.disturbed)


@dataclass
class FakeBook:
    texts: dict[str, str] = field(default_factory=dict)
    callers: list[str | None] = field(default_factory=list)

    def sub_recipe(self, reference: str, caller: str | None) -> Located:
        self.callers.append(caller)
        if reference not in self.texts:
            raise NotFound(f"Sub-recipe '{reference}' not found.")
        return Located(decode_text(self.texts[reference]).required(), f"/books/{reference}.yaml")


@dataclass
class FakePersonas:
    known: dict[str, Persona] = field(default_factory=dict)

    def persona(self, reference: str) -> Persona:
        if reference not in self.known:
            raise NotFound(f"there is no agent {reference}")
        return self.known[reference]


class FakeWorld:
    """Every port, and `run` to run a recipe between them."""

    def __init__(self, shell: dict[str, Any] | None = None, recipes: dict[str, str] | None = None) -> None:
        self.clock = FakeClock()
        self.shell = FakeShell(self.clock, shell or {})
        self.agent = FakeAgent()
        self.journal = FakeJournal()
        self.approver = FakeApprover()
        self.work_tree = FakeWorkTree()
        self.places = FakePlaces()
        self.book = FakeBook(recipes or {})
        self.personas = FakePersonas()

    def start(
        self, text: str, context: Mapping[str, Value] | None = None, **options: Any
    ) -> Coroutine[Any, Any, RunResult]:
        world = World(
            shell=self.shell,
            agents=self.agent,
            personas=self.personas,
            recipes=self.book,
            clock=self.clock,
            journal=self.journal,
            approver=self.approver,
            work_tree=self.work_tree,
            places=self.places,
        )
        located = Located(decode_text(text).required(), "/here/recipe.yaml")
        wanted = Options(run_id="run-1", working_dir="/here", **options)
        return run_recipe(located, context or {}, world, wanted)

    def run(self, text: str, context: Mapping[str, Value] | None = None, **options: Any) -> RunResult:
        return asyncio.run(self.start(text, context, **options))

    @property
    def result(self) -> RunResult:
        """What the journal heard at the end, also of a run that was cancelled."""
        finished: RunFinished = self.journal.of(RunFinished)[-1]
        return finished.result


def statuses(result: RunResult) -> dict[str, str]:
    return {step.step_id: step.status for step in result.step_results}


def only(results: tuple[StepResult, ...]) -> StepResult:
    (result,) = results
    return result
