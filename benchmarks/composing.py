"""Composing bundles one by one, as programs of the ecosystem do, here and by another `amplifier_foundation`.

Run with `python -m benchmarks.composing FOLDER`, where FOLDER holds the other package. Both compose the same
bundles, each in processes of its own that take turns; the least processor time of each counts. The bundles
are those of `bundles.py`, and small ones of one tool and one provider, whose settings each overrides.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from benchmarks.bundles import write_tree

_TURNS = 8
_SMALL = (2, 3, 5, 10, 30, 100, 1000)
_ROOT = Path(__file__).parents[1]

# One process: reads bundles, then prints the microseconds that it took to add one, the least of some chains.
_COMPOSE = """
import sys, time
from pathlib import Path
import yaml
from amplifier_foundation import Bundle
files = sorted(Path(sys.argv[1]).glob("b*/bundle.yaml"))
first, *rest = [Bundle.from_dict(yaml.safe_load(file.read_text()), base_path=file.parent) for file in files]
taken = []
for _ in range(1 + 300 // len(files)):
    began, whole = time.process_time(), first
    for each in rest:
        whole = whole.compose(each)
    whole.to_mount_plan()
    taken.append(time.process_time() - began)
print(min(taken) / len(rest) * 1e6)
"""


def write_small(folder: Path, size: int) -> None:
    for number in range(size):
        bundle = {
            "bundle": {"name": f"b{number}", "version": "1.0.0", "description": f"Bundle number {number}"},
            "tools": [{"module": f"tool-{number}", "config": {"limit": number}}],
            "providers": [{"module": "provider-x", "config": {"model": f"m{number}"}}],
        }
        (folder / f"b{number}").mkdir(parents=True)
        (folder / f"b{number}" / "bundle.yaml").write_text(yaml.safe_dump(bundle))


def microseconds(package: str, bundles: Path) -> float:
    """Return what adding one bundle takes there."""
    environment = {**os.environ, "PYTHONPATH": package}
    words = [sys.executable, "-c", _COMPOSE, str(bundles)]
    return float(subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout)


def main(other: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        write_tree(folder / "100 of 10 tools", 100)
        for size in _SMALL:
            write_small(folder / f"{size} small", size)
        print(f"{'bundles':>20}{'ours, µs':>12}{'there':>12}{'ratio':>8}")
        for bundles in sorted(folder.iterdir(), key=lambda each: int(each.name.split()[0])):
            pairs = [
                (microseconds(str(_ROOT / "src"), bundles), microseconds(other, bundles))
                for _ in range(_TURNS)
            ]
            ours, there = (min(each) for each in zip(*pairs, strict=True))
            print(f"{bundles.name:>20}{ours:>12.1f}{there:>12.1f}{ours / there:>7.2f}×")


if __name__ == "__main__":
    main(sys.argv[1])
