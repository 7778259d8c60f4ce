"""Define what the engine needs from the world. Each is a small protocol that `system` implements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

from amplihack.recipes.agent_port import AgentRunner, Decision
from amplihack.recipes.events import Event, Recorded
from amplihack.recipes.extends import Located
from amplihack.recipes.templates import ShellScript
from amplihack.recipes.values import Value
from amplihack.records import Record, field


class ShellRequest(Record, kw_only=True):
    """A rendered command; `scope` holds the variables that it may refer to."""

    script: ShellScript
    scope: Mapping[str, Value]
    working_dir: str
    env: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    idle_timeout: float | None = None
    max_env_value_bytes: int | None = None
    strict: bool = False  # end at the first command that fails
    step: str = ""  # the identity of the step that it is for
    alone: bool = False  # whether the run does nothing else before it has ended
    lines_at_once: bool = True  # False: the lines of a command that ends at once need not be told


class ShellOutcome(Record, kw_only=True):
    """How a command ended: `exit_code`, or `signal` if it was killed, or neither if it ran out of time."""

    stdout: str
    stderr: str = ""
    exit_code: int | None = None
    signal: int | None = None
    timed_out: str = ""  # what limit it met, for the message; empty if none
    stdout_lost: int = 0  # bytes of the output that were too many to be kept
    stderr_lost: int = 0
    stdout_broken: int = 0  # places in the output that were no text
    warnings: tuple[str, ...] = ()


class LeftRunning(Record):
    """A background process of a step that was ended at the end of the run."""

    step: str
    command: str  # its command line, where that can be known


OnLines: TypeAlias = Callable[[str, Sequence[str]], None]  # a stream's name, and whole lines of it


class Shell(Protocol):
    async def run(self, request: ShellRequest, on_lines: OnLines) -> ShellOutcome:
        """Run the command to its end. Raises AmplihackError when it cannot start.

        Processes that the command leaves running stay alive, and their lines still arrive.
        """
        ...

    def inherits(self, name: str) -> bool:
        """Tell whether commands find a variable of that name, whatever the recipe says."""
        ...

    async def end_step(self, step: str) -> None:
        """End what a timed-out step, and the steps inside it, left running."""
        ...

    async def close(self) -> Sequence[LeftRunning]:
        """End everything that commands and agents left running, and return what it was."""
        ...


class Persona(Record):
    """The role of an agent: the text of its file, and the model that the file asks for."""

    text: str
    model: str | None = None
    namesake: str = ""  # the agent that answers, if the one that was asked for is not there


class Personas(Protocol):
    def persona(self, reference: str) -> Persona:
        """Return the persona. Raises AmplihackError when there is no such agent."""
        ...


class RecipeBook(Protocol):
    def sub_recipe(self, reference: str, caller: str | None) -> Located:
        """Return the recipe that a step means, with its `extends` merged in. Raises AmplihackError."""
        ...


class Clock(Protocol):
    def now(self) -> float:
        """Return seconds that never go backwards."""
        ...

    def wall(self) -> float:
        """Return seconds since 1970, which continue while no process runs."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    def token(self) -> str:
        """Return a word that nobody can guess."""
        ...


class Journal(Protocol):
    """Records every change of the run's state, in order, before the next one happens.

    A journal that keeps its history makes runs durable: what is finished there is not done again.
    """

    def record(self, event: Event) -> None: ...

    def hears_lines(self) -> bool:
        """Tell whether somebody hears every printed line. What a result holds is told with it anyway."""
        ...

    def history(self) -> Iterable[Recorded]:
        """Return the events of this run before it was interrupted, in order; none if it is new."""
        ...


class Approver(Protocol):
    async def decide(self, question: str, prompt: str) -> Decision | None:
        """Return a person's answer to a question below a prompt, or None when there is nobody to ask."""
        ...


class LeftAlone(Record):
    """A path that changed during a step and is not staged, and why."""

    path: str
    why: str


class Disturbed(Record):
    """A path that was somebody's own before a step and that the step has not left as it was, and how."""

    path: str
    how: str


class TreeMarks(Record):
    """How steps of a run left files of a work tree, by path: a run that goes on knows them as its own."""

    root: str = ""
    staged: Mapping[str, str] = field(default_factory=dict)  # what git's index holds for it
    left: Mapping[str, str] = field(default_factory=dict)  # what was changed and not staged, as it was then


class Staging(Record):
    """What was staged after a step, what was not, and what the step did to the work of others."""

    staged: tuple[str, ...] = ()
    left: tuple[LeftAlone, ...] = ()
    disturbed: tuple[Disturbed, ...] = ()
    marks: TreeMarks = field(default=TreeMarks(), compare=False)  # for a run that goes on


class Watched(Protocol):
    async def stage(self) -> Staging:
        """Stage what changed since the watch began and was nobody's own before. Raises AmplihackError."""
        ...

    async def leave(self, why: str) -> Staging:
        """Stage nothing, and return what changed since the watch began. Raises AmplihackError."""
        ...


class WorkTree(Protocol):
    async def watch(self, directory: str, earlier: Sequence[TreeMarks] = ()) -> Watched | None:
        """Remember how things are; None outside a work tree. Raises AmplihackError.

        `earlier` tells what the run had staged before it was continued, and what this step had left.
        """
        ...


class Places(Protocol):
    """Answers questions about the disk."""

    def resolve(self, base: str, path: str) -> str:
        """Return the absolute path of `path` relative to `base`, with `~` expanded."""
        ...

    def exists(self, path: str) -> bool: ...

    def is_directory(self, path: str) -> bool: ...

    def is_git_repository(self, path: str) -> bool: ...


class World(Record, kw_only=True):
    """Everything that the engine can reach outside itself."""

    shell: Shell
    agents: AgentRunner | None
    personas: Personas
    recipes: RecipeBook
    clock: Clock
    journal: Journal
    approver: Approver
    work_tree: WorkTree
    places: Places
