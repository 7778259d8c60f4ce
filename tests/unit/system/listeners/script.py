"""A run as the engine records it: bash, agent and sub-recipe steps, every status, a loop, a gate."""

from collections.abc import Sequence

from amplihack.recipes.agent_port import Usage
from amplihack.recipes.events import (
    Event,
    GateDecided,
    GateReached,
    IterationFinished,
    IterationStarted,
    LinesPrinted,
    OutputStored,
    RecipeEntered,
    Retrying,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    Warned,
)
from amplihack.recipes.results import RunResult, Status, StepResult
from amplihack.system.listeners.listener import Listener


class Clock:
    """A time that stands still unless a test moves it."""

    def __init__(self, now: float = 1_000_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def started(
    identity: str, kind: str = "bash", number: int = 1, of: int = 1, *, title: str = "", recipe: str = "build"
) -> StepStarted:
    step_id = identity.rpartition("/")[2]
    return StepStarted(identity, step_id, kind, title or step_id, recipe, identity.count("/"), number, of)


def finished(
    identity: str,
    status: Status = "completed",
    kind: str = "bash",
    *,
    output: str = "",
    error: str = "",
    skip_reason: str = "",
    duration: float | None = 0.25,
    allowed: bool = False,
    warnings: tuple[str, ...] = (),
    exit_code: int | None = None,
    recipe: str = "build",
    usage: Usage | None = None,
    cost_usd: float | None = None,
) -> StepFinished:
    result = StepResult(
        step_id=identity.rpartition("/")[2],
        identity=identity,
        kind=kind,
        status=status,
        output=output,
        error=error,
        duration=duration,
        skip_reason=skip_reason,
        allowed=allowed,
        warnings=warnings,
        exit_code=exit_code,
        attempts=0 if status == "skipped" else 1,
        usage=usage,
        cost_usd=cost_usd,
    )
    return StepFinished(result, recipe, identity.count("/"))


def round_over(loop: str, index: int, *, error: str = "") -> IterationFinished:
    """A round of a loop that took half a second; one with an error has failed."""
    return IterationFinished(
        StepResult(
            step_id=f"{loop}[{index}]",
            identity=f"{loop}[{index}]",
            kind="bash",
            status="failed" if error else "completed",
            error=error,
            duration=0.5,
        )
    )


def ended(*events: Event, success: bool = False, error: str = "") -> RunFinished:
    results = tuple(each.result for each in events if isinstance(each, StepFinished) and each.depth == 0)
    return RunFinished(
        RunResult(
            run_id="run-1",
            recipe_name="build",
            ending="completed" if success else "failed",
            step_results=results,
            duration=3.5,
            error=error,
        )
    )


STEPS: tuple[Event, ...] = (
    RunStarted("run-1", "build", "1.0.0", 6),
    started("hello", number=1, of=6),
    LinesPrinted("hello", "stdout", ("\x1b[32mhi\x1b[0m\tthere\x07",)),
    OutputStored("hello", {"hello": "hi there"}),
    finished("hello", output="hi there", exit_code=0),
    started("ask", "agent", 2, 6, title="Ask the expert"),
    Retrying("ask", 2, 3, 60.0, "rate limited\nmore about it"),
    Warned("ask", "the answer was not JSON"),
    finished(
        "ask",
        "degraded",
        "agent",
        output="é",
        duration=12.0,
        warnings=("no JSON",),
        usage=Usage(input_tokens=10, output_tokens=2),
        cost_usd=0.5,
    ),
    started("deploy", "recipe", 3, 6),
    RecipeEntered("deploy", "roll/out", 2, 1),
    started("deploy/upload", number=1, of=2, recipe="roll/out"),
    LinesPrinted("deploy/upload", "stderr", ("10%\r50%\r",)),
    finished("deploy/upload", recipe="roll/out"),
    started("deploy/check", number=2, of=2, recipe="roll/out"),
    finished(
        "deploy/check",
        "failed",
        error="Step 'check' failed: exit 1\nlong story",
        allowed=True,
        recipe="roll/out",
    ),
    finished("deploy", kind="recipe"),
    started("each", number=4, of=6),
    IterationStarted("each", 0, 2),
    LinesPrinted("each[0]", "stdout", ("round one",)),
    finished("each"),
    GateReached("ship", "Ship it?\nReally?"),
    GateDecided("ship", True, "go", by="me", at=12.5),
    started("skipped-step", number=5, of=6),
    finished("skipped-step", "skipped", skip_reason="condition: x == 1", duration=0.0),
    started("bad-step", number=6, of=6),
    finished("bad-step", "failed", error="Step 'bad-step' failed: exit 2", exit_code=2),
)
SCRIPT: tuple[Event, ...] = (*STEPS, ended(*STEPS, error="it failed"))


def play(listener: Listener, events: Sequence[Event] = SCRIPT) -> None:
    for event in events:
        listener.hear(event)
    listener.close()
