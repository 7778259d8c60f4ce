"""Define a recipe as the engine understands it: checked, immutable values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from amplihack.documents import Scalar
from amplihack.errors import Location
from amplihack.recipes.fields import Dialect, Kind
from amplihack.recipes.values import Value
from amplihack.records import Record, field

if TYPE_CHECKING:  # the language of conditions is loaded for recipes that have some
    from amplihack.recipes.conditions import Condition, VariableReference

NOWHERE = Location("<recipe>", 1, 1)

ErrorPolicy: TypeAlias = Literal["fail", "continue", "skip_remaining"]
ContextMode: TypeAlias = Literal["inherit", "isolated"]
JsonPick: TypeAlias = Literal["first", "last"]
Number: TypeAlias = "float | str"  # a number, or a template that renders to one


class Text(Record):
    """A template or other text of the file, with the location of each character."""

    text: str
    node: Scalar | None = field(default=None, compare=False, repr=False)

    @property
    def where(self) -> Location:
        return self.node.where if self.node else NOWHERE

    def at(self, offset: int) -> Location:
        """Return the location of a character, counted from 0."""
        return self.node.locate(offset) if self.node else NOWHERE

    def line(self, number: int) -> Location:
        """Return the location of a line, counted from 1."""
        before = self.text.split("\n")[: number - 1]
        return self.at(sum(len(line) + 1 for line in before))


class Test(Record, cached=True):
    """A condition and the text it was read from."""

    condition: Condition
    source: Text

    @property
    def text(self) -> str:
        return self.condition.text

    @cached_property
    def references(self) -> tuple[VariableReference, ...]:
        """Return every use of a variable in the condition, in text order."""
        from amplihack.recipes.conditions import references

        return references(self.condition.tree)


class Limits(Record):
    """Limits of a recipe or a call. None means unset: the default or an outer recipe decides."""

    max_depth: int | None = None
    max_total_steps: int | None = None


class Hooks(Record):
    """Commands around every step."""

    pre_step: Text | None = None
    post_step: Text | None = None
    on_error: Text | None = None


# What a step does -------------------------------------------------------------------------------------


class Bash(Record):
    """A shell command."""

    command: Text
    env: Mapping[str, Value] = field(default_factory=dict)
    exit_code_to: str | None = None
    stderr_to: str | None = None
    max_env_value_bytes: int | None = None
    strict: bool = False  # the first command of the script that fails ends it
    any_exit: bool = False  # the exit code is stored, so that one other than 0 is no failure
    strict_stated: bool = field(default=False, compare=False)  # by the step itself, not by its recipe


class ModelChoice(Record):
    """A provider and a model; either may be left to the host."""

    provider: str | None = None
    model: str | None = None


class Agent(Record):
    """A question to an agent."""

    prompt: Text
    agent: str | None = None
    mode: str | None = None
    models: tuple[ModelChoice, ...] = ()  # in order of preference
    model_role: str | None = None
    config: Mapping[str, Value] = field(default_factory=dict)
    own_process: bool = False
    auto_stage: bool | None = None


class SubRecipe(Record):
    """A call of another recipe."""

    recipe: Text
    context: Mapping[str, Value] = field(default_factory=dict)
    mode: ContextMode = "inherit"
    limits: Limits = Limits()
    recovery: bool = False


class Body(Record):
    """Several steps that a loop repeats."""

    steps: tuple[Step, ...]


Action: TypeAlias = Bash | Agent | SubRecipe | Body


# How often it does it ---------------------------------------------------------------------------------


class Foreach(Record):
    """Once for each item of a list."""

    items: Text | tuple[Value, ...]
    name: str = "item"
    parallel: Number | None = None  # None: one after another; 0: all at once


class While(Record):
    """As long as a condition holds."""

    condition: Test


class Loop(Record):
    """How a step repeats, and when it stops."""

    over: Foreach | While
    max_iterations: int = 100
    collect: str | None = None
    break_when: Test | None = None
    update: Mapping[str, Value] = field(default_factory=dict)


class Retry(Record):
    """How often a failed step is tried again, and after which delay."""

    max_attempts: Number = 3
    doubling: bool = True
    initial_delay: float = 5.0
    max_delay: float = 300.0
    transient_only: bool = False


class JsonRule(Record):
    """How JSON is looked for in a result, what it has to fit, and whether the step fails without it."""

    pick: JsonPick = "first"
    required: bool = False
    schema: Mapping[str, Value] | None = None


class Step(Record, kw_only=True):
    """One unit of work with all its settings."""

    id: str
    action: Action
    where: Location = field(default=NOWHERE, compare=False)
    title: str | None = None
    description: str = ""
    condition: Test | None = None
    when_tags: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    parallel_group: str | None = None
    always: bool = False  # it runs even if a step before it failed
    override: bool = False
    loop: Loop | None = None
    output: str | None = None
    keep_text: bool = False
    json: JsonRule | None = None
    working_dir: Text | None = None
    timeout: Number | None = None
    idle_timeout: float | None = None
    retry: Retry | None = None
    on_error: ErrorPolicy = "fail"
    idempotent: bool = True  # False: if it was cut off, a person decides whether it runs again
    recheck: bool = False  # True: a run that goes on runs it again, also if it has finished

    @property
    def kind(self) -> Kind | Literal["group"]:
        match self.action:
            case Bash():
                return "bash"
            case Agent():
                return "agent"
            case SubRecipe():
                return "recipe"
            case Body():
                return "group"

    @property
    def result_name(self) -> str:
        """Return the variable that receives the step's result."""
        return self.output or self.id


