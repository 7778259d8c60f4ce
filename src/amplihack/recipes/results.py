"""Define the results of a step and of a run, and show them as text and as JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from amplihack.recipes.agent_port import Usage
from amplihack.recipes.spending import (
    Spending,
    add_costs,
    add_usage,
    spending_text,
    usage_from_json,
    usage_json,
)
from amplihack.recipes.values import Value
from amplihack.records import Record, field, replace

Status: TypeAlias = Literal["completed", "skipped", "failed", "degraded", "waiting", "interrupted"]
Ending: TypeAlias = Literal["completed", "failed", "denied", "waiting", "interrupted"]


class StepResult(Record, kw_only=True):
    """The result of one step.

    `identity` is the unique name of the step in the whole run, such as `outer/inner[2]`; it is the same in
    every run of the recipe. A step is `waiting` if a gate inside it waits for a person, and
    `interrupted` if it was cut off. `allowed` marks a
    failure that the recipe permits. `executed` counts commands and agents that were run, as the step limit
    counts them. `executed`, `usage` and `cost_usd` include children and failed attempts.
    """

    step_id: str
    identity: str
    kind: str
    status: Status
    output: str = ""
    error: str = ""
    duration: float | None = None
    stderr: str = ""
    exit_code: int | None = None
    attempts: int = 0
    skip_reason: str = ""  # also of a loop that is complete without a round
    allowed: bool = False
    warnings: tuple[str, ...] = ()
    children: tuple[StepResult, ...] = ()
    usage: Usage | None = None
    cost_usd: float | None = None
    executed: int = 0

    @property
    def spent(self) -> Spending:
        return Spending(executed=self.executed, usage=self.usage, cost_usd=self.cost_usd)

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON data. Unknown usage and cost are null, never 0."""
        shown: dict[str, Any] = {
            "step_id": self.step_id,
            "status": self.status,
            "output": self.output,
            "error": self.error,
            "type": self.kind,
            "identity": self.identity,
            "stderr": self.stderr,
            "exit_code": self.exit_code,
            "attempts": self.attempts,
            "warnings": list(self.warnings),
            "usage": usage_json(self.usage),
            "cost_usd": self.cost_usd,
            "executed": self.executed,
        }
        if self.duration is not None:
            shown["duration"] = self.duration
        if self.skip_reason:
            shown["skip_reason"] = self.skip_reason
        if self.allowed:
            shown["allowed"] = True
        if self.children:
            shown["children"] = [child.to_json() for child in self.children]
        return shown

    @classmethod
    def from_json(cls, shown: Mapping[str, Any]) -> StepResult:
        """Return the result from its JSON data, without loss."""
        return cls(
            step_id=shown["step_id"],
            identity=shown["identity"],
            kind=shown["type"],
            status=shown["status"],
            output=shown["output"],
            error=shown["error"],
            duration=shown.get("duration"),
            stderr=shown["stderr"],
            exit_code=shown["exit_code"],
            attempts=shown["attempts"],
            skip_reason=shown.get("skip_reason", ""),
            allowed=shown.get("allowed", False),
            warnings=tuple(shown["warnings"]),
            children=tuple(map(cls.from_json, shown["children"])) if "children" in shown else (),
            usage=usage_from_json(shown["usage"]),
            cost_usd=shown["cost_usd"],
            executed=shown.get("executed", 0),
        )


