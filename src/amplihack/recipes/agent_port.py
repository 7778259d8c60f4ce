"""Define the port to agents: the request, the reply, the failure and the runner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from amplihack.errors import AmplihackError
from amplihack.recipes.values import Value, tail
from amplihack.records import Record, field

STDOUT_TAIL, STDERR_TAIL = 2_000, 4_000  # bytes of each that an error shows


class AgentRequest(Record, kw_only=True):
    """One prompt for an agent, with all templates rendered.

    `agent` is the reference that the step names, and `persona` is the text that this reference stands for.
    `options` holds the other fields of the step for runners that support them.
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
    options: Mapping[str, Value] = field(default_factory=dict)


class Usage(Record, kw_only=True):
    """Token counts as far as the agent reports them. None means unknown, which is not the same as 0."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None  # of the input: read from a cache


class AgentReply(Record, kw_only=True):
    """The answer of an agent, trimmed and never empty. `denied` names tools that it was refused."""

    text: str
    usage: Usage | None = None
    cost_usd: float | None = None
    session_id: str | None = None
    stderr_tail: str = ""
    denied: tuple[str, ...] = ()
    lost: int = 0  # bytes of the answer that were too many to be kept
    unused: tuple[str, ...] = ()  # options of the request that it could do nothing with


def beyond_tools(options: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the options that no command-line tool can follow. Each has a process of its own anyway."""
    return tuple(name for name in options if name != "own_process")


class AgentFailed(AmplihackError):  # noqa: N818 - reads as what happened
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


class AgentRunner(Protocol):
    """Answers prompts. While it works, it passes each line of its progress to `on_line`."""

    @property
    def name(self) -> str: ...

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        """Return the answer. Raises AgentFailed."""
        ...
