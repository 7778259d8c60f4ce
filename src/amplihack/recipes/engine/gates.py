"""Reach the gates of a run: record them, ask whoever is there, and let the run wait where nobody is.

A stage has at most one gate. A tool that an agent wants to use has one each time it must be asked for. When
an agent goes on that waited, the same words get the answer that came meanwhile; none is used twice.
"""

from __future__ import annotations

import asyncio
from itertools import count

from amplihack.recipes.agent_port import Decision
from amplihack.recipes.engine.job import Job, Run
from amplihack.recipes.events import AgentPaused, GateDecided, GateReached
from amplihack.recipes.run_parts import Gate
from amplihack.records import replace


async def decide(
    run: Run, reached: GateReached, question: str, *, expired: Decision | None = None
) -> Decision | None:
    """Record that a gate is reached and how it is decided; None if there is nobody to ask.

    `expired` is the answer of a gate whose time is up.
    """
    run.record(reached)
    decision = await _ask(run, reached, question, expired)
    if decision is not None:
        run.record(
            GateDecided(
                reached.stage,
                decision.approved,
                decision.message,
                reached.identity,
                decision.by,
                run.world.clock.wall(),
                reached.step,
            )
        )
    return decision


async def _ask(run: Run, reached: GateReached, question: str, expired: Decision | None) -> Decision | None:
    if run.options.approve_all:
        return Decision(True, by="--yes")
    async with run.person:
        left = None if reached.due is None else reached.due - run.world.clock.wall()
        if left is not None and left <= 0:  # nobody can answer any more, not even at a terminal
            return expired
        try:
            async with asyncio.timeout(left):
                return await run.world.approver.decide(question, reached.prompt)
        except TimeoutError:
            return expired


def wait(run: Run, who: str) -> None:
    """End the run at a gate, until somebody has answered."""
    run.ending = "waiting"
    run.ending_reason = (
        f"{who} waits for a person's approval, and nobody has answered here; {run.options.how_to_answer}"
    )


class ToolGates:
    """The gates of what an agent's tools want to do, for one question that a step puts to it.

    `paused` is where the agent waited before. Where the run cannot wait, nobody there means no.
    """

    def __init__(self, job: Job, paused: AgentPaused | None = None, *, may_wait: bool = False) -> None:
        self._job, self._paused = job, paused
        self._may_wait = may_wait and job.run.options.answered_later
        known = job.run.state.tool_gates(job.identity)
        decided = {identity for identity, gate in known if gate.approved is not None}
        # The gates whose answers count no more: all that were not given while the agent waited.
        self.used = decided if paused is None else {*paused.used}

    async def allow(self, prompt: str) -> Decision | None:
        """Return a person's answer, from before or from now; None if the run is to wait for one."""
        run, step = self._job.run, self._job.identity
        found = self._same(prompt)
        identity, gate = found or (self._new(), None)
        if gate is not None and gate.approved is not None:
            self._use(identity)
            return Decision(gate.approved, gate.message, gate.by)
        reached = GateReached(step, prompt, identity, step=step)
        decision = await decide(run, reached, f"Allow it, in step '{step}'?")
        if decision is None and not self._waits():
            decision = self._refuse(reached)
        if decision is not None:
            self._use(identity)
        return decision

    def _use(self, identity: str) -> None:
        """Note that an answer counts no more, before the tool begins: a kill must not let it do it twice.

        An agent whose conversation is not kept does everything again, and is answered again.
        """
        self.used.add(identity)
        if self._paused is not None and self._paused.state:
            self._job.run.record(replace(self._paused, used=tuple(sorted(self.used))))

    def keep(self, state: str) -> None:
        """Keep where the agent is, with the results of what was asked about: it need not be done again."""
        if self._may_wait:
            self._paused = AgentPaused(self._job.identity, state, tuple(sorted(self.used)))
            self._job.run.record(self._paused)

    def _same(self, prompt: str) -> tuple[str, Gate] | None:
        """Return the first gate of the step that asked the same and whose answer is not used."""
        known = self._job.run.state.tool_gates(self._job.identity)
        return next((each for each in known if each[1].prompt == prompt and each[0] not in self.used), None)

    def _new(self) -> str:
        known = self._job.run.state.gates()
        names = (f"{self._job.identity}/tool-{number}" for number in count(1))
        return next(name for name in names if name not in known)

    def _waits(self) -> bool:
        """Tell whether the run can wait here: not after its end, and not for what is denied anyway."""
        return self._may_wait and not self._job.frame.closing and self._job.run.ending in (None, "waiting")

    def _refuse(self, reached: GateReached) -> Decision:
        """Deny what nobody can be asked about, so that no gate is left open behind us."""
        run, why = self._job.run, "there is nobody to ask"
        now = run.world.clock.wall()
        run.record(GateDecided(reached.stage, False, why, reached.identity, "", now, reached.step))
        return Decision(False, why)
