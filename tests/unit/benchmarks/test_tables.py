"""The pure parts of the benchmarks; nothing here depends on how long anything takes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchmarks import run
from benchmarks.bench import Bench
from benchmarks.measure import CommandFailed, Cost, command, in_turns, median, minimum
from benchmarks.peers import installed_peers, parse_compare
from benchmarks.table import Row, amount, show, show_markdown, summary
from benchmarks.workloads import Workload, bash_steps, foreach


def test_the_median_is_taken_of_each_measure_by_itself() -> None:
    costs = [Cost(1, 30), Cost(3, 10), Cost(2, 20)]
    assert median(costs) == Cost(2, 20)
    assert minimum(costs) == Cost(1, 10)


def test_costs_are_subtracted_and_divided_field_by_field() -> None:
    assert (Cost(5, 9) - Cost(1, 3)) / 2 == Cost(2, 3)


def test_works_take_turns() -> None:
    order: list[str] = []

    def work(name: str, cost: float) -> Cost:
        order.append(name)
        return Cost(cost, cost)

    costs = in_turns({"a": lambda: work("a", 1), "b": lambda: work("b", 2)}, rounds=2)
    assert order == ["a", "b", "a", "b"]
    assert costs == {"a": Cost(1, 1), "b": Cost(2, 2)}


def test_ratios_are_of_processor_time_unless_the_clock_is_asked_for(tmp_path: Path) -> None:
    one, other = Cost(cpu=6, wall=2), Cost(cpu=3, wall=4)
    assert Bench(tmp_path).ratio(one, other) == 2
    assert Bench(tmp_path, wall=True).ratio(one, other) == 0.5


@pytest.mark.parametrize(
    ("figure", "bar", "verdict"), [(1.5, 1.5, "met"), (1.51, 1.5, "MISSED"), (9.0, None, "")]
)
def test_a_bar_is_met_or_missed(figure: float, bar: float | None, verdict: str) -> None:
    assert Row("w", "b", figure, bar).verdict == verdict


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        (1.504, "×", "1.5×"),
        (12.34, "×", "12.3×"),
        (100.4, "×", "100×"),
        (2.0, "×", "2×"),
        (27.6, "MiB", "28 MiB"),
        (0.313, "ms more", "0.31 ms more"),
    ],
)
def test_numbers_have_as_many_digits_as_matter(number: float, unit: str, text: str) -> None:
    assert amount(number, unit) == text


def test_a_table_tells_bars_verdicts_and_other_runners() -> None:
    rows = [
        Row("short", "python", 2.0, 1.5, others={"just": 0.25, "mine": None}),
        Row("a longer name", "python", 1.0),
    ]
    assert show(rows).splitlines()[2:] == [
        "short          python         2×   ≤ 1.5×  MISSED  just 0.25×, mine failed",
        "a longer name  python         1×",
    ]
    assert show_markdown(rows).splitlines()[2] == (
        "| short | python | 2× | ≤ 1.5× | MISSED | just 0.25×, mine failed |"
    )
    assert summary(rows) == "0 of 1 bars are met"


def test_a_runner_to_compare_with_gets_the_recipe_where_it_says() -> None:
    peer = parse_compare("mine=bash -c 'run it' {recipe} --in={recipe}")
    argv = peer.argv(Workload(Path("/r.yaml")))
    assert peer.name == "mine"
    assert argv is not None
    assert [Path(argv[0]).name, *argv[1:]] == ["bash", "-c", "run it", "/r.yaml", "--in=/r.yaml"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("bash {recipe}", "is not NAME=COMMAND"),
        ("=bash {recipe}", "is not NAME=COMMAND"),
        ("mine=", "is not NAME=COMMAND"),
        ("mine=bash", "write {recipe} in its place"),
        ("mine=no-such-program-here {recipe}", "there is no program no-such-program-here"),
    ],
)
def test_a_wrong_comparison_is_told(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem.replace("{", r"\{")):
        parse_compare(text)


def test_a_runner_that_cannot_do_the_work_is_named_and_not_measured(tmp_path: Path) -> None:
    peers = [parse_compare("good=cat {recipe}"), parse_compare("bad=cat {recipe}.gone")]
    bench = Bench(tmp_path, peers, env=dict(os.environ))
    works, failed = bench.peers_on(bash_steps(tmp_path, 1))
    assert (list(works), failed) == (["good"], ["bad"])
    assert bench.others({"good": Cost(2, 2)}, failed, Cost(1, 1)) == {"good": 2, "bad": None}


def test_installed_runners_do_the_same_commands(tmp_path: Path) -> None:
    for peer in installed_peers():
        argv = peer.argv(foreach(tmp_path, 3))
        assert argv is not None
        command(argv, cwd=tmp_path, env=dict(os.environ), stdout=str(tmp_path / "printed"))()
        assert (tmp_path / "printed").read_text().split() == ["0", "1", "2"]


def test_a_command_that_fails_is_no_figure(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="ended with 3"):
        command(["/bin/sh", "-c", "exit 3"], cwd=tmp_path, env={})()


def test_every_group_names_a_function() -> None:
    for place in run.GROUPS.values():
        module, function = place.split(":")
        assert f"def {function}(" in (run.ROOT / "benchmarks" / f"{module}.py").read_text()
