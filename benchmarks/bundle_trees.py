"""Trees of bundles against libyaml parsing the same files."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import yaml
from benchmarks.bench import Bench
from benchmarks.bundles import load, parse, write_tree
from benchmarks.composing import write_small
from benchmarks.measure import Cost, function
from benchmarks.table import Row

from amplifier_foundation import Bundle

_YAML = "libyaml, the same files"
_SMALL_BARS = {3: 0.08, 10: 0.12, 100: 0.4}


def trees(bench: Bench) -> list[Row]:
    sizes = (50, 200) if bench.quick else (200, 1000)
    costs = [_tree(bench, size) for size in sizes]
    rows = [
        Row(f"{size:,} bundles, load and compose", _YAML, bench.ratio(loaded, parsed), 2)
        for size, (loaded, parsed) in zip(sizes, costs, strict=True)
    ]
    (few, _), (many, _) = costs
    growth = bench.ratio(many / sizes[1], few / sizes[0])
    return [*rows, Row(f"one bundle of {sizes[1]:,}", f"one of {sizes[0]} (1 is linear)", growth, 1.2)]


def _tree(bench: Bench, size: int) -> tuple[Cost, Cost]:
    folder = bench.folder / f"tree-{size}"
    root = write_tree(folder, size)
    works = {"load": function(partial(load, folder, root)), "parse": function(partial(parse, folder))}
    costs = bench.measure(works, 4)
    return costs["load"], costs["parse"]


def facade(bench: Bench) -> list[Row]:
    """Measure composing bundles one by one, as programs written for the ecosystem do, up to the mount plan.

    The bars are what the package takes whose names ours has: `composing.py` compares with it.
    """
    folder = bench.folder / "facade"
    write_tree(folder, 100)
    rows = [_composed(bench, folder, "100 bundles composed one by one", 1)]
    for size, bar in _SMALL_BARS.items():
        write_small(bench.folder / f"small-{size}", size)
        what = f"{size} bundles of one tool and one provider"
        rows.append(_composed(bench, bench.folder / f"small-{size}", what, bar))
    return rows


def _composed(bench: Bench, folder: Path, what: str, bar: float) -> Row:
    bundles = [_bundle(file) for file in sorted(folder.glob("b*/bundle.yaml"))]
    turns = range(1 + 300 // len(bundles))  # a clock is too coarse for one of a few microseconds

    def compose() -> None:
        for _ in turns:
            whole, *rest = bundles
            for each in rest:
                whole = whole.compose(each)
            whole.to_mount_plan()

    def read() -> None:
        for _ in turns:
            parse(folder)

    costs = bench.measure({"compose": function(compose), "parse": function(read)}, 8)
    return Row(what, _YAML, bench.ratio(costs["compose"], costs["parse"]), bar)


def _bundle(file: Path) -> Bundle:
    return Bundle.from_dict(yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader), base_path=file.parent)
