"""Go on with a turn that had stopped in the middle."""

from __future__ import annotations

from amplihack.sessions.calls import REMINDER
from amplihack.sessions.messages import FINISH_CALLS, open_calls
from amplihack.system.kernel.session import LiveSession

_GO_ON = (
    f"{REMINDER}>You were interrupted to ask a person about a tool, and the person has answered. "
    "Go on where you were: call the tools again that have no result.</system-reminder>"
)
AFTER_A_CRASH = (
    f"{REMINDER}>You were interrupted before you had answered. Go on where you were. What ran at that moment "
    "may have done its work: look before you do it again.</system-reminder>"
)


async def to_go_on(session: LiveSession, prompt: str) -> tuple[str, bool]:
    """Return what to say to a session that stopped in a turn, and whether its loop makes the open calls.

    `prompt` is what had begun the turn. A loop that cannot make the calls itself is told to go on, and to
    make them again.
    """
    finish = session.coordinator.get_capability(FINISH_CALLS)
    said = await session.messages()
    left = open_calls(said)
    if finish is None or (not left and said[-1:] and said[-1].get("role") == "assistant"):
        return _GO_ON, False
    finish(left)
    return prompt, True
