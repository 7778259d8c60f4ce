"""Agents run as children of a session: under its policy, within its depth, at its cost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.support.ecosystem import DELEGATE, NAMES, House
from tests.support.kernel_sessions import Shown

from amplifier_foundation import Bundle, ProviderPreference, load_bundle
from amplifier_foundation.bundle import PreparedBundle
from amplihack.sessions.errors import SpawnRefused, TurnCancelled
from amplihack.system.kernel.session import LiveSession

AGENTS = """
agents:
  helper:
    description: Helps.
    instruction: You help, as told in @house:context/rules.md
  lonely:
    description: Calls nobody.
    instruction: Alone.
    agents: none
  picky:
    description: Wants another model.
    instruction: Picky.
    provider_preferences: [{provider: scripted, model: "small-*"}]
spawn:
  exclude_tools: [tool-echo]
"""


@pytest.fixture
def family(house: House) -> House:
    house.add("tools", "tool-delegate", DELEGATE)
    house.add("tools", "tool-names", NAMES)
    house.change("---\n\nYou are", f"{AGENTS.strip()}\n---\n\nYou are")
    return house


def told(house: House, *prompts: str, **options: Any) -> list[str]:
    async def story() -> list[str]:
        async with (await house.prepare()).create_session(session_cwd=house.work, **options) as session:
            return [await session.execute(each) for each in prompts]

    return asyncio.run(story())


def test_a_child_has_the_tools_that_the_policy_leaves_and_its_own_instruction(family: House) -> None:
    tools, system = told(family, "call delegate helper call names", "call delegate helper system")
    assert tools == "tool said: tool said: delegate names"
    assert "You help" in system
    assert "Never guess." in system
    assert "careful helper" not in system


def test_an_unknown_agent_and_one_that_may_not_be_called_are_refused(family: House) -> None:
    unknown, lonely = told(
        family, "call delegate nobody hello", "call delegate lonely call delegate helper hello"
    )
    assert "SpawnRefused: unknown agent: 'nobody' (the agents here are helper, lonely, picky)" in unknown
    assert "SpawnRefused: unknown agent: 'helper'" in lonely


def test_a_mistyped_agent_is_told_which_one_was_meant(family: House) -> None:
    (answer,) = told(family, "call delegate helpr hello")
    assert "did you mean 'helper'?" in answer


def test_a_policy_of_an_agent_that_says_nothing_about_tools_leaves_the_bundles(family: House) -> None:
    family.change("  lonely:\n", "  lonely:\n    spawn: {max_depth: 2}\n")
    shown = Shown()
    (tools,) = told(family, "call delegate lonely call names", display_system=shown)
    assert tools == "tool said: tool said: delegate names"
    assert "agent lonely: spawn.max_depth of an agent does nothing" in " ".join(shown.lines)


@pytest.mark.parametrize(
    ("policy", "what"),
    [
        ("{exclude_tool: [names]}", "agent lonely: spawn.exclude_tool is unknown and does nothing"),
        ("{tools: [nobody]}", "agent lonely: spawn.tools names 'nobody', and there is no such tool"),
        ("{exclude_tools: 7}", "agent lonely: spawn.exclude_tools: 7 means nothing"),
    ],
)
def test_what_is_wrong_with_the_policy_of_an_agent_is_told_at_once(
    family: House, policy: str, what: str
) -> None:
    family.change("  lonely:\n", f"  lonely:\n    spawn: {policy}\n")
    shown = Shown()
    told(family, display_system=shown)
    assert what in " ".join(shown.lines)


def test_a_caller_that_names_no_parent_means_the_session_that_it_belongs_to(family: House) -> None:
    family.change("---\n\nYou are", "  max_depth: 1\n---\n\nYou are")
    tool = family.directory / "modules/tool-delegate/amplifier_module_tool_delegate/__init__.py"
    tool.write_text(tool.read_text().replace("parent_session=self.coordinator.session,", ""))

    async def story() -> None:
        async with (await family.prepare()).create_session(session_id="root") as session:
            seen: list[str | None] = []
            children = session.coordinator.get_capability("session.children")
            began = children.began

            def note(about: Any, child: LiveSession) -> None:
                seen.append(child.parent_id)
                began(about, child)

            children.began = note
            assert "1 may be" in await session.execute("call delegate helper call delegate helper hello")
            assert seen == ["root"]
            assert session.usage.calls == 4

    asyncio.run(story())


@pytest.mark.parametrize("name", ["../evil", "a/b", ".hidden", "x" * 300, "root"])
def test_an_id_that_no_child_can_have_is_refused(family: House, name: str) -> None:
    async def story() -> None:
        async with (await family.prepare()).create_session(session_id="root") as session:
            spawn = session.coordinator.get_capability("session.spawn")
            with pytest.raises(SpawnRefused):
                await spawn("helper", "hello", session, sub_session_id=name)

    asyncio.run(story())


@pytest.mark.parametrize(("agent", "instruction"), [(None, "x"), (7, "x"), ("helper", None), ("helper", [])])
def test_what_is_no_name_and_no_instruction_is_refused(family: House, agent: Any, instruction: Any) -> None:
    async def story() -> None:
        async with (await family.prepare()).create_session() as session:
            with pytest.raises(SpawnRefused):
                await session.coordinator.get_capability("session.spawn")(agent, instruction, session)

    asyncio.run(story())


def test_a_child_does_one_thing_at_a_time(family: House) -> None:
    async def story() -> None:
        async with (await family.prepare()).create_session() as session:
            spawn = session.coordinator.get_capability("session.spawn")
            calls = (spawn("helper", "hello", session, sub_session_id="one") for _ in range(2))
            answers: list[Any] = await asyncio.gather(*calls, return_exceptions=True)
            first, second = answers
            assert first["output"] == "you said: hello"
            assert isinstance(second, SpawnRefused)
            assert "one is at work" in str(second)
            resume = session.coordinator.get_capability("session.resume")
            assert (await resume("one", "again"))["output"] == "you said: again"

    asyncio.run(story())


def test_children_stop_at_the_depth_limit(family: House) -> None:
    down = "call delegate helper "
    (at_limit,) = told(family, f"{down * 3}hello")
    (beyond,) = told(family, f"{down * 4}hello")
    assert "you said: hello" in at_limit
    assert "SpawnRefused: helper would be session number 4 below the first one; 3 may be" in beyond


def test_a_bundle_may_allow_fewer_levels(family: House) -> None:
    family.change("spawn:\n", "spawn:\n  max_depth: 1\n")
    (answer,) = told(family, "call delegate helper call delegate helper hello")
    assert "1 may be" in answer


def test_preferences_of_an_agent_choose_the_newest_model_that_matches(family: House) -> None:
    (answer,) = told(family, "call delegate picky hello")
    assert answer == "tool said: small-2you said: hello"


@pytest.mark.parametrize(
    ("wish", "told_of"),
    [
        ("[{provider: elsewhere, model: x}]", "wished for elsewhere/x; the mount plan has provider-scripted"),
        ('[{provider: scripted, model: "huge-*"}]', "wished for scripted/huge-*"),
    ],
)
def test_preferences_that_nothing_here_meets_are_told_and_the_parents_model_answers(
    family: House, wish: str, told_of: str
) -> None:
    family.change('[{provider: scripted, model: "small-*"}]', wish)
    shown = Shown()
    (answer,) = told(family, "call delegate picky hello", display_system=shown)
    assert answer == "tool said: you said: hello"
    assert told_of in " ".join(shown.lines), shown.lines


@pytest.mark.parametrize("wish", ["small-2", "[small-2]", "{provider: scripted, model: x}", "[{model: x}]"])
def test_preferences_that_mean_nothing_are_refused(family: House, wish: str) -> None:
    family.change('[{provider: scripted, model: "small-*"}]', wish)
    (answer,) = told(family, "call delegate picky hello")
    assert "SpawnRefused: provider_preferences" in answer


def test_a_policy_may_name_tools_as_well_as_modules(family: House) -> None:
    family.change("exclude_tools: [tool-echo]", "exclude_tools: [echo, delegate]")
    (tools,) = told(family, "call delegate helper call names")
    assert tools == "tool said: tool said: names"


def test_a_tool_that_an_agent_declares_itself_stays_though_the_policy_names_it(family: House) -> None:
    family.change("exclude_tools: [tool-echo]", "exclude_tools: [echo]")
    family.change("  lonely:\n", "  lonely:\n    tools: [{module: tool-echo}]\n")
    (tools,) = told(family, "call delegate lonely call names")
    assert tools == "tool said: tool said: delegate echo names"


def test_a_caller_may_take_a_tool_away_by_its_name(family: House) -> None:
    family.change(
        "{module: tool-delegate,",
        "{module: tool-delegate, config: {more: {tool_inheritance: {exclude_tools: [delegate]}}},",
    )
    (tools,) = told(family, "call delegate helper call names")
    assert tools == "tool said: tool said: names"


def test_tokens_and_cost_of_children_count_for_their_parent(family: House) -> None:
    async def story() -> None:
        async with (await family.prepare()).create_session() as session:
            await session.execute("call delegate helper call delegate helper hello")
            assert session.usage.calls == 5
            assert str(await session.cost_usd()) == "0.05"
            (child,) = session.coordinator.session_state["children"]
            assert child["session_id"].endswith("_helper")
            assert (child["status"], child["turn_count"]) == ("success", 2)

    asyncio.run(story())


def test_the_child_knows_its_parent_and_its_directory(family: House) -> None:
    seen: list[tuple[str | None, int, str]] = []

    async def story() -> None:
        prepared = await family.prepare()
        async with prepared.create_session(session_id="root", session_cwd=family.work) as session:

            def look(child: LiveSession) -> None:
                directory = child.coordinator.get_capability("session.working_dir")
                seen.append((child.parent_id, child.depth, directory))

            await prepared.spawn(
                Bundle(name="kid"), "hello", parent_session=session, on_child_initialized=look
            )

    asyncio.run(story())
    assert seen == [("root", 1, str(family.work))]


def test_cancelling_the_parent_ends_the_whole_tree(family: House) -> None:
    ended: list[str] = []

    async def story() -> None:
        prepared = await family.prepare()
        async with prepared.create_session() as session:
            session.coordinator.register_capability("told", ended)
            running = asyncio.ensure_future(
                session.execute("call delegate helper call delegate helper wait for ever")
            )
            await asyncio.sleep(0.5)
            assert await session.cancel(immediate=True)
            with pytest.raises(TurnCancelled):
                await running
            assert not [each for each in asyncio.all_tasks() if "execute" in repr(each)]
            assert await session.execute("go on") == "you said: go on"

    asyncio.run(story())


def test_cancelling_a_session_ends_children_that_no_turn_of_its_own_started(family: House) -> None:
    async def story() -> None:
        async with (await family.prepare()).create_session() as session:
            spawn = session.coordinator.get_capability("session.spawn")
            children = session.coordinator.get_capability("session.children")
            working = [asyncio.ensure_future(spawn("helper", "wait", session)) for _ in range(2)]
            begun: list[Any] = []
            while len(begun) < 2 or not all(begun):
                await asyncio.sleep(0.01)
                begun = [await each.messages() for each in children.running]
            assert await session.cancel(immediate=True)
            done, _ = await asyncio.wait(working, timeout=30)
            assert [type(each.exception()) for each in done] == [TurnCancelled, TurnCancelled]
            assert await session.execute("go on") == "you said: go on"

    asyncio.run(story())


def test_many_children_run_side_by_side(family: House) -> None:
    async def story() -> None:
        prepared = await family.prepare()
        async with prepared.create_session() as session:
            spawn = session.coordinator.get_capability("session.spawn")
            answers = await asyncio.gather(
                *(
                    spawn(agent_name="helper", instruction=f"number {each}", parent_session=session)
                    for each in range(20)
                )
            )
            assert [each["output"] for each in answers] == [f"you said: number {each}" for each in range(20)]
            assert len({each["session_id"] for each in answers}) == 20
            assert session.usage.calls == 20

    asyncio.run(story())


def test_a_child_goes_on_where_it_stopped(family: House) -> None:
    async def story() -> None:
        prepared = await family.prepare()
        async with prepared.create_session() as session:
            spawn = session.coordinator.get_capability("session.spawn")
            resume = session.coordinator.get_capability("session.resume")
            first = await spawn(agent_name="helper", instruction="one", parent_session=session)
            second = await resume(first["session_id"], "two")
            assert second["session_id"] == first["session_id"]
            assert second["output"] == "you said: two"
            with pytest.raises(SpawnRefused, match="unknown child session"):
                await resume("nobody", "x")

    asyncio.run(story())


def test_an_error_in_a_child_keeps_its_type_and_names_the_child(family: House) -> None:
    async def story() -> None:
        prepared = await family.prepare()
        async with prepared.create_session() as session:
            spawn = session.coordinator.get_capability("session.spawn")
            with pytest.raises(Exception, match="slow down") as caught:
                await spawn(agent_name="helper", instruction="fail", parent_session=session)
            assert type(caught.value).__name__ == "RateLimitError"
            assert any("in the child session" in note for note in caught.value.__notes__)

    asyncio.run(story())


# `PreparedBundle.spawn` ------------------------------------------------------------------------------------


async def spawned(
    prepared: PreparedBundle, child: Bundle, instruction: str, **options: Any
) -> dict[str, Any]:
    async with prepared.create_session() as session:
        return await prepared.spawn(child, instruction, parent_session=session, **options)


def test_a_bundle_as_child_brings_its_own_modules_and_keeps_to_the_policy(family: House) -> None:
    file = family.write(
        "kid/bundle.md",
        """\
        ---
        bundle: {name: kid}
        tools:
          - {module: tool-kid, source: ./modules/tool-kid}
        ---
        You are the kid.
        """,
    )
    family.write(
        "kid/modules/tool-kid/amplifier_module_tool_kid/__init__.py",
        NAMES.replace('"names"', '"kid"').replace('name="names"', 'name="kid"'),
    )

    async def story() -> dict[str, Any]:
        return await spawned(await family.prepare(), await load_bundle(str(file)), "call kid")

    answer = asyncio.run(story())
    assert answer["output"] == "tool said: delegate kid names"


def test_what_an_app_changed_in_the_plan_reaches_children(family: House) -> None:
    async def story() -> dict[str, Any]:
        prepared = await family.prepare()
        prepared.mount_plan["spawn"] = {"tools": ["tool-names"]}
        return await spawned(prepared, Bundle(name="kid"), "call names")

    assert asyncio.run(story())["output"] == "tool said: names"


@pytest.mark.parametrize("plain", [False, True])
def test_a_caller_chooses_model_loop_and_messages(family: House, plain: bool) -> None:
    wish: Any = ProviderPreference("scripted", "large-*")
    seen: list[Any] = []

    async def look(child: LiveSession) -> None:
        seen.append(child.config["session"]["orchestrator"]["config"])
        seen.append(await child.messages())
        seen.append(child.coordinator.get_capability("self_delegation_depth"))

    async def story() -> dict[str, Any]:
        return await spawned(
            await family.prepare(),
            Bundle(name="kid"),
            "hello @AGENTS.md",
            provider_preferences=[wish.to_dict() if plain else wish],
            orchestrator_config={"max_iterations": 7},
            parent_messages=[{"role": "user", "content": "before"}, {"role": "assistant", "content": "yes"}],
            self_delegation_depth=2,
            on_child_initialized=look,
        )

    answer = asyncio.run(story())
    assert answer["output"].startswith("large-1you said: hello")
    assert seen[0] == {"max_iterations": 7}
    assert [each["content"] for each in seen[1]] == ["before", "yes"]
    assert seen[2] == 2


def test_a_child_that_takes_too_long_is_ended(family: House) -> None:
    async def story() -> None:
        prepared = await family.prepare()
        async with prepared.create_session() as session:
            with pytest.raises(TimeoutError):
                await prepared.spawn(Bundle(name="kid"), "wait", parent_session=session, timeout=0.3)
            assert await session.execute("go on") == "you said: go on"

    asyncio.run(story())


def test_a_policy_that_cannot_be_read_is_told_at_once_and_nobody_is_spawned(family: House) -> None:
    async def story() -> None:
        prepared = await family.prepare()
        prepared.mount_plan["spawn"] = {"exclude_tools": 7}
        async with prepared.create_session() as session:
            (problem,) = session.problems
            assert "spawn.exclude_tools: 7 means nothing" in problem.what
            assert "SpawnRefused" in await session.execute("call delegate helper hello")

    asyncio.run(story())
