"""Sessions against the bare kernel with the same modules, and preparing against installing one by one."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from benchmarks.bench import Bench
from benchmarks.measure import Work, function
from benchmarks.table import Row
from tests.support.ecosystem import House

from amplifier_foundation.bundle import PreparedBundle
from amplihack.app.sessions.opening import open_session
from amplihack.records import replace
from amplihack.system.session_store.store import SessionStore

_CALLS = 100
_MODULES = 7
# Calls a tool a hundred times in one turn, without any model.
_LOOP = """
__amplifier_module_type__ = "orchestrator"


class Loop:
    async def execute(self, prompt, context, providers, tools, hooks, coordinator=None, **kwargs):
        await context.add_message({"role": "user", "content": prompt})
        for number in range(int(prompt)):
            call = {"id": str(number), "tool": "echo", "arguments": {"text": "x"}}
            await context.add_message({"role": "assistant", "content": "", "tool_calls": [call]})
            await hooks.emit("tool:pre", {"tool_name": "echo", "tool_input": {"text": "x"}})
            found = await tools["echo"].execute({"text": "x"})
            await hooks.emit("tool:post", {"tool_name": "echo", "result": found.model_dump(mode="json")})
            said = {"role": "tool", "tool_call_id": str(number), "content": str(found.output)}
            await context.add_message(said)
        await context.add_message({"role": "assistant", "content": "done"})
        return "done"


async def mount(coordinator, config=None):
    await coordinator.mount("orchestrator", Loop())
"""


def sessions(bench: Bench) -> list[Row]:
    """Measure what our session adds to the kernel's: opening, a turn, a hundred calls, kept and not kept."""
    house = House(bench.folder / "sessions" / "house")
    file = house.directory / "modules/loop-plain/amplifier_module_loop_plain/__init__.py"
    file.write_text(_LOOP)
    runner = asyncio.Runner()
    prepared: PreparedBundle = runner.run(house.prepare(strict=True))
    runner.run(_bare(prepared, house.work, None))  # what the first session of a process imports is not ours

    def work(story: Coroutine[Any, Any, None]) -> None:
        runner.run(story)

    store = SessionStore(bench.folder / "sessions" / "store")
    works: dict[str, Work] = {
        "bare open": function(lambda: work(_bare(prepared, house.work, None))),
        "open": function(lambda: work(_ours(prepared, house.work, None))),
        "bare turn": function(lambda: work(_bare(prepared, house.work, 0))),
        "turn": function(lambda: work(_ours(prepared, house.work, 0))),
        "bare calls": function(lambda: work(_bare(prepared, house.work, _CALLS))),
        "calls": function(lambda: work(_ours(prepared, house.work, _CALLS))),
        "kept calls": function(lambda: work(_ours(prepared, house.work, _CALLS, store))),
    }
    found = bench.measure(works, 12, least=True)
    runner.close()
    return [
        Row(
            "a session, opened and closed",
            "the bare kernel",
            bench.ratio(found["open"], found["bare open"]),
            1.2,
        ),
        Row(
            "a session with one turn", "the bare kernel", bench.ratio(found["turn"], found["bare turn"]), 1.2
        ),
        Row("100 tool calls", "the bare kernel", bench.ratio(found["calls"], found["bare calls"]), 1.2),
        Row(
            "100 tool calls, kept on disk",
            "the bare kernel",
            bench.ratio(found["kept calls"], found["bare calls"]),
            1.3,
        ),
    ]


async def _bare(prepared: PreparedBundle, work: Path, calls: int | None) -> None:
    """Open a session as a program without us would: the kernel, its own loader, our paths."""
    from amplifier_core import AmplifierSession

    plan = {key: value for key, value in prepared.mount_plan.items() if key != "spawn"}
    session = AmplifierSession(plan)
    await session.coordinator.mount("module-source-resolver", prepared.resolver)
    session.coordinator.register_capability("session.working_dir", str(work))
    await session.initialize()
    if calls is not None:
        await session.execute(str(calls))
    await session.cleanup()


async def _ours(
    prepared: PreparedBundle, work: Path, calls: int | None, store: SessionStore | None = None
) -> None:
    spec = prepared._spec(prepared.bundle, work)
    if store is not None:
        name = f"s-{len(store.ids())}"
        spec = replace(spec, session_id=name, log=await store.create(name))
    session = await open_session(spec)
    if calls is not None:
        await session.execute(str(calls))
    await session.cleanup()


def preparing(bench: Bench) -> list[Row]:
    """Compare preparing seven modules whose builds take a second with preparing one, and one after the other.

    By the clock: what is measured is waiting. The builds are real, by uv or pip, and need no network. Beside
    them stand the bare processes of the builds, which nobody can do without.
    """
    count = 0

    def prepared(modules: int, *, together: bool) -> Work:
        def action() -> None:
            nonlocal count
            count += 1
            asyncio.run(_prepare(bench.folder / "preparing" / str(count), modules, together=together))

        return function(action)

    works = {
        "one": prepared(1, together=True),
        "seven": prepared(_MODULES, together=True),
        "serial": prepared(_MODULES, together=False),
        "bare one": function(lambda: asyncio.run(_bare_builds(1))),
        "bare seven": function(lambda: asyncio.run(_bare_builds(_MODULES))),
    }
    found = bench.measure(works, 6)
    what = f"{_MODULES} modules whose builds take 1 s, prepared"
    return [
        Row(what, "one after the other", found["seven"].wall / found["serial"].wall, 0.3),
        Row(what, "one such module", found["seven"].wall / found["one"].wall, 1.5),
        Row("its bare processes", "those of one", found["bare seven"].wall / found["bare one"].wall),
        Row(what, "its bare processes", found["seven"].wall / found["bare seven"].wall, 2.5),
    ]


async def _bare_builds(count: int) -> None:
    """Start what a build needs at least: Python, once."""

    async def build() -> None:
        code = "import json, time; time.sleep(1)"
        process = await asyncio.create_subprocess_exec(sys.executable, "-I", "-c", code)
        await process.wait()

    await asyncio.gather(*(build() for _ in range(count)))


async def _prepare(place: Path, count: int, *, together: bool) -> None:
    from tests.support.ecosystem import TOOL
    from tests.support.packages import make_self_building

    from amplifier_foundation.modules import ModuleActivator

    house = House(place / "house")
    modules = []
    for number in range(count):
        name = f"tool-bench{number}"
        house.add("tools", name, TOOL)
        project = house.directory / "modules" / name
        make_self_building(project, name, seconds=1.0)
        modules.append({"module": name, "source": str(project)})
    path = list(sys.path)
    activator = ModuleActivator(place / "cache", strict=True)
    for some in [modules] if together else [[each] for each in modules]:
        await activator.activate_all(some)
    sys.path[:] = path
