"""A run that is cut short: it stays cancelled, and what it did is told."""

from __future__ import annotations

import asyncio

import pytest
from tests.support.fake_world import FakeWorld


def interrupt(world: FakeWorld, text: str, hang: str = "hang") -> None:
    """Runs until a script with that word is running, and cancels then."""

    async def scenario() -> None:
        reached = asyncio.Event()

        async def forever() -> None:
            reached.set()
            await asyncio.Event().wait()

        world.shell.answers[hang] = forever
        task = asyncio.create_task(world.start(text))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())


def test_finished_running_and_unreached_steps_are_told_apart() -> None:
    world = FakeWorld()
    interrupt(
        world,
        "name: r\nsteps:\n  - {id: a, command: one}\n  - {id: b, command: hang}\n  - {id: c, command: x}\n",
    )
    result = world.result
    assert (result.ending, result.success, result.never_reached) == ("interrupted", False, ("c",))
    assert [(step.step_id, step.status, step.error) for step in result.step_results] == [
        ("a", "completed", ""),
        ("b", "interrupted", "interrupted before it was done"),
    ]
    assert world.shell.running == 0


def test_what_was_done_inside_loops_and_sub_recipes_is_kept() -> None:
    child = (
        "name: child\nsteps:\n  - {id: x, command: one}\n"
        "  - {id: y, foreach: [1, 2], steps: [{id: z, command: two}, {id: h, command: hang}]}\n"
    )
    world = FakeWorld(recipes={"child": child})
    interrupt(world, "name: r\nsteps:\n  - {id: call, recipe: child}\n")
    (call,) = world.result.step_results
    assert [(each.identity, each.status) for each in call.children] == [
        ("call/x", "completed"),
        ("call/y", "interrupted"),
    ]
    (first_round,) = call.children[1].children
    assert [(each.identity, each.status) for each in first_round.children] == [
        ("call/y[0]/z", "completed"),
        ("call/y[0]/h", "interrupted"),
    ]


def test_every_member_of_a_group_is_ended() -> None:
    members = "".join(f"  - {{id: m{n}, command: hang{n}, parallel_group: g}}\n" for n in range(3))
    world = FakeWorld({"hang2": "quick"})
    interrupt(world, f"name: r\nsteps:\n{members}")
    assert [(each.step_id, each.status) for each in world.result.step_results] == [
        ("m0", "interrupted"),
        ("m1", "interrupted"),
        ("m2", "completed"),
    ] or [each.status for each in world.result.step_results] == ["interrupted"] * 3
    assert world.shell.running == 0
