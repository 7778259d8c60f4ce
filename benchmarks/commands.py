"""Whole commands against Python doing nothing."""

from __future__ import annotations

from benchmarks.bench import Bench
from benchmarks.table import Row
from benchmarks.workloads import bash_steps, one_command, to_read

_PASS = "python -c pass"  # noqa: S105 - the word of Python
_TURNS = 16


def startup(bench: Bench) -> list[Row]:
    peers = {peer.name: bench.start(peer.version) for peer in bench.peers if peer.version}
    works = {
        _PASS: bench.python(),
        "amplihack": bench.ours("amplihack", "--version"),
        "recipe-runner": bench.ours("recipe-runner", "--version"),
    }
    costs = bench.measure({**works, **peers}, _TURNS)
    base = costs[_PASS]
    return [
        Row(
            "amplihack --version",
            _PASS,
            bench.ratio(costs["amplihack"], base),
            1.5,
            others=bench.others(costs, (), base),
        ),
        Row("recipe-runner --version", _PASS, bench.ratio(costs["recipe-runner"], base), 3),
    ]


def read(bench: Bench) -> list[Row]:
    small, large = (str(to_read(bench.folder, count).recipe) for count in (5, 200))
    works = {
        _PASS: bench.python(),
        "recipe validate, 5 steps": bench.ours("amplihack", "recipe", "validate", small),
        "recipe validate, 200 steps": bench.ours("amplihack", "recipe", "validate", large),
        "recipe check, 200 steps": bench.ours("amplihack", "recipe", "check", large),
    }
    costs = bench.measure(works, _TURNS)
    bars = (5, 6, 9)
    return [
        Row(name, _PASS, bench.ratio(costs[name], costs[_PASS]), bar)
        for name, bar in zip(list(works)[1:], bars, strict=True)
    ]


def one_step(bench: Bench) -> list[Row]:
    workload = bash_steps(bench.folder, 1)
    peers, failed = bench.peers_on(workload)
    costs = bench.measure({_PASS: bench.python(), "run": bench.run(workload), **peers}, _TURNS)
    base = costs[_PASS]
    return [
        Row(
            "recipe run, one step",
            _PASS,
            bench.ratio(costs["run"], base),
            9,
            others=bench.others(costs, failed, base),
        )
    ]


def bundle_show(bench: Bench) -> list[Row]:
    file = bench.folder / "small-bundle.md"
    file.write_text("---\nbundle: {name: small}\ntools: [{module: tool-bash}]\n---\nBe brief.\n")
    works = {_PASS: bench.python(), "show": bench.ours("amplihack", "bundle", "show", str(file))}
    costs = bench.measure(works, _TURNS)
    return [Row("bundle show, a small bundle", _PASS, bench.ratio(costs["show"], costs[_PASS]), 9)]


def lines(bench: Bench) -> list[Row]:
    """Measure very many short lines, with and without somebody who listens; our start is not counted."""
    workload = one_command(bench.folder, "lines", "seq 400000")
    peers, failed = bench.peers_on(workload)
    cat = "cat"
    works = {
        cat: bench.start(["/bin/bash", "-c", "seq 400000 | cat"], stdout=str(bench.folder / "printed")),
        "empty": bench.run(one_command(bench.folder, "empty", "true")),
        "quiet": bench.run(workload),
        "progress": bench.run(workload, "--progress"),
        **peers,
    }
    costs = bench.measure(works, 8)
    quiet, heard = (bench.ratio(costs[name] - costs["empty"], costs[cat]) for name in ("quiet", "progress"))
    others = bench.others(costs, failed, costs[cat])
    return [
        Row("400,000 lines, -q, above an empty step", cat, quiet, 5, others=others),
        Row("400,000 lines, --progress, above an empty step", cat, heard, 15),
    ]


def memory(bench: Bench) -> list[Row]:
    """Measure peak memory, ours or that of a process we started, whichever is larger."""
    size = 256 if bench.quick else 1024
    loud = one_command(bench.folder, "loud", f'head -c {size * 1024 * 1024} /dev/zero | tr "\\0" x')
    quiet = one_command(bench.folder, "empty", "true")
    bench.run(quiet)()  # the first run in a new home stages the framework
    empty, full = bench.peak(quiet), bench.peak(loud)
    mib = 1024 * 1024
    return [
        Row("peak memory, one step", "nothing", empty / mib, 28, "MiB"),
        Row(f"peak memory, {size} MiB of output", "one step", (full - empty) / mib, 64, "MiB"),
    ]


def agents(bench: Bench) -> list[Row]:
    """Measure what we add to agents, by the clock."""
    from benchmarks.workloads import agents as recipe

    answered, began = bench.folder / "answered", bench.folder / "began"
    script = bench.folder / "agent.sh"
    script.write_text(f"sleep $1; date +%s%N > {answered}; echo done\n")
    flags = ("-q", "--no-auto-stage", "--agent")
    slow = (*flags, f"command:bash {script} 1")
    eight = recipe(
        bench.folder, "eight", [{"id": f"a{each}", "parallel_group": "g", "prompt": "p"} for each in range(8)]
    )
    one = recipe(bench.folder, "alone", [{"id": "a", "prompt": "p"}])
    many, single = bench.run(eight, *slow)(), bench.run(one, *slow)()
    then = recipe(
        bench.folder,
        "gap",
        [{"id": "a", "prompt": "p"}, {"id": "b", "command": f"'date +%s%N > {began}'"}],
    )
    gaps = []
    for _ in range(bench.rounds(8)):
        bench.run(then, *flags, f"command:bash {script} 0")()
        gaps.append(int(began.read_text()) - int(answered.read_text()))
    gap = sorted(gaps)[len(gaps) // 2] / 1e6
    return [
        Row("an agent's last act to the next step's first", "nothing", gap, 50, "ms"),
        Row("8 agents of 1 s at once", "1 such agent, by the clock", many.wall / single.wall, 1.3),
    ]
