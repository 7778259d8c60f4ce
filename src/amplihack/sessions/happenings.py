"""Tell a host what happens in a session and its children, as a few plain records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from amplihack.records import Record, field

LAST = 10_000  # a priority of hooks, after which nobody changes the data
HappeningKind: TypeAlias = Literal[
    "text",
    "text_end",
    "thinking",
    "tool_start",
    "tool_end",
    "retry",
    "aborted",
    "usage",
    "approval",
    "notice",
    "turn_end",
    "done",
]


class Happening(Record, kw_only=True):
    """One thing that happens. Texts come in pieces, and `text_end` ends a line of thought.

    `tool_start` and `tool_end` have the name and the call's id; the first its input, the second whether it
    went well, how long it took and what it said. `given` has the facts of `usage`, `approval` and `notice`;
    `done` ends a stream, with the answer.
    """

    kind: HappeningKind
    text: str = ""
    tool: str = ""
    call_id: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    ok: bool = True
    milliseconds: int = 0
    session_id: str = ""
    is_child: bool = False


OnHappening: TypeAlias = Callable[[Happening], None]

HEARD = (
    "llm:stream_block_delta",
    "llm:stream_block_end",
    "llm:stream_aborted",
    "content_block:end",
    "tool:pre",
    "tool:post",
    "provider:retry",
    "llm:response",
    "provider:response",
    "approval:required",
    "user:notification",
    "execution:end",
)


class Hearing:
    """Turns events into happenings. Call it with each event of a session or a child."""

    def __init__(self, listener: OnHappening) -> None:
        self._listener = listener
        self._streamed: set[str] = set()  # sessions whose current answer came in pieces
        self._counted: set[str] = set()  # sessions whose provider told what the answer took

    def __call__(self, event: str, data: Mapping[str, Any]) -> None:
        make = _MAKERS.get(event)
        session = str(data.get("session_id") or "")
        if event == "llm:stream_block_delta" and data.get("block_type") == "text":
            self._streamed.add(session)
        elif event == "llm:stream_aborted":
            self._streamed.discard(session)
        elif event == "content_block:end":
            if session not in self._streamed:
                self._whole(data, session)
            if data.get("block_index") == (data.get("total_blocks") or 0) - 1:
                self._streamed.discard(session)
        elif event == "llm:response":
            self._counted.add(session)
        elif event == "provider:response" and session in self._counted:
            self._counted.discard(session)  # the loop reports the same answer again
            return
        if make is not None and (facts := make(data)) is not None:
            self._tell(session, data, facts)

    def _whole(self, data: Mapping[str, Any], session: str) -> None:
        """Tell the text of a provider that does not stream."""
        block = data.get("block")
        if isinstance(block, Mapping) and block.get("type") == "text" and block.get("text"):
            self._tell(session, data, {"kind": "text", "text": str(block["text"])})
            self._tell(session, data, {"kind": "text_end"})

    def _tell(self, session: str, data: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
        self._listener(Happening(session_id=session, is_child=bool(data.get("parent_id")), **facts))


def _delta(data: Mapping[str, Any]) -> dict[str, Any] | None:
    kind = data.get("block_type")
    return {"kind": kind, "text": str(data.get("text", ""))} if kind in ("text", "thinking") else None


def _end_of_block(data: Mapping[str, Any]) -> dict[str, Any] | None:
    return {"kind": "text_end"} if data.get("block_type") in ("text", "thinking") else None


def _aborted(data: Mapping[str, Any]) -> dict[str, Any]:
    error = data.get("error")
    if isinstance(error, Mapping) and error.get("type") == "CancelledError":
        return {"kind": "text_end"}  # whoever interrupted it knows, and nobody asks again
    return {"kind": "aborted", "text": _message(error)}


def _tool_start(data: Mapping[str, Any]) -> dict[str, Any]:
    given = data.get("tool_input")
    return {"kind": "tool_start", **_call(data), "given": dict(given) if isinstance(given, Mapping) else {}}


def _tool_end(data: Mapping[str, Any]) -> dict[str, Any]:
    result = data.get("result")
    said = result if isinstance(result, Mapping) else {}
    took = data.get("duration_ms")
    return {
        "kind": "tool_end",
        **_call(data),
        "ok": bool(said.get("success")),
        "text": _said_by(said),
        "milliseconds": int(took) if isinstance(took, int | float) else 0,
    }


def _retry(data: Mapping[str, Any]) -> dict[str, Any]:
    delay = data.get("delay")
    seconds = delay if isinstance(delay, int | float) else 0
    why = _message(data.get("error"))
    return {"kind": "retry", "text": f"{data.get('provider')} is asked again in {seconds:.1f} s: {why}"}


def _turn_end(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "turn_end", "ok": data.get("status") == "completed", "text": str(data.get("status", ""))}


def _usage(data: Mapping[str, Any]) -> dict[str, Any] | None:
    used = data.get("usage")
    facts = {**used, "model": data.get("model")} if isinstance(used, Mapping) else None
    return {"kind": "usage", "given": facts} if facts is not None else None


def _approval(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "approval", "text": str(data.get("prompt") or ""), "given": dict(data)}


def _notice(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "notice", "text": str(data.get("message") or ""), "given": dict(data)}


_MAKERS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any] | None]] = {
    "llm:stream_block_delta": _delta,
    "llm:stream_block_end": _end_of_block,
    "llm:stream_aborted": _aborted,
    "tool:pre": _tool_start,
    "tool:post": _tool_end,
    "provider:retry": _retry,
    "llm:response": _usage,
    "provider:response": _usage,
    "approval:required": _approval,
    "user:notification": _notice,
    "execution:end": _turn_end,
}


def _call(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"tool": str(data.get("tool_name", "")), "call_id": str(data.get("tool_call_id", ""))}


def _message(error: Any) -> str:
    found = error.get("msg") or error.get("message") if isinstance(error, Mapping) else error
    return str(found or "")


def _said_by(result: Mapping[str, Any]) -> str:
    """Return what a tool said in a line: of a failure its reason, rather than all that came with it."""
    output, error = result.get("output"), result.get("error")
    if output is None or (error and not result.get("success") and not isinstance(output, str)):
        return _shown(error)
    return _shown(output)


def _shown(output: Any) -> str:
    if isinstance(output, Mapping) and "message" in output:
        return str(output["message"])
    return output if isinstance(output, str) else "" if output is None else str(output)
