"""Gates of what an agent's tools want to do: one for each question, and each answer counts once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.support.fake_world import FakeAgent, FakeApprover, FakeWorld, only, statuses

from amplihack.recipes.agent_port import AgentFailed, AgentReply, AgentRequest, AgentWaits, Decision, Usage
from amplihack.recipes.doubts import in_doubt
from amplihack.recipes.events import AgentPaused, GateDecided, GateReached
from amplihack.recipes.run_state import RunState

ASK = "name: r\nsteps:\n  - {id: ask, prompt: go}\n  - {id: after, command: next}\n"


@dataclass
class ToolAgent(FakeAgent):
    """Wants to use tools, in order, and waits at the first question that nobody answers."""

    tools: list[str] = field(default_factory=lambda: ["Allow rm?"])
    heard: list[Decision | None] = field(default_factory=list)

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        self.requests.append(request)
        on_line("thinking")
        begin = int(request.paused or 0)
        for number, tool in enumerate(self.tools[begin:], begin):
            self.heard.append(decision := await request.allow(tool))
            if decision is None:
                request.paid(Usage(input_tokens=1, output_tokens=1), 0.5)
                raise AgentWaits("a tool waits", state=str(number))
        return AgentReply(text="done", cost_usd=0.25, went_on=bool(request.paused))


def world_with(*tools: str) -> FakeWorld:
    world = FakeWorld()
    world.agent = ToolAgent(tools=list(tools) or ["Allow rm?"])
    return world


def heard(world: FakeWorld) -> list[Decision | None]:
    assert isinstance(world.agent, ToolAgent)
    found, world.agent.heard = world.agent.heard, []
    return found


def next_life(world: FakeWorld, *answers: GateDecided) -> None:
    world.journal.past += [*world.journal.events, *answers]
    world.journal.events = []
    world.approver = FakeApprover([None])


def answer(world: FakeWorld, approved: bool, number: int = 1) -> GateDecided:
    return GateDecided("ask", approved, "so be it", f"ask/tool-{number}", "Ann", 5.0, "ask")


def test_a_person_at_the_terminal_is_asked_and_the_answer_is_recorded() -> None:
    world = world_with()
    world.approver.decisions = [Decision(True, by="Ann")]
    assert world.run(ASK).success
    assert world.approver.asked == [("Allow it, in step 'ask'?", "Allow rm?")]
    (decided,) = world.journal.of(GateDecided)
    assert (decided.identity, decided.step, decided.by) == ("ask/tool-1", "ask", "Ann")


def test_the_run_waits_and_goes_on_from_there_with_the_answer() -> None:
    world = world_with("Allow ls?", "Allow rm?")
    world.approver.decisions = [Decision(True), None]
    result = world.run(ASK, answered_later=True)
    assert (result.ending, result.never_reached, result.cost_usd) == ("waiting", ("after",), 0.5)
    assert statuses(result) == {"ask": "waiting"}
    (paused,) = world.journal.of(AgentPaused)
    assert (paused.state, paused.used) == ("1", ("ask/tool-1",))
    heard(world)
    next_life(world, answer(world, False, 2))
    result = world.run(ASK, answered_later=True)
    assert (result.ending, result.cost_usd) == ("completed", 0.75)
    assert heard(world) == [Decision(False, "so be it", "Ann")]
    assert world.agent.requests[-1].paused == "1"


def test_an_answer_is_used_once_in_all_lives() -> None:
    world = world_with("Allow rm?", "Allow rm?")
    assert world.run(ASK, answered_later=True).ending == "waiting"
    next_life(world, answer(world, True))
    assert world.run(ASK, answered_later=True).ending == "waiting"  # the second time is asked anew
    assert [each.identity for each in world.journal.of(GateReached)] == ["ask/tool-2"]
    heard(world)
    next_life(world, answer(world, False, 2))
    assert world.run(ASK, answered_later=True).success
    assert heard(world) == [Decision(False, "so be it", "Ann")]


def test_an_answer_that_a_killed_life_has_used_is_asked_for_again() -> None:
    world = world_with()
    world.run(ASK, answered_later=True)
    next_life(world, answer(world, True))
    world.run(ASK, answered_later=True)
    heard(world)
    begun = [type(each).__name__ for each in world.journal.events]
    lost = world.journal.events[begun.index("AgentPaused") + 1 :]
    world.journal.events = world.journal.events[: begun.index("AgentPaused") + 1]  # and the tool has begun
    assert lost
    next_life(world)
    assert world.run(ASK, answered_later=True).ending == "waiting"
    assert heard(world) == [None]


def test_what_was_allowed_at_a_terminal_is_asked_again_after_a_crash() -> None:
    world = world_with()
    world.approver.decisions = [Decision(True)]
    world.run(ASK)
    begun = [type(each).__name__ for each in world.journal.events]
    world.journal.events = world.journal.events[: begun.index("GateDecided") + 1]
    next_life(world)
    world.approver.decisions = [Decision(False)]
    assert world.run(ASK).success
    assert len(world.approver.asked) == 1


def test_where_no_answer_can_come_later_it_is_a_no_that_leaves_no_gate_open() -> None:
    world = world_with()
    assert world.run(ASK).success
    assert heard(world) == [Decision(False, "there is nobody to ask")]
    assert [gate.approved for gate in RunState(world.journal.events).gates().values()] == [False]


def test_a_step_that_runs_after_a_failure_does_not_wait() -> None:
    world = FakeWorld({"first": 1})
    world.agent = ToolAgent()
    text = "name: r\nsteps:\n  - {id: a, command: first}\n  - {id: ask, prompt: go, finally: true}\n"
    result = world.run(text, answered_later=True)
    assert (result.ending, statuses(result)) == ("failed", {"a": "failed", "ask": "completed"})


def test_a_retry_asks_again() -> None:
    class Failing(ToolAgent):
        async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
            await super().ask(request, on_line)
            if len(self.requests) == 1:
                raise AgentFailed("busy", transient=True)
            return AgentReply(text="done")

    world = FakeWorld()
    world.agent = Failing()
    world.approver.decisions = [Decision(True), Decision(False)]
    text = ASK.replace("prompt: go", "prompt: go, retry: {max_attempts: 2, initial_delay: 0}")
    assert world.run(text).success
    assert [decision and decision.approved for decision in heard(world)] == [True, False]


def test_a_step_that_may_not_run_twice_is_in_doubt_only_if_its_conversation_is_lost() -> None:
    text = ASK.replace("prompt: go", "prompt: go, idempotent: false")
    world = world_with()
    world.run(text, answered_later=True)
    assert in_doubt(RunState(world.journal.events)) == ()
    lost = [AgentPaused("ask") if isinstance(each, AgentPaused) else each for each in world.journal.events]
    assert only(in_doubt(RunState(lost))).identity == "ask"


def test_what_was_paid_inside_a_step_that_waits_is_counted_once() -> None:
    child = (
        "name: c\nstages:\n  - name: s\n    steps: [{id: ask, prompt: go}]\n    approval: {prompt: well?}\n"
        "  - {name: t, steps: [{id: b, command: two}]}\n"
    )
    world = FakeWorld(recipes={"child": child})
    world.agent.answers = [AgentReply(text="done", cost_usd=0.25)]
    result = world.run("name: r\nsteps:\n  - {id: call, recipe: child}\n")
    assert (result.ending, result.cost_usd) == ("waiting", 0.25)


def test_an_agent_that_cannot_go_on_where_another_one_waited_is_told() -> None:
    world = world_with()
    world.approver.decisions = [None]
    assert world.run(ASK, answered_later=True).ending == "waiting"
    next_life(world, answer(world, approved=True))
    world.agent = FakeAgent()
    told = "ask: the agent began anew: it could not go on with the conversation in which a tool waited"
    assert world.run(ASK, answered_later=True).warnings == (told,)
