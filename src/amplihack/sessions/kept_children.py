"""Keep what agents inside a session have said, so that they go on where they were when it goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amplihack.records import Record, field
from amplihack.sessions.calls import Message
from amplihack.sessions.serialise import sanitize_for_json, sanitize_message


class KeptChild(Record, kw_only=True):
    """An agent that was started: what it was told and wished for, and what was said.

    One that is `done` has answered; it can only be asked something else. Any other one goes on.
    """

    session_id: str
    agent: str
    instruction: str
    asked: Mapping[str, Any] = field(default_factory=dict)
    messages: Sequence[Message] = field(default=(), repr=False)
    done: bool = False
    children: Sequence[KeptChild] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "session_id": self.session_id,
            "agent": self.agent,
            "instruction": self.instruction,
            "asked": sanitize_for_json(dict(self.asked)),
            "messages": [sanitize_message(each) for each in self.messages],
            "done": self.done,
            "children": [each.to_json() for each in self.children],
        }


def kept_children(given: Any) -> tuple[KeptChild, ...]:
    """Return the agents that were kept; none where there are none to be read."""
    listed = given if isinstance(given, list) else []
    return tuple(_kept(each) for each in listed if isinstance(each, dict) and each.get("session_id"))


def _kept(given: dict[str, Any]) -> KeptChild:
    said, asked = given.get("messages"), given.get("asked")
    return KeptChild(
        session_id=str(given["session_id"]),
        agent=str(given.get("agent") or ""),
        instruction=str(given.get("instruction") or ""),
        asked=asked if isinstance(asked, dict) else {},
        messages=[each for each in said if isinstance(each, dict)] if isinstance(said, list) else [],
        done=bool(given.get("done")),
        children=kept_children(given.get("children")),
    )
