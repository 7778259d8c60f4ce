"""Many steps against a shell that starts bash as often."""

from __future__ import annotations

from benchmarks.bench import Bench
from benchmarks.table import Row
from benchmarks.workloads import bash_steps, foreach, sub_recipes

_LOOP = "a shell loop"
_SPAWN = "the start of bash"
_PROGRAM = "/bin/true"
_TURNS = 24  # one step is a small difference of large figures


def hundred(bench: Bench) -> list[Row]:
    workload = bash_steps(bench.folder, 100)
    peers, failed = bench.peers_on(workload)
    floors = {
        "start": bench.start_floor(bash_steps(bench.folder, 1)),
        "one": bench.floor(1, kept=True),
        "many": bench.floor(100, kept=True),
    }
    costs = bench.measure({_LOOP: bench.loop(100), "run": bench.run(workload), **floors, **peers}, _TURNS)
    base = costs[_LOOP]
    others = bench.others(costs, failed, base)
    floor = bench.ratio(costs["start"], base) + bench.ratio(costs["many"] - costs["one"], base)
    return [
        Row("100 steps, whole command", _LOOP, bench.ratio(costs["run"], base), 1.8, others=others),
        Row("the same without code of ours", _LOOP, floor),
    ]


def one_more(bench: Bench) -> list[Row]:
    """Measure 101 steps less one step."""
    peers: dict[int, dict[str, str]] = {}
    works = {_LOOP: bench.loop(100), "programs": bench.loop(100, _PROGRAM)}
    for count in (1, 101):
        works |= {f"floor/{count}": bench.floor(count), f"kept/{count}": bench.floor(count, kept=True)}
        works[f"program/{count}"] = bench.run(bash_steps(bench.folder, count, program=_PROGRAM))
    failed: list[str] = []
    for variables in (2, 1000):
        for count in (1, 101):
            workload = bash_steps(bench.folder, count, variables)
            works[f"{variables}/{count}"] = bench.run(workload)
            if variables == 2:
                works[f"ephemeral/{count}"] = bench.run(workload, "-q", "--ephemeral")
                found, cannot = bench.peers_on(workload)
                peers[count] = {name: f"{name}/{count}" for name in found}
                works |= {f"{name}/{count}": work for name, work in found.items()}
                failed += [name for name in cannot if name not in failed]
    costs = bench.measure(works, _TURNS)
    spawn = costs[_LOOP] / 100
    others: dict[str, float | None] = {
        name: bench.ratio((costs[peers[101][name]] - costs[first]) / 100, spawn)
        for name, first in peers[1].items()
        if name in peers[101]
    }
    few, many, ephemeral, kept, floor = (
        bench.ratio((costs[f"{kind}/101"] - costs[f"{kind}/1"]) / 100, spawn)
        for kind in ("2", "1000", "ephemeral", "kept", "floor")
    )
    program = bench.ratio(costs["program/101"] - costs["program/1"], costs["programs"])
    return [
        Row("one more step, 2 variables", _SPAWN, few, 1.7, others={**others, **dict.fromkeys(failed)}),
        Row("one more step, 1,000 variables", _SPAWN, many, 1.7),
        Row("one more step, --ephemeral", _SPAWN, ephemeral, 1.5),
        Row("one more step that starts a program", "the same in a shell loop", program),
        Row("one more process, in an event loop alone", _SPAWN, floor),
        Row("one more process, and a row on the disk", _SPAWN, kept),
    ]


def loops(bench: Bench) -> list[Row]:
    many, few = (200, 50) if bench.quick else (1000, 250)
    large, small = foreach(bench.folder, many), foreach(bench.folder, few)
    peers, failed = bench.peers_on(large)
    works = {
        _LOOP: bench.loop(many),
        "large": bench.run(large),
        "small": bench.run(small),
        "one": bench.run(foreach(bench.folder, 1)),
        **peers,
    }
    costs = bench.measure(works, 8)
    base = costs[_LOOP]
    growth = bench.ratio(
        (costs["large"] - costs["one"]) / (many - 1), (costs["small"] - costs["one"]) / (few - 1)
    )
    others = bench.others(costs, failed, base)
    return [
        Row(f"foreach of {many:,}", _LOOP, bench.ratio(costs["large"], base), 1.6, others=others),
        Row(f"one round of {many:,}", f"one of {few} (1 is linear)", growth, 1.2),
    ]


def shapes(bench: Bench) -> list[Row]:
    """Measure steps in a group and in sub-recipes, which have no bar."""
    wide = bash_steps(bench.folder, 200, fields="parallel_group: g, ")
    works = {
        "loop of 200": bench.loop(200),
        "wide": bench.run(wide),
        "loop of 50": bench.loop(50),
        "calls": bench.run(sub_recipes(bench.folder, 50)),
    }
    costs = bench.measure(works, 4)
    return [
        Row("a parallel group of 200", _LOOP, bench.ratio(costs["wide"], costs["loop of 200"])),
        Row("50 sub-recipes", _LOOP, bench.ratio(costs["calls"], costs["loop of 50"])),
    ]
