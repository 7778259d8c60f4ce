"""Write a run as JSON lines for other programs: one object per event, as it happens.

Every object has `event`, `ts` (seconds since 1970) and `run_id`. Beyond those:

    run_started        recipe, version, steps
    recipe_entered     identity, recipe, steps, depth
    step_started       identity, step_id, type, title, recipe, depth, number, of
    step_finished      identity, step_id, type, recipe, depth, status, duration, error, exit_code, attempts,
                       skip_reason, allowed, warnings, output, usage, cost_usd
    output_stored      identity, values: name -> size
    iteration_started  identity, index, of, and for an item its variable as in output_stored
    iteration_finished identity, and what step_finished tells from status on
    retrying           identity, attempt, of, delay, reason, due
    gate_reached       stage, prompt, identity, due: when it decides itself, or null, step: whose tool asks
    gate_decided       stage, approved, message, identity, by: who, at: when, step
    warned             identity, message
    agent_asked        identity, agent, model, prompt as in output_stored
    agent_paid         identity, usage, cost_usd: what an agent took that gave no answer; part of its step's
    staged             identity, files: what an agent step changed, staged with git
    never_reached      identity, ids: the steps inside it, or of the run, that did not begin before its end
    line_printed       identity, stream, line
    run_finished       recipe, status, success, duration, error, warnings, counts, never_reached, summary,
                       usage, cost_usd

An output, and each value in `values`, is `{"bytes": n}`, with `"text"` where that is short.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, assert_never

from amplihack.errors import UsageError
from amplihack.recipes.events import (
    AgentAsked,
    AgentPaid,
    AgentPaused,
    Event,
    Fact,
    GateDecided,
    GateReached,
    IterationFinished,
    IterationStarted,
    LinesPrinted,
    NeverReached,
    OutputStored,
    RecipeEntered,
    Retrying,
    RunFinished,
    RunStarted,
    Staged,
    StepFinished,
    StepStarted,
    Warned,
    WorkTreeLeft,
)
from amplihack.recipes.results import RunResult, StepResult
from amplihack.recipes.spending import usage_json
from amplihack.recipes.values import Value, to_text
from amplihack.records import as_dict
from amplihack.system.listeners.listener import Listener, NobodyReads
from amplihack.system.stuck import add_stream, remove_stream

_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
SHORT = 4096  # bytes of a text that is shown whole


_encode = json.JSONEncoder(ensure_ascii=False).encode


def json_line(value: dict[str, Any]) -> bytes:
    """Return one line of UTF-8 JSON. Bytes that are not text are kept as escapes."""
    return _utf8(f"{_encode(value)}\n")


def _utf8(text: str) -> bytes:
    # A lone surrogate becomes \udc80, which is just how JSON writes it.
    return text.encode("utf-8", "backslashreplace")


def _printed(event: LinesPrinted, told: dict[str, Any]) -> bytes:
    """Return an object for each line. Their common part is encoded once, because there may be many lines."""
    head = {"event": "line_printed", **told, "identity": event.identity, "stream": event.stream}
    start = _encode(head)[:-1]
    return _utf8("".join(f'{start}, "line": {_encode(line)}}}\n' for line in event.lines))


def describe(event: Fact) -> dict[str, Any]:
    """Return the event as an object, without the time and the run."""
    match event:
        case RunStarted():
            return _named("run_started", recipe=event.recipe, version=event.version, steps=event.steps)
        case RunFinished(result):
            return _named("run_finished", **_run(result))
        case RecipeEntered():
            named = {"identity": event.identity, "recipe": event.recipe}
            return _named("recipe_entered", **named, steps=event.steps, depth=event.depth)
        case StepStarted():
            fields = as_dict(event)
            del fields["idempotent"], fields["recheck"]  # notes for whoever resumes the run
            return _named("step_started", type=fields.pop("kind"), **fields)
        case StepFinished():
            return _named("step_finished", **_step(event))
        case OutputStored():
            sizes = {name: size(value) for name, value in event.values.items()}
            return _named("output_stored", identity=event.identity, values=sizes)
        case IterationStarted():
            fields = {"identity": event.identity, "index": event.index, "of": event.of}
            item = {name: size(value) for name, value in event.item.items()}
            return _named("iteration_started", **fields, **({"item": item} if item else {}))
        case IterationFinished(result):
            return _named("iteration_finished", identity=result.identity, **_result(result))
        case Retrying():
            fields = as_dict(event)
            del fields["spent"]  # it is part of what the step took in the end
            return _named("retrying", **fields)
        case GateReached():
            return _named("gate_reached", **as_dict(event))
        case GateDecided():
            return _named("gate_decided", **as_dict(event))
        case Warned():
            return _named("warned", identity=event.identity, message=event.what)
        case AgentAsked():
            asked = {"identity": event.identity, "agent": event.agent, "model": event.model}
            return _named("agent_asked", **asked, prompt=size(event.prompt))
        case AgentPaid(identity, spent):
            usage = usage_json(spent.usage)
            return _named("agent_paid", identity=identity, usage=usage, cost_usd=spent.cost_usd)
        case AgentPaused():
            return _named("agent_paused", identity=event.identity)
        case Staged():
            return _named("staged", identity=event.identity, files=list(event.files))
        case WorkTreeLeft():
            names = {"staged": list(event.staged), "left": list(event.left)}
            return _named("work_tree_left", identity=event.identity, root=event.root, **names)
        case NeverReached():
            return _named("never_reached", identity=event.identity, ids=list(event.ids))
        case _:
            assert_never(event)


def size(value: Value) -> dict[str, Any]:
    text = to_text(value)
    length = len(text.encode("utf-8", "surrogatepass"))
    return {"bytes": length, "text": text} if length <= SHORT else {"bytes": length}


def _named(event: str, /, **fields: Any) -> dict[str, Any]:
    return {"event": event, **fields}


def _step(event: StepFinished) -> dict[str, Any]:
    result = event.result
    place = {"identity": result.identity, "step_id": result.step_id, "type": result.kind}
    return {**place, "recipe": event.recipe, "depth": event.depth, **_result(result)}


def _result(result: StepResult) -> dict[str, Any]:
    shown = result.to_json()
    return {
        "status": result.status,
        "duration": shown.get("duration"),
        **{name: shown[name] for name in ("error", "exit_code", "attempts")},
        "skip_reason": result.skip_reason,
        "allowed": result.allowed,
        "warnings": shown["warnings"],
        "output": size(result.output),
        "usage": shown["usage"],
        "cost_usd": shown["cost_usd"],
    }


def _run(result: RunResult) -> dict[str, Any]:
    shown = result.to_json()
    names = ("error", "warnings", "counts", "never_reached", "usage", "cost_usd")
    return {
        "recipe": result.recipe_name,
        "status": result.status,
        "success": result.success,
        "duration": shown.get("duration"),
        "summary": result.summary,
        **{name: shown[name] for name in names},
    }


class JsonLines(Listener):
    name = "the event stream"
    wants_lines = True

    def __init__(self, stream: BinaryIO, *, now: Callable[[], float], own: bool = False) -> None:
        """Write to a stream; `own` means that it is closed with the run."""
        self._stream = stream
        self._now = now
        self._own = own
        self._run_id = ""

    @classmethod
    def to_file(cls, path: Path, *, now: Callable[[], float]) -> JsonLines:
        """Write to a private file, which is created or overwritten. Raises NobodyReads and UsageError."""
        try:
            # O_NONBLOCK: opening a pipe does not wait for its reader, deaf to every signal.
            descriptor = os.open(path, _WRITE | os.O_NONBLOCK, 0o600)
        except OSError as error:
            if error.errno == errno.ENXIO:
                raise NobodyReads(path) from error
            raise UsageError(
                f"cannot write events to {path}: {error.strerror}", fix="give a file in a directory of yours"
            ) from error
        os.set_blocking(descriptor, True)
        add_stream(descriptor, cls.name)
        return cls(os.fdopen(descriptor, "wb"), now=now, own=True)

    def hear(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._run_id = event.run_id
        told = {"ts": round(self._now(), 3), "run_id": self._run_id}
        if isinstance(event, LinesPrinted):
            self._stream.write(_printed(event, told))
        else:
            described = describe(event)
            self._stream.write(json_line({"event": described.pop("event"), **told, **described}))
        # At once, because other programs follow the run while it happens.
        self._stream.flush()

    def close(self) -> None:
        if self._own and not self._stream.closed:
            remove_stream(self._stream.fileno())
            self._stream.close()
