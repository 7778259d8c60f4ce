"""What the kernel leaves to whoever uses it: plain event data, one copy of a package, one search."""

from __future__ import annotations

import asyncio
import json
import re
from decimal import Decimal
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from amplifier_core import ToolResult
from tests.support.ecosystem import MODULES, TOOL, House
from tests.support.kernel_sessions import Lambda, opened, plan

from amplifier_foundation import run_session_in_subprocess
from amplihack.sessions.errors import ModulesFailed

# What Python makes of an object that is no JSON, and nothing that anybody wants to hear of it.
REPR = re.compile(r"\w+\(\w+=|<[\w.]+ object at 0x|^b['\"]|Decimal\(|datetime\.")


class _Strange:
    pass


_around: dict[str, Any] = {"a": 1}
_around["itself"] = _around
# What tools give, and what events and models get of it.
GIVEN: dict[str, tuple[Any, Any]] = {
    "plain": ({"a": [1, None, 2.5, "é"]}, {"a": [1, None, 2.5, "é"]}),
    "text": ("said", "said"),
    "nothing": (None, None),
    "bytes": ({"data": "é".encode()}, {"data": "é"}),
    "tuple": ((1, {"deep": (2,)}), [1, {"deep": [2]}]),
    "set": ({"of": {2, 1}}, {"of": [1, 2]}),
    "decimal": ({"price": Decimal("0.1")}, {"price": "0.1"}),
    "key": ({(1, 2): "x"}, {"(1, 2)": "x"}),
    "circle": (_around, {"a": 1}),
}


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.items() for part in each for text in _texts(part)]
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("kind", [*GIVEN, "object"])
def test_events_of_our_loops_carry_data_and_no_objects(kind: str) -> None:
    """K5: event data crosses a JSON boundary, where an object becomes the text that Python has for it."""
    output, expected = GIVEN.get(kind, ({"thing": _Strange()}, None))

    async def give(_: dict[str, Any]) -> Any:
        return ToolResult(success=True, output=output)

    steps = [{"text": "I look.", "tools": [{"name": "give", "input": {}}]}, {"text": "done"}]

    async def story() -> tuple[list[tuple[str, dict[str, Any]]], Any]:
        async with opened(plan(steps=steps), tools=[Lambda("give", give)]) as stage:
            assert await stage.say("hello") == "done"
            (told,) = (each["content"] for each in await stage.messages() if each["role"] == "tool")
            return stage.recorder.events, told

    events, told = asyncio.run(story())
    assert {"tool:pre", "tool:post", "llm:response", "orchestrator:complete"} <= {name for name, _ in events}
    (ended,) = (data for name, data in events if name == "tool:post")
    assert ended["result"]["success"] is True  # it ran, whatever it gave
    if kind != "object":
        assert ended["result"]["output"] == expected
        assert told == ("Success" if expected is None else expected) or json.loads(told) == expected
        assert not [text for _, data in events for text in _texts(data) if REPR.search(text)]


def test_what_one_handler_hears_no_other_can_change_beneath_it(house: House) -> None:
    """K5: nobody gets the object that was sent, and nobody else's."""

    async def story() -> None:
        async with (await house.prepare()).create_session() as session:
            sent: dict[str, Any] = {"list": [1]}
            heard: list[dict[str, Any]] = []

            async def spoil(_: str, data: dict[str, Any]) -> None:
                heard.append(data)
                data["list"].append("spoiled")

            for number in range(2):
                session.coordinator.hooks.register("x", spoil, priority=number, name=f"spoil-{number}")
            await session.coordinator.hooks.emit("x", sent)
            assert sent == {"list": [1]}
            assert [each["list"] for each in heard] == [[1, "spoiled"], [1, "spoiled"]]

    asyncio.run(story())


def test_another_copy_of_a_package_is_refused_here_and_runs_in_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K13: a process holds one copy of a package."""
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path / "home"))
    houses = []
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        each = House(tmp_path / name / "house")
        file = each.directory / "modules/tool-echo/amplifier_module_tool_echo/__init__.py"
        file.write_text(TOOL.replace("{said} in", f"{name} copy: {{said}} in"))
        houses.append(each)
    old, new = houses

    async def story() -> None:
        first, second = await old.prepare(strict=True), await new.prepare(strict=True)
        async with first.create_session(session_cwd=old.work) as session:
            assert await session.execute("call echo x") == f"tool said: old copy: x in {old.work}"
            with pytest.raises(ModulesFailed, match="already loaded from") as caught:
                await second.create_session()
            assert "another process" in caught.value.fix
            paths = {name: each["path"] for name, each in second.module_exports.items()}
            said = await run_session_in_subprocess(
                second.mount_plan, "call echo x", session.session_id, new.work, module_paths=paths
            )
            assert said == f"tool said: new copy: x in {new.work}"
            assert await session.execute("call echo y") == f"tool said: old copy: y in {old.work}"

    asyncio.run(story())


def test_installed_modules_are_looked_for_once_however_many_there_are(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K14: a search reads the metadata of every distribution."""
    site = tmp_path / "site"
    names = [f"tool-n{number}" for number in range(5)]
    info = site / "house_many-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house-many\nVersion: 1\n")
    lines = "".join(f"{name} = house_{name.replace('-', '_')}:mount\n" for name in names)
    (info / "entry_points.txt").write_text(f"[amplifier.modules]\n{lines}")
    for name in names:
        code = MODULES["tool-echo"].replace('return "echo"', f'return "{name}"')
        (site / f"house_{name.replace('-', '_')}.py").write_text(code)
    monkeypatch.syspath_prepend(site)
    house.change("tools:\n", "tools:\n" + "".join(f"  - {{module: {name}}}\n" for name in names))
    searches: list[Any] = []
    search = metadata.entry_points

    def counted(**wanted: Any) -> Any:
        searches.append(wanted)
        return search(**wanted)

    monkeypatch.setattr(metadata, "entry_points", counted)

    async def story() -> None:
        prepared = await house.prepare(strict=True)
        for _ in range(3):
            async with prepared.create_session() as session:
                assert session.load_failures == ()
                assert set(names) <= set(session.coordinator.get("tools"))

    asyncio.run(story())
    assert len(searches) == 1