class RunResult(Record, kw_only=True):
    """The result of a run. It is a success only if every required step succeeded."""

    run_id: str
    recipe_name: str
    ending: Ending
    step_results: tuple[StepResult, ...] = ()
    context: Mapping[str, Value] = field(default_factory=dict)
    duration: float | None = None
    error: str = ""
    warnings: tuple[str, ...] = ()
    never_reached: tuple[str, ...] = ()
    summary: str = ""

    @property
    def success(self) -> bool:
        return self.ending == "completed"

    @property
    def status(self) -> Ending | Literal["degraded"]:
        """Return how it ended, as kept runs tell it: `degraded` where a step of a success is."""
        return "degraded" if self.success and self.count("degraded") else self.ending

    @property
    def usage(self) -> Usage | None:
        return add_usage(step.usage for step in self.step_results)

    @property
    def cost_usd(self) -> float | None:
        return add_costs(step.cost_usd for step in self.step_results)

    def count(self, status: Status, *, allowed: bool | None = None) -> int:
        """Count the steps of a status, also inside sub-recipes; the rounds of a loop are one step."""
        return sum(
            step.status == status and (allowed is None or step.allowed == allowed)
            for step in counted_steps(self.step_results)
        )

    def counts(self) -> dict[str, int]:
        return {
            "completed": self.count("completed"),
            "skipped": self.count("skipped"),
            "degraded": self.count("degraded"),
            "failed": self.count("failed", allowed=False),
            "failed_allowed": self.count("failed", allowed=True),
            "interrupted": self.count("interrupted"),
            "never_reached": len(self.never_reached),
        }

    def to_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "run_id": self.run_id,
            "recipe_name": self.recipe_name,
            "success": self.success,
            "status": self.status,
            "step_results": [step.to_json() for step in self.step_results],
            "error": self.error,
            "warnings": list(self.warnings),
            "counts": self.counts(),
            "never_reached": list(self.never_reached),
            "usage": usage_json(self.usage),
            "cost_usd": self.cost_usd,
        }
        if self.context:
            shown["context"] = dict(self.context)
        if self.summary:
            shown["summary"] = self.summary
        if self.duration is not None:
            shown["duration"] = self.duration
        return shown

    @classmethod
    def from_json(cls, shown: Mapping[str, Any]) -> RunResult:
        """Return the result from its JSON data, without loss. Derived figures are computed again."""
        return cls(
            run_id=shown["run_id"],
            recipe_name=shown["recipe_name"],
            ending="completed" if shown["status"] == "degraded" else shown["status"],
            step_results=tuple(StepResult.from_json(step) for step in shown["step_results"]),
            context=shown.get("context", {}),
            duration=shown.get("duration"),
            error=shown["error"],
            warnings=tuple(shown["warnings"]),
            never_reached=tuple(shown["never_reached"]),
            summary=shown.get("summary", ""),
        )

    def own_text(self, *, has_output: bool, tidying: Collection[str] = ()) -> str:
        """Return what the recipe gives back: its `output:` if it has one, else its last result.

        The results of steps that only tidy up count where there are no others.
        """
        if has_output:
            return self.summary
        done = [step for step in self.step_results if step.status in ("completed", "degraded")]
        told = [step for step in done if step.step_id not in tidying] or done
        return told[-1].output if told else ""

    def failure_text(self) -> str:
        """Return why the run did not succeed, without the steps that did."""
        failed = [step for step in self.step_results if step.status == "failed" and not step.allowed]
        error = [self._error_line()] if self.error else []
        return "\n".join([self._verdict(), *map(_step_line, failed), *error])

    def _error_line(self) -> str:
        return f"  {self.error}" if self.ending == "waiting" else f"  error: {self.error}"

    def _verdict(self) -> str:
        word = "SUCCESS" if self.success else "FAILED" if self.ending == "failed" else self.ending.upper()
        return f"Recipe '{self.recipe_name}': {word}{in_seconds(self.duration)}"

    def to_text(self) -> str:
        """Return the run as lines for people: the verdict, each step, and what is easily overlooked."""
        lines = [self._verdict()]
        lines += [_step_line(step) for step in self.step_results]
        if self.error:
            lines.append(self._error_line())
        return "\n".join([*lines, *self._remarks(), ""])

    def _remarks(self) -> Iterator[str]:
        counts = (
            (self.count("degraded"), "degraded: no valid JSON, a loop at its limit, or rounds that failed"),
            (self.count("failed", allowed=True), "failed, which the recipe allows"),
            (len(self.never_reached), f"never reached: {', '.join(self.never_reached)}"),
        )
        for number, what in counts:
            if number:
                yield f"  {number} {what}"
        unpriced = any(step.usage is not None and step.cost_usd is None for step in self.step_results)
        if spent := spending_text(self.usage, self.cost_usd, at_least=unpriced):
            yield f"  {spent}"


def _step_line(step: StepResult) -> str:
    error = f" -- error: {_own_error(step)}" if step.error else ""
    return f"  [{step.status}] {step.step_id}{in_seconds(step.duration)}{error}"


def _own_error(step: StepResult) -> str:
    """Return the error of a step without the words that its line begins with: who failed, and its kind."""
    own = step.error.removeprefix(f"Step '{step.step_id}' failed: ")
    return own.removeprefix("bash step failed: ").removeprefix("agent step failed: ")


def in_seconds(duration: float | None) -> str:
    """Return how long something took, to stand behind its name; nothing if nobody knows."""
    return "" if duration is None else f" ({duration:.1f}s)"


def every_result(results: Iterable[StepResult]) -> Iterator[StepResult]:
    """Yield the results and all results below them, without steps that only hold others."""
    for result in results:
        if result.children:
            yield from _forgiven(result, every_result(result.children))
        else:
            yield result


def _forgiven(result: StepResult, parts: Iterable[StepResult]) -> Iterator[StepResult]:
    """Yield what is inside a step. A failure counts as allowed unless it made the step fail for good.

    A step that was cut off has not forgiven anything yet.
    """
    forgiven = result.status not in ("failed", "interrupted") or result.allowed
    for part in parts:
        yield replace(part, allowed=True) if forgiven and part.status == "failed" else part


_WORST: tuple[Status, ...] = ("failed", "interrupted", "waiting", "degraded", "completed", "skipped")


def counted_steps(results: Iterable[StepResult]) -> Iterator[StepResult]:
    """Yield each step once, with its worst result where the rounds of a loop have repeated it.

    A step that only holds others is not counted, unless it went wrong in a way that none of them did.
    """
    for result in results:
        parts = list(_forgiven(result, _parts(result)))
        yield from parts
        if not parts or (
            result.status in ("failed", "degraded") and all(part.status != result.status for part in parts)
        ):
            yield result


def _parts(result: StepResult) -> Iterable[StepResult]:
    """Return the steps inside one; those of all rounds count as one each."""
    rounds = [child for child in result.children if child.identity.endswith("]")]
    if not rounds:
        return counted_steps(result.children)
    steps: dict[str, StepResult] = {}
    for each in rounds:
        for part in counted_steps(each.children):
            name = part.identity[len(each.identity) :]
            steps[name] = min(steps.get(name, part), part, key=_badness)
    return steps.values()


def _badness(result: StepResult) -> tuple[int, bool]:
    return _WORST.index(result.status), result.allowed


def denial(stage: str, message: str) -> str:
    """Return in words that the gate of a stage was denied, and why."""
    return f"stage '{stage}' was denied{f': {message}' if message else ''}"
