"""Define the port to agents: the request, the reply, the failure and the runner."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from amplihack.errors import AmplihackError
from amplihack.recipes.values import Value, tail
from amplihack.records import Record, field

STDOUT_TAIL, STDERR_TAIL = 2_000, 4_000  # bytes of each that an error shows


class Usage(Record, kw_only=True):
    """Token counts as far as the agent reports them. None means unknown, which is not the same as 0."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None  # of the input: read from a cache


class Decision(Record):
    """What a person answered at a gate."""

    approved: bool
    message: str = ""
    by: str = ""  # who answered, if it is known


def _count_nothing(_usage: Usage | None, _cost_usd: float | None) -> None:
    """Stand in for whoever keeps no accounts."""


def _keep_nothing(_state: str) -> None:
    """Stand in for whoever keeps no state."""


async def _nobody_allows(_what: str) -> Decision | None:
    """Stand in for whoever decides what tools may do."""
    return Decision(False, "there is nobody to ask")


class AgentRequest(Record, kw_only=True):
    """One prompt for an agent, with all templates rendered.

    `agent` is the reference that the step names, and `persona` is the text that this reference stands for.
    `options` holds the other fields of the step for runners that support them. An agent that gives no answer
    tells `paid` what it took, as far as it is known: when it fails, and when it is cancelled.

    What a tool of the agent wants to do is asked of `allow`. It returns None where somebody may answer when
    this process has ended: then the agent raises AgentWaits, and `paused` of the next request is its state.
    An agent that can go on tells `keep` its state when a tool has ended that somebody was asked about: if
    this process is killed, the tool is not used again.
    """

    prompt: str
    working_dir: str
    step: str = ""  # the identity of the step that asks
    persona: str | None = None
    agent: str | None = None
    model: str | None = None
    mode: str | None = None
    timeout: float | None = None
    idle_timeout: float | None = None
    json_schema: Mapping[str, Value] | None = None  # what the answer is held to; the prompt says it too
    private: bool = False  # the prompt holds a secret: no list of processes may show it
    wants_json: bool = False  # the answer is read as JSON, with or without a schema
    options: Mapping[str, Value] = field(default_factory=dict)
    paid: Callable[[Usage | None, float | None], None] = field(
        default=_count_nothing, compare=False, repr=False
    )
    allow: Callable[[str], Awaitable[Decision | None]] = field(
        default=_nobody_allows, compare=False, repr=False
    )
    keep: Callable[[str], None] = field(default=_keep_nothing, compare=False, repr=False)
    paused: str = field(default="", repr=False)


def kept_answer(text: str) -> str:
    """Return the answer that is kept of a text: only empty lines around it are cut. Blanks are no answer."""
    return text.strip("\n") if text.strip() else ""


class AgentReply(Record, kw_only=True):
    """The answer of an agent, trimmed and never empty. `denied` names tools that it was refused."""

    text: str
    usage: Usage | None = None
    cost_usd: float | None = None
    session_id: str | None = None
    stderr_tail: str = ""
    denied: tuple[str, ...] = ()
    lost: int = 0  # bytes of the answer that were too many to be kept
    broken: int = 0  # places in the answer that were no text
    unused: tuple[str, ...] = ()  # options of the request that it could do nothing with
    went_on: bool = False  # with the conversation that was `paused`, instead of beginning anew


def beyond_tools(options: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the options that no command-line tool can follow. Each has a process of its own anyway."""
    return tuple(name for name in options if name != "own_process")


class AgentFailed(AmplihackError):
    """Raised when an agent gave no answer.

    A `transient` failure may not occur on the next try. A `rate_limited` one is transient and needs a pause
    first: `retry_after` seconds if the provider gave a number.
    """

    def __init__(
        self,
        what: str,
        *,
        fix: str = "",
        tool_exit_code: int | None = None,
        stdout: str = "",
        stderr: str = "",
        transient: bool = False,
        timed_out: bool = False,
        rate_limited: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(what, fix=fix)
        self.tool_exit_code, self.timed_out = tool_exit_code, timed_out
        self.stdout_tail, self.stderr_tail = tail(stdout, STDOUT_TAIL), tail(stderr, STDERR_TAIL)
        self.transient, self.rate_limited, self.retry_after = (
            transient or rate_limited,
            rate_limited,
            retry_after,
        )

    @property
    def details(self) -> str:
        """Return what the agent printed last, for the error report; empty when it printed nothing."""
        sections = [("stdout", self.stdout_tail), ("stderr", self.stderr_tail)]
        return "\n".join(f"--- {name} (tail) ---\n{text.strip()}" for name, text in sections if text.strip())


class AgentWaits(AmplihackError):
    """Raised when an agent cannot go on before a person decides what its tools may do.

    `state` is what it needs to go on from there, if it can; it is kept with the run unless it holds a secret.
    """

    def __init__(self, what: str, *, state: str = "") -> None:
        super().__init__(what)
        self.state = state


class AgentRunner(Protocol):
    """Answers prompts. While it works, it passes each line of its progress to `on_line`."""

    @property
    def name(self) -> str: ...

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        """Return the answer. Raises AgentFailed, and AgentWaits where `allow` returned None."""
        ...
