"""Stop the session of a step in the middle of its turn, and go on from there in another process.

What is kept is the conversation up to the calls that wait, with the results of the calls beside them that
have ended. Whoever goes on makes the calls that have no result, then asks the model for what comes next: what
was paid for is not paid again. The same holds for agents that wait inside a tool of their parent.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from amplihack.app.run_approvals import StepApprovals
from amplihack.app.sessions.family import CALL_ENDED, EndedCalls, busy, children_of
from amplihack.app.sessions.talk import Talk, TurnAnswer
from amplihack.recipes.agent_port import AgentRequest, AgentWaits
from amplihack.recipes.secret_places import SecretMissing, put_back, taken_out
from amplihack.records import Record
from amplihack.sessions.calls import Message
from amplihack.sessions.kept_children import KeptChild, kept_children
from amplihack.sessions.kept_results import with_ended
from amplihack.sessions.serialise import sanitize_message
from amplihack.system.random_tokens import token
from amplihack.system.undisturbed import undisturbed


class Pause(Record):
    """Where a question was paused: the conversation, and those of the agents that were started in it."""

    messages: list[Message]
    children: Sequence[KeptChild] = ()


def paused_before(request: AgentRequest, secrets: Mapping[str, str]) -> Pause | None:
    """Return where a question was paused; None where it begins, or was another one."""
    try:
        kept = json.loads(request.paused) if request.paused else {}
        kept = put_back(kept, secrets, str(kept.get("mark")))
    except (ValueError, SecretMissing):
        return None
    said = kept.get("messages") if kept.get("prompt") == request.prompt else None
    return Pause(said, kept_children(kept.get("children"))) if isinstance(said, list) and said else None


async def answer_or_wait(
    request: AgentRequest,
    talk: Talk,
    turn: Coroutine[Any, Any, TurnAnswer],
    asked: StepApprovals,
    secrets: Callable[[], Mapping[str, str]],
) -> TurnAnswer:
    """Return the answer of a turn. Raises AgentWaits when it can only wait for a person.

    What it waits with names the secrets in place of telling them.
    """
    coordinator = talk.session.coordinator
    ending = EndedCalls(coordinator)

    async def state() -> str:
        said = with_ended(await talk.session.messages(), ending.results)
        return _state(request, Pause(said, await children_of(coordinator)), secrets())

    kept = asked.answered

    async def call_ended() -> None:
        """Keep what was asked about, whichever of the calls that run side by side it was."""
        nonlocal kept
        if asked.answered != kept:
            request.keep(await state())
            if busy(coordinator) <= asked.waiting + 1:  # the call that has ended is the last one
                kept = asked.answered

    coordinator.register_capability(CALL_ENDED, call_ended)
    going = asyncio.ensure_future(turn)
    waiting = asyncio.ensure_future(asked.only_waits(lambda: busy(coordinator)))
    try:
        await asyncio.wait({going, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if going.done():
            return going.result()
        paused = await state()
    finally:
        await undisturbed(_end(going, waiting))
    raise AgentWaits("a tool waits for a person's approval", state=paused)


def _state(request: AgentRequest, pause: Pause, secrets: Mapping[str, str]) -> str:
    mark = token(16)
    kept = {
        "prompt": request.prompt,
        "messages": [sanitize_message(each) for each in pause.messages],
        "children": [each.to_json() for each in pause.children],
    }
    return json.dumps({"mark": mark, **taken_out(kept, secrets, mark)}, ensure_ascii=False)


async def _end(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # it was cut off: nobody is left to hear of it