# The recipe around them -------------------------------------------------------------------------------


class Approval(Record):
    """A gate that a person approves."""

    prompt: Text
    before: bool = False
    timeout: float = 0.0
    approve_by_default: bool = False


class Stage(Record):
    """Steps that belong together; a flat recipe is one stage without a name."""

    name: str
    steps: tuple[Step, ...]
    condition: Test | None = None
    approval: Approval | None = None
    where: Location = field(default=NOWHERE, compare=False)


class Backoff(Record):
    """How the pause between agents grows when a provider reports a rate limit."""

    initial_delay_ms: int = 1000
    max_delay_ms: int = 60_000
    multiplier: float = 2.0
    reset_after_success: int = 3


class RateLimit(Record):
    """How many agents may run at once, and the pause between them."""

    max_concurrent: int | None = None
    min_delay_ms: int = 0
    backoff: Backoff | None = Backoff()


class Input(Record):
    """What a recipe says of an input."""

    description: str = ""
    type: str = ""
    choices: tuple[Value, ...] = ()
    env: str = ""  # the variable of the environment that gives its default
    required: bool = False
    where: Location = field(default=NOWHERE, compare=False)
    bounds: Mapping[str, Value] = field(default_factory=dict)  # by the field that says it, such as `minimum`


class Dependency(Record):
    """A bundle that a recipe names, and the agents that it is to supply."""

    source: str
    agents: tuple[str, ...] = ()


class Recipe(Record, kw_only=True):
    """A whole recipe."""

    name: str
    stages: tuple[Stage, ...]
    description: str = ""
    version: str = "1.0.0"
    author: str = ""
    tags: tuple[str, ...] = ()
    dialect: Dialect = "amplihack"
    dialect_matters: bool = field(default=False, compare=False)  # its steps mean another thing in the other
    strict_shell: bool | None = field(default=None, compare=False)  # of its commands; None if it says nothing
    context: Mapping[str, Value] = field(default_factory=dict)
    context_places: Mapping[str, Location] = field(default_factory=dict, compare=False, repr=False)
    declared: Mapping[str, Input] = field(default_factory=dict)
    inputs: frozenset[str] = frozenset()  # declared without a default: the caller supplies them
    context_validation: Mapping[str, str] = field(default_factory=dict)
    rule_places: Mapping[str, Location] = field(default_factory=dict, compare=False, repr=False)
    secrets: frozenset[str] = frozenset()
    secret_places: Mapping[str, Location] = field(default_factory=dict, compare=False, repr=False)
    limits: Limits = Limits()
    hooks: Hooks = Hooks()
    extends: Text | None = None
    default_step_timeout: float | None = None
    rate_limit: RateLimit | None = None
    session_config: Mapping[str, Value] = field(default_factory=dict)
    summary: Text | None = None
    dependencies: tuple[Dependency, ...] = ()
    where: Location = field(default=NOWHERE, compare=False)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return the top-level steps of every stage, in order."""
        if len(self.stages) == 1:
            return self.stages[0].steps
        return tuple(step for stage in self.stages for step in stage.steps)


def every_step(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps and those inside their loop bodies, in file order."""
    found: list[Step] = []
    for step in steps:
        found.append(step)
        if type(step.action) is Body:
            found.extend(every_step(step.action.steps))
    return tuple(found)
