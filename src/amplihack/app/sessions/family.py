"""Know the agents that a session has started: those that run, those that have answered, those cut off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amplihack.records import Record, replace
from amplihack.sessions.calls import Message
from amplihack.sessions.happenings import LAST
from amplihack.sessions.kept_children import KeptChild
from amplihack.sessions.kept_results import kept_result, with_ended
from amplihack.system.kernel.session import LiveSession

CHILDREN = "session.children"
CALL_ENDED = "session.call_ended"  # what a host wants to be told of a session and of its agents


class EndedCalls:
    """The results of calls that have ended, before the loop adds them to the conversation."""

    def __init__(self, coordinator: Any) -> None:
        self._coordinator = coordinator
        self.results: dict[str, Message] = {}
        for event in ("tool:pre", "tool:post"):
            coordinator.hooks.register(event, self._hear, priority=LAST, name=f"amplihack:pause-{event}")

    async def _hear(self, event: str, data: dict[str, Any]) -> None:
        if event == "tool:pre":
            self.results.pop(str(data.get("tool_call_id")), None)  # some services give an id again
            return
        if (result := kept_result(data)) is not None:
            self.results[str(result["tool_call_id"])] = result
        if callable(tell := self._coordinator.get_capability(CALL_ENDED)):
            await tell()


class _Running(Record):
    about: KeptChild
    session: LiveSession
    family: Family | None
    ending: EndedCalls | None

    async def kept(self) -> KeptChild:
        said = await self.session.messages()
        results = self.ending.results if self.ending is not None else {}
        return replace(self.about, messages=with_ended(said, results), children=await self.children())

    async def children(self) -> Sequence[KeptChild]:
        return await self.family.kept() if self.family is not None else ()


class Family:
    """The agents of one session. `before` are those that an earlier process had started.

    Where nothing on the disk keeps what they say, it `listens` to their tools.
    """

    def __init__(self, before: Sequence[KeptChild] = (), *, listens: bool) -> None:
        self._known = {each.session_id: each for each in before}
        self._running: dict[str, _Running] = {}
        self._found: set[str] = set()  # those cut off that are about to go on
        self._listens = listens

    def known(self, session_id: str) -> KeptChild | None:
        return self._known.get(session_id)

    def cut_off(self, agent: str, instruction: str) -> KeptChild | None:
        """Return an agent that was told the same and has not answered; each is found once."""
        wanted = (agent, instruction)
        for each in self._known.values():
            is_free = not each.done and each.session_id not in self._found
            if is_free and (each.agent, each.instruction) == wanted:
                self._found.add(each.session_id)
                return each
        return None

    def began(self, about: KeptChild, session: LiveSession) -> None:
        found = session.coordinator.get_capability(CHILDREN)
        ending = EndedCalls(session.coordinator) if self._listens else None
        family = found if isinstance(found, Family) else None
        self._running[session.session_id] = _Running(about, session, family, ending)

    async def ended(self, session_id: str, messages: Sequence[Message]) -> None:
        """Note that an agent has answered."""
        if (running := self._running.get(session_id)) is not None:
            children = await running.children()
            self._known[session_id] = replace(running.about, messages=messages, done=True, children=children)

    def left(self, session_id: str) -> None:
        self._running.pop(session_id, None)

    @property
    def running(self) -> list[LiveSession]:
        return [each.session for each in self._running.values()]

    async def kept(self) -> list[KeptChild]:
        """Return all agents as they are now, with what was said in them."""
        running = [await each.kept() for each in self._running.values()]
        return [*(each for name, each in self._known.items() if name not in self._running), *running]


def busy(coordinator: Any) -> int:
    """Count what a session is doing, its agents included: tools that run, and models that are asked.

    A call that started an agent does nothing itself.
    """
    running = len(coordinator.cancellation.running_tools)
    if not running:
        return 1
    family = coordinator.get_capability(CHILDREN)
    inside = family.running if isinstance(family, Family) else []
    return max(0, running - len(inside)) + sum(busy(each.coordinator) for each in inside)


async def children_of(coordinator: Any) -> list[KeptChild]:
    """Return the agents that a session has started, as they are now."""
    family = coordinator.get_capability(CHILDREN)
    return await family.kept() if isinstance(family, Family) else []
