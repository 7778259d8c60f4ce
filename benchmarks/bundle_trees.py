"""Trees of bundles against libyaml parsing the same files."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import yaml
from benchmarks.bench import Bench
from benchmarks.bundles import load, parse, write_tree
from benchmarks.measure import Cost, function
from benchmarks.table import Row

from amplifier_foundation import Bundle

_YAML = "libyaml, the same files"


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
    """Measure composing bundles one by one, as programs written for the ecosystem do."""
    folder = bench.folder / "facade"
    write_tree(folder, 100)
    bundles = [_bundle(file) for file in sorted(folder.glob("b*/bundle.yaml"))]

    def compose() -> None:
        whole, *rest = bundles
        for each in rest:
            whole = whole.compose(each)

    works = {"compose": function(compose), "parse": function(partial(parse, folder))}
    costs = bench.measure(works, 8)
    return [Row("100 bundles composed one by one", _YAML, bench.ratio(costs["compose"], costs["parse"]))]


def _bundle(file: Path) -> Bundle:
    return Bundle.from_dict(yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader), base_path=file.parent)
