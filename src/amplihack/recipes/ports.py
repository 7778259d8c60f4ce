"""What the engine needs from the world, each a small promise that `system` keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

from amplihack.recipes.agents import AgentRunner
from amplihack.recipes.events import Event
from amplihack.recipes.extends import Located
from amplihack.recipes.templates import ShellScript
from amplihack.recipes.values import Value
from amplihack.records import Record, field


class ShellRequest(Record, kw_only=True):
    """A command whose placeholders are references by now; `scope` holds what it may refer to."""

    script: ShellScript
    scope: Mapping[str, Value]
    working_dir: str
    env: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    idle_timeout: float | None = None
    max_env_value_bytes: int | None = None
    strict: bool = False  # end at the first command that fails
    step: str = ""  # the identity of the step that it is for


class ShellOutcome(Record, kw_only=True):
    """How a command ended: `exit_code`, or `signal` if it was killed, or neither if it ran out of time."""

    stdout: str
    stderr: str = ""
    exit_code: int | None = None
    signal: int | None = None
    timed_out: str = ""  # what limit it met, for the message; empty if none
    stdout_lost: int = 0  # bytes of the output that were too many to be kept
    warnings: tuple[str, ...] = ()


class LeftRunning(Record):
    """A background process of a step that the end of the run has ended."""

    step: str
    command: str  # its command line, where that can be known


OnLines: TypeAlias = Callable[[str, Sequence[str]], None]  # a stream's name, and whole lines of it


class Shell(Protocol):
    async def run(self, request: ShellRequest, on_lines: OnLines) -> ShellOutcome:
        """Runs the command to its end; raises AmplihackError when it cannot even start.

        What the command leaves running lives on, and its lines still come.
        """
        ...

    async def end_step(self, step: str) -> None:
        """End what a step, and the steps inside it, left running: it has run out of time."""
        ...

    async def close(self) -> Sequence[LeftRunning]:
        """End what commands, and agents, left running; return what that was."""
        ...


class Persona(Record):
    """Who an agent is to be: the text of its file, and the model that the file asks for."""

    text: str
    model: str | None = None


class Personas(Protocol):
    def persona(self, reference: str) -> Persona:
        """Raises AmplihackError when there is no such agent."""
        ...


class RecipeBook(Protocol):
    def sub_recipe(self, reference: str, caller: str | None) -> Located:
        """The recipe that a step means, with what it extends merged in; raises AmplihackError."""
        ...


class Clock(Protocol):
    def now(self) -> float:
        """Return seconds that only ever grow."""
        ...

    def wall(self) -> float:
        """Return seconds since 1970, which go on while no process runs."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    def token(self) -> str:
        """A word that nobody can guess."""
        ...


class Journal(Protocol):
    """Hears every change of the run's state, in one order, before the next one happens.

    A journal that remembers makes runs durable: what its history says is done is not done again.
    """

    def record(self, event: Event) -> None: ...

    def history(self) -> Iterable[Event]:
        """Return the events of this run's earlier lives, in order; none if this is its first."""
        ...


class Decision(Record):
    """What a person answered at a gate."""

    approved: bool
    message: str = ""


class Approver(Protocol):
    async def decide(self, stage: str, prompt: str) -> Decision | None:
        """A person's answer, or None when there is nobody to ask."""
        ...


class WorkTree(Protocol):
    async def stage_all(self, directory: str) -> int | None:
        """Stages every change with git and counts the files; None outside a work tree."""
        ...


class Places(Protocol):
    """Questions about the disk."""

    def resolve(self, base: str, path: str) -> str:
        """The absolute path of `path` seen from `base`, with `~` expanded."""
        ...

    def exists(self, path: str) -> bool: ...

    def is_directory(self, path: str) -> bool: ...

    def is_git_repository(self, path: str) -> bool: ...


class World(Record, kw_only=True):
    """Everything outside, in one value."""

    shell: Shell
    agents: AgentRunner | None
    personas: Personas
    recipes: RecipeBook
    clock: Clock
    journal: Journal
    approver: Approver
    work_tree: WorkTree
    places: Places
