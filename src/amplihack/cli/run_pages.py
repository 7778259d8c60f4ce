"""Show kept runs: a line in a list, a page of text, and JSON."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from amplihack.cli.show import printable
from amplihack.credentials import hide_credentials
from amplihack.moments import local_time

if TYPE_CHECKING:
    from amplihack.recipes.results import StepResult
    from amplihack.recipes.run_history import RunHistory
    from amplihack.recipes.run_parts import Gate
    from amplihack.system.run_store.rows import KeptRun

_ICONS = {
    "completed": "✓",
    "skipped": "⊘",
    "failed": "✗",
    "degraded": "⚠",
    "running": "▶",
    "waiting": "⏸",
    "denied": "✗",
    "interrupted": "✗",
}
_CAN_GO_ON = ("waiting", "failed", "interrupted", "cancelled")
_TAIL = 5  # lines of a step's output that are shown
_WIDEST = 200  # characters of such a line


def run_json(run: KeptRun) -> dict[str, Any]:
    """Return what `runs list --json` tells of a run."""
    from amplihack.recipes.run_history import moment  # deferred: only JSON needs `datetime`

    owner = run.holder
    return {
        "run_id": run.run_id,
        "recipe": run.recipe,
        "status": run.status,
        "started": moment(run.started),
        "ended": moment(run.ended),
        "cost_usd": run.cost_usd,
        "forked_from": run.forked_from,
        "path": run.path,
        "working_dir": run.working_dir,
        "owner": {"pid": owner.pid, "host": owner.host, "since": moment(owner.since)} if owner else None,
    }


def ending_json(history: RunHistory) -> dict[str, Any]:
    """Return why the run ended as it did, and its own closing words."""
    result = history.result
    return {"error": history.error(), "summary": result.summary if result else ""}


def run_line(run: KeptRun, width: int) -> str:
    took = f"{_took(run.started, run.ended):.1f}s" if run.ended is not None else ""
    cost = f"  ${run.cost_usd:.4f}" if run.cost_usd is not None else ""
    name = printable(run.recipe, keep="")
    return (
        f"{run.run_id}  {run.status:<11}  {name:<{width}}  {local_time(run.started)}  {took}{cost}".rstrip()
    )


def _took(started: float, ended: float) -> float:
    """Return the seconds between two moments; none if the clock was set back in between."""
    return max(0.0, ended - started)


def run_page(run: KeptRun, history: RunHistory) -> list[str]:
    """Return the lines of `runs show`."""
    took = f" ({_took(run.started, run.ended):.1f}s)" if run.ended is not None else ""
    lines = [
        f"run {run.run_id}: {run.recipe} — {run.status}",
        f"  started {local_time(run.started)}{took} in {run.working_dir}",
    ]
    if run.forked_from is not None:
        lines.append(f"  forked from {run.forked_from}")
    if (cost := history.cost_usd) is not None:
        lines.append(f"  cost ${cost:.4f}")
    if run.holder:
        lines.append(f"  {run.holder.shown()} has it")
    if run.cancelled:
        late = "" if run.status in ("cancelled", "running") else ", but it had ended before that"
        lines.append(f"  cancelled by {run.cancelled['by']} at {local_time(run.cancelled['at'])}{late}")
    lines += [f"  ⚠ {hide_credentials(each)}" for each in history.state.loose_warnings()]
    for step in history.steps():
        lines += _step(step, history, 1)
    if left := history.never_reached():
        lines.append(f"  {len(left)} never reached: {', '.join(left)}")
    lines += [line for identity, gate in history.state.gates().items() for line in _gate(identity, gate)]
    # Nobody can answer a gate of a run that was cancelled there, or one that has expired: no advice to do so.
    open_gates = [gate for gate in history.gates() if gate.approved is None]
    stale = bool(open_gates) and (run.status == "cancelled" or all(map(_expired, open_gates)))
    if (error := history.error()) and run.status not in ("running", "completed") and not stale:
        lines.append(f"  {error}")
    if run.status in _CAN_GO_ON:
        lines.append(f"  `amplihack runs resume {run.run_id}` goes on")
    return lines


def _step(step: StepResult, history: RunHistory, level: int) -> list[str]:
    status, pad = history.status(step), "  " * level
    took = f" ({step.duration:.1f}s)" if step.duration is not None else ""
    allowed = ["which the recipe allows"] if step.allowed and status == "failed" else []
    facts = [status, *allowed, *_attempts(step, history), *_spent(step)]
    lines = [f"{pad}{_ICONS[status]} {step.step_id}{took} [{', '.join(facts)}]"]
    lines += [f"{pad}  ⚠ {hide_credentials(each)}" for each in step.warnings]
    if step.children:
        return [*lines, *(line for child in step.children for line in _step(child, history, level + 1))]
    if step.error and status == "failed":
        lines += [f"{pad}    {line}" for line in step.error.splitlines()]
    printed = step.output.splitlines()
    before = len(printed) - _TAIL
    more = [f"{pad}  │ … {before} line{'s' if before > 1 else ''} before"] if before > 0 else []
    shown = [hide_credentials(line)[:_WIDEST] for line in printed[-_TAIL:]]
    return [*lines, *more, *(f"{pad}  │ {line}" for line in shown)]


def _attempts(step: StepResult, history: RunHistory) -> list[str]:
    """Return which attempt it was, or which is next and when it may begin."""
    known = history.state.instance(step.identity)
    if known is None or known.finished or known.attempt == 1:
        return [f"attempt {step.attempts}"] if step.attempts > 1 else []
    waits = known.process is None and known.due > time.time()
    return [f"attempt {known.attempt}{f' at {local_time(known.due)}' if waits else ''}"]


def _spent(step: StepResult) -> list[str]:
    spent = []
    if step.usage is not None:
        both = [each for each in (step.usage.input_tokens, step.usage.output_tokens) if each is not None]
        spent.append(f"{' + '.join(map(str, both)) or 'unknown'} tokens")
    if step.cost_usd is not None:
        spent.append(f"${step.cost_usd:.4f}")
    return spent


def _expired(gate: Gate) -> bool:
    return gate.due is not None and gate.due <= time.time()


def _gate(identity: str, gate: Gate) -> list[str]:
    name = identity or gate.stage  # one stage may be reached several times, in a loop or by several calls
    if gate.approved is None:
        due = "" if gate.due is None else f" until {local_time(gate.due)}"
        return [
            f"  ⏸ {name}: {'has expired: nobody answered' if _expired(gate) else 'waits for approval'}{due}",
            *(f"      {line}" for line in gate.prompt.splitlines()),
        ]
    word, who = "approved" if gate.approved else "denied", f" by {gate.by}" if gate.by else ""
    when = f" at {local_time(gate.at)}" if gate.at else ""
    return [f"  ⏵ {name}: {word}{who}{when}" + (f" — {gate.message}" if gate.message else "")]
